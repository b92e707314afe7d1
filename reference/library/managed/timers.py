"""Timers of hooks: every N seconds or steps (TF 2.21)."""

from __future__ import annotations

import time
from typing import Any

from sessrun.reference.public import public

__all__ = ["NeverTriggerTimer", "SecondOrStepTimer"]


class NeverTriggerTimer:
    """Never: for hooks that act only at the end."""

    def reset(self) -> None:
        """Nothing is kept."""

    def should_trigger_for_step(self, step: int) -> bool:
        """No."""
        del step
        return False

    def update_last_triggered_step(self, step: int) -> tuple[None, None]:
        """Nothing is known of earlier times."""
        del step
        return None, None

    def last_triggered_step(self) -> None:
        """None: this timer has no last step."""


@public("train.SecondOrStepTimer")
class SecondOrStepTimer:
    """Every so many seconds, or every so many steps, and the first time.

    Args:
      every_secs: the seconds from one time to the next.
      every_steps: the steps from one time to the next.

    Raises:
      ValueError: both are given, or neither.

    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        """Forget the last time."""
        self._last_step: Any = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is time at this step; never twice for one step."""
        if self._last_step is None or self._last_time is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        assert self._every_steps is not None
        return bool(step >= self._last_step + self._every_steps)

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that it was done at this step; the seconds and the steps since the last time."""
        now = time.time()
        passed: tuple[float | None, int | None] = (None, None)
        if self._last_time is not None:
            passed = (now - self._last_time, step - self._last_step)
        self._last_time, self._last_step = now, step
        return passed

    def last_triggered_step(self) -> Any:
        """The step of the last time; None if there was none."""
        return self._last_step
