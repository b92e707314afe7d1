"""Updates of elements by indices with duplicates: numpy's `ufunc.at`, and the same on a GPU.

cupy has `at` for sums, maxima and minima of a few dtypes. Other dtypes are widened,
which gives the same integers, and floats that are rounded once. Products and quotients take turns,
none of which updates an element twice.
"""

from __future__ import annotations

import math
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

#: The elements of a row from which on turns are faster than `ufunc.at`, and the most turns.
_LONG_ROW: Final = 16
_MOST_TURNS: Final = 8


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
        _scatter_on_host(name, out, indices, updates)
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


def _scatter_on_host(
    name: str, out: Array, indices: Array | tuple[object, ...], updates: Array
) -> None:
    """Combine rows in turns, in each of which they are distinct; what is left by `ufunc.at`.

    `at` takes 8 ns for an element, a turn of long rows a quarter of that. An element's updates come
    in the same order.
    """
    function = getattr(HOST, name)
    is_by_row = not isinstance(indices, tuple) and out.dtype.kind in "fc" and indices.size > 1
    if not is_by_row or math.prod(out.shape[1:]) < _LONG_ROW:
        function.at(out, indices, updates)
        return
    assert not isinstance(indices, tuple)
    rows = indices.reshape(-1)
    updates = HOST.broadcast_to(updates, indices.shape + out.shape[1:])
    updates = updates.reshape(-1, *out.shape[1:])
    left = HOST.arange(rows.size)
    first = HOST.empty(out.shape[0], left.dtype)  # of a row the position of its first update
    for _ in range(_MOST_TURNS):
        first[rows[left[::-1]]] = left[::-1]
        is_first = first[rows[left]] == left
        chosen = left[is_first]
        target = rows[chosen]
        combined = out.take(target, axis=0)
        function(combined, updates.take(chosen, axis=0), out=combined)
        out[target] = combined
        left = left[~is_first]
        if not left.size:
            return
    function.at(out, rows[left], updates[left])


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
