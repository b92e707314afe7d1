"""Second derivatives: `hessians`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessrun.reference import dtypes
from sessrun.reference.constant_op import constant
from sessrun.reference.control_flow.while_loops import while_loop
from sessrun.reference.differentiation.backprop import gradients
from sessrun.reference.ops.array_ops import concat, reshape
from sessrun.reference.ops.shape_ops import shape, size
from sessrun.reference.tensor import Tensor
from sessrun.reference.tensor_arrays import TensorArray

__all__ = ["EXPORTS", "hessians"]


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """For each x the matrix of second derivatives of the sum of the ys by its elements.

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
        "gate_gradients": gate_gradients, "aggregation_method": aggregation_method,
    }  # fmt: skip
    firsts = gradients(ys, sources, **options)
    return [_by(x, first, options) for x, first in zip(sources, firsts, strict=True)]


def _by(x: Any, first: Any, options: Mapping[str, Any]) -> Tensor:
    """The gradient of each element of a gradient, one after the other."""
    flat = reshape(first, [-1])
    count = size(x)
    start = [constant(0, dtypes.int32), TensorArray(x.dtype, count)]

    def following(index: Any, rows: Any) -> Any:
        return index + 1, rows.write(index, gradients(flat[index], x, **options)[0])

    _, rows = while_loop(lambda index, _: index < count, following, start)
    whole = shape(x)
    return reshape(rows.stack(), concat((whole, whole), 0))


EXPORTS: Final[Mapping[str, Any]] = {"hessians": hessians}
