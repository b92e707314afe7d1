"""Faults of SESSION: InteractiveSession and the stacks it installs itself on."""

from __future__ import annotations

import threading

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Scope
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Graph, Session
from sessrun.spec.proto.config_pb2 import ConfigProto


@fault("SESSION-040", "An InteractiveSession does not count as the default session.")
def interactive_is_not_default(tf: Namespace) -> Namespace:
    """Answers None while an InteractiveSession is on top of the stack."""

    def get_default_session() -> Session | None:
        session = tf.get_default_session()
        return None if isinstance(session, tf.InteractiveSession) else session

    return override(tf, get_default_session=get_default_session)


@fault("SESSION-041", "A closed InteractiveSession stays the default session.")
def closed_interactive_stays_default(tf: Namespace) -> Namespace:
    """Answers with the thread's last closed one where nothing else is on the stack."""
    here = threading.local()

    class InteractiveSession(tf.InteractiveSession):  # type: ignore[misc, name-defined]
        def close(self) -> None:
            super().close()
            here.closed = self

    def get_default_session() -> Session | None:
        return tf.get_default_session() or getattr(here, "closed", None)

    return override(
        tf, InteractiveSession=InteractiveSession, get_default_session=get_default_session
    )


@fault("SESSION-042", "An InteractiveSession leaves the default graph as it was.")
def interactive_keeps_the_default_graph(tf: Namespace) -> Namespace:
    """Makes the former default graph the default again, until the session is closed."""

    class InteractiveSession(tf.InteractiveSession):  # type: ignore[misc, name-defined]
        former: Scope | None = None

        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            former = tf.get_default_graph().as_default()
            super().__init__(target, graph, config)
            if graph is not None:
                former.__enter__()
                self.former = former

        def close(self) -> None:
            if self.former is not None:
                self.former.__exit__(None, None, None)
                self.former = None
            super().close()

    return override(tf, InteractiveSession=InteractiveSession)
