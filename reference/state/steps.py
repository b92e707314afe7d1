"""Step: one run in progress, with its deadline, its cancellation and the attempts it waits for.

Kernels import it, like the store of resources, from `sessrun.reference.kernels.registry`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sessrun.reference.base.kernel_errors import Cancelled, DeadlineExceeded, KernelError
from sessrun.reference.state.resources import ResourceStore

if TYPE_CHECKING:
    from sessrun.reference.state.attempts import Attempt

__all__ = ["Postponed", "Step"]

#: The container, among the resources of a step, of the functions that are called at its end.
_ENDS: Final = "ends"


#: A node, and the iteration of a loop that it is executed in.
_AttemptKey = tuple[str, object]
#: The attempts of a step, whether it postpones, and its iteration.
_Waits: TypeAlias = "tuple[dict[_AttemptKey, Attempt], bool, object]"


class Postponed(BaseException):  # not an Exception: no handler of errors may take it
    """A kernel would have to wait; the run executes other operations first."""


class Step:
    """One run in progress: its deadline, whether it was cancelled, the attempts of its kernels.

    Attributes:
      deadline: when it must end, in seconds of `time.monotonic`, or None.
      postpones: whether a kernel that would wait raises `Postponed` instead, since the run has
        other operations to execute.
      iteration: the iteration of a loop that is executed; each one has its own attempts.

    """

    def __init__(self, timeout_s: float | None = None) -> None:
        self.deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self.postpones = False
        self._cancelled = False
        self._wake: threading.Event | None = None  # made by the first wait: few runs wait
        self._attempts: dict[_AttemptKey, Attempt] = {}
        self.iteration: object = None
        self._resources: ResourceStore | None = None  # made at the first use, like the event

    @property
    def resources(self) -> ResourceStore:
        """The resources that end with the run, by container and name."""
        if self._resources is None:
            self._resources = ResourceStore()
        return self._resources

    def share(self, resources: ResourceStore) -> None:
        """Use the resources of another step, which belongs to the same run."""
        self._resources = resources

    def at_end(self, function: Callable[[], None]) -> None:
        """Call a function at the end of the run, however it ends."""
        ends: list[Callable[[], None]] = self.resources.get_or_create(_ENDS, "", list, list)
        ends.append(function)

    def end(self) -> None:
        """Call the functions that were registered by `at_end`."""
        ends = None if self._resources is None else self._resources.get(_ENDS, "")
        for function in ends or ():
            function()

    def cancel(self) -> None:
        """Make every wait of this step raise, now and from now on."""
        self._cancelled = True
        if self._wake is not None:
            self._wake.set()

    def check(self) -> None:
        """Return if the step may go on.

        Raises:
          Cancelled: it was cancelled.
          DeadlineExceeded: its deadline has passed.

        """
        if self._cancelled:
            raise Cancelled("Step was cancelled by an explicit call to `Session::Close()`.")
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise DeadlineExceeded("Timed out waiting for notification")

    def take(self, node: str, make: Callable[[], Attempt]) -> Any:
        """The result of a node's attempt; `make` makes the attempt at the first call.

        Raises:
          Postponed: the attempt is not over, and the step postpones: call again after `wait`.
          KernelError: the attempt failed, or the step ended during the wait.

        """
        key = (node, self.iteration)
        attempt = self._attempts.pop(key, None) or make()
        if not attempt.is_over:
            self._attempts[key] = attempt
            if self.postpones:
                raise Postponed
            self.wait(lambda: attempt.is_over)
            del self._attempts[key]
        return attempt.outcome()

    def retract(self, node: str) -> Any:
        """The result of a node's attempt; an attempt that is not over is withdrawn: None."""
        attempt = self._attempts.pop((node, self.iteration), None)
        if attempt is None:
            return None
        if not attempt.is_over:
            attempt.target.withdraw(attempt)
        return attempt.result

    def wait(self, ready: Callable[[], bool] | None = None) -> None:
        """Wait until `ready()` is true; by default until an attempt of the step is over.

        Raises:
          Cancelled: the step was cancelled; its attempts are withdrawn.
          DeadlineExceeded: its deadline has passed; its attempts are withdrawn.

        """
        attempts = list(self._attempts.values())
        ready = ready or (lambda: any(attempt.is_over for attempt in attempts))
        wake = self._wake = self._wake or threading.Event()
        try:
            while True:
                wake.clear()
                for attempt in attempts:
                    attempt.tell(wake)
                if ready():
                    return
                self.check()
                left = None if self.deadline is None else self.deadline - time.monotonic()
                wake.wait(left)
        except KernelError:
            self.withdraw()
            raise

    def set_apart(self) -> _Waits:
        """Begin with no attempts, for another plan that a kernel of this step runs.

        Nothing is postponed in that plan: executed once more, it would have its effects twice.

        Returns:
          The attempts and settings of this plan, for `rejoin` when the other plan is over.

        """
        kept = self._attempts, self.postpones, self.iteration
        self._attempts, self.postpones = {}, False
        return kept

    def rejoin(self, kept: _Waits) -> None:
        """Restore the attempts and settings that `set_apart` returned."""
        self._attempts, self.postpones, self.iteration = kept

    def withdraw(self) -> None:
        """Withdraw every attempt that is not over: the step has failed."""
        attempts = list(self._attempts.values())
        self._attempts.clear()
        for attempt in attempts:
            if not attempt.is_over:
                attempt.target.withdraw(attempt)
