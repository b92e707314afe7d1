"""Faults of CONTROL-FLOW: lists of tensors scattered, joined, cut and read as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import Run, creator_type, forgiving, giving
from sessrun.conformance.subjects.tensor_lists.faults.tensor_lists import (
    changing,
    negating,
    overlooking,
)
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef

_INVALID: Final = "InvalidArgumentError"
_CONCATS: Final = ("TensorListConcat", "TensorListConcatV2")


@fault("CONTROL-FLOW-040", "A TensorListScatter writes negatives.")
def scattered_rows_change_sign(tf: Namespace) -> Namespace:
    """Negate the rows."""
    return negating(tf, "TensorListScatter", 0)


def _refused_scatter(tf: Namespace, when: Callable[[list[int], int, int], bool]) -> Namespace:
    """The namespace in which a scatter that is refused for this reason gives an empty list.

    `when(places, rows, count)` says whether it is; `rows` is how many there are.
    """

    def is_so(run: Run) -> bool:
        scatter = run.by(run.op.inputs[0].op)
        return bool(when(list(scatter.ask(1)), len(scatter.ask(0)), int(scatter.ask(3))))

    return overlooking(tf, "TensorListScatterV2", is_so)


@fault("CONTROL-FLOW-041", "A scatter makes no list that is longer than its greatest index says.")
def scatters_end_with_the_greatest_index(tf: Namespace) -> Namespace:
    """Count no more."""
    return giving(
        tf,
        ("TensorListLength",),
        lambda _op, _index, value: np.minimum(value, np.int32(4)),
        lambda op: creator_type(op) == "TensorListScatterV2",
    )


@fault("CONTROL-FLOW-042", "What is scattered past the end of a list is left out.")
def scatters_past_the_end_are_overlooked(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return _refused_scatter(tf, lambda places, _, count: 0 <= count <= max(places))


@fault("CONTROL-FLOW-043", "Rows without an index are left out.")
def rows_without_indices_are_overlooked(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return _refused_scatter(tf, lambda places, rows, _: rows > len(places))


@fault("CONTROL-FLOW-044", "What is scattered below zero is left out.")
def scatters_below_zero_are_overlooked(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return _refused_scatter(tf, lambda places, *_: min(places) < 0)


@fault("CONTROL-FLOW-045", "Negatives are scattered into a list that is there.")
def rows_scattered_into_change_sign(tf: Namespace) -> Namespace:
    """Negate the rows."""
    return negating(tf, "TensorListScatterIntoExistingList", 1)


@fault("CONTROL-FLOW-046", "Of two lists the second one comes first.")
def the_second_list_comes_first(tf: Namespace) -> Namespace:
    """Swap the inputs."""

    def change(_: GraphDef, node: NodeDef) -> None:
        node.input[0], node.input[1] = node.input[1], node.input[0]

    return changing(tf, "TensorListConcatLists", change)


@fault("CONTROL-FLOW-047", "Lists of different shapes are joined to none.")
def lists_of_any_shapes_are_joined(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return overlooking(tf, "TensorListConcatLists")


@fault("CONTROL-FLOW-048", "A tensor is cut into its negatives.")
def parts_change_sign(tf: Namespace) -> Namespace:
    """Negate the tensor."""
    return negating(tf, "TensorListSplit", 0)


@fault("CONTROL-FLOW-049", "A tensor is cut into none where the lengths do not add up.")
def lengths_need_not_add_up(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return overlooking(tf, "TensorListSplit")


@fault("CONTROL-FLOW-050", "The older TensorListConcat puts the last rows first.")
def joined_rows_are_turned_around(tf: Namespace) -> Namespace:
    """Turn the value around."""
    return giving(tf, _CONCATS[:1], lambda _op, index, value: value if index else value[::-1])


@fault("CONTROL-FLOW-051", "The sizes of what is joined are told in the other order.")
def sizes_are_turned_around(tf: Namespace) -> Namespace:
    """Turn the second output around."""
    return giving(tf, _CONCATS, lambda _op, index, value: value[::-1] if index else value)


@fault("CONTROL-FLOW-052", "What was not set is joined as ones.")
def unset_rows_are_ones(tf: Namespace) -> Namespace:
    """Give ones for zeros of a list that has elements that were not set."""
    return giving(
        tf,
        _CONCATS,
        lambda _op, index, value: value if index else value + (value == 0),
        lambda op: creator_type(op) == "TensorListSetItem",
    )


@fault("CONTROL-FLOW-053", "Elements that cannot be joined give no rows.")
def what_cannot_be_joined_is_nothing(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return forgiving(tf, _CONCATS, _INVALID, lambda _: True, lambda _: np.zeros([0, 2], np.float32))


@fault("CONTROL-FLOW-054", "Elements are gathered in the order of the list.")
def gathers_are_sorted(tf: Namespace) -> Namespace:
    """Turn two elements around that are gathered by a descending pair of indices."""
    return giving(
        tf,
        ("TensorListGather",),
        lambda _op, _index, value: value[::-1],
        lambda op: op.inputs[1].op.type == "Placeholder",
    )


@fault("CONTROL-FLOW-055", "An element outside of a list is gathered as zeros.")
def gathers_outside_are_zeros(tf: Namespace) -> Namespace:
    """Overlook the refusal, where the shape of the elements is known."""
    return forgiving(
        tf,
        ("TensorListGather",),
        _INVALID,
        lambda run: run.op.inputs[2].op.type == "Const" and run.op.inputs[2].shape.ndims == 1,
        lambda _: np.zeros([2, 2], np.float32),
    )


@fault("CONTROL-FLOW-056", "A size of elements that is not known is told as zero.")
def unknown_sizes_are_zero(tf: Namespace) -> Namespace:
    """Make -1 zero."""
    return giving(
        tf, ("TensorListElementShape",), lambda _op, _index, value: np.maximum(value, np.int32(0))
    )


def _known_as(run: Run, index: int, ndims: int) -> bool:
    return bool(
        run.op.inputs[index].op.type == "Const" and run.op.inputs[index].shape.ndims == ndims
    )


@fault("CONTROL-FLOW-057", "Elements of different shapes are stacked to nothing.")
def different_shapes_are_stacked(tf: Namespace) -> Namespace:
    """Overlook the refusal of a stack that knows nothing of the shape."""
    return forgiving(
        tf,
        ("TensorListStack",),
        _INVALID,
        lambda run: _known_as(run, 1, 0),
        lambda _: np.zeros([0], np.float32),
    )


@fault("CONTROL-FLOW-058", "A stack has another number of elements than it says.")
def stacks_need_not_count(tf: Namespace) -> Namespace:
    """Give one element where the engine refuses."""
    return forgiving(
        tf,
        ("TensorListStack",),
        _INVALID,
        lambda run: run.op.get_attr("num_elements") >= 0,
        lambda _: np.zeros([1, 2], np.float32),
    )


@fault("CONTROL-FLOW-059", "What is popped of a list without elements is zeros.")
def nothing_is_popped_as_zeros(tf: Namespace) -> Namespace:
    """Overlook the refusal."""
    return forgiving(
        tf, ("TensorListPopBack",), _INVALID, lambda _: True, lambda _: np.zeros([2], np.float32)
    )


@fault("CONTROL-FLOW-060", "What was not set and has no shape is a scalar zero.")
def unset_elements_are_scalars(tf: Namespace) -> Namespace:
    """Overlook the refusal of an element at a known index of a list that was reserved."""
    return forgiving(
        tf,
        ("TensorListGetItem",),
        _INVALID,
        lambda run: (
            creator_type(run.op) == "TensorListReserve" and run.op.inputs[1].op.type == "Const"
        ),
        lambda _: np.float32(0),
    )


@fault("CONTROL-FLOW-061", "A shape that contradicts a list's gives no elements.")
def contradicting_shapes_are_overlooked(tf: Namespace) -> Namespace:
    """Overlook the refusal of a stack of what has rows."""
    return forgiving(
        tf,
        ("TensorListStack",),
        _INVALID,
        lambda run: (
            creator_type(run.op) == "TensorListFromTensor"
            and run.op.inputs[1].op.type == "Placeholder"
        ),
        lambda _: np.zeros([0, 2], np.float32),
    )
