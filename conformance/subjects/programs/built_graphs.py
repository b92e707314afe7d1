"""The nodes that a function builds in a graph of its own, and the values of what it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, Plain
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Graph
from sessrun.spec.since import is_newer

if TYPE_CHECKING:  # a worker in an environment of its own lacks these messages
    from sessrun.spec.proto.graph_pb2 import AttrValue, NodeDef

__all__ = ["built", "fed", "nodes"]

_IMPLIED = {"_output_shapes", "T"}


def nodes(graph: Graph) -> list[str]:
    """The nodes of a graph, a line each: name, type, inputs, attributes."""
    return [_line(node) for node in graph.as_graph_def().node]


def _line(node: NodeDef) -> str:
    attrs = [
        f"{key}={_text(value)}"
        for key, value in sorted(node.attr.items())
        if key not in _IMPLIED and not is_newer(node.op, key)
    ]
    return " ".join([node.name, node.op, *node.input, *attrs])


def _text(value: AttrValue) -> str:
    """A message in one line; some releases of protobuf escape quotation marks in strings."""
    line = " ".join(str(value).split())
    return line.replace("\\'", "'").replace('\\"', '"')


def built(
    tf: Namespace, build: Action, feeds: Callable[[Graph], Feeds] | None = None
) -> list[Plain]:
    """What a function returns in a graph of its own, the nodes of the graph, and the values."""

    def build_and_run() -> tuple[object, list[str], list[Plain]]:
        with tf.Graph().as_default() as graph:
            outputs = build()
            graph_nodes = nodes(graph)
            with tf.Session() as session:
                values = attempt(lambda: session.run(outputs, feeds and feeds(graph)))
            return outputs, graph_nodes, values

    return attempt(build_and_run)


def fed(*values: Plain) -> Callable[[Graph], dict[str, Plain]]:
    """The feeds of the placeholders p, p_1, ... of a graph."""

    def feeds(_graph: Graph) -> dict[str, Plain]:
        names = ["p:0", *(f"p_{number}:0" for number in range(1, len(values)))]
        return dict(zip(names, values, strict=True))

    return feeds
