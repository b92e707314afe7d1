"""InteractiveSession: the default session from its construction on. Clauses: SESSION."""

from __future__ import annotations

import threading
from contextlib import ExitStack

from sessrun.reference.base import log_messages
from sessrun.reference.graph.graph import Graph
from sessrun.reference.public import public
from sessrun.reference.session.arguments import adopted
from sessrun.reference.session.session import BaseSession
from sessrun.spec.proto import ConfigProto

__all__ = ["InteractiveSession"]


@public("InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default one from its construction on, until it is closed.

    Arguments and errors: `BaseSession`.
    """

    _active_session_count = 0
    _counting = threading.Lock()

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
    ) -> None:
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
        """Close the session; it is the default session no more.

        Raises:
          AssertionError: another session was made the default one later and still is; this one
            is closed all the same.

        """
        with InteractiveSession._counting:
            if not self._lifetime.is_closed:
                InteractiveSession._active_session_count -= 1
        super().close()
        self._entered.close()
