"""Whether a session is open, closed or reset, and which of its runs are under way.

Clauses: SESSION, RUN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from contextlib import contextmanager

from sessrun.reference import errors
from sessrun.reference.state.steps import Step
from sessrun.spec.proto import RunOptions

__all__ = ["Lifetime"]

_MILLIS_PER_SECOND = 1000


class Lifetime:
    """The state of a session, from its construction until it is closed or reset.

    Args:
      timeout_in_ms: how long a run may take whose options set no timeout; 0 for any time.

    Attributes:
      is_closed: whether the session was closed.
      is_reset: whether `Session.reset` has ended it.
      over: empty as long as it is neither: generated code looks at that, in 5 ns.
      steps: the runs under way that may have to wait.

    """

    def __init__(self, timeout_in_ms: int) -> None:
        self._timeout_in_ms = timeout_in_ms
        self.steps: set[Step] = set()
        self.is_closed = False
        self.is_reset = False
        self.over: list[str] = []

    @property
    def is_over(self) -> bool:
        """Whether the session was closed or reset."""
        return self.is_closed or self.is_reset

    def close(self) -> None:
        """Note that the session was closed."""
        self.is_closed = True
        self.over.append("closed")

    def reset(self) -> None:
        """Note that `Session.reset` has ended it."""
        self.is_reset = True
        self.over.append("reset")

    def check_open(self) -> None:
        """Refuse to use a closed session, as TensorFlow's Python client does.

        Raises:
          RuntimeError: the session is closed.

        """
        if self.is_closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def check_ready(self, operations: Sized) -> None:
        """Refuse to run anything in a closed session, or of a graph without operations.

        Raises:
          RuntimeError: the session is closed, or the graph has no operations.

        """
        self.check_open()
        if not operations:
            raise RuntimeError(
                "The Session graph is empty. Add operations to the graph before calling run()."
            )

    def check_not_over(self, cause: errors.OpError | None = None) -> None:
        """Refuse to run in a session that has ended, as TensorFlow's engine does.

        Args:
          cause: the error that a run has failed with, if it has: where the session was closed or
            reset in the meantime, it may have failed for want of what was freed.

        Raises:
          CancelledError: the session was closed or reset.

        """
        if self.is_over and (cause is None or cause.error_code != errors.CANCELLED):
            raise errors.CancelledError(None, None, "Session has been closed.") from cause

    @property
    def sets_deadlines(self) -> bool:
        """Whether a run has a deadline whose options set none."""
        return self._timeout_in_ms > 0

    def begin_step(self, options: RunOptions | None = None) -> Step:
        """A step for a run that begins, with the deadline of its options or of the session.

        It is cancelled if the session has ended: whoever ended it may not have seen the step.
        """
        timeout = options.timeout_in_ms if options is not None else 0
        timeout = timeout or self._timeout_in_ms
        step = Step(timeout / _MILLIS_PER_SECOND if timeout > 0 else None)
        self.steps.add(step)
        if self.is_over:
            step.cancel()
        return step

    def end_step(self, step: Step) -> None:
        """Let go of what a run held, which is over."""
        self.steps.discard(step)
        step.end()

    @contextmanager
    def step(self, options: RunOptions | None = None) -> Iterator[Step]:
        """`begin_step`, and `end_step` at the end of the `with`."""
        step = self.begin_step(options)
        try:
            yield step
        finally:
            self.end_step(step)

    def cancel_steps(self) -> None:
        """Make every run that waits raise CancelledError."""
        for step in list(self.steps):
            step.cancel()
