"""Faults of TABLES, ACCUMULATORS, BARRIERS, STAGING and STACKS, which change some runs.

Each function here takes op types, and makes a namespace that changes the runs that fetch an
operation of such a type: the vectors of these subjects fetch their operations by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sessrun.conformance.faulty.framework import override
from sessrun.conformance.faulty.run_fragments import editing, elements, fed, needed, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Operation, Session, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.graph_pb2 import DataType, GraphDef, NodeDef
from sessrun.spec.proto.metadata_pb2 import RunMetadata

__all__ = [
    "Run",
    "clearing",
    "creator_type",
    "executing",
    "failing",
    "fed_as",
    "forgiving",
    "giving",
    "inside",
    "nodes_of",
    "recoding",
    "sharing",
]

#: The types of the operations that a fault is about.
Types = Iterable[str]

#: A function that runs the fetches in the conforming namespace.
Base = Callable[[], Any]


class Run:
    """A run that fetches an operation of a certain type.

    Attributes:
      session: its session.
      op: the operation.
      base: the conforming run, of `base(fetches)` with the caller's feeds.

    """

    def __init__(self, session: Session, op: Operation, base: Call) -> None:
        self.session = session
        self.op = op
        self._base = base

    def ask(self, index: int) -> Any:
        """The value of one of the operation's inputs."""
        return self._base(self.op.inputs[index])

    def by(self, op: Operation) -> Run:
        """The same run, with another operation that it fetches."""
        return Run(self.session, op, self._base)

    def also(self, tf: Namespace, build: Callable[[Namespace], Fetches]) -> Any:
        """The values of `build(tf.raw_ops)`, which are run before this run ends."""
        with inside(tf, self.session):
            result = build(tf.raw_ops)
        return self._base(result)

    def note(self, name: str, first: Any) -> Any:
        """The object that the fault keeps with the session under a name, `first` at first."""
        return vars(self.session).setdefault(f"faulty_{name}", first)


@contextmanager
def inside(tf: Namespace, session: Session) -> Iterator[None]:
    """Build in the session's graph, without the control dependencies that are in force there."""
    with session.graph.as_default(), tf.control_dependencies(None):
        yield


def creator_type(op: Operation, index: int = 0) -> str:
    """The type of the operation that gives an input; the first input is the resource, mostly."""
    return str(op.inputs[index].op.type)


def _fetched(session: Session, fetches: Fetches, types: Types) -> list[Operation]:
    ops = [getattr(element, "op", element) for element in elements(session, fetches)]
    return [op for op in dict.fromkeys(ops) if op.type in types]


def executing(tf: Namespace, types: Types, change: Callable[[Run, Base], Value]) -> Namespace:
    """The namespace whose runs of such an operation give `change(run, base)`."""
    types = frozenset(types)

    def changed(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        ops = _fetched(session, fetches, types)
        if not ops:
            return base(fetches)

        def also(others: Fetches) -> Value:
            return base(others, feeds)

        return change(Run(session, ops[0], also), lambda: base(fetches))

    return running(tf, changed)


def failing(tf: Namespace, types: Types, error: str, when: Callable[[Run], bool]) -> Namespace:
    """The namespace in which such an operation fails with an error, where `when(run)` says so."""

    def change(run: Run, base: Base) -> Value:
        if when(run):
            raise getattr(tf.errors, error)(None, None, "refused")
        return base()

    return executing(tf, types, change)


def recoding(
    tf: Namespace,
    types: Types,
    error: str,
    other: str,
    when: Callable[[Run], bool] = lambda _: True,
) -> Namespace:
    """The namespace in which such an operation fails with the error `other` in place of `error`."""

    def change(run: Run, base: Base) -> Value:
        try:
            return base()
        except getattr(tf.errors, error) as raised:
            if not when(run):
                raise
            raise getattr(tf.errors, other)(None, None, "refused otherwise") from raised

    return executing(tf, types, change)


def forgiving(
    tf: Namespace,
    types: Types,
    error: str,
    when: Callable[[Run], bool] = lambda _: True,
    value: Callable[[Run], Value] = lambda _: None,
) -> Namespace:
    """The namespace in which such an operation does not fail, but gives `value(run)`."""

    def change(run: Run, base: Base) -> Value:
        try:
            return base()
        except getattr(tf.errors, error):
            if not when(run):
                raise
            return [value(run)]

    return executing(tf, types, change)


def giving(
    tf: Namespace,
    types: Types,
    change: Callable[[Operation, int, Any], Value],
    when: Callable[[Operation], bool] = lambda _: True,
) -> Namespace:
    """The namespace that gives `change(op, index, value)` for outputs of such operations."""
    types = frozenset(types)

    def changed(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        del feeds
        values = base(fetches)
        if not isinstance(fetches, list):
            return values
        for index, fetch in enumerate(fetches):
            fetched = elements(session, [fetch])
            if len(fetched) != 1:  # a list within the list, or nothing that a graph has
                continue
            op = getattr(fetched[0], "op", None)
            if op is not None and op.type in types and when(op):
                values[index] = change(op, fetched[0].value_index, values[index])
        return values

    return running(tf, changed)


def sharing(tf: Namespace, types: Types) -> Namespace:
    """The namespace in which sessions of equal graphs share what such operations keep."""
    types = frozenset(types)
    firsts: dict[frozenset[str], Session] = {}

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            names = frozenset(op.name for op in self.graph.get_operations())
            first = firsts.setdefault(names, self)
            ops = needed(elements(self, fetches), fed(self, feed_dict))
            if first is self or not any(op.type in types for op in ops):
                return super().run(fetches, feed_dict, options, run_metadata)
            return first.run(fetches, feed_dict, options, run_metadata)

        def close(self) -> None:
            for names in [names for names, first in firsts.items() if first is self]:
                del firsts[names]
            super().close()

    return override(tf, Session=Session)


def nodes_of(definition: GraphDef, types: Types) -> list[NodeDef]:
    """The nodes of these types."""
    types = frozenset(types)
    return [node for node in definition.node if node.op in types]


def clearing(tf: Namespace, types: Types, attr: str) -> Namespace:
    """The namespace that imports such nodes with an attribute that is an empty text."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, types):
            node.attr[attr].s = b""

    return editing(tf, change)


def fed_as(
    definition: GraphDef,
    node: NodeDef,
    index: int,
    op: str,
    inputs: Iterable[str],
    **types: DataType,
) -> None:
    """Put a new operation between a node and one of its inputs.

    The input becomes the first input of the new operation; `inputs` are the others.
    """
    inserted = definition.node.add()
    inserted.name = f"{node.name}/changed_{index}"
    inserted.op = op
    inserted.input.extend([node.input[index], *inputs])
    for name, enum in types.items():
        inserted.attr[name].type = enum
    node.input[index] = inserted.name
