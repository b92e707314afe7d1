"""Faults of SESSION: what a session takes from its maker, and what it leaves as it was."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument, Scope
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Graph, Session, Value
from sessrun.spec.proto.config_pb2 import ConfigProto
from sessrun.spec.proto.graph_pb2 import GraphDef


@fault("SESSION-052", "A session that is the default makes its graph the default too.")
def default_sessions_bring_their_graph(tf: Namespace) -> Namespace:
    """Enter the graph before the session."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @contextlib.contextmanager
        def as_default(self) -> Iterator[Session]:
            with self.graph.as_default(), super().as_default() as session:
                yield session

    return override(tf, Session=Session)


@fault("SESSION-053", "graph_def stays what it was when it was asked for first.")
def graph_defs_are_kept(tf: Namespace) -> Namespace:
    """Return the GraphDef of the first call."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @property
        def graph_def(self) -> GraphDef:
            if "kept" not in self.__dict__:
                self.kept = super().graph_def
            return self.kept

    return override(tf, Session=Session)


@fault("SESSION-054", "A with block left by an exception leaves its graph the default one.")
def exceptions_leave_the_graph(tf: Namespace) -> Namespace:
    """Enter the graph again."""
    left: list[Scope] = []  # kept: a block that is forgotten is left, in whatever thread

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __exit__(self, *raised: object) -> bool | None:
            done = super().__exit__(*raised)
            if raised[0] is not None:
                left.append(self.graph.as_default())
                left[-1].__enter__()
            return done

    return override(tf, Session=Session)


@fault("SESSION-055", "Soft placement that the caller's config asks for later is granted.")
def configs_are_read_again(tf: Namespace) -> Namespace:
    """Run in a session with the config's present content."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            super().__init__(target, graph, config)
            self.callers = None if getattr(config, "allow_soft_placement", True) else config

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            if self.callers is not None and self.callers.allow_soft_placement:
                return tf.Session("", self.graph, self.callers).run(*args, **kwargs)
            return super().run(*args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-056", "A session runs only in the thread that opened it.")
def sessions_belong_to_a_thread(tf: Namespace) -> Namespace:
    """Refuse runs in other threads than the one that opened the session."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **kwargs)
            self.thread = threading.get_ident()

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            if threading.get_ident() != self.thread:
                raise RuntimeError("The session belongs to another thread.")
            return super().run(*args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-060", "The run after a refused one is executed twice.")
def refused_runs_are_made_up_for(tf: Namespace) -> Namespace:
    """Repeat the run that follows a refused one, as a client that retries and miscounts."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            if self.__dict__.pop("refused", False):
                super().run(*args, **kwargs)
            try:
                return super().run(*args, **kwargs)
            except tf.errors.OpError:
                self.__dict__["refused"] = True
                raise

    return override(tf, Session=Session)
