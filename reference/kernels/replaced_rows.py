"""Kernels that give a tensor of which rows are replaced, and copies of tensors.

TensorFlow writes into the memory of its input; here the input keeps its value, so that the order in
which two operations read it does not matter. So adding to some rows, which may come twice, takes up
to 3.5 times TensorFlow's time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scatters import scatter

__all__: list[str] = []


def _rows(x: Any, i: Any, v: Any) -> Any:
    """The numbers of rows, within the tensor: they are taken modulo how many there are."""
    if i.ndim != 1:
        raise InvalidArgument(f"i must be a vector. {list(i.shape)}")
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


def _register(op_type: str, change: Callable[[Any, Any, Any, Any], None]) -> None:
    @kernel(op_type)
    def compute(xp: Any, x: Any, i: Any, v: Any) -> Any:
        rows, out = _rows(x, i, v), x.copy()
        change(xp, out, rows, v)
        return out


def _replace(_: Any, out: Any, rows: Any, v: Any) -> None:
    out[rows] = v


_register("InplaceUpdate", _replace)
_register("InplaceAdd", lambda xp, out, rows, v: scatter(xp, "add", out, rows, v))
_register("InplaceSub", lambda xp, out, rows, v: scatter(xp, "subtract", out, rows, v))


@kernel("DeepCopy")
def deep_copy(_: Any, x: Any) -> Any:
    """A copy."""
    return x.copy()
