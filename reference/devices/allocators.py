"""The allocators of devices: they count the bytes of arrays, up to a limit.

An allocator without a limit counts nothing, since counting takes time in every run.
Clauses: MEMORY.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import ResourceExhausted
from sessrun.spec import devices
from sessrun.spec.dtypes import row_of_numpy

__all__ = [
    "Allocator",
    "AllocatorStatistics",
    "allocator_of",
    "memory_statistics",
    "out_of_memory",
    "set_memory_limit",
]


class AllocatorStatistics(NamedTuple):
    """The statistics of an allocator since its limit was set, in bytes.

    Attributes:
      bytes_limit: the limit.
      bytes_in_use: the bytes of the present arrays.
      peak_bytes_in_use: the most bytes that were in use at a time.
      largest_alloc_size: the bytes of the largest array.
      num_allocs: how many arrays were allocated.

    """

    bytes_limit: int
    bytes_in_use: int
    peak_bytes_in_use: int
    largest_alloc_size: int
    num_allocs: int


class Allocator:
    """Counts the bytes of arrays on a device, and refuses more than its limit.

    Attributes:
      device: the device's full name.
      name: its name in errors and statistics.
      limit: how many bytes may be in use at a time; None for no limit.
      limited_by_session: whether a session's configuration has set the limit; the next session
        sets it anew.

    """

    def __init__(self, device: str, name: str) -> None:
        self.device = device
        self.name = name
        self.limit: int | None = None
        self.limited_by_session = False
        self._in_use = self._peak = self._largest = self._count = 0
        self._charged: dict[int, tuple[str, int]] = {}
        self._lock = threading.RLock()

    def admit(self, value: Array, node: str) -> None:
        """Charge an array of a node, once, until it is freed.

        Raises:
          KernelError: code 8, naming shape, type, device and allocator.

        """
        key, size = id(value), value.nbytes
        with self._lock:
            if key in self._charged:
                return
            if self.limit is not None and self._in_use + size > self.limit:
                text = out_of_memory(value.shape, value.dtype, self.device, self.name)
                raise ResourceExhausted(
                    f"{text}: {size} bytes wanted, {self._in_use} of {self.limit} in use"
                )
            self._in_use += size
            self._peak = max(self._peak, self._in_use)
            self._largest = max(self._largest, size)
            self._count += 1
            self._charged[key] = node, size
        weakref.finalize(value, self._release, key).atexit = False

    def _release(self, key: int) -> None:
        with self._lock:
            _, size = self._charged.pop(key)
            self._in_use -= size

    def usage(self) -> dict[str, int]:
        """The bytes in use, by the node that computed them."""
        by_node: dict[str, int] = {}
        with self._lock:
            for node, size in self._charged.values():
                by_node[node] = by_node.get(node, 0) + size
        return by_node

    def statistics(self) -> AllocatorStatistics | None:
        """What the allocator has counted; None if it has no limit."""
        with self._lock:
            if self.limit is None:
                return None
            return AllocatorStatistics(
                self.limit, self._in_use, self._peak, self._largest, self._count
            )

    def forget_peak(self) -> None:
        """Set the peak to the bytes in use."""
        with self._lock:
            self._peak = self._in_use


_ALLOCATORS: Final[dict[str, Allocator]] = {}


def allocator_of(name: str, kind: str, index: int) -> Allocator:
    """The allocator of a device of this process, by the device's full name."""
    label = "cpu" if kind == "CPU" else f"{kind}_{index}_bfc"
    return _ALLOCATORS.setdefault(name, Allocator(name, label))


def out_of_memory(
    shape: Sequence[int], dtype: np.dtype[np.generic], device: str, allocator: str
) -> str:
    """The message of an allocator that has too little memory for an array."""
    row = row_of_numpy(dtype)
    return (
        f"OOM when allocating tensor with shape[{','.join(map(str, shape))}] and type "
        f"{row.opdef if row else dtype} on {device} by allocator {allocator}"
    )


def set_memory_limit(device: str, limit: int | None) -> None:
    """Limit the memory of a device for the arrays of later runs.

    Args:
      device: a device name such as `/cpu:0`.
      limit: how many bytes may be in use at a time; None for no limit.

    Raises:
      ValueError: no single local device is named, or the limit is negative.

    """
    if limit is not None and limit < 0:
        raise ValueError(f"a memory limit is at least 0, got {limit}")
    _named(device).limit = limit


def memory_statistics(device: str) -> AllocatorStatistics:
    """The statistics of the allocator of a device that has a memory limit.

    Args:
      device: a device name such as `/cpu:0`.

    Raises:
      ValueError: no single local device is named, or it has no limit.

    """
    statistics = _named(device).statistics()
    if statistics is None:
        raise ValueError(f"{device!r} has no memory limit, so that nothing is counted")
    return statistics


def _named(device: str) -> Allocator:
    wanted = devices.parse(device)
    if wanted.kind is None or wanted.index is None:
        raise ValueError(f"{device!r} names no single device; write /cpu:0")
    full = wanted.over(devices.full_name(wanted.kind, wanted.index))
    return allocator_of(str(full), wanted.kind, wanted.index)
