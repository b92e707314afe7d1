"""The default session of each thread."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.graph.thread_stack import ThreadStack
from sessrun.reference.public import public

__all__ = ["default_session", "get_default_session", "leave_sessions"]

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
