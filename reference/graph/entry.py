"""Entry: the `with` of what a thread enters and leaves: a scope, a default graph or session."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType
from typing import Generic, Literal, TypeVar

__all__ = ["DecoratingEntry", "Entry"]

Value = TypeVar("Value")
State = TypeVar("State")


class Entry(Generic[Value, State]):
    """A `with` that changes something of its thread and sets it back; no generator is involved.

    It may be entered again, also inside itself. One that was entered by hand (`__enter__`) and
    that nobody can leave any more is left when it is deleted.
    """

    def __init__(self) -> None:
        self._states: list[State] = []

    def enter(self) -> tuple[Value, State]:
        """Make the change: the value of `as`, and what `leave` needs to set it back."""
        raise NotImplementedError

    def leave(self, state: State, *, is_abandoned: bool) -> None:
        """Set it back.

        Args:
          state: what `enter` returned.
          is_abandoned: whether nobody left the `with`, so that it may end out of turn.

        """
        raise NotImplementedError

    def __enter__(self) -> Value:
        value, state = self.enter()
        self._states.append(state)
        return value

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Literal[False]:
        self.leave(self._states.pop(), is_abandoned=kind is GeneratorExit)
        return False  # as of a generator's `with`: an error goes on

    def __del__(self) -> None:
        while self._states:
            self.leave(self._states.pop(), is_abandoned=True)


class DecoratingEntry(Entry[Value, State], ContextDecorator):
    """An entry that also decorates functions, whose calls then run inside the `with`."""
