"""Graphs of one queue and every operation on it, for any kind, components and capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, shape_attr, text_attr
from sessrun.spec.forms import Json

__all__ = ["KINDS", "Component", "Terms", "queue_graph", "write_queue"]

#: The kinds of queues, by the word that cases use, with their op types.
KINDS: Final[Mapping[str, str]] = {
    "fifo": "FIFOQueueV2",
    "padding": "PaddingFIFOQueueV2",
    "priority": "PriorityQueueV2",
    "shuffle": "RandomShuffleQueueV2",
}

#: A component: its dtype and its shape, None where it is not known.
Component = tuple[str, tuple[int | None, ...] | None]


@dataclass(frozen=True, slots=True)
class Terms:
    """The parameters of a queue.

    Attributes:
      kind: one of `KINDS`.
      capacity: how many elements it has room for.
      components: what an element consists of; a PriorityQueue's priority is not among them.
      reserve: `min_after_dequeue` of a RandomShuffleQueue.
      seed: the seed of a RandomShuffleQueue's order, 0 for none.
      shared_name: its shared name, or none.

    """

    kind: str
    capacity: int
    components: tuple[Component, ...]
    reserve: int = 0
    seed: int = 0
    shared_name: str = ""

    @property
    def fed_components(self) -> tuple[Component, ...]:
        """What an element that is fed consists of: a PriorityQueue's priority comes first."""
        first: tuple[Component, ...] = (("int64", ()),)
        return (*first, *self.components) if self.kind == "priority" else self.components


def write_queue(writer: GraphWriter, terms: Terms, name: str = "queue") -> None:
    """Write a queue, and a node `NAME/OPERATION` for each operation on it.

    `put` takes the placeholders `x0`, `x1`, …, and `puts` (many elements) `rows0`, `rows1`, ….
    `take`, `takes` and `up_to` have an output for each component; the last two take the number
    `n`. `size` and `closed` read the queue, `close` and `cancel` close it, `cancel` with
    `cancel_pending_enqueues`.
    """
    attrs: dict[str, Json] = {
        "component_types": {"list": {"type": [dtype_attr(d)["type"] for d, _ in terms.components]}},
        "shapes": {
            "list": {
                "shape": [
                    shape_attr(shape)["shape"] for _, shape in terms.components if shape is not None
                ]
            }
        },
        "capacity": {"i": str(terms.capacity)},
        "shared_name": text_attr(terms.shared_name),
    }
    if terms.kind == "shuffle":
        attrs |= {"min_after_dequeue": {"i": str(terms.reserve)}, "seed": {"i": str(terms.seed)}}
        attrs["seed2"] = {"i": str(terms.seed)}
    writer.node(KINDS[terms.kind], (), attrs, name)
    types = {"list": {"type": [dtype_attr(dtype)["type"] for dtype, _ in terms.fed_components]}}
    enqueues = (("put", "QueueEnqueueV2", "x"), ("puts", "QueueEnqueueManyV2", "rows"))
    for node, op, prefix in enqueues:
        given = [
            writer.placeholder(dtype, None, f"{name}/{prefix}{index}")
            for index, (dtype, _) in enumerate(terms.fed_components)
        ]
        writer.node(op, [name, *given], {"Tcomponents": types}, f"{name}/{node}")
    count = writer.placeholder("int32", (), f"{name}/n")
    kinds = {"component_types": types}
    writer.node("QueueDequeueV2", [name], kinds, f"{name}/take")
    writer.node("QueueDequeueManyV2", [name, count], kinds, f"{name}/takes")
    writer.node("QueueDequeueUpToV2", [name, count], kinds, f"{name}/up_to")
    writer.node("QueueSizeV2", [name], {}, f"{name}/size")
    writer.node("QueueIsClosedV2", [name], {}, f"{name}/closed")
    for node, cancels in (("close", False), ("cancel", True)):
        attr = {"cancel_pending_enqueues": {"b": cancels}}
        writer.node("QueueCloseV2", [name], attr, f"{name}/{node}")


def queue_graph(terms: Terms | Sequence[Terms]) -> dict[str, Json]:
    """The GraphDef of one queue called `queue`, or of several called `queue0`, `queue1`, …."""
    writer = GraphWriter()
    if isinstance(terms, Terms):
        write_queue(writer, terms)
    else:
        for number, queue_terms in enumerate(terms):
            write_queue(writer, queue_terms, f"queue{number}")
    return writer.graph()
