"""Updates of rows and slices of a variable: new arrays from the old one and the updates.

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
from sessrun.reference.kernels.input_shapes import require_rank_at_least
from sessrun.reference.kernels.scatters import SUMS, scatter

__all__ = ["SLICE_UPDATES", "Update", "row_update", "slice_update"]

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


def row_update(ufunc: str | None) -> Update:
    """The update of rows by the name of a ufunc; None replaces them. Scalar updates are broadcast.

    The update raises InvalidArgument for an index out of range or updates of another shape.
    """

    def update(xp: ArrayModule, old: Array, indices: Array, updates: Array) -> Array:
        require_rank_at_least(1, params=old)
        if updates.ndim and updates.shape != indices.shape + old.shape[1:]:
            raise InvalidArgument(
                "Must have updates.shape = indices.shape + params.shape[1:] or "
                f"updates.shape = [], got updates.shape {updates.shape}, "
                f"indices.shape {indices.shape}, params.shape {old.shape}"
            )
        if ufunc in SUMS:
            indices, inside = within(xp, indices, old.shape[0], "indices")
            if inside is not None:
                updates = xp.broadcast_to(updates, indices.shape + old.shape[1:])
                updates = zeroed(xp, updates, inside)
        else:
            check_range(xp, indices, old.shape[0], "indices")
        new = old.copy()
        if not indices.size:
            return new
        if ufunc is None:
            new[indices, ...] = (
                updates  # with an ellipsis, so that a string of rank 0 stays an array
            )
        elif ufunc == "divide":
            _divide_rows(xp, new, indices, updates)
        else:
            scatter(xp, ufunc, new, indices, updates)
        return new

    return update


def _divide_rows(xp: ArrayModule, new: Array, indices: Array, updates: Array) -> None:
    """Divide rows one after the other: integers truncate, so that the order matters."""
    if new.dtype.kind not in "iu":
        scatter(xp, "divide", new, indices, updates)
        return
    rows = indices.reshape(-1)
    parts = xp.broadcast_to(updates, indices.shape + new.shape[1:])
    parts = parts.reshape((rows.shape[0], *new.shape[1:]))
    if not xp.all(parts):
        raise InvalidArgument("Integer division by zero")
    for step in range(rows.shape[0]):
        row = rows[step : step + 1]
        new[row] = truncated_quotient(xp, new[row], parts[step : step + 1])


def slice_update(ufunc: str | None) -> Update:
    """The update of slices at index vectors by the name of a ufunc; None replaces them."""

    def update(xp: ArrayModule, old: Array, indices: Array, updates: Array) -> Array:
        return scattered(xp, old.copy(), indices, updates, ufunc)

    return update
