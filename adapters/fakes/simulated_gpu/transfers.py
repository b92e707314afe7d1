"""Copies between the host and devices, counted; those that are not waited for arrive late."""

from __future__ import annotations

import ctypes
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import devices, ordering
from sessrun.adapters.fakes.simulated_gpu.capture import Use
from sessrun.adapters.fakes.simulated_gpu.device_values import check_dtype, poison, poisoned
from sessrun.adapters.fakes.simulated_gpu.host_values import DTypeLike, OnStream, Order
from sessrun.adapters.fakes.simulated_gpu.launches import compute_array, new_block, root_of
from sessrun.adapters.fakes.simulated_gpu.machine import StreamState, machine
from sessrun.adapters.fakes.simulated_gpu.values import DeviceArray, Value

__all__ = [
    "PinnedMemoryPointer",
    "download",
    "empty_pinned",
    "hidden_read",
    "peer_copy",
    "set_array",
    "upload",
]


#: Memory of the host that is known by its address alone.
_AtAddress: TypeAlias = "ctypes.Array[ctypes.c_uint8]"


class PinnedMemoryPointer(bytearray):
    """Pinned memory of the host; `numpy.frombuffer` makes arrays from this memory."""

    @property
    def mem(self) -> PinnedMemoryPointer:
        """The memory itself."""
        return self

    @property
    def ptr(self) -> int:
        """Its address."""
        return int(np.frombuffer(self, np.uint8).ctypes.data)

    def size(self) -> int:
        """Its size in bytes."""
        return len(self)


def empty_pinned(
    shape: int | Sequence[int], dtype: DTypeLike = float, order: Literal["C", "F"] = "C"
) -> np.ndarray:
    """An array of the host in pinned memory, of poison."""
    wanted = np.dtype(dtype)
    sizes = (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
    count = math.prod(sizes)
    memory = PinnedMemoryPointer(max(1, count * wanted.itemsize))
    array = np.frombuffer(memory, wanted, count).reshape(sizes, order=order)
    poison(array)
    return array


def _owner(array: np.ndarray) -> PinnedMemoryPointer | _AtAddress | None:
    """The pinned memory, or the bare address, that an array of the host lies over; else None."""
    base = root_of(array).base
    memory = getattr(base, "obj", base)
    return memory if isinstance(memory, PinnedMemoryPointer | ctypes.Array) else None


def is_pinned(array: np.ndarray) -> bool:
    """Whether an array of the host is in pinned memory, or over a bare address."""
    return _owner(array) is not None


def upload(
    value: np.ndarray, dtype: DTypeLike | None = None, *, order: Order = "K", name: str = "an array"
) -> DeviceArray:
    """A new device array with the values of a host array; cupy fills one without dimensions."""
    now = machine()
    wanted = check_dtype(value.dtype if dtype is None else dtype)
    if not value.ndim:
        number = value.copy()
        return compute_array("fill", lambda: np.array(number, wanted), ())
    copy = np.array(value, wanted, order=order, copy=True)
    with now.lock:
        stream = now.stream
        if stream.capture is not None and not is_pinned(value):
            ordering.not_captured(stream)
        ordering.begin(stream)
        array = DeviceArray.over(*new_block(copy))
        ordering.check_write(stream, array.block, array.host, name)
        _count_up(name, copy.nbytes)
        if is_pinned(value):
            _watch(stream, value, array, is_kept=True)
    return array


def _count_up(name: str, nbytes: int) -> None:
    counters = machine().device.counters
    counters.uploads += 1
    counters.upload_bytes += nbytes
    machine().record("upload", name, nbytes)


def _watch(
    stream: StreamState, source: np.ndarray, array: DeviceArray, *, is_kept: bool = False
) -> None:
    """Tell at the next wait if pinned memory was changed, or freed, while it was read.

    cupy keeps what it makes a new array of; a bare address may be that of memory which is kept.
    """
    before, where = source.copy(), machine().record("asynchronous upload", "pinned memory")
    memory = _owner(source)
    assert memory is not None
    begins = source.ctypes.data - np.frombuffer(memoryview(memory), np.uint8).ctypes.data
    shape, dtype, strides = source.shape, source.dtype, source.strides
    is_kept |= not isinstance(memory, PinnedMemoryPointer)
    held: Callable[[], PinnedMemoryPointer | _AtAddress | None] = (
        (lambda: memory) if is_kept else weakref.ref(memory)
    )

    def compare() -> None:
        kept = held()
        now = None if kept is None else np.ndarray(shape, dtype, memoryview(kept), begins, strides)
        if now is None or now.tobytes() != before.tobytes():
            how = "freed" if now is None else "changed"
            machine().race(f"pinned memory was {how} before its upload was done", str(where))
            poison(array.host)

    stream.pending.append((stream.tick, compare))


def set_array(array: DeviceArray, value: Value, stream: OnStream | None = None) -> None:
    """`ndarray.set`: copy a host array of the same shape and dtype into a device array.

    Raises:
      TypeError: it is no host array, or its dtype differs.
      ValueError: its shape differs.

    """
    if not isinstance(value, np.ndarray):
        raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
    if value.dtype != array.host.dtype:
        raise TypeError(f"{value.dtype} array cannot be set to {array.host.dtype} array")
    if value.shape != array.host.shape:
        raise ValueError(f"Shape mismatch. Old shape: {array.host.shape}, new: {value.shape}")
    now = machine()
    with now.lock:
        state = now.stream if stream is None else stream.state
        if _is_captured(state, value):
            _capture(state, "set", array, lambda _: np.copyto(array.host, value), is_read=False)
            return
        ordering.begin(state)
        clean = ordering.check_write(state, array.block, array.host, "set")
        array.host[...] = value
        if not clean:
            poison(array.host)
        _count_up("set", value.nbytes)
        if is_pinned(value):
            _watch(state, value, array)


def download(
    array: DeviceArray,
    stream: OnStream | None = None,
    order: Order = "C",
    out: np.ndarray | None = None,
    blocking: bool = True,
    *,
    name: str = "get",
) -> np.ndarray:
    """`ndarray.get`: a copy in host memory, which is poison until the stream was waited for.

    Raises:
      TypeError: `out` is no host array of the same dtype.
      ValueError: its shape differs.

    """
    view = array.host
    if out is not None and (not isinstance(out, np.ndarray) or out.dtype != view.dtype):
        raise TypeError("Only numpy.ndarray of the same dtype can be obtained from cupy.ndarray")
    if out is not None and out.shape != view.shape:
        raise ValueError(f"Shape mismatch. Expected shape: {view.shape}, actual: {out.shape}")
    now = machine()
    with now.lock:
        state = now.stream if stream is None else stream.state
        target = None if blocking else out
        if _is_captured(state, target) and target is not None:
            _capture(state, name, array, lambda on: _arrives(on, target, view.copy()), is_read=True)
            return target
        ordering.begin(state)
        clean = ordering.check_read(state, array.block, view, name)
        wanted: Order = "F" if order == "A" and view.flags.f_contiguous else "C"
        wanted = order if order in {"C", "F"} else wanted
        values = np.array(view, order=wanted) if clean else poisoned(view.shape, view.dtype)
        counters = array.block.device.counters
        counters.downloads += 1
        counters.download_bytes += view.nbytes
        now.record("download", name, view.nbytes)
        if not blocking and out is not None and is_pinned(out):
            _arrives(state, out, values)
            return out
        devices.wait(state, hidden=not blocking, name=name)
    if out is None:
        return values
    out[...] = values
    return out


def _arrives(state: StreamState, out: np.ndarray, values: np.ndarray) -> None:
    """Leave poison in host memory until the stream was waited for."""
    poison(out)
    state.pending.append((state.tick, lambda: np.copyto(out, values)))


def _is_captured(state: StreamState, host: np.ndarray | None) -> bool:
    """Whether a copy becomes part of a capture, as those of pinned memory do.

    Raises:
      RunTimeError: the stream is being captured, and the copy would wait.

    """
    if state.capture is not None and (host is None or not is_pinned(host)):
        ordering.not_captured(state)
    return state.capture is not None


def _capture(
    state: StreamState,
    name: str,
    array: DeviceArray,
    replay: Callable[[StreamState], None],
    *,
    is_read: bool,
) -> None:
    assert state.capture is not None
    ordering.begin(state)
    use = [Use(array.block, array.host)]
    state.capture.add(name, replay, use if is_read else [], [] if is_read else use, 1, state)
    machine().record("capture", name)


def hidden_read(array: DeviceArray, name: str) -> np.ndarray:
    """The values of a device array for a conversion that looks like plain Python."""
    now = machine()
    with now.lock:
        state = now.stream
        ordering.not_captured(state)
        ordering.begin(state)
        clean = ordering.check_read(state, array.block, array.host, name)
        counters = array.block.device.counters
        counters.downloads += 1
        counters.hidden_downloads += 1
        counters.download_bytes += array.host.nbytes
        now.record("hidden download", name, array.host.nbytes)
        devices.wait(state, hidden=True, name=name)
        return array.host.copy() if clean else poisoned(array.host.shape, array.host.dtype)


def peer_copy(array: DeviceArray, order: Order = "C") -> DeviceArray:
    """A copy of another device's array on the current device; both devices' streams wait.

    Raises:
      ValueError: it is not contiguous.

    """
    view = array.host
    if not (view.flags.c_contiguous or view.flags.f_contiguous):
        raise ValueError("CuPy cannot copy non-contiguous array between devices.")
    now = machine()
    with now.lock:
        source = now.local.streams.get(array.block.device.index) or array.block.device.streams[0]
        target = now.stream
        ordering.refresh(now, source)
        ordering.wait(target, source.clock)
        ordering.begin(target)
        clean = ordering.check_read(target, array.block, view, "a copy between devices")
        values = np.array(view, order=order) if clean else poisoned(view.shape, view.dtype)
        copied = DeviceArray.over(*new_block(values))
        ordering.check_write(target, copied.block, copied.host, "a copy between devices")
        now.device.counters.peer_copies += 1
        now.device.counters.peer_copy_bytes += view.nbytes
        now.record("copy between devices", "an array", view.nbytes)
    return copied
