"""Session and InteractiveSession: two ways to open a session and to make it the default one.

Clauses: SESSION.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from sessrun.reference.base import log_messages
from sessrun.reference.graph.graph import Graph
from sessrun.reference.session.base import BaseSession, adopted, open_sessions
from sessrun.reference.session.calls import CallingSession
from sessrun.spec.proto import ConfigProto

__all__ = ["InteractiveSession", "Session"]


class Session(CallingSession):
    """A session: runs operations and evaluates tensors of one graph.

    Used as a context manager it is the default session, and its graph the default graph, inside
    the `with`; it is closed at its end. Arguments and errors: `BaseSession`.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._entered: ExitStack | None = None

    def __enter__(self) -> Self:
        if self._entered is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` "
                "if you want to enter a session multiple times."
            )
        self._entered = ExitStack()
        self._entered.enter_context(self._graph.as_default())
        self._entered.enter_context(self.as_default())
        return self

    def __exit__(
        self,
        exec_type: type[BaseException] | None,
        exec_value: BaseException | None,
        exec_tb: TracebackType | None,
    ) -> None:
        if self._entered is not None:
            self._entered.close()  # refused, and the session left open, unless it is innermost
            self._entered = None
        self.close()

    @staticmethod
    def reset(
        target: str,
        containers: Iterable[str] | None = None,
        config: Any = None,
    ) -> None:
        """Clear resource containers and close the sessions of `target`.

        The in-process engine keeps resources per session: every open session of this process is
        closed, and its next run is cancelled.

        Raises:
          TypeError: `containers` is no list of strings.
          NotFoundError: no engine answers to `target`.

        """
        adopted(config, ConfigProto, "config")
        if not all(isinstance(name, str | bytes) for name in containers or ()):
            raise TypeError(f"`containers` must be a list of strings, got {containers!r}")
        if target:
            BaseSession(target)
        for session in list(open_sessions):
            session.cancel()


class InteractiveSession(CallingSession):
    """A session that is the default one from its construction on, until it is closed.

    Arguments and errors: `BaseSession`.
    """

    _active_session_count = 0
    _counting = threading.Lock()

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        config = config or ConfigProto()
        adopted(config, ConfigProto, "config")
        # Only what a run needs is placed: a shell's graph holds much that was a mistake. That the
        # caller's message says so afterwards is what TensorFlow does too.
        config.graph_options.place_pruned_graph = True
        super().__init__(target, graph, config)
        with InteractiveSession._counting:
            if InteractiveSession._active_session_count > 0:
                log_messages.error(
                    "An interactive session is already active. This can cause out-of-memory "
                    "errors or some other unexpected errors (due to the unpredictable timing of "
                    "garbage collection) in some cases. You must explicitly call "
                    "`InteractiveSession.close()` to release resources held by the other "
                    "session(s). Please use `tf.Session()` if you intend to productionize."
                )
            InteractiveSession._active_session_count += 1
        self._entered = ExitStack()
        if graph is not None:
            self._entered.enter_context(graph.as_default())
        self._entered.enter_context(self.as_default())

    def close(self) -> None:
        """Close the session; it is no longer the default one.

        Raises:
          AssertionError: another session was made the default one later and still is; this one
            is closed all the same.

        """
        with InteractiveSession._counting:
            if not self._closed:
                InteractiveSession._active_session_count -= 1
        super().close()
        self._entered.close()
