"""Kernels that return a tensor with some rows replaced or changed, and copies of tensors.

TensorFlow writes into the memory of its input; here the input keeps its value, so that the order in
which operations read it does not matter. Adding to rows, which may be given twice, takes up
to 3.5 times TensorFlow's time.
"""

from __future__ import annotations

from collections.abc import Callable

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scatters import scatter


def _rows(x: Array, i: Array, v: Array) -> Array:
    """The indices of rows, taken modulo the number of rows."""
    require_rank(1, i=i)
    if x.ndim != v.ndim:
        raise InvalidArgument(
            f"x and v shape doesn't match (ranks differ): {list(x.shape)} vs. {list(v.shape)}"
        )
    if x.ndim and x.shape[1:] != v.shape[1:]:
        raise InvalidArgument(f"x and v shape doesn't match: {list(x.shape)} vs. {list(v.shape)}")
    if not x.ndim or i.shape[0] != v.shape[0]:
        raise InvalidArgument(
            f"i and x shape doesn't match at index 0: {list(i.shape)} vs. {list(v.shape)}"
        )
    return i % x.shape[0] if x.shape[0] else i


def _register(op_type: str, change: Callable[[ArrayModule, Array, Array, Array], None]) -> None:
    @kernel(op_type)
    def compute(xp: ArrayModule, x: Array, i: Array, v: Array) -> Array:
        rows, out = _rows(x, i, v), x.copy()
        change(xp, out, rows, v)
        return out


def _replace(_: ArrayModule, out: Array, rows: Array, v: Array) -> None:
    out[rows] = v


_register("InplaceUpdate", _replace)
_register("InplaceAdd", lambda xp, out, rows, v: scatter(xp, "add", out, rows, v))
_register("InplaceSub", lambda xp, out, rows, v: scatter(xp, "subtract", out, rows, v))


@kernel("DeepCopy")
def deep_copy(_: ArrayModule, x: Array) -> Array:
    """A copy of the tensor."""
    return x.copy()
