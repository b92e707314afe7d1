"""LateStep: what generated code has in place of a `Step`, for loops and for kernels that may wait.

Most runs find what they want at once, and a step that begins and ends takes longer than the rest
of such a run. Clauses: QUEUES, RUN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.session.lifetime import Lifetime
from sessrun.reference.state.attempts import Attempt

__all__ = ["LateStep"]


class LateStep:
    """Takes the outcomes of attempts, and begins a `Step` for each that has to wait.

    It has no state, so that all runs of a session share one. The step that it begins is cancelled
    with the session. It has no deadline but one that counts from the wait, not from the beginning
    of the run: a session with deadlines needs a step from there on.

    Args:
      lifetime: the session's lifetime.

    """

    __slots__ = ("_lifetime",)

    def __init__(self, lifetime: Lifetime) -> None:
        self._lifetime = lifetime

    def check(self) -> None:
        """Return if the run may go on.

        Raises:
          KernelError: the session has ended.

        """
        if self._lifetime.is_over:
            with self._lifetime.step() as step:
                step.check()

    def take(self, node: str, make: Callable[[], Attempt]) -> Any:
        """The result of a node's attempt, as `Step.take` gives it.

        Raises:
          KernelError: the attempt failed, or the session ended during the wait.

        """
        attempt = make()
        if attempt.is_over:
            return attempt.result if attempt.error is None else attempt.outcome()
        step = self._lifetime.begin_step()
        try:
            return step.take(node, lambda: attempt)
        finally:
            self._lifetime.end_step(step)
