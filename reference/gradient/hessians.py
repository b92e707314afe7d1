"""Second derivatives: `hessians`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from sessrun.reference.api.control_flow.while_loops import while_loop
from sessrun.reference.api.ops.array_ops import concat, reshape
from sessrun.reference.api.ops.shape_ops import shape, size
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["hessian_vector_product", "hessians"]


@public("hessians")
def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """The second derivatives of the sum of the ys by each two elements of each x.

    Args:
      ys: a tensor or a list of them.
      xs: a tensor or a list of them.
      name: not used, as in TensorFlow.
      colocate_gradients_with_ops: as for `gradients`.
      gate_gradients: as for `gradients`.
      aggregation_method: as for `gradients`.

    Returns:
      For each x a tensor of shape [*x.shape, *x.shape].

    Raises:
      LookupError, ValueError, TypeError: as `gradients`.

    """
    sources = xs if isinstance(xs, list | tuple) else [xs]
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    firsts = gradients(ys, sources, **options)
    return [_hessian(x, first, options) for x, first in zip(sources, firsts, strict=True)]


def _hessian(x: Any, first: Gradient, options: Mapping[str, Any]) -> Tensor:
    """The gradients by x of the elements of the first gradient, made in a loop."""
    flat = reshape(first, [-1])
    count = size(x)
    start = [constant(0, dtypes.int32), TensorArray(x.dtype, count)]

    def write_row(index: Tensor, rows: TensorArray) -> tuple[Tensor, TensorArray]:
        following = index + 1  # before the row, as TensorFlow makes its nodes
        row = gradients(flat[index], x, **options)[0]
        return following, rows.write(index, cast("Tensor", row))

    _, rows = while_loop(lambda index, _: index < count, write_row, start)
    sizes = shape(x)
    return reshape(rows.stack(), concat((sizes, sizes), 0))


def hessian_vector_product(
    ys: TensorLike, xs: list[TensorLike], v: list[TensorLike]
) -> list[Gradient]:
    """The matrix of second derivatives of the sum of the ys, times a vector.

    Args:
      ys: a tensor or a list of them.
      xs: a list of tensors.
      v: for each x a tensor of its shape.

    Returns:
      For each x a tensor of its shape, as `gradients`.

    Raises:
      ValueError: `v` is not as long as `xs`; or as `gradients`.
      LookupError, TypeError: as `gradients`.

    """
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    products = [
        node("Mul", first, node("StopGradient", vector))
        for first, vector in zip(gradients(ys, xs), v, strict=True)
        if first is not None
    ]
    return gradients(products, xs)
