"""More outputs for operations that call functions, whose gradients use more than they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sessrun.reference.base.attr_values import to_proto
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import Shape
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["add_outputs"]


def add_outputs(
    op: Operation,
    outputs: Sequence[tuple[DType, Shape]],
    attrs: Mapping[str, object],
    variables: Sequence[Tensor] | None = None,
) -> None:
    """Give an operation more outputs.

    Args:
      op: a call, a branch, or a loop.
      outputs: the dtype and the static shape of each new output.
      attrs: the attributes that change, its functions among them, as the operation keeps them.
      variables: of a loop, the first values of its new variables, one for each output.

    """
    start = len(op.outputs)
    added = [Tensor(op, index, *output) for index, output in enumerate(outputs, start)]
    op._extend(variables or [], added)  # noqa: SLF001 - only gradients change an operation
    dtypes = "Tout" if variables is None else "T"
    values: dict[str, Any] = {dtypes: [out.dtype.base_dtype.name for out in op.outputs]}
    if shapes := op.attrs.get("output_shapes"):
        values["output_shapes"] = [*shapes, *(out.sizes for out in added)]
    types = {attr.name: attr.type for attr in op.declaration.attrs}
    for name, value in {**values, **attrs}.items():
        op._set_attr(name, to_proto(value, types[name]))  # noqa: SLF001 - the same
