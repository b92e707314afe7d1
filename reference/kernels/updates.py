"""Updates of rows of a variable, in place, and of slices: a new array from the old one.

Extrema of rows take up to three times TensorFlow's time: numpy's `ufunc.at` has no vector loop for
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.elementwise import truncated_quotient
from sessrun.reference.kernels.index_ranges import check_range, within, zeroed
from sessrun.reference.kernels.indexing import scattered
from sessrun.reference.kernels.scatters import SUMS, scatter

__all__ = ["SLICE_UPDATES", "RowUpdate", "Update", "row_update", "slice_update"]

#: `update(xp, array, indices, updates)` changes the variable's array.
RowUpdate = Callable[[ArrayModule, Array, Array, Array], None]

#: `update(xp, old, indices, updates)` returns the variable's new array.
Update = Callable[[ArrayModule, Array, Array, Array], Array]

#: From the name of a slice update to its ufunc; None replaces.
SLICE_UPDATES: Final[dict[str, str | None]] = {
    "Update": None,
    "Add": "add",
    "Sub": "subtract",
    "Min": "minimum",
    "Max": "maximum",
}


def row_update(ufunc: str | None) -> RowUpdate:
    """The update of rows by the name of a ufunc; None replaces them. Scalar updates are broadcast.

    The update raises InvalidArgument for an index out of range or updates of another shape, before
    it changes anything.
    """

    def update(xp: ArrayModule, array: Array, indices: Array, updates: Array) -> None:
        if updates.ndim and updates.shape != indices.shape + array.shape[1:]:
            raise InvalidArgument(
                "Must have updates.shape = indices.shape + params.shape[1:] or "
                f"updates.shape = [], got updates.shape {updates.shape}, "
                f"indices.shape {indices.shape}, params.shape {array.shape}"
            )
        if ufunc in SUMS:
            indices, inside = within(xp, indices, array.shape[0], "indices")
            if inside is not None:
                updates = xp.broadcast_to(updates, indices.shape + array.shape[1:])
                updates = zeroed(xp, updates, inside)
        else:
            check_range(xp, indices, array.shape[0], "indices")
        if not indices.size:
            return
        if ufunc is None:
            # With an ellipsis, so that a string of rank 0 stays an array.
            array[indices, ...] = updates
        elif ufunc == "divide":
            _divide_rows(xp, array, indices, updates)
        else:
            scatter(xp, ufunc, array, indices, updates)

    return update


def _divide_rows(xp: ArrayModule, array: Array, indices: Array, updates: Array) -> None:
    """Divide rows one after the other: integers truncate, so that the order matters."""
    if array.dtype.kind not in "iu":
        scatter(xp, "divide", array, indices, updates)
        return
    rows = indices.reshape(-1)
    parts = xp.broadcast_to(updates, indices.shape + array.shape[1:])
    parts = parts.reshape((rows.shape[0], *array.shape[1:]))
    if not xp.all(parts):
        raise InvalidArgument("Integer division by zero")
    for step in range(rows.shape[0]):
        row = rows[step : step + 1]
        array[row] = truncated_quotient(xp, array[row], parts[step : step + 1])


def slice_update(ufunc: str | None) -> Update:
    """The update of slices at index vectors by the name of a ufunc; None replaces them."""

    def update(xp: ArrayModule, old: Array, indices: Array, updates: Array) -> Array:
        return scattered(xp, old.copy(), indices, updates, ufunc)

    return update
