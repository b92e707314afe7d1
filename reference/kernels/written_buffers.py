"""The arrays of variables, taken out to be changed in place."""

from __future__ import annotations

import sys
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.host_arrays import set_writeable
from sessrun.reference.kernels.host import HOST, frozen, is_own
from sessrun.reference.kernels.input_shapes import require_rank_at_least
from sessrun.reference.kernels.registry import VariableBuffer
from sessrun.reference.kernels.updates import RowUpdate

__all__ = ["kept_array", "update_rows", "written"]

#: The reference count of an array that is not shared: the variable here, and the argument.
_OURS: Final = 2


def written(buffer: VariableBuffer) -> Array:
    """The buffer's array to be updated, in C order; a copy if anything else may read it.

    The buffer is empty meanwhile, and locked, so that readers wait.
    """
    array, buffer.value = buffer.value, None
    is_plain = (
        not isinstance(array, HOST.generic) and array.base is None and array.flags.c_contiguous
    )
    if is_plain and sys.getrefcount(array) <= _OURS:
        if isinstance(array, HOST.ndarray):
            set_writeable(array, True)
        own: Array = array
        return own
    try:
        copy: Array = HOST.array(array) if isinstance(array, HOST.generic) else array.copy()
    except MemoryError:
        buffer.value = array
        raise
    return copy


def kept_array(xp: ArrayModule, value: Array) -> Array:
    """The array that a variable keeps of a value: itself if an operation computed it, or a copy.

    Whoever else reads it does so before and after it is frozen; updates see that it is shared.
    """
    is_computed = xp is HOST and isinstance(value, HOST.ndarray) and is_own(value)
    return value if is_computed else xp.array(value)


def update_rows(
    buffer: VariableBuffer, update: RowUpdate, xp: ArrayModule, indices: Array, updates: Array
) -> None:
    """Update rows of a variable, locked even without `use_locking`.

    Raises:
      KernelError: the variable has no value or no rows, or the update refuses its operands.

    """
    with buffer.lock:
        require_rank_at_least(1, params=buffer.read())
        array = written(buffer)
        try:
            update(xp, array, indices, updates)
        finally:
            buffer.value = frozen(array)
