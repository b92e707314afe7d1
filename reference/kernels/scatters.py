"""Updates of which several may meet in one element: numpy's `ufunc.at`, and its like on a GPU.

cupy has `at` for sums, maxima and minima of a few dtypes. Other dtypes are combined in a wider one,
which gives the same integers, and floats that are rounded once; products and quotients in turns,
each of which updates no element twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessrun.reference.kernels.host import HOST, dtype_of

__all__ = ["SUMS", "scatter"]

#: What leaves an element as it is where the update is 0.
SUMS: Final = frozenset({"add", "subtract"})

_WIDE: Final = frozenset({"float32", "float64", "int32", "int64", "uint32", "uint64"})
#: The dtypes that cupy's `at` takes.
_AT: Final[Mapping[str, frozenset[str]]] = {
    "add": _WIDE | {"float16"},
    "maximum": _WIDE,
    "minimum": _WIDE,
}
#: The dtype in which elements of another one are combined.
_WIDER: Final[Mapping[str, str]] = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "uint32",
    "uint16": "uint32",
    "bfloat16": "float32",
    "float16": "float32",
}


def scatter(xp: Any, name: str, out: Any, indices: Any, updates: Any) -> None:
    """Set `out[indices]` to `name(out[indices], updates)`, once for each index, however often.

    Args:
      xp: the array module.
      name: a ufunc of two inputs: `add`, `subtract`, `multiply`, `divide`, `maximum`, `minimum`.
      out: the array that is changed.
      indices: an array of integers; or, except for products, a tuple as it indexes `out`.
      updates: what is combined, of a shape that broadcasts to that of `out[indices]`.

    """
    if xp is HOST:
        getattr(xp, name).at(out, indices, updates)
    elif name == "subtract":
        scatter(xp, "add", out, indices, -updates)
    elif name not in _AT:
        _in_turns(xp, name, out, indices, updates)
    elif out.dtype.name in _AT[name]:
        getattr(xp, name).at(out, indices, updates)
    elif out.dtype.kind == "c":
        scatter(xp, name, out.real, indices, updates.real)
        scatter(xp, name, out.imag, indices, updates.imag)
    else:
        wider = dtype_of(_WIDER[out.dtype.name])
        combined = out.astype(wider)
        getattr(xp, name).at(combined, indices, updates.astype(wider))
        out[...] = combined.astype(out.dtype)


def _in_turns(xp: Any, name: str, out: Any, rows: Any, updates: Any) -> None:
    """Combine first the first update of each row, then the second of those that have one, ..."""
    function = getattr(xp, name)
    updates = xp.broadcast_to(updates, rows.shape + out.shape[1:])
    updates, rows = updates.reshape(-1, *out.shape[1:]), rows.reshape(-1)
    order = xp.argsort(rows)
    ordered = rows[order]
    turns = xp.arange(rows.size) - xp.searchsorted(ordered, ordered)
    for turn in range(int(turns.max()) + 1 if rows.size else 0):
        chosen = order[turns == turn]
        out[rows[chosen]] = function(out[rows[chosen]], updates[chosen])
