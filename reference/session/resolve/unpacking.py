"""The unpack stage: what the caller gets of the values that a plan has computed.

Clauses: FETCH.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.devices.variable_buffers import VariableBuffer

__all__ = ["Source", "fetched_value", "unshared"]

#: Where the value of a fetch comes from: (True, number of the feed), or (False, number of the
#: computed tensor); None for an operation, whose value is None.
Source = tuple[bool, int] | None


def fetched_value(value: Any) -> Any:
    """The caller's value of a fetch, from the value that its kernel has computed.

    Constants, variables and feeds are read-only arrays, and so is every view of one: those are
    copied, so that the caller may write to what was fetched; and so are views of an array that a
    variable or a queue has kept since, and arrays that are not in C order, such as a sum of a
    transpose. A rank-0 value becomes a numpy scalar, quantized elements plain integers.

    Raises:
      OpError: the value is a reference variable that is not initialized.

    """
    if type(value) is np.ndarray and value.base is None and value.ndim:
        if value.flags.carray and value.dtype.names is None:  # writable and in C order
            return value
    elif isinstance(value, VariableBuffer):
        try:
            value = value.read()
        except KernelError as error:
            kind = errors.exception_type_from_error_code(error.code)
            raise kind(None, None, error.message) from error
    if isinstance(value, np.ndarray):
        if value.dtype.names is not None:
            value = value.view(value.dtype[0])
        if value.ndim == 0:
            return value[()]
        flags, base = value.flags, value.base
        if not flags.writeable or not flags.c_contiguous:
            return value.copy()
        if isinstance(base, np.ndarray) and not base.flags.writeable:
            return value.copy()
    return value


def unshared(values: list[Any], sources: Sequence[Source]) -> list[Any]:
    """The values of one run, in place, of which no two computed ones share memory.

    The value of an identity or a reshape is its input itself, or a view of it. A caller may write
    to each array that was fetched, so of those that share memory all but one are copied.

    Args:
      values: the fetched values, as `fetched_value` gives them.
      sources: where each comes from: the caller's own arrays, which were fed, are not copied.

    """
    seen: set[int] = set()
    for index, (value, source) in enumerate(zip(values, sources, strict=True)):
        if source is None or source[0] or not isinstance(value, np.ndarray):
            continue
        if value.base is not None or id(value) in seen:
            values[index] = value.copy()
        seen.add(id(values[index]))
    return values
