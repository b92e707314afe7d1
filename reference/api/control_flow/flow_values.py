"""Values that pass in and out of branches and loops: TensorArrays as flows, merges, switches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.context import op_type_for, switched
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.shape_ops import shape_internal
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.base.dtypes import int32, int64
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "as_indexed_slices",
    "as_slices",
    "flow_of",
    "merged",
    "merged_with_index",
    "switched_value",
    "with_flow",
]


#: What flows through the operations of control flow: a tensor, rows of one, a sparse tensor.
Flow = TypeVar("Flow", bound="Tensor | IndexedSlices | SparseTensor")


class Merged(NamedTuple):
    """A value that is alive, and its number among those that could be."""

    output: Any
    value_index: Tensor


def flow_of(value: object) -> Any:
    """The flow of an array of tensors; any other value is itself."""
    return value.flow if isinstance(value, TensorArray) else value


def with_flow(like: object, flow: Tensor) -> TensorArray | Tensor:
    """An array of tensors as `like`, after `flow`; the flow itself where `like` is no array."""
    return like._after(flow) if isinstance(like, TensorArray) else flow  # noqa: SLF001 - it hands arrays on


def merged(values: Sequence[Flow], name: str | None = None) -> Flow:
    """A `Merge`: the first value that is alive, of tensors, or rows of one where one is that."""
    output: Flow = merged_with_index(list(values), name).output
    return output


def merged_with_index(values: list[Any], name: str | None = None) -> Merged:
    """A `Merge`: its output, and the index of the value that it took."""
    if all(isinstance(value, Tensor) for value in values):
        op = apply_op(op_type_for("Merge", *values), {"inputs": values}, {}, name or "Merge")
        return Merged(*op.outputs)
    with name_scope(name, "Merge", values):
        if not any(isinstance(value, SparseTensor) for value in values):
            values = as_slices(values)
        columns = zip(*(item.parts() for item in values), strict=True)
        pairs = [merged_with_index(list(column)) for column in columns]
    result = type(values[0])(*(pair.output for pair in pairs))
    return Merged(result, pairs[0].value_index)


def switched_value(
    value: Tensor | IndexedSlices, pred: Tensor, name: str = "Switch"
) -> tuple[Any, Any]:
    """A `Switch` of a tensor or IndexedSlices: its outputs for false and for true."""
    if not isinstance(value, IndexedSlices):
        off, on = switched(value, pred, name)
        return off, on
    graph = default_graph.get_default_graph()
    with graph.colocate_with(value, ignore_existing=True), name_scope(name, "Switch", [pred]):
        inputs = [{"data": part, "pred": pred} for part in value.parts()]
        pairs = [apply_op("Switch", pair_of_inputs, {}).outputs for pair_of_inputs in inputs]
    offs, ons = zip(*pairs, strict=True)
    return IndexedSlices(*offs), IndexedSlices(*ons)


def as_slices(values: Sequence[Tensor | IndexedSlices]) -> list[IndexedSlices]:
    """The values as IndexedSlices whose indices have the same dtype."""
    slices = [as_indexed_slices(value, optimize=False) for value in values]
    if len({item.indices.dtype for item in slices}) == 1:
        return slices
    return [
        item
        if item.indices.dtype != int32
        else IndexedSlices(item.values, cast(item.indices, int64), item.dense_shape)
        for item in slices
    ]


def as_indexed_slices(x: TensorLike, optimize: bool = True) -> IndexedSlices:
    """All rows of a tensor; rows of one are themselves.

    Args:
      x: a Tensor, or IndexedSlices.
      optimize: whether a shape that is known becomes a constant.

    Raises:
      TypeError: `x` is neither a Tensor nor IndexedSlices.

    """
    if isinstance(x, IndexedSlices):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}.")
    dense_shape = shape_internal(x, optimize=optimize)
    return IndexedSlices(x, range_(0, dense_shape[0]), dense_shape)
