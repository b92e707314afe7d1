"""Faults of SESSION: blocks left in any order, shapes in every GraphDef, targets."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Graph, Session
from sessrun.spec.proto.config_pb2 import ConfigProto
from sessrun.spec.proto.graph_pb2 import GraphDef


@fault("SESSION-063", "Default-session blocks can be left in any order.")
def blocks_end_in_any_order(tf: Namespace) -> Namespace:
    """Keeps quiet about a block that is not innermost, and forgets its session."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @contextlib.contextmanager
        def as_default(self) -> Iterator[Session]:
            block = super().as_default()
            block.__enter__()
            try:
                yield self
            finally:
                with contextlib.suppress(AssertionError):
                    block.__exit__(None, None, None)

        def __exit__(self, *raised: object) -> bool | None:
            with contextlib.suppress(AssertionError):
                return super().__exit__(*raised)
            return None

    return override(tf, Session=Session)


@fault("SESSION-064", "A block that is not innermost leaves no default session.")
def blocks_take_the_default_session(tf: Namespace) -> Namespace:
    """Forgets every default session once a block has ended in an AssertionError."""
    ended: list[bool] = []

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @contextlib.contextmanager
        def as_default(self) -> Iterator[Any]:
            with _noting(ended), super().as_default():
                yield self

        def __exit__(self, *raised: object) -> bool | None:
            with _noting(ended):
                return super().__exit__(*raised)

    return override(
        tf,
        Session=Session,
        get_default_session=lambda: None if ended else tf.get_default_session(),
    )


@contextlib.contextmanager
def _noting(ended: list[bool]) -> Iterator[None]:
    """Note that an AssertionError was raised."""
    try:
        yield
    except AssertionError:
        ended.append(True)
        raise


@fault("SESSION-066", "An InteractiveSession whose close fails stays open.")
def failed_closes_leave_sessions_open(tf: Namespace) -> Namespace:
    """Asks whether another session is the default before it closes."""

    class InteractiveSession(tf.InteractiveSession):  # type: ignore[misc, name-defined]
        def close(self) -> None:
            if tf.get_default_session() not in {self, None}:
                raise AssertionError("nesting violated")
            super().close()

    return override(tf, InteractiveSession=InteractiveSession)


@fault("SESSION-065", "An InteractiveSession can be closed whatever session is the default.")
def interactive_ones_close_in_any_order(tf: Namespace) -> Namespace:
    """Keeps quiet about other sessions on the stack."""

    class InteractiveSession(tf.InteractiveSession):  # type: ignore[misc, name-defined]
        def close(self) -> None:
            with contextlib.suppress(AssertionError):
                super().close()

    return override(tf, InteractiveSession=InteractiveSession)


@fault("SESSION-050", "The nodes of every session's graph_def tell their shapes.")
def every_graph_def_has_shapes(tf: Namespace) -> Namespace:
    """Asks the graph for shapes, whatever the config says."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @property
        def graph_def(self) -> GraphDef:
            return self.graph.as_graph_def(add_shapes=True)

    return override(tf, Session=Session)


@fault("SESSION-051", "A target that is no string is TypeError, None too.")
def the_target_is_a_string(tf: Namespace) -> Namespace:
    """Refuses None."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            if target is None:
                raise TypeError("target must be a string")
            super().__init__(target, graph, config)

    return override(tf, Session=Session)
