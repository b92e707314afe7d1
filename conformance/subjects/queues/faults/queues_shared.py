"""Faults of QUEUES: which nodes stand for one queue; queues with names, queues to choose from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.arguments import TensorLike
from sessrun.spec.cases.library import Queue
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Tensor
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef

_QUEUES: Final = frozenset(
    {"FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2"}
)


def _edited(tf: Namespace, edit: Callable[[NodeDef, list[NodeDef]], None]) -> Namespace:
    """The namespace that calls `edit(node, the queues before it)` for each queue it imports."""

    def change(definition: GraphDef) -> None:
        before: list[NodeDef] = []
        for node in definition.node:
            if node.op in _QUEUES:
                edit(node, before)
                before.append(node)

    return editing(tf, change)


@fault("QUEUES-050", "Each queue node has a queue of its own.")
def shared_names_are_not_used(tf: Namespace) -> Namespace:
    """Clear the shared name of a node whose name a like node shares."""

    def edit(node: NodeDef, before: list[NodeDef]) -> None:
        alike = [
            other.op == node.op
            and other.attr["capacity"] == node.attr["capacity"]
            and other.attr["shapes"] == node.attr["shapes"]
            and other.attr["component_types"] == node.attr["component_types"]
            for other in before
        ]
        if any(alike) and node.op != "RandomShuffleQueueV2":
            node.attr["shared_name"].s = b""

    return _edited(tf, edit)


@fault("QUEUES-051", "Containers make no difference between queues.")
def containers_are_not_used(tf: Namespace) -> Namespace:
    """Clear the containers of queues."""

    def edit(node: NodeDef, _before: list[NodeDef]) -> None:
        if node.attr["container"].s in {b"one", b"other"}:
            node.attr["container"].s = b""

    return _edited(tf, edit)


@fault("QUEUES-052", "A queue without a shared name shares its node's name.")
def every_name_is_shared(tf: Namespace) -> Namespace:
    """Set an empty `shared_name` to the node's name."""

    def edit(node: NodeDef, _before: list[NodeDef]) -> None:
        node.attr["shared_name"].s = node.attr["shared_name"].s or node.name.encode()

    return _edited(tf, edit)


@fault("QUEUES-053", "A node that asks for a shared queue of another make gets one of its own.")
def another_make_is_another_queue(tf: Namespace) -> Namespace:
    """Clear the shared name of a node that disagrees with an earlier node of that name."""

    def edit(node: NodeDef, before: list[NodeDef]) -> None:
        name = node.attr["shared_name"].s
        for other in before:
            if name and other.attr["shared_name"].s == name and _make(other) != _make(node):
                node.attr["shared_name"].s = b""

    return _edited(tf, edit)


def _make(node: NodeDef) -> tuple[str | bytes | list[int], ...]:
    """What two nodes of one queue must agree in; seeds are not compared."""
    names = ("capacity", "component_types", "min_after_dequeue", "container")
    attributes = (node.attr[name].SerializeToString(deterministic=True) for name in names)
    shapes = [len(shape.dim) for shape in node.attr["shapes"].list.shape]
    return (node.op, *attributes, shapes)


@fault("QUEUES-055", "A shared name may begin with an underscore.")
def underscores_may_be_first(tf: Namespace) -> Namespace:
    """Strip underscores from the front of shared names."""

    def edit(node: NodeDef, _before: list[NodeDef]) -> None:
        node.attr["shared_name"].s = node.attr["shared_name"].s.lstrip(b"_")

    return _edited(tf, edit)


@fault("QUEUES-056", "The elements of a queue with names come out as lists.")
def names_are_not_in_elements(tf: Namespace) -> Namespace:
    """Give the components as a list in the order of the names."""

    class FIFOQueue(tf.FIFOQueue):  # type: ignore[misc, name-defined]
        def dequeue(
            self, name: str | None = None
        ) -> Tensor | Sequence[Tensor] | Mapping[str, Tensor]:
            taken = super().dequeue(name)
            return [taken[key] for key in self.names] if isinstance(taken, dict) else taken

    return override(tf, FIFOQueue=FIFOQueue)


@fault("QUEUES-057", "Keys of a dictionary that the queue does not have are left out.")
def odd_keys_are_left_out(tf: Namespace) -> Namespace:
    """Drop the unknown keys without an error."""

    class FIFOQueue(tf.FIFOQueue):  # type: ignore[misc, name-defined]
        def enqueue(
            self, vals: TensorLike | Mapping[str, TensorLike], name: str | None = None
        ) -> Operation:
            if isinstance(vals, dict) and self.names:
                vals = {key: value for key, value in vals.items() if key in self.names}
            return super().enqueue(vals, name)

    return override(tf, FIFOQueue=FIFOQueue)


@fault("QUEUES-058", "Of several queues the first is chosen.")
def the_first_queue_is_chosen(tf: Namespace) -> Namespace:
    """Replace the selecting GatherV2 by an Identity of the first handle."""

    def change(definition: GraphDef) -> None:
        packs = {node.name: node for node in definition.node if node.op == "Pack"}
        for node in definition.node:
            pack = packs.get(node.input[0].partition(":")[0]) if node.input else None
            if node.op == "GatherV2" and pack is not None:
                kind = pack.attr["T"]
                if kind.type == tf.resource.as_datatype_enum:
                    node.attr.clear()
                    node.attr["T"].CopyFrom(kind)
                    first = pack.input[0]
                    del node.input[:]
                    node.op = "Identity"
                    node.input.append(first)

    return editing(tf, change)


@fault("QUEUES-060", "Queues of different dtypes can be chosen from.")
def queues_need_not_be_alike(tf: Namespace) -> Namespace:
    """Return the first queue instead of raising TypeError."""

    class QueueBase(tf.QueueBase):  # type: ignore[misc, name-defined]
        @staticmethod
        def from_list(index: TensorLike, queues: Sequence[Queue]) -> Queue | None:
            try:
                return tf.QueueBase.from_list(index, queues)
            except TypeError:
                return queues[0] if queues else None

    return override(tf, QueueBase=QueueBase)
