"""An API case that a backend interprets in the worker, which pauses after each step that failed.

What is expected is known to the host alone: it says by `proceed` whether the case goes on.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from sessrun.adapters.process.protocol import Observed
from sessrun.spec.cases.model import AskedCase, GoesOn, Observation

__all__ = ["Interpretation"]

#: `interpret_api` of a backend.
Interpret = Callable[[AskedCase, GoesOn], list[Observation]]


class Interpretation:
    """One case in a thread of its own; each call returns at its next pause, or at its end.

    Args:
      interpret: what interprets the case.

    """

    def __init__(self, interpret: Interpret) -> None:
        self._interpret = interpret
        self._orders: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Observed | BaseException] = queue.SimpleQueue()
        self._sent = 0

    def begin(self, case: AskedCase) -> Observed | BaseException:
        """Start: the observations, or the exception that the backend must not raise."""
        threading.Thread(target=self._work, args=(case,), daemon=True, name="case").start()
        return self._outcomes.get()

    def proceed(self, on: bool) -> Observed | BaseException:
        """Continue after the step that failed, or end the case there."""
        self._orders.put(on)
        return self._outcomes.get()

    def _work(self, case: AskedCase) -> None:
        try:
            seen = self._interpret(case, self._pause)
            outcome: Observed | BaseException = Observed(self._news(seen))
        except BaseException as error:  # noqa: BLE001 - raised again where the request is answered
            outcome = error
        self._outcomes.put(outcome)

    def _pause(self, seen: list[Observation]) -> bool:
        self._outcomes.put(Observed(self._news(seen), paused=True))
        return self._orders.get()

    def _news(self, seen: list[Observation]) -> list[Observation]:
        """What was observed since the last answer to the host."""
        news, self._sent = seen[self._sent :], len(seen)
        return news
