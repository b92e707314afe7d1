"""What outlives a run: a session's resources, the buffers of reference variables, the step.

Kernels reach all of it through `sessrun.reference.kernels.registry`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sessrun.reference.base.kernel_errors import (
    Cancelled,
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    KernelError,
)

if TYPE_CHECKING:
    from sessrun.reference.state.attempts import Attempt

__all__ = ["DEFAULT_CONTAINER", "Postponed", "ResourceStore", "Step", "VariableBuffer"]

#: The container of a resource whose node names none.
DEFAULT_CONTAINER: Final = "localhost"
#: The container, among what ends with a run, of what is called when it is over.
_ENDS: Final = "ends"

R = TypeVar("R")


class Postponed(BaseException):  # not an Exception: no handler of errors may take it
    """A kernel would have to wait; the run goes on with other operations."""


class VariableBuffer:
    """The memory of one reference variable.

    An array that was put into `value` is never written to as long as anybody else holds it: whoever
    read it keeps what was read. An update makes a new array, under `lock` if it uses locking; or it
    takes the array out of `value`, always under `lock`, and puts it back.

    Attributes:
      name: the node's name, for messages.
      value: the array, or None while uninitialised or taken out.
      lock: held by updates that use locking.

    """

    __slots__ = ("lock", "name", "value")

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = None
        self.lock = threading.RLock()

    def peek(self) -> Any:
        """The array, or None while uninitialised."""
        value = self.value
        if value is None:  # it may be taken out, for as long as the lock is held
            with self.lock:
                value = self.value
        return value

    def read(self) -> Any:
        """The array.

        Raises:
          FailedPrecondition: it is uninitialised; the message names the variable.

        """
        value = self.value
        if value is None and (value := self.peek()) is None:
            raise FailedPrecondition(f"Attempting to use uninitialized value {self.name}")
        return value


class HandleReference(VariableBuffer):
    """The older handle of a resource: a reference to its container and name.

    Attributes:
      resource: what is behind it.

    """

    __slots__ = ("resource",)

    def __init__(self, resource: Any, name: str, value: Any) -> None:
        super().__init__(name)
        self.value = value
        self.resource = resource


class ResourceStore:
    """A session's resources by (container, shared name); safe for threads.

    What is told apart by more than that, as variables are by kind and device, gives it as `place`.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._items: dict[tuple[str, str, str], Any] = {}

    def get_or_create(
        self, container: str, name: str, kind: type[R], make: Callable[[], R], place: str = ""
    ) -> R:
        """The resource of that name, made by `make` if there is none.

        Raises:
          InvalidArgument: the name is taken by a resource of another kind.

        """
        key = (container or DEFAULT_CONTAINER, name, place)
        with self._lock:
            found = self._items.get(key)
            if found is None:
                found = self._items[key] = make()
        if not isinstance(found, kind):
            raise InvalidArgument(
                f"Trying to access resource {name} located in container {key[0]}: "
                f"wrong type, it is a {type(found).__name__}"
            )
        return found

    def get(self, container: str, name: str, place: str = "") -> Any:
        """The resource of that name, or None."""
        with self._lock:
            return self._items.get((container or DEFAULT_CONTAINER, name, place))

    def remove(self, container: str, name: str, place: str = "") -> Any:
        """Take the resource out and return it; None if there is none."""
        with self._lock:
            return self._items.pop((container or DEFAULT_CONTAINER, name, place), None)

    def clear(self, containers: Iterable[str] = ()) -> None:
        """Forget the resources of these containers; all of them if none is named."""
        wanted = set(containers)
        with self._lock:
            for key in [key for key in self._items if not wanted or key[0] in wanted]:
                del self._items[key]


class Step:
    """One run while it goes on: when it must end, whether it was cancelled, what it waits for.

    Attributes:
      deadline: when it must end, in seconds of `time.monotonic`, or None.
      postpones: whether a kernel that would wait raises `Postponed` instead, since the run has
        other operations to execute.
      iteration: of which iteration of a loop the node is that takes; each has attempts of its own.

    """

    def __init__(self, timeout_s: float | None = None) -> None:
        self.deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self.postpones = False
        self._cancelled = False
        self._wake: threading.Event | None = None  # made by the first wait: few runs wait
        self._attempts: dict[tuple[str, object], Attempt] = {}
        self.iteration: object = None
        self._resources: ResourceStore | None = None  # made when first asked for, as the event

    @property
    def resources(self) -> ResourceStore:
        """What ends with it, by container and name."""
        if self._resources is None:
            self._resources = ResourceStore()
        return self._resources

    def share(self, resources: ResourceStore) -> None:
        """Take these resources for its own: it is a part of a run that began before it."""
        self._resources = resources

    def at_end(self, function: Callable[[], None]) -> None:
        """Call a function when the whole run is over, however it ends."""
        ends: list[Callable[[], None]] = self.resources.get_or_create(_ENDS, "", list, list)
        ends.append(function)

    def end(self) -> None:
        """The run is over."""
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
        """The result of a node's attempt, made by `make` when the node first asks.

        Raises:
          Postponed: it is not over, and the step postpones: ask again after `wait`.
          KernelError: it failed, or the step ended while it was waited for.

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
        """What a node's attempt has given; it is withdrawn, and gives None, if it is not over."""
        attempt = self._attempts.pop((node, self.iteration), None)
        if attempt is None:
            return None
        if not attempt.is_over:
            attempt.target.withdraw(attempt)
        return attempt.result

    def wait(self, ready: Callable[[], bool] | None = None) -> None:
        """Wait until `ready()`, or else until any attempt of the step is over.

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

    def set_apart(self) -> tuple[Any, ...]:
        """Let attempts be another plan's from now on, which a kernel of this step runs.

        That plan does its own waiting: put off and begun again, it would have its effects twice.

        Returns:
          What `rejoin` takes when that plan is over.

        """
        kept = self._attempts, self.postpones, self.iteration
        self._attempts, self.postpones = {}, False
        return kept

    def rejoin(self, kept: tuple[Any, ...]) -> None:
        """Let attempts be again those of the plan whose kernel ran another one."""
        self._attempts, self.postpones, self.iteration = kept

    def withdraw(self) -> None:
        """Withdraw every attempt that is not over: the step has failed."""
        attempts = list(self._attempts.values())
        self._attempts.clear()
        for attempt in attempts:
            if not attempt.is_over:
                attempt.target.withdraw(attempt)
