"""Copies by pointers: the methods of `cupy.cuda.MemoryPointer` that move bytes.

Host memory is given by its address. What is copied asynchronously is taken for pinned memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import devices, indexing, streams, transfers
from sessrun.adapters.fakes.simulated_gpu.machine import machine
from sessrun.adapters.fakes.simulated_gpu.memory import MemoryPointer
from sessrun.adapters.fakes.simulated_gpu.streams import Stream
from sessrun.adapters.fakes.simulated_gpu.values import DeviceArray

__all__ = ["give_methods"]


def _bytes(pointer: MemoryPointer, size: int) -> DeviceArray:
    return DeviceArray.over(pointer.view((size,), np.dtype(np.uint8)), pointer.mem)


def _host(address: ctypes.c_void_p | int, size: int) -> np.ndarray:
    start = address.value if isinstance(address, ctypes.c_void_p) else int(address)
    assert start is not None
    memory = (ctypes.c_uint8 * size).from_address(start)
    return np.frombuffer(memoryview(memory), np.uint8)


def _copy_from_device_async(
    self: MemoryPointer, src: MemoryPointer, size: int, stream: Stream | None = None
) -> None:
    with stream or streams.get_current_stream():
        indexing.set_item(_bytes(self, size), Ellipsis, _bytes(src, size))


def _copy_from_host_async(
    self: MemoryPointer, mem: ctypes.c_void_p | int, size: int, stream: Stream | None = None
) -> None:
    transfers.set_array(_bytes(self, size), _host(mem, size), stream)


def _copy_to_host_async(
    self: MemoryPointer, mem: ctypes.c_void_p | int, size: int, stream: Stream | None = None
) -> None:
    transfers.download(_bytes(self, size), stream, out=_host(mem, size), blocking=False)


def _memset_async(self: MemoryPointer, value: int, size: int, stream: Stream | None = None) -> None:
    with stream or streams.get_current_stream():
        indexing.set_item(_bytes(self, size), Ellipsis, value)


def _on_default(method: Callable[..., None], *, waits: bool) -> Callable[..., None]:
    """The same on the legacy default stream; a download is waited for."""

    def call(self: MemoryPointer, *args: object) -> None:
        method(self, *args, streams.Stream.null)
        if waits:
            devices.wait(machine().device.streams[0], name="a copy to the host")

    return call


def give_methods() -> None:
    """Give pointers the methods that move bytes, which need all that stands on pointers."""
    methods: dict[str, Callable[..., None]] = {
        "copy_from_device": _copy_from_device_async,
        "copy_from_host": _copy_from_host_async,
        "copy_to_host": _copy_to_host_async,
        "memset": _memset_async,
    }
    for name, method in methods.items():
        setattr(MemoryPointer, f"{name}_async", method)
        setattr(MemoryPointer, name, _on_default(method, waits=name == "copy_to_host"))
