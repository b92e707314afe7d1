"""Functions of cupy that numpy does not have, or that do another thing there."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import (
    arrays,
    devices,
    indexing,
    memory,
    transfers,
)
from sessrun.adapters.fakes.simulated_gpu.device_values import converted
from sessrun.adapters.fakes.simulated_gpu.launches import DeviceArray, compute, lowered_in
from sessrun.adapters.fakes.simulated_gpu.machine import machine

__all__ = ["ALL"]


def array(
    obj: Any,
    dtype: Any = None,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> Any:
    """A device array: a copy of one, an upload from the host, or a stack of device arrays."""
    if isinstance(obj, DeviceArray):
        result: Any = _of_device_array(obj, dtype, order, copy=bool(copy))
    elif isinstance(obj, list | tuple) and lowered_in([obj], {}):
        result = _stacked(obj, dtype)
    else:
        result = transfers.upload(np.asarray(obj), dtype, order=order)
        if blocking:
            devices.wait(machine().stream, hidden=True, name="a blocking upload")
    if result.ndim < ndmin:
        result = result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


def _of_device_array(obj: Any, dtype: Any, order: Any, *, copy: bool) -> Any:
    if obj.block.device is not machine().device:
        obj = transfers.peer_copy(obj)
        copy = False
    dtype = obj.dtype if dtype is None else np.dtype(dtype)
    flags = obj.host.flags
    is_so = order in {"K", "A", None} or flags[f"{order}_CONTIGUOUS"]
    if not copy and dtype == obj.dtype and is_so:
        return obj
    return compute("array", lambda low: converted(low, dtype, order or "K"), (obj,), {})


def _stacked(obj: Any, dtype: Any) -> Any:
    if any(isinstance(it, np.ndarray) for it in obj):
        raise TypeError("Unsupported type <class 'numpy.ndarray'> beside device arrays")
    return compute("array", lambda low: np.array(low, dtype), (obj,), {}, launches=len(obj))


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False
) -> Any:
    """A device array, without a copy where it is one."""
    return array(a, dtype, bool(copy), order or "K", blocking=blocking)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """A device array in C order with one dimension at least."""
    return array(a, dtype, copy=False, order="C", ndmin=1)


def asfortranarray(a: Any, dtype: Any = None) -> Any:
    """A device array in Fortran order."""
    return array(a, dtype, copy=False, order="F")


def asnumpy(
    a: Any, stream: Any = None, order: Any = "C", out: Any = None, *, blocking: bool = True
) -> Any:
    """An array of the host, whatever the argument is."""
    if isinstance(a, DeviceArray):
        return transfers.download(a, stream, order, out, blocking)
    if out is None:
        return np.asarray(a, order=order)
    out[...] = a
    return out


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
    """An upload of bytes of the host."""
    return transfers.upload(np.frombuffer(buffer, dtype, count, offset))


def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None
) -> Any:
    """A new array of poison like another one."""
    like = np.empty_like(prototype.host, dtype, order, shape=shape)
    return arrays.empty(like.shape, like.dtype, "C" if like.flags.c_contiguous else "F")


def _filled(name: str, shape: Any, value: Any, dtype: Any, order: Any) -> Any:
    if isinstance(shape, DeviceArray):
        raise TypeError("only host numbers make a shape, not a device array")
    if isinstance(value, np.ndarray) and value.ndim:
        raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
    return compute(name, lambda low: np.full(shape, low, dtype, order), (value,), {})


def zeros(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """Zeros, by one fill."""
    return _filled("zeros", shape, 0, dtype, order)


def ones(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """Ones, by one fill."""
    return _filled("ones", shape, 1, dtype, order)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
    """One value of the host or the device, by one fill."""
    if dtype is None:
        dtype = fill_value.dtype if hasattr(fill_value, "dtype") else np.array(fill_value).dtype
    return _filled("full", shape, fill_value, dtype, order)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of one or the other; with one argument the indices, for whose number it waits."""
    if x is None and y is None:
        return arrays.FUNCTIONS["nonzero"](condition)
    if x is None or y is None:
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    if not isinstance(condition, arrays.ndarray):
        raise AttributeError(  # noqa: TRY004 - what cupy raises
            f"{type(condition).__name__!r} object has no attribute 'astype'"
        )
    return arrays.FUNCTIONS["_where"](condition.astype(bool, copy=False), x, y)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    """Copy into an array, where a mask says so."""
    if isinstance(src, np.ndarray):
        if src.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for copyto")
        src = src.item()
    if isinstance(src, DeviceArray) and not np.can_cast(src.host.dtype, dst.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast {src.host.dtype} to {dst.dtype} in {casting} casting mode")

    def write(into: np.ndarray, given: Any, mask: Any) -> None:
        given = converted(np.asarray(given), into.dtype)
        np.copyto(into, given, where=True if mask is None else mask)

    compute("copyto", write, (dst, src, where), {}, writes=[dst], returns=False)


def take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> Any:
    """Elements by indices, which wrap around."""
    _check_array(a)
    return indexing.take(a, indices, axis, out)


def take_along_axis(a: Any, indices: Any, axis: Any) -> Any:
    """Elements by indices along an axis, which wrap around."""
    _check_array(a)

    def read(low: np.ndarray, index: np.ndarray) -> Any:
        flat, along = (low.reshape(-1), 0) if axis is None else (low, axis)
        size = max(flat.shape[along], 1)
        return np.take_along_axis(flat, np.mod(index.astype(np.int64), size), along)

    return compute("take_along_axis", read, (a, indices), {}, launches=2)


def put(a: Any, ind: Any, v: Any, mode: str = "wrap") -> None:
    """Write elements by indices of the flat array."""
    _check_array(a)
    indexing.put(a, ind, v, mode)


def _check_array(value: Any) -> None:
    if not isinstance(value, DeviceArray):
        raise TypeError(f"Unsupported type {type(value)}")


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **more: Any) -> Any:
    """The array within bounds of the host or the device."""
    low, high = more.pop("min", a_min), more.pop("max", a_max)
    if low is None and high is None:
        raise ValueError("array_clip: must set either max or min")
    if high is None:
        return arrays.FUNCTIONS["maximum"](a, low, out=out)
    if low is None:
        return arrays.FUNCTIONS["minimum"](a, high, out=out)
    return arrays.FUNCTIONS["_clip"](a, low, high, out=out)


def matmul(*args: Any, **kwargs: Any) -> Any:
    """The product of matrices of device arrays, by one launch."""
    out = kwargs.pop("out", None)
    dtype = kwargs.pop("dtype", None)
    if kwargs:
        raise NotImplementedError(f"the simulated GPU has no {sorted(kwargs)} of matmul")
    first, second, *more = args
    out = more[0] if more else out
    for one in (first, second):
        if not isinstance(one, DeviceArray):
            raise TypeError(
                "Argument 'b' has incorrect type (expected cupy._core.core._ndarray_base, got "
                f"{type(one).__module__}.{type(one).__name__})"
            )
    if out is None:
        return compute("matmul", lambda a, b: np.matmul(a, b, dtype=dtype), (first, second), {})

    def write(into: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
        into[...] = np.matmul(a, b, dtype=dtype)
        return into

    return compute("matmul", write, (out, first, second), {}, writes=[out])


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """A view of another shape."""
    _check_array(array)
    view = np.broadcast_to(array.host, shape)
    view = np.lib.stride_tricks.as_strided(array.host, view.shape, view.strides)
    return DeviceArray.over(view, array.block)


def as_strided(x: Any, shape: Any = None, strides: Any = None) -> Any:
    """A view of another shape with other steps."""
    _check_array(x)
    view = np.lib.stride_tricks.as_strided(x.host, shape, strides)
    return DeviceArray.over(view, x.block)


def broadcast_arrays(*args: Any) -> list[Any]:
    """Views of one shape."""
    for one in args:
        _check_array(one)
    shape = np.broadcast_shapes(*(one.shape for one in args))
    return [one if one.shape == shape else broadcast_to(one, shape) for one in args]


def broadcast(*args: Any) -> Any:
    """The shape that arrays have together."""
    return np.broadcast(*(np.empty(one.shape) for one in args))


def get_array_module(*args: Any) -> Any:
    """Cupy if there is a device array among the arguments, else numpy."""
    if any(isinstance(value, DeviceArray) for value in args):
        return arrays.FUNCTIONS["_module"]()
    return np


def get_default_memory_pool() -> memory.MemoryPool:
    """The pool that allocates unless another one was set."""
    pool: memory.MemoryPool = arrays.FUNCTIONS["_pool"]()
    return pool


def result_type(*args: Any) -> Any:
    """The dtype that the arguments have together."""
    return np.result_type(*(it.host.dtype if isinstance(it, DeviceArray) else it for it in args))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a dtype, or an array's, can become another one."""
    source = from_.host.dtype if isinstance(from_, DeviceArray) else from_
    return bool(np.can_cast(source, to, casting))


def shape(a: Any) -> tuple[int, ...]:
    """The shape of an array of either kind."""
    dimensions: tuple[int, ...] = a.shape if isinstance(a, arrays.ndarray) else np.shape(a)
    return dimensions


def size(a: Any, axis: int | None = None) -> int:
    """The number of elements."""
    return int(a.size if axis is None else a.shape[axis])


def ndim(a: Any) -> int:
    """The number of dimensions."""
    return int(a.ndim)


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays may share memory."""
    return a.block is b.block and bool(np.may_share_memory(a.host, b.host))


#: By name; they have the place of numpy's functions.
ALL = {
    name: value
    for name, value in vars().items()
    if callable(value) and getattr(value, "__module__", "") == __name__ and name[0] != "_"
}
