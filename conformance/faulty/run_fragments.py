"""What faults of RUN share: the elements that a run fetches, its fragment, and edited graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from sessrun.conformance.faulty.framework import override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Element, FeedDict, Feeds, Fetches, Operation, Session, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef
from sessrun.spec.proto.metadata_pb2 import RunMetadata

__all__ = [
    "RANDOM",
    "UPDATES",
    "Base",
    "copied_for_last_consumer",
    "data_inputs",
    "edit_repeated",
    "editing",
    "elements",
    "fed",
    "giving",
    "needed",
    "reads_of_variables",
    "running",
]

#: The types of operations that add to a variable.
UPDATES: Final = frozenset({"AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp"})
#: The types of random operations with a shape, a `dtype` and one output.
RANDOM: Final = frozenset({"RandomUniform", "RandomStandardNormal", "TruncatedNormal"})


class Base(Protocol):
    """A run as the conforming namespace does it, with the caller's options."""

    def __call__(self, fetches: Fetches, feeds: Feeds = ...) -> Any:
        """The values of the fetches; without feeds, the caller's are fed."""


def running(tf: Namespace, change: Callable[[Session, Base, Any, FeedDict], Value]) -> Namespace:
    """The namespace whose `Session.run` is `change(session, base, fetches, feeds)`.

    `base(fetches, feeds)` is the conforming run with the caller's options; without feeds given
    it has the caller's. Feeds that the caller left out are an empty mapping.
    """

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            conforming = super().run

            def base(fetches: Fetches, feeds: Feeds = feed_dict) -> Value:
                return conforming(fetches, feeds, options, run_metadata)

            return change(self, base, fetches, {} if feed_dict is None else feed_dict)

    return override(tf, Session=Session)


def giving(tf: Namespace, change: Callable[[Any, Any], Value]) -> Namespace:
    """The namespace whose runs of a list of fetches give `change(value, tensor)` of each."""

    def run(session: Session, base: Base, fetches: Fetches, _feeds: Feeds) -> Value:
        values = base(fetches)
        if not isinstance(fetches, list):
            return values
        tensors = elements(session, fetches)
        if len(tensors) != len(values):  # lists within the list
            return values
        return [change(value, tensor) for value, tensor in zip(values, tensors, strict=True)]

    return running(tf, run)


def editing(tf: Namespace, change: Callable[[GraphDef], None]) -> Namespace:
    """The namespace whose `import_graph_def` imports a copy of the GraphDef, changed."""

    def import_graph_def(
        graph_def: GraphDef, *args: Any, **kwargs: Any
    ) -> Sequence[Element] | None:
        copy = tf.GraphDef()
        copy.CopyFrom(graph_def)
        change(copy)
        return tf.import_graph_def(copy, *args, **kwargs)

    return override(tf, import_graph_def=import_graph_def)


def elements(session: Session, fetches: Fetches) -> list[Any]:
    """The Tensors and Operations that a fetch structure names, in order; invalid ones left out."""
    if isinstance(fetches, Mapping):
        return elements(session, list(fetches.values()))
    if isinstance(fetches, list | tuple):
        return [element for item in fetches for element in elements(session, item)]
    try:
        return [session.graph.as_graph_element(fetches)]
    except (TypeError, ValueError, KeyError):
        return []


def fed(session: Session, feeds: Feeds) -> list[Any]:
    """The elements of the keys of a feed_dict, tensors for the most part; invalid keys left out."""
    return elements(session, list(feeds)) if isinstance(feeds, Mapping) else []


def needed(fetched: Iterable[Any], fed_tensors: Iterable[Element]) -> list[Operation]:
    """The operations that a run of these elements executes, if these tensors are fed."""
    replaced = {tensor.name for tensor in fed_tensors}
    seen: dict[str, Operation] = {}
    waiting = [getattr(e, "op", e) for e in fetched if e.name not in replaced]
    while waiting:
        op = waiting.pop()
        if op.name not in seen:
            seen[op.name] = op
            waiting += [tensor.op for tensor in op.inputs if tensor.name not in replaced]
            waiting += op.control_inputs
    return list(seen.values())


def data_inputs(node: NodeDef) -> list[str]:
    """The names of the nodes whose outputs a NodeDef consumes, in the order of its inputs."""
    return [name.partition(":")[0] for name in node.input if not name.startswith("^")]


def copied_for_last_consumer(definition: GraphDef, types: Iterable[str]) -> None:
    """Copy nodes of these types that have several consumers: the last consumer gets the copy."""
    for node in [node for node in definition.node if node.op in types]:
        users = [user for user in definition.node if node.name in data_inputs(user)]
        if len(users) > 1:
            copy = definition.node.add()
            copy.CopyFrom(node)
            copy.name = f"{node.name}/again"
            for index, name in enumerate(users[-1].input):
                if name.partition(":")[0] == node.name:
                    users[-1].input[index] = copy.name


def edit_repeated(
    definition: GraphDef, types: Iterable[str], make: Callable[[NodeDef, str], None]
) -> None:
    """Call `make(node, first)` for nodes of these types that repeat an earlier node.

    A node repeats one of the same type with the same inputs; `first` is the name of that one.
    """
    first: dict[tuple[str, ...], str] = {}
    for node in [node for node in definition.node if node.op in types]:
        earlier = first.setdefault((node.op, *node.input), node.name)
        if earlier != node.name:
            make(node, earlier)


def reads_of_variables(definition: GraphDef) -> list[tuple[str, NodeDef]]:
    """The Identity nodes of a GraphDef that read a reference variable, with their names."""
    variables = {node.name for node in definition.node if node.op in {"Variable", "VariableV2"}}
    return [
        (node.name, node)
        for node in definition.node
        if node.op == "Identity" and node.input[0] in variables
    ]
