"""Operations that call functions, made anew so that they give more: what gradients need of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sessrun.reference.base.attr_values import to_proto
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["widen"]


def widen(
    op: Operation,
    outputs: Sequence[tuple[Any, Any]],
    attrs: Mapping[str, Any],
    variables: Sequence[Tensor] | None = None,
) -> None:
    """Give an operation more outputs.

    Args:
      op: a call, a branch, or a loop.
      outputs: for each new output its dtype and its static shape, or None for that.
      attrs: its functions, and what else is told otherwise than before, as it keeps them.
      variables: of a loop, the first values of its new variables, one for each output.

    """
    start = len(op.outputs)
    made = [Tensor(op, start + place, *each) for place, each in enumerate(outputs)]
    op._extend(variables or [], made)  # noqa: SLF001 - it is made anew here
    dtypes = "Tout" if variables is None else "T"
    values: dict[str, Any] = {dtypes: [each.dtype.base_dtype.name for each in op.outputs]}
    if shapes := op.attrs.get("output_shapes"):
        values["output_shapes"] = [*shapes, *(each.sizes for each in made)]
    types = {attr.name: attr.type for attr in op.declaration.attrs}
    for name, value in {**values, **attrs}.items():
        op._set_attr(name, to_proto(value, types[name]))  # noqa: SLF001 - the same
