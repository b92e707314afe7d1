"""Updates of elements by indices with duplicates: numpy's `ufunc.at`, and the same on a GPU.

cupy has `at` for sums, maxima and minima of a few dtypes. Other dtypes are widened,
which gives the same integers, and floats that are rounded once. Products and quotients take turns,
none of which updates an element twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.host import HOST, dtype_of

__all__ = ["SUMS", "scatter"]

#: The ufuncs that leave an element unchanged if the update is 0.
SUMS: Final = frozenset({"add", "subtract"})

_WIDE: Final = frozenset({"float32", "float64", "int32", "int64", "uint32", "uint64"})
#: The dtypes that cupy's `at` takes.
_AT: Final[Mapping[str, frozenset[str]]] = {
    "add": _WIDE | {"float16"},
    "maximum": _WIDE,
    "minimum": _WIDE,
}
#: The wider dtype in which elements are combined.
_WIDER: Final[Mapping[str, str]] = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "uint32",
    "uint16": "uint32",
    "bfloat16": "float32",
    "float16": "float32",
}


def scatter(
    xp: ArrayModule, name: str, out: Array, indices: Array | tuple[object, ...], updates: Array
) -> None:
    """Set `out[indices]` to `name(out[indices], updates)`, once for each occurrence of an index.

    Args:
      xp: the array module.
      name: a ufunc of two inputs: `add`, `subtract`, `multiply`, `divide`, `maximum`, `minimum`.
      out: the array that is updated in place.
      indices: an array of integers; or, except for products, an index tuple of `out`.
      updates: the operands, of a shape that broadcasts to that of `out[indices]`.

    """
    if xp is HOST:
        getattr(xp, name).at(out, indices, updates)
    elif name == "subtract":
        scatter(xp, "add", out, indices, -updates)
    elif name not in _AT:
        assert not isinstance(indices, tuple)  # products take arrays only
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


def _in_turns(xp: ArrayModule, name: str, out: Array, rows: Array, updates: Array) -> None:
    """Apply the first update of each row at once, then all second ones, and so on."""
    function = getattr(xp, name)
    updates = xp.broadcast_to(updates, rows.shape + out.shape[1:])
    updates, rows = updates.reshape(-1, *out.shape[1:]), rows.reshape(-1)
    order = xp.argsort(rows)
    ordered = rows[order]
    turns = xp.arange(rows.size) - xp.searchsorted(ordered, ordered)
    for turn in range(int(turns.max()) + 1 if rows.size else 0):
        chosen = order[turns == turn]
        out[rows[chosen]] = function(out[rows[chosen]], updates[chosen])
