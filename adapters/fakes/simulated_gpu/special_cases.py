"""Functions of cupy that numpy does not have, or that do another thing there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sessrun.adapters.fakes.simulated_gpu import (
    arrays,
    devices,
    indexing,
    transfers,
)
from sessrun.adapters.fakes.simulated_gpu.arrays import ndarray
from sessrun.adapters.fakes.simulated_gpu.device_values import converted
from sessrun.adapters.fakes.simulated_gpu.host_values import (
    Casting,
    DType,
    DTypeLike,
    OnStream,
    Order,
    ShapeLike,
)
from sessrun.adapters.fakes.simulated_gpu.launches import compute, compute_array, lowered_in
from sessrun.adapters.fakes.simulated_gpu.machine import machine
from sessrun.adapters.fakes.simulated_gpu.values import DeviceArray, Indices, Value

__all__ = ["ALL"]


def array(
    obj: Value,
    dtype: DTypeLike | None = None,
    copy: bool | None = True,
    order: Order | None = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> DeviceArray:
    """A device array: a copy of one, an upload from the host, or a stack of device arrays."""
    if isinstance(obj, DeviceArray):
        result: DeviceArray = _of_device_array(obj, dtype, order, copy=bool(copy))
    elif isinstance(obj, list | tuple) and lowered_in([obj], {}):
        result = _stacked(obj, dtype)
    else:
        result = transfers.upload(np.asarray(obj), dtype, order=order or "K")
        if blocking:
            devices.wait(machine().stream, hidden=True, name="a blocking upload")
    if result.ndim < ndmin:
        sizes = (1,) * (ndmin - result.ndim) + result.shape
        result = compute_array("reshape", lambda low: low.reshape(sizes), (result,))
    return result


def _of_device_array(
    obj: DeviceArray, dtype: DTypeLike | None, order: Order | None, *, copy: bool
) -> DeviceArray:
    if obj.block.device is not machine().device:
        obj = transfers.peer_copy(obj)
        copy = False
    wanted = obj.host.dtype if dtype is None else np.dtype(dtype)
    flags = obj.host.flags
    is_so = {"C": flags.c_contiguous, "F": flags.f_contiguous}.get(order or "K", True)
    if not copy and wanted == obj.host.dtype and is_so:
        return obj
    return compute_array("array", lambda low: converted(low, wanted, order or "K"), (obj,))


def _stacked(obj: Sequence[Value], dtype: DTypeLike | None) -> DeviceArray:
    if any(isinstance(it, np.ndarray) for it in obj):
        raise TypeError("Unsupported type <class 'numpy.ndarray'> beside device arrays")
    return compute_array("array", lambda low: np.array(low, dtype), (obj,), launches=len(obj))


def asarray(
    a: Value,
    dtype: DTypeLike | None = None,
    order: Order | None = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> DeviceArray:
    """A device array, without a copy where it is one."""
    return array(a, dtype, bool(copy), order or "K", blocking=blocking)


def ascontiguousarray(a: Value, dtype: DTypeLike | None = None) -> DeviceArray:
    """A device array in C order with one dimension at least."""
    return array(a, dtype, copy=False, order="C", ndmin=1)


def asfortranarray(a: Value, dtype: DTypeLike | None = None) -> DeviceArray:
    """A device array in Fortran order."""
    return array(a, dtype, copy=False, order="F")


def asnumpy(
    a: DeviceArray | ArrayLike,
    stream: OnStream | None = None,
    order: Order = "C",
    out: np.ndarray | None = None,
    *,
    blocking: bool = True,
) -> np.ndarray:
    """An array of the host, whatever the argument is."""
    if isinstance(a, DeviceArray):
        return transfers.download(a, stream, order, out, blocking)
    if out is None:
        return np.asarray(a, order=order)
    out[...] = a
    return out


def frombuffer(
    buffer: bytes | bytearray | memoryview | np.ndarray,
    dtype: DTypeLike = float,
    count: int = -1,
    offset: int = 0,
) -> DeviceArray:
    """An upload of bytes of the host."""
    return transfers.upload(np.frombuffer(buffer, dtype, count, offset))


def empty_like(
    prototype: DeviceArray,
    dtype: DTypeLike | None = None,
    order: Order = "K",
    subok: bool | None = None,
    shape: ShapeLike | None = None,
) -> DeviceArray:
    """A new array of poison like another one."""
    like = np.empty_like(prototype.host, dtype, order, shape=shape)
    return arrays.empty(like.shape, like.dtype, "C" if like.flags.c_contiguous else "F")


def _filled(
    name: str, shape: ShapeLike, value: Value, dtype: DTypeLike, order: Literal["C", "F"]
) -> DeviceArray:
    sizes = arrays.host_shape(shape)
    if isinstance(value, np.ndarray) and value.ndim:
        raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
    return compute_array(name, lambda low: np.full(sizes, low, dtype, order), (value,))


def zeros(
    shape: ShapeLike, dtype: DTypeLike = float, order: Literal["C", "F"] = "C"
) -> DeviceArray:
    """Zeros, by one fill."""
    return _filled("zeros", shape, 0, dtype, order)


def ones(shape: ShapeLike, dtype: DTypeLike = float, order: Literal["C", "F"] = "C") -> DeviceArray:
    """Ones, by one fill."""
    return _filled("ones", shape, 1, dtype, order)


def full(
    shape: ShapeLike,
    fill_value: Value,
    dtype: DTypeLike | None = None,
    order: Literal["C", "F"] = "C",
) -> DeviceArray:
    """One value of the host or the device, by one fill."""
    if dtype is None:
        host_value = fill_value.host if isinstance(fill_value, DeviceArray) else fill_value
        dtype = np.asarray(host_value).dtype
    return _filled("full", shape, fill_value, dtype, order)


def where(condition: Value, x: Value = None, y: Value = None) -> Value:
    """Elements of one or the other; with one argument the indices, for whose number it waits."""
    if x is None and y is None:
        return arrays.FUNCTIONS["nonzero"](condition)
    if x is None or y is None:
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    if not isinstance(condition, ndarray):
        raise AttributeError(  # noqa: TRY004 - what cupy raises
            f"{type(condition).__name__!r} object has no attribute 'astype'"
        )
    return arrays.FUNCTIONS["_where"](condition.astype(bool, copy=False), x, y)


def copyto(
    dst: DeviceArray, src: Value, casting: Casting = "same_kind", where: DeviceArray | None = None
) -> None:
    """Copy into an array, where a mask says so."""
    if isinstance(src, np.ndarray):
        if src.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for copyto")
        src = src.item()
    if isinstance(src, DeviceArray) and not np.can_cast(src.host.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast {src.host.dtype} to {dst.dtype} in {casting} casting mode")

    def write(into: np.ndarray, given: ArrayLike, mask: np.ndarray | None) -> None:
        elements = converted(np.asarray(given), into.dtype)
        np.copyto(into, elements, where=True if mask is None else mask)

    compute("copyto", write, (dst, src, where), {}, writes=[dst], returns=False)


def take(
    a: DeviceArray, indices: Indices, axis: int | None = None, out: DeviceArray | None = None
) -> DeviceArray:
    """Elements by indices, which wrap around."""
    _check_array(a)
    return indexing.take(a, indices, axis, out)


def take_along_axis(a: DeviceArray, indices: DeviceArray, axis: int | None) -> DeviceArray:
    """Elements by indices along an axis, which wrap around."""
    _check_array(a)

    def read(low: np.ndarray, index: np.ndarray) -> np.ndarray:
        flat, along = (low.reshape(-1), 0) if axis is None else (low, axis)
        size = max(flat.shape[along], 1)
        return np.take_along_axis(flat, np.mod(index.astype(np.int64), size), along)

    return compute_array("take_along_axis", read, (a, indices), launches=2)


def put(a: DeviceArray, ind: Indices, v: Value, mode: str = "wrap") -> None:
    """Write elements by indices of the flat array."""
    _check_array(a)
    indexing.put(a, ind, v, mode)


def _check_array(value: Value) -> None:
    if not isinstance(value, DeviceArray):
        raise TypeError(f"Unsupported type {type(value)}")


def clip(
    a: DeviceArray,
    a_min: Value = None,
    a_max: Value = None,
    out: DeviceArray | None = None,
    **more: Value,
) -> Value:
    """The array within bounds of the host or the device."""
    low, high = more.pop("min", a_min), more.pop("max", a_max)
    if low is None and high is None:
        raise ValueError("array_clip: must set either max or min")
    if high is None:
        return arrays.FUNCTIONS["maximum"](a, low, out=out)
    if low is None:
        return arrays.FUNCTIONS["minimum"](a, high, out=out)
    return arrays.FUNCTIONS["_clip"](a, low, high, out=out)


def matmul(
    first: Value,
    second: Value,
    /,
    out: DeviceArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    **others: Value,
) -> DeviceArray:
    """The product of matrices of device arrays, by one launch."""
    if others:
        raise NotImplementedError(f"the simulated GPU has no {sorted(others)} of matmul")
    for one in (first, second):
        if not isinstance(one, DeviceArray):
            raise TypeError(
                "Argument 'b' has incorrect type (expected cupy._core.core._ndarray_base, got "
                f"{type(one).__module__}.{type(one).__name__})"
            )
    if out is None:
        return compute_array("matmul", lambda a, b: np.matmul(a, b, dtype=dtype), (first, second))

    def write(into: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        into[...] = np.matmul(a, b, dtype=dtype)
        return into

    return compute_array("matmul", write, (out, first, second), writes=[out])


def broadcast_to(
    array: DeviceArray, shape: int | Sequence[int], subok: bool = False
) -> DeviceArray:
    """A view of another shape."""
    _check_array(array)
    view = np.broadcast_to(array.host, shape)
    view = np.lib.stride_tricks.as_strided(array.host, view.shape, view.strides)
    return DeviceArray.over(view, array.block)


def as_strided(
    x: DeviceArray, shape: Sequence[int] | None = None, strides: Sequence[int] | None = None
) -> DeviceArray:
    """A view of another shape with other steps."""
    _check_array(x)
    view = np.lib.stride_tricks.as_strided(x.host, shape, strides)
    return DeviceArray.over(view, x.block)


def broadcast_arrays(*args: DeviceArray) -> list[DeviceArray]:
    """Views of one shape."""
    for one in args:
        _check_array(one)
    shape = np.broadcast_shapes(*(one.shape for one in args))
    return [one if one.shape == shape else broadcast_to(one, shape) for one in args]


def broadcast(*args: DeviceArray) -> np.broadcast:
    """The shape that arrays have together."""
    return np.broadcast(*(np.empty(one.shape) for one in args))


def get_array_module(*args: Value) -> ModuleType:
    """Cupy if there is a device array among the arguments, else numpy."""
    return sys.modules["cupy"] if any(isinstance(it, DeviceArray) for it in args) else np


def result_type(*args: DeviceArray | ArrayLike | DTypeLike) -> DType:
    """The dtype that the arguments have together."""
    return np.result_type(*(it.host.dtype if isinstance(it, DeviceArray) else it for it in args))


def can_cast(from_: DeviceArray | DTypeLike, to: DTypeLike, casting: Casting = "safe") -> bool:
    """Whether a dtype, or an array's, can become another one."""
    source = from_.host.dtype if isinstance(from_, DeviceArray) else from_
    return bool(np.can_cast(source, to, casting))


def shape(a: DeviceArray | ArrayLike) -> tuple[int, ...]:
    """The shape of an array of either kind."""
    return a.shape if isinstance(a, DeviceArray) else np.shape(a)


def size(a: DeviceArray, axis: int | None = None) -> int:
    """The number of elements."""
    return int(a.size if axis is None else a.shape[axis])


def ndim(a: DeviceArray) -> int:
    """The number of dimensions."""
    return int(a.ndim)


def may_share_memory(a: DeviceArray, b: DeviceArray, max_work: int | None = None) -> bool:
    """Whether two arrays may share memory."""
    return a.block is b.block and bool(np.may_share_memory(a.host, b.host))


#: By name; they have the place of numpy's functions.
ALL = {
    name: value
    for name, value in vars().items()
    if callable(value) and getattr(value, "__module__", "") == __name__ and name[0] != "_"
}
