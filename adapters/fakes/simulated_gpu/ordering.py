"""What a stream can count on: a vector clock for each stream, and who used which memory when.

A kernel computes at once, but what it may see is decided by CUDA's order alone: what its own
stream did before, what it waited for (events, synchronization), and what the legacy default
stream synchronizes. Whatever else it reads or writes over is a race.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from sessrun.adapters.fakes.simulated_gpu.machine import (
    DeviceState,
    Machine,
    RunTimeError,
    StreamState,
    machine,
    merge,
)

__all__ = [
    "Accesses",
    "begin",
    "check_read",
    "check_release",
    "check_write",
    "host_waits_for",
    "host_waits_for_device",
    "not_captured",
]

#: So many parts of a block are told apart for a stream; more count as the whole of it.
_PARTS = 64


class Accesses:
    """Who wrote or who read a block: for each stream ticks with the part of the memory."""

    __slots__ = ("of",)

    def __init__(self) -> None:
        self.of: dict[int, list[tuple[int, np.ndarray | None]]] = {}

    def note(self, key: int, tick: int, part: np.ndarray | None) -> None:
        """Remember an access of a stream, to a part of the memory or (None) to all of it."""
        if len(self.of) < 2 and len(machine().device.streams) < 2:
            self.of = {key: [(tick, None)]}  # nobody to be told apart from
            return
        entries = self.of.get(key)
        if entries is None or part is None or len(entries) >= _PARTS:
            self.of[key] = [(tick, part if entries is None else None)]
        else:
            others = [entry for entry in entries if not _is_same(entry[1], part)]
            self.of[key] = [*others, (tick, part)]

    def unordered(self, stream: StreamState, part: np.ndarray | None) -> int | None:
        """A stream whose access to that part the given one does not come after, or None."""
        own = stream.key
        if len(self.of) == 1 and own in self.of:
            return None
        for key, entries in self.of.items():
            if key == own:
                continue
            known = stream.clock.get(key, 0)
            for tick, other in entries:
                if tick > known and (
                    part is None or other is None or np.may_share_memory(part, other)
                ):
                    return key
        return None


def _is_same(one: np.ndarray | None, other: np.ndarray) -> bool:
    """Whether two views are of the same bytes."""
    return one is other or (
        one is not None
        and (one.shape, one.strides, one.dtype) == (other.shape, other.strides, other.dtype)
        and one.__array_interface__["data"] == other.__array_interface__["data"]
    )


class TrackedMemory(Protocol):
    """A block of a device's memory, as far as who used it goes.

    Attributes:
      device: whose memory it is.
      size: bytes.
      stream: the number of the stream that was current when it was allocated.
      writes: who wrote it.
      reads: who read it.
      owner: where it is another block's memory by its bare address, a reference to that block.

    """

    device: DeviceState
    size: int
    stream: int
    writes: Accesses
    reads: Accesses

    @property
    def owner(self) -> Callable[[], object] | None: ...


def begin(stream: StreamState) -> int:
    """Put an operation on a stream: its tick."""
    now = machine()
    refresh(now, stream)
    stream.tick += 1
    stream.clock[stream.key] = stream.tick
    return stream.tick


def refresh(now: Machine, stream: StreamState) -> None:
    """Let a stream know what the host knows, and what the legacy default stream gives it."""
    if stream.host_version != now.host_version:
        merge(stream.clock, now.host_clock)
        stream.host_version = now.host_version
    streams = stream.device.streams
    if len(streams) > 1 and stream.blocks:
        if stream.number:
            merge(stream.clock, streams[0].clock)
        else:
            for other in [*streams.values()]:
                if other.blocks and other is not stream:
                    merge(stream.clock, other.clock)


def check_read(stream: StreamState, block: TrackedMemory, part: np.ndarray, name: str) -> bool:
    """Note that a stream reads memory; whether what was written there before is visible to it."""
    other = block.writes.unordered(stream, part)
    block.reads.note(stream.key, stream.tick, part)
    if _is_freed(block, name):
        return False
    if other is None:
        return True
    machine().race(f"stream {stream.number} reads what stream {other} wrote", name)
    return False


def check_write(stream: StreamState, block: TrackedMemory, part: np.ndarray, name: str) -> bool:
    """Note that a stream writes memory; whether it comes after all who used it before."""
    wrote = block.writes.unordered(stream, part)
    read = block.reads.unordered(stream, part)
    block.writes.note(stream.key, stream.tick, part)
    if _is_freed(block, name):
        return False
    if wrote is not None:
        machine().race(f"stream {stream.number} writes what stream {wrote} writes", name)
        return False
    if read is not None:
        machine().race(f"stream {stream.number} writes over what stream {read} reads", name)
    return True


def _is_freed(block: TrackedMemory, name: str) -> bool:
    """Whether memory is used by its bare address after its owner was freed, which is recorded."""
    if block.owner is None or block.owner() is not None:
        return False
    machine().race("memory is used that was freed", name)
    return True


def check_release(now: Machine, block: TrackedMemory) -> None:
    """Record it if a block goes back to its stream while another stream may still use it."""
    if len(block.device.streams) < 2:
        return
    stream = block.device.streams.get(block.stream)
    if stream is None:
        return
    refresh(now, stream)
    other = block.writes.unordered(stream, None) or block.reads.unordered(stream, None)
    if other is not None:
        now.race(
            f"a block of stream {stream.number} is freed while stream {other} may use it",
            f"{block.size} bytes",
        )


def host_waits_for(clock: dict[int, int]) -> None:
    """The host has waited: what was downloaded until then is there."""
    now = machine()
    merge(now.host_clock, clock)
    now.host_version += 1
    for device in now.devices:
        for stream in [*device.streams.values()]:
            done = now.host_clock.get(stream.key, 0)
            while stream.pending and stream.pending[0][0] <= done:
                stream.pending.popleft()[1]()


def host_waits_for_stream(stream: StreamState) -> None:
    """`cudaStreamSynchronize`."""
    not_captured(stream)
    refresh(machine(), stream)
    host_waits_for(stream.clock)


def host_waits_for_device(device: DeviceState) -> None:
    """`cudaDeviceSynchronize`."""
    for stream in [*device.streams.values()]:
        host_waits_for_stream(stream)


def not_captured(stream: StreamState) -> None:
    """Refuse what a capture cannot hold: a wait of the host, or a copy that waits.

    Raises:
      RunTimeError: the stream is being captured; the capture is void then.

    """
    if stream.capture is not None:
        stream.capture.is_void = True
        raise RunTimeError(
            900,
            "cudaErrorStreamCaptureUnsupported",
            "operation not permitted when stream is capturing",
        )


def wait(stream: StreamState, clock: Mapping[int, int]) -> None:
    """`cudaStreamWaitEvent`: what comes next on the stream comes after what the clock says."""
    merge(stream.clock, clock)
