"""Indexing as cupy has it: indices wrap around, masks wait, duplicates are written in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sessrun.adapters.fakes.simulated_gpu import devices, transfers
from sessrun.adapters.fakes.simulated_gpu.device_values import converted
from sessrun.adapters.fakes.simulated_gpu.host_values import DType, LowIndex
from sessrun.adapters.fakes.simulated_gpu.launches import compute, compute_array
from sessrun.adapters.fakes.simulated_gpu.machine import machine
from sessrun.adapters.fakes.simulated_gpu.values import (
    DeviceArray,
    Index,
    IndexPart,
    Indices,
    Value,
)

__all__ = ["get_item", "put", "scattered", "set_item", "take"]


#: The method `at` of a ufunc of numpy: an array, indices, elements.
Combine: TypeAlias = Callable[[np.ndarray, tuple[LowIndex, ...], ArrayLike], None]


def _keys(key: Index) -> tuple[IndexPart, ...]:
    """The parts of a key; host arrays and lists in it are uploaded, as cupy does.

    Raises:
      IndexError: a part is no index.

    """
    return tuple(_part(part) for part in (key if isinstance(key, tuple) else (key,)))


def _part(part: Index) -> IndexPart:
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, DeviceArray | int | np.integer | slice):
        return part
    if isinstance(part, list | np.ndarray | np.bool_):
        array = np.asarray(part)
        if array.dtype.kind in "iub" or not array.size:
            array = array if array.dtype.kind in "iub" else array.astype(np.int64)
            return transfers.upload(array, name="an index")
    raise IndexError(
        "Only integers, slices (`:`), ellipsis (`...`), cupy.newaxis (`None`) and integer or "
        f"boolean arrays are valid indices, got {type(part).__name__}"
    )


def _is_advanced(part: IndexPart) -> bool:
    return isinstance(part, DeviceArray | bool)


def _dimensions(part: IndexPart) -> int:
    """How many dimensions of the array a part of a key takes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, DeviceArray) and part.host.dtype == np.bool_:
        return part.host.ndim
    return 1


def _wrapped(view: np.ndarray, parts: Sequence[LowIndex]) -> tuple[LowIndex, ...]:
    """The parts with integer arrays wrapped into their dimension's range."""
    taken = sum(_dimensions_low(part) for part in parts)
    result: list[LowIndex] = []
    axis = 0
    for part in parts:
        if part is Ellipsis:
            axis += view.ndim - taken
        elif isinstance(part, np.ndarray) and part.dtype != np.bool_:
            size = view.shape[axis] if axis < view.ndim else 1
            result.append(np.mod(part.astype(np.int64), size) if size else part)
            axis += 1
            continue
        else:
            axis += _dimensions_low(part)
        result.append(part)
    return tuple(result)


def _dimensions_low(part: LowIndex) -> int:
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == np.bool_ else 1


def _check(array: DeviceArray, parts: Sequence[IndexPart]) -> None:
    if sum(_dimensions(part) for part in parts) > array.host.ndim:
        raise IndexError(f"too many indices for array: array is {array.host.ndim}-dimensional")
    if any(isinstance(it, DeviceArray) and it.host.dtype.kind not in "iub" for it in parts):
        raise IndexError("arrays used as indices must be of integer or boolean type.")


def _basic(key: Index) -> tuple[LowIndex, ...] | None:
    """The key of a view: slices, integers, None and an ellipsis, which is added; else None."""
    parts = key if isinstance(key, tuple) else (key,)
    has_ellipsis = False
    for part in parts:
        kind = type(part)
        if kind is not slice and kind is not int and part is not None:
            if part is not Ellipsis:
                return None
            has_ellipsis = True
    return parts if has_ellipsis else (*parts, Ellipsis)


def get_item(array: DeviceArray, key: Index) -> DeviceArray:
    """`array[key]`: a view where nothing but slices and integers is in the key."""
    basic = _basic(key)
    if basic is not None:
        return DeviceArray.over(array.host[basic], array.block)
    parts = _keys(key)
    _check(array, parts)
    if not any(_is_advanced(part) for part in parts):
        basic = tuple(part for part in parts if not isinstance(part, DeviceArray))
        with_ellipsis = basic if Ellipsis in basic else (*basic, Ellipsis)
        return DeviceArray.over(array.host[with_ellipsis], array.block)
    masks = [it for it in parts if isinstance(it, DeviceArray) and it.host.dtype == np.bool_]
    if masks:
        devices.wait(machine().stream, hidden=True, name="a mask")

    def read(view: np.ndarray, *low: LowIndex) -> np.ndarray:
        return np.array(view[_wrapped(view, low)])

    return compute_array("__getitem__", read, (array, *parts), launches=3 if masks else 1)


def set_item(array: DeviceArray, key: Index, value: Value) -> None:
    """`array[key] = value`; a host array goes up only to an empty slice of its own shape.

    Raises:
      TypeError: a host array is assigned otherwise.

    """
    if isinstance(value, np.ndarray) and value.ndim:
        _set_host_array(array, key, value)
        return
    basic = _basic(key)
    parts = _keys(key) if basic is None else ()
    _check(array, parts)
    if not any(_is_advanced(part) for part in parts):
        view = get_item(array, key)
        compute("__setitem__", _fill, (view, value), {}, writes=[view], returns=False)
        return

    def write(view: np.ndarray, given: ArrayLike, *low: LowIndex) -> None:
        given = _as_dtype(given, view.dtype)
        if _has_masks(low):
            view[_wrapped(view, low)] = given
        else:
            _scatter(view, _wrapped(view, low), given, None)

    compute("__setitem__", write, (array, value, *parts), {}, writes=[array], returns=False)


def _set_host_array(array: DeviceArray, key: Index, value: np.ndarray) -> None:
    if not isinstance(key, slice) or key != slice(None):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if value.shape != array.host.shape:
        raise ValueError(
            "copying a numpy.ndarray to a cupy.ndarray by empty slice assignment must ensure "
            "arrays have same shape"
        )
    transfers.set_array(array, value)


def _fill(view: np.ndarray, given: ArrayLike) -> None:
    view[...] = _as_dtype(given, view.dtype)


def _as_dtype(given: ArrayLike, dtype: DType) -> ArrayLike:
    """A value to be written, converted as a GPU does."""
    if isinstance(given, np.ndarray):
        return given if given.dtype == dtype else converted(given, dtype)
    if isinstance(given, float | np.floating) and dtype.kind in "iu":
        return converted(np.asarray(given), dtype)
    return given


def _has_masks(parts: Sequence[LowIndex]) -> bool:
    return any(
        isinstance(it, bool) or (isinstance(it, np.ndarray) and it.dtype == np.bool_)
        for it in parts
    )


def _scatter(
    view: np.ndarray, key: tuple[LowIndex, ...], given: ArrayLike, combine: Combine | None
) -> None:
    """Write (or combine) at indices; duplicates in an order by chance."""
    if not _has_duplicates(key):
        if combine is None:
            view[key] = given
        else:
            combine(view, key, given)
        return
    targets = np.arange(view.size).reshape(view.shape)[key]
    values = np.broadcast_to(given, targets.shape).reshape(-1)
    order = np.array(machine().shuffled(targets.size), np.int64)
    where = np.unravel_index(targets.reshape(-1)[order], view.shape)
    if combine is None:
        view[where] = values[order]
    else:
        combine(view, where, values[order])


def _has_duplicates(key: tuple[LowIndex, ...]) -> bool:
    arrays = [it for it in key if isinstance(it, np.ndarray)]
    arrays = list(np.broadcast_arrays(*arrays)) if len(arrays) > 1 else arrays
    if not arrays or arrays[0].size < 2:
        return False
    rows = np.stack([it.reshape(-1) for it in arrays])
    distinct = np.unique(rows[0]) if len(rows) == 1 else np.unique(rows, axis=1)[0]
    return bool(distinct.size < rows.shape[1])


def scattered(array: DeviceArray, key: Index, value: Value, combine: Combine, name: str) -> None:
    """`ufunc.at(array, key, value)` by that method of numpy; duplicates in an order by chance."""
    parts = _keys(key)
    _check(array, parts)

    def write(view: np.ndarray, given: ArrayLike, *low: LowIndex) -> None:
        elements = np.asarray(given)
        if elements.dtype != view.dtype:
            elements = converted(elements, view.dtype)
        if _has_masks(low):
            combine(view, low, elements)
        else:
            _scatter(view, _wrapped(view, low), elements, combine)

    compute(name, write, (array, value, *parts), {}, writes=[array], returns=False)


def take(
    array: DeviceArray, indices: Indices, axis: int | None = None, out: DeviceArray | None = None
) -> DeviceArray:
    """`cupy.take`: indices wrap around."""
    return _with_out(
        "take",
        lambda a, i: np.array(np.take(a, i, axis, mode="wrap")),
        (array, _indices(indices)),
        out,
    )


def _indices(indices: Indices) -> IndexPart:
    if isinstance(indices, DeviceArray | int | np.integer):
        return indices
    return _part(indices if isinstance(indices, list | np.ndarray) else list(indices))


def _with_out(
    name: str,
    function: Callable[..., np.ndarray],
    args: Sequence[Value],
    out: DeviceArray | None,
) -> DeviceArray:
    if out is None:
        return compute_array(name, function, args)

    def write(into: np.ndarray, *low: LowIndex) -> np.ndarray:
        into[...] = function(*low)
        return into

    return compute_array(name, write, (out, *args), writes=[out])


def put(array: DeviceArray, indices: Indices, values: Value, mode: str = "wrap") -> None:
    """`cupy.put`: duplicates in an order by chance.

    Raises:
      ValueError: the mode is neither `wrap` nor `clip`.

    """
    if mode not in {"wrap", "clip", "raise"}:
        raise ValueError("clipmode not understood")
    index = indices if isinstance(indices, DeviceArray | int) else _part([*indices])
    if isinstance(values, list | np.ndarray):
        values = transfers.upload(np.asarray(values), name="values")

    def write(view: np.ndarray, where: np.ndarray | int, given: ArrayLike) -> None:
        wanted = np.asarray(where).reshape(-1)
        size = view.size
        if mode == "raise" and ((wanted < -size) | (wanted >= size)).any():
            raise IndexError("invalid entry in indices array")
        wanted = np.clip(wanted, 0, size - 1) if mode == "clip" else np.mod(wanted, size)
        value = np.resize(np.asarray(given), wanted.shape)
        value = converted(value, view.dtype) if value.dtype != view.dtype else value
        order = np.array(machine().shuffled(wanted.size), np.int64)
        view[np.unravel_index(wanted[order], view.shape)] = value[order]

    compute("put", write, (array, index, values), {}, writes=[array], returns=False)
