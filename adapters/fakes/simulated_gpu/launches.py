"""Launches: how a function of numpy computes for device arrays, with all that a GPU checks.

The arguments go down to the host memory that stands for the device's, the results come up; what
shares an argument's memory is a view, and anything else was a launch of a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import memory, ordering
from sessrun.adapters.fakes.simulated_gpu.capture import Use
from sessrun.adapters.fakes.simulated_gpu.device_values import check_dtype, poison, poisoned
from sessrun.adapters.fakes.simulated_gpu.host_values import HostFunction, HostValue
from sessrun.adapters.fakes.simulated_gpu.machine import Machine, StreamState, machine
from sessrun.adapters.fakes.simulated_gpu.values import DeviceArray, Value

__all__ = ["alike", "compute", "compute_array", "lowered", "lowered_in", "new_block", "root_of"]


_Item = TypeVar("_Item")


def root_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of a view."""
    while True:
        base: object = array.base
        if base is None:
            return array
        if isinstance(base, memoryview):
            base = base.obj
        elif not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # of what `as_strided` makes
        if not isinstance(base, np.ndarray):
            return array
        array = base


def new_block(view: np.ndarray) -> tuple[np.ndarray, memory.Block]:
    """Memory of the current device that holds what numpy computed: its view and its block."""
    check_dtype(view.dtype)
    root = root_of(view)
    if root.nbytes != view.nbytes or root.base is not None or not root.flags.writeable:
        root = view = np.array(view, order="K", copy=True)
    pointer = memory.allocate(view.nbytes)
    block = pointer.mem
    if block.root is None and not pointer.offset:
        block.root = root
        return view, block
    inside = pointer.view(view.shape, view.dtype, view.strides)
    inside[...] = view
    return inside, block


def lowered_names(
    values: Mapping[str, Value], arrays: list[DeviceArray], other: Mapping[int, np.ndarray]
) -> dict[str, HostValue]:
    """`lowered` for arguments that are given by name."""
    return {name: lowered(value, arrays, other) for name, value in values.items()}


def lowered(value: Value, arrays: list[DeviceArray], other: Mapping[int, np.ndarray]) -> HostValue:
    """A value with host memory in place of device arrays, which are added to `arrays`.

    Args:
      value: an argument, with lists, tuples and dictionaries of arrays in it.
      arrays: the device arrays that were in it, in order.
      other: by the identity of an array, host memory to use in place of its own.

    """
    if isinstance(value, DeviceArray):
        arrays.append(value)
        return other.get(id(value), value.host) if other else value.host
    if isinstance(value, list):
        return [lowered(item, arrays, other) for item in value]
    if type(value) is tuple:
        return tuple(lowered(item, arrays, other) for item in value)
    if isinstance(value, dict):
        return lowered_names(value, arrays, other)
    return cast("HostValue", value)  # nothing of the device in it


def lowered_in(args: Sequence[Value], kwargs: Mapping[str, Value]) -> list[DeviceArray]:
    """The device arrays among the arguments."""
    arrays: list[DeviceArray] = []
    lowered([*args], arrays, {})
    lowered_names(kwargs, arrays, {})
    return arrays


def compute(
    name: str,
    function: HostFunction,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    *,
    writes: Sequence[DeviceArray] = (),
    launches: int = 1,
    returns: bool = True,
) -> Value:
    """Call a function of numpy for device arrays.

    Args:
      name: how cupy calls it.
      function: gets host memory in place of device arrays; what it writes is in `writes`.
      args: its arguments.
      kwargs: those that are given by name.
      writes: the device arrays among the arguments whose memory it changes.
      launches: how many kernels cupy launches for it, if it is no view.
      returns: whether its results are wanted; else None is returned.

    Raises:
      ValueError: an array is of another device than the current one.

    """
    now = machine()
    with now.lock:
        arrays: list[DeviceArray] = []
        low = [lowered(value, arrays, {}) for value in args]
        named = lowered_names(kwargs, arrays, {})
        stream = now.stream
        for array in arrays:
            _check_device(now, array, name)
        if stream.capture is not None:
            return _captured(name, function, args, kwargs, writes, launches, returns)
        with np.errstate(all="ignore"):
            result = function(*low, **named)
        if not writes and _is_view(result, arrays):
            return _raised(result, arrays)
        clean = _noted(stream, name, arrays, writes)
        if clean is not None:
            result = _again(function, args, kwargs, clean, writes, result)
        now.device.counters.launches += launches
        now.record("launch", name)
        if not returns:
            return None
        outputs = _raised(result, arrays)
        _note_results(stream, outputs, name)
        return outputs


def compute_array(
    name: str,
    function: Callable[..., np.ndarray],
    args: Sequence[Value],
    *,
    writes: Sequence[DeviceArray] = (),
    launches: int = 1,
) -> DeviceArray:
    """`compute` for a function that returns one array."""
    array = compute(name, function, args, {}, writes=writes, launches=launches)
    assert isinstance(array, DeviceArray)
    return array


def _check_device(now: Machine, array: DeviceArray, name: str) -> None:
    if array.block.device is not now.device:
        raise ValueError(
            f"The device where the array resides ({array.block.device.index}) is different from "
            f"the current device ({now.local.device}). Peer access is unavailable between these "
            f"devices. (in {name})"
        )


def _is_view(result: HostValue, arrays: Sequence[DeviceArray]) -> bool:
    """Whether all that was computed shares the memory of arguments, or is no array."""
    if isinstance(result, list | tuple):
        return all(_is_view(item, arrays) for item in result)
    if not isinstance(result, np.ndarray):
        return not isinstance(result, np.generic)
    root = root_of(result)
    return any(root is root_of(array.host) for array in arrays)


def _raised(result: HostValue, arrays: Sequence[DeviceArray]) -> Value:
    """Device arrays in place of what numpy computed."""
    if isinstance(result, np.ndarray):
        root = root_of(result)
        for array in arrays:
            if array.host is result:
                return array
            if root_of(array.host) is root:
                return DeviceArray.over(result, array.block)
        return DeviceArray.over(*new_block(result))
    if isinstance(result, np.generic):
        return DeviceArray.over(*new_block(np.asarray(result)))
    if isinstance(result, list):
        return [_raised(item, arrays) for item in result]
    if isinstance(result, tuple):
        items = [_raised(item, arrays) for item in result]
        return alike(result, items)
    return result


def alike(results: tuple[object, ...], items: Sequence[_Item]) -> tuple[_Item, ...]:
    """Other items in a tuple of the same class, which may be a named one."""
    make: Callable[[Sequence[_Item]], tuple[_Item, ...]] = getattr(type(results), "_make", tuple)
    return make(items)


def _noted(
    stream: StreamState, name: str, arrays: Sequence[DeviceArray], writes: Sequence[DeviceArray]
) -> list[DeviceArray] | None:
    """Check the order of what a kernel reads and writes: arrays that it may not see, or None."""
    ordering.begin(stream)
    racing = [
        array
        for array in _only_read(arrays, writes)
        if not ordering.check_read(stream, array.block, array.host, name)
    ]
    racing += [
        array for array in writes if not ordering.check_write(stream, array.block, array.host, name)
    ]
    return racing or None


def _only_read(
    arrays: Sequence[DeviceArray], writes: Sequence[DeviceArray]
) -> Sequence[DeviceArray]:
    """The arrays that are read: an argument that is written is not, if it is there once only."""
    if not writes:
        return arrays
    left = list(arrays)
    for written in writes:
        del left[next(i for i, array in enumerate(left) if array is written)]
    return left


def _again(
    function: HostFunction,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    racing: Sequence[DeviceArray],
    writes: Sequence[DeviceArray],
    result: HostValue,
) -> HostValue:
    """Compute once more with poison in place of what was not visible; what it writes is poison."""
    if writes:
        for array in writes:
            poison(array.host)
        return result
    other = {id(array): poisoned(array.host.shape, array.host.dtype) for array in racing}
    low = [lowered(value, [], other) for value in args]
    with np.errstate(all="ignore"):
        return function(*low, **lowered_names(kwargs, [], other))


def _note_results(stream: StreamState, outputs: Value, name: str) -> None:
    if isinstance(outputs, DeviceArray):
        ordering.check_write(stream, outputs.block, outputs.host, name)
    elif isinstance(outputs, list | tuple):
        for item in outputs:
            _note_results(stream, item, name)


def _captured(
    name: str,
    function: HostFunction,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    writes: Sequence[DeviceArray],
    launches: int,
    returns: bool,
) -> Value:
    """Add a call to the capture: nothing is written now, and the results are poison."""
    now = machine()
    stream = now.stream
    capture = stream.capture
    assert capture is not None
    other = {id(array): array.host.copy() for array in writes}
    arrays: list[DeviceArray] = []
    low = [lowered(value, arrays, other) for value in args]
    named = lowered_names(kwargs, arrays, other)
    with np.errstate(all="ignore"):
        result = function(*low, **named)
    if not writes and _is_view(result, arrays):
        return _raised(result, arrays)
    plain = [lowered(value, [], {}) for value in args]
    plain_named = lowered_names(kwargs, [], {})
    ordering.begin(stream)
    outputs: Value = None
    results: list[DeviceArray] = []
    if writes:
        outputs = writes[0] if returns else None
    elif returns:
        outputs = _raised(result, arrays)
        results = lowered_in([outputs], {})
        for array in results:
            poison(array.host)
    views = [array.host for array in results]

    def replay(_: StreamState) -> None:
        with np.errstate(all="ignore"):
            fresh = function(*plain, **plain_named)
        if views:
            values = fresh if isinstance(fresh, list | tuple) else [fresh]
            for view, value in zip(views, values, strict=True):
                view[...] = value

    capture.add(
        name,
        replay,
        [Use(array.block, array.host) for array in _only_read(arrays, writes)],
        [Use(array.block, array.host) for array in (*writes, *results)],
        launches,
        stream,
    )
    now.record("capture", name)
    return outputs
