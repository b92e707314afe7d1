"""The default session of each thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from sessrun.reference.graph.thread_stack import ThreadStack
from sessrun.reference.public import public

__all__ = [
    "DefaultSession",
    "FeedDict",
    "default_session",
    "get_default_session",
    "leave_sessions",
]

#: Tensors, their names, nested tuples of them or objects that stand for some, to their values. A
#: Mapping is invariant in its keys: Any lets a dict of tensors be one.
FeedDict = Mapping[Any, object]


class DefaultSession(Protocol):
    """A session, as `Tensor.eval` and `Operation.run` use it."""

    @property
    def graph(self) -> object:
        """The graph that was launched in it."""

    def run(self, fetches: Any, feed_dict: FeedDict | None = None) -> Any:
        """The values of the fetches."""


_SESSIONS: Final[ThreadStack[Any]] = ThreadStack()


@public("get_default_session")
def get_default_session() -> Any:
    """The innermost session entered in this thread, or None."""
    sessions = _SESSIONS.items
    return sessions[-1] if sessions else None


#: Makes a session this thread's default one inside a `with`; AssertionError as `pushed` raises it.
default_session: Final = _SESSIONS.pushed


def leave_sessions() -> None:
    """Let no session be the default one of this thread, whichever `with` was never left."""
    _SESSIONS.items.clear()
