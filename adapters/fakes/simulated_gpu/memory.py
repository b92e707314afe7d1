"""The memory of simulated devices: blocks, pools with limits, and the allocator in use.

Bytes are counted in blocks of 512, and a pool keeps what was freed for its stream, as cupy does.
Fragmentation is not shown: a pool's free bytes are as good as one block.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from sessrun.adapters.fakes.simulated_gpu.device_values import poison, poisoned
from sessrun.adapters.fakes.simulated_gpu.devices import Device
from sessrun.adapters.fakes.simulated_gpu.host_values import DType, OnStream
from sessrun.adapters.fakes.simulated_gpu.machine import (
    Allocator,
    DeviceState,
    Machine,
    RunTimeError,
    machine,
)
from sessrun.adapters.fakes.simulated_gpu.ordering import Accesses, check_release

__all__ = [
    "Block",
    "MemoryPointer",
    "MemoryPool",
    "OutOfMemoryError",
    "UnownedMemory",
    "allocate",
    "get_allocator",
    "set_allocator",
    "using_allocator",
]

UNIT: Final = 512
#: The most addresses that are remembered of those that a program asked for.
_MAX_ADDRESSES: Final = 1000


class OutOfMemoryError(MemoryError):
    """What cupy raises as `cupy.cuda.memory.OutOfMemoryError`; sizes in bytes."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        text = f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes"
        super().__init__(text + (f", limit set to: {limit:,} bytes)." if limit else ")."))


class Block:
    """A piece of a device's memory; it goes back when nothing refers to it.

    Attributes:
      device: whose memory it is.
      size: bytes, rounded up to 512.
      pool: where it goes back to, or None for the device itself.
      stream: the number of the stream that was current when it was allocated.
      root: the host array that stands for the memory; None until something needs it.
      writes: who wrote it.
      reads: who read it.
      capture: the capture within which it was allocated, or None.
      owner: where it is another block's memory by its bare address, a reference to that block.

    """

    __slots__ = (
        "__weakref__",
        "capture",
        "device",
        "owner",
        "pool",
        "reads",
        "root",
        "size",
        "stream",
        "writes",
    )

    def __init__(self, now: Machine, size: int, pool: MemoryPool | None) -> None:
        self.device = now.device
        self.size = size
        self.pool = pool
        stream = now.stream
        self.stream = stream.number
        self.root: np.ndarray | None = None
        self.writes = Accesses()
        self.reads = Accesses()
        self.capture = stream.capture
        self.owner: weakref.ref[Block] | None = None

    @property
    def device_id(self) -> int:
        """The number of its device."""
        return self.device.index

    @property
    def ptr(self) -> int:
        """Its address, which somebody may use from now on without a reference."""
        memory = self.memory()
        address = int(memory.ctypes.data)
        known = machine().addresses
        if address not in known:
            known[address] = AddressedBlock(weakref.ref(self), memory, self.writes, self.reads)
            if len(known) > _MAX_ADDRESSES:
                del known[next(iter(known))]
        return address

    def memory(self) -> np.ndarray:
        """The host array that stands for it, of poison until somebody writes."""
        if self.root is None:
            self.root = poisoned((max(self.size, 1),), np.uint8)
        return self.root

    def __del__(self) -> None:
        with contextlib.suppress(RuntimeError, AttributeError, TypeError):  # at the exit
            _release(self)


def _release(block: Block) -> None:
    now = machine()
    with now.lock:
        device = block.device
        if not any(device is it for it in now.devices):
            return  # of a machine that is gone
        device.used_bytes -= block.size
        check_release(now, block)
        if block.root is not None:
            poison(block.root)
        if block.pool is None:
            device.reserved_bytes -= block.size
        else:
            block.pool.take_back(block)


class AddressedBlock(NamedTuple):
    """A block whose address was asked for: its memory stays, of poison once the block is freed."""

    block: weakref.ref[Block]
    memory: np.ndarray
    writes: Accesses
    reads: Accesses


class UnownedMemory(Block):
    """Memory at a bare address, which somebody else has to keep.

    Args:
      ptr: the address.
      size: bytes.
      owner: kept as long as this; whether it keeps the memory is the caller's care.
      device_id: whose memory it is; known by the address.

    Raises:
      RunTimeError: the program asked for the address of no array there.

    """

    __slots__ = ("_kept",)

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = -1) -> None:
        now = machine()
        for begins, region in now.addresses.items():
            if begins <= ptr and ptr + size <= begins + region.memory.nbytes:
                super().__init__(now, size, None)
                block = region.block()
                self.device = self.device if block is None else block.device
                octets = region.memory.ravel("K").view(np.uint8)
                self.root = octets[ptr - begins : ptr - begins + size]
                self.writes, self.reads, self.owner = region.writes, region.reads, region.block
                self._kept = owner
                return
        raise RunTimeError(1, "cudaErrorInvalidValue", "invalid argument")

    def __del__(self) -> None:
        """It is not this one's to give back."""


class MemoryPointer:
    """A place in a block, as allocators return it: the block and an offset in bytes."""

    __slots__ = ("mem", "offset")

    def __init__(self, mem: Block, offset: int = 0) -> None:
        self.mem = mem
        self.offset = offset

    @property
    def ptr(self) -> int:
        """The address."""
        return self.mem.ptr + self.offset

    @property
    def device_id(self) -> int:
        """The number of its device."""
        return self.mem.device_id

    @property
    def device(self) -> Device:
        """Its device."""
        return Device(self.mem.device_id)

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.offset + offset)

    def __sub__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.offset - offset)

    def __int__(self) -> int:
        return self.ptr

    def view(
        self, shape: tuple[int, ...], dtype: DType, strides: tuple[int, ...] | None = None
    ) -> np.ndarray:
        """The memory from here on as an array of the host."""
        flat = self.mem.memory().ravel("K").view(np.uint8)
        return np.ndarray(shape, dtype, flat.data, self.offset, strides)


def _rounded(size: int) -> int:
    return -(-size // UNIT) * UNIT


def _reserve(device: DeviceState, size: int, limit: int = 0) -> None:
    if device.reserved_bytes + size > device.total_bytes:
        raise OutOfMemoryError(size, device.reserved_bytes, limit)
    device.reserved_bytes += size


def _count(block: Block) -> MemoryPointer:
    device = block.device
    device.used_bytes += block.size
    counters = device.counters
    counters.allocations += 1
    counters.peak_bytes = max(counters.peak_bytes, device.used_bytes)
    return MemoryPointer(block)


def malloc(size: int) -> MemoryPointer:
    """Memory of the current device without a pool, as `cudaMalloc` gives it."""
    now = machine()
    with now.lock:
        _reserve(now.device, _rounded(size))
        return _count(Block(now, _rounded(size), None))


class MemoryPool:
    """A pool, which keeps freed blocks apart for each device and stream."""

    def __init__(self, allocator: Allocator | None = None) -> None:
        self._allocator = allocator
        self._devices = machine().devices
        self._used: dict[int, int] = {}
        self._free: dict[tuple[int, int], int] = {}
        self._limits: dict[int, int] = {}
        #: For each device and stream, how often the free bytes were given away or given up.
        self.changes: dict[tuple[int, int], int] = {}

    def malloc(self, size: int) -> MemoryPointer:
        """A block of the current device and stream.

        Raises:
          OutOfMemoryError: the limit or the device's memory does not suffice, even after all
            free blocks were given up.

        """
        now = machine()
        with now.lock:
            size = _rounded(size)
            stream = now.stream
            arena = (now.local.device, stream.number)
            if size and stream.capture is None:
                self.changes[arena] = self.changes.get(arena, 0) + 1
            free = self._free.get(arena, 0)
            if free >= size:
                self._free[arena] = free - size
            else:
                self._grow(now.device, size)
            self._used[arena[0]] = self._used.get(arena[0], 0) + size
            return _count(Block(now, size, self))

    def _grow(self, device: DeviceState, size: int) -> None:
        limit = self._limits.get(device.index, 0)
        if not self._fits(device, size, limit):
            self._give_up(device.index)
            if not self._fits(device, size, limit):
                raise OutOfMemoryError(size, self._total(device.index), limit)
        _reserve(device, size, limit)

    def _fits(self, device: DeviceState, size: int, limit: int) -> bool:
        within = not limit or self._total(device.index) + size <= limit
        return within and device.reserved_bytes + size <= device.total_bytes

    def take_back(self, block: Block) -> None:
        """Keep a freed block for its stream."""
        index = block.device.index
        self._used[index] = self._used.get(index, 0) - block.size
        arena = (index, block.stream)
        self._free[arena] = self._free.get(arena, 0) + block.size

    def _give_up(self, index: int, stream: int | None = None) -> None:
        device = self._devices[index]
        for arena, size in self._free.items():
            if arena[0] == index and size and stream in {None, arena[1]}:
                device.reserved_bytes -= size
                device.counters.hidden_synchronizations += 1
                machine().record("hidden synchronization", "memory given back", size)
                self._free[arena] = 0
                self.changes[arena] = self.changes.get(arena, 0) + 1

    def __del__(self) -> None:
        """Give free blocks back; a block in use keeps its pool."""
        for (index, _), size in self._free.items():
            self._devices[index].reserved_bytes -= size

    def free_all_blocks(self, stream: OnStream | None = None) -> None:
        """Give the free blocks of the current device back to it, of all streams or of one."""
        now = machine()
        with now.lock:
            self._give_up(now.local.device, None if stream is None else stream.ptr)

    free_all_free = free_all_blocks

    def _total(self, index: int) -> int:
        free = sum(size for arena, size in self._free.items() if arena[0] == index)
        return self._used.get(index, 0) + free

    def used_bytes(self) -> int:
        """Bytes of blocks in use on the current device."""
        return self._used.get(machine().local.device, 0)

    def free_bytes(self) -> int:
        """Bytes of the current device that the pool holds and no array uses."""
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self) -> int:
        """Bytes that the pool holds of the current device."""
        return self._total(machine().local.device)

    def n_free_blocks(self) -> int:
        """How many streams of the current device have free bytes: each counts as one block."""
        index = machine().local.device
        return sum(size > 0 for arena, size in self._free.items() if arena[0] == index)

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Limit the bytes that the pool holds on the current device; 0 lifts the limit.

        Raises:
          ValueError: both or neither are given, or they are out of range.

        """
        device = machine().device
        if (size is None) == (fraction is None):
            if size is not None:
                raise ValueError("size and fraction cannot be specified at one time")
            size = 0
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction}")
            size = int(fraction * device.total_bytes)
        if size is None or size < 0:
            raise ValueError(f"memory limit size out of range: {size}")
        self._limits[device.index] = size

    def get_limit(self) -> int:
        """The limit on the current device in bytes, or 0."""
        return self._limits.get(machine().local.device, 0)


def get_allocator() -> Allocator:
    """The allocator of this thread: that of `using_allocator`, or the one that was set."""
    now = machine()
    return now.local.allocators[-1] if now.local.allocators else now.allocator or malloc


def set_allocator(allocator: Allocator | None = None) -> None:
    """Set the allocator of all threads; None for the device itself, without a pool.

    Raises:
      ValueError: within `using_allocator`.

    """
    if machine().local.allocators:
        raise ValueError("Can't change the global allocator inside `using_allocator` context")
    machine().allocator = allocator or malloc


@contextlib.contextmanager
def using_allocator(allocator: Allocator | None = None) -> Iterator[None]:
    """Within it this thread allocates by the given allocator."""
    kept = machine().local.allocators
    kept.append(allocator or malloc)
    try:
        yield
    finally:
        kept.pop()


def allocate(size: int) -> MemoryPointer:
    """Memory of the current device by the allocator in use."""
    pointer = get_allocator()(size)
    if not isinstance(pointer, MemoryPointer):
        raise TypeError(f"the allocator returned {type(pointer).__name__}, not a MemoryPointer")
    return pointer
