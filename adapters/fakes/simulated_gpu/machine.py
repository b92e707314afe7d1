"""The state that simulated GPUs share: devices, counters, the log, the random seed."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

__all__ = [
    "Allocator",
    "Counters",
    "DeviceState",
    "Machine",
    "Record",
    "RunTimeError",
    "machine",
    "switch_to",
]

_HERE: Final = str(Path(__file__).parent)
#: So many events are remembered.
_REMEMBERED: Final = 2000
#: Takes a number of bytes; `memory.allocate` checks that it returned a `MemoryPointer`.
Allocator: TypeAlias = Callable[[int], object]


class RunTimeError(RuntimeError):
    """What cupy raises as `cupy.cuda.runtime.CUDARuntimeError`, by CUDA's name of the error."""

    def __init__(self, status: int, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}")
        self.status = status


@dataclass(slots=True)
class Counters:
    """What happened on one device since the counters were reset; bytes are of the values.

    Attributes:
      launches: kernels, fills and copies within the device that cupy would launch; views and
        `empty` launch nothing. Functions that launch several are counted by a short table.
      synchronizations: waits that the program asked for, downloads included.
      hidden_synchronizations: waits that cupy does on its own: `bool`, `int`, `item`, masks; and
        CUDA, when memory is given back to the device.
      uploads: copies from the host, and their bytes.
      downloads: copies to the host, hidden ones included, and their bytes.
      hidden_downloads: those of them that look like a read of a Python value.
      peer_copies: copies from another device, and their bytes.
      allocations: blocks of memory asked of an allocator.
      peak_bytes: the most bytes that were in use at one time, in blocks of 512.
      graph_launches: launches of captured graphs; `graph_nodes` is what they held.
      compilations: kernels of CUDA source whose source is new.
      races: accesses that nothing put in an order.

    """

    launches: int = 0
    synchronizations: int = 0
    hidden_synchronizations: int = 0
    uploads: int = 0
    upload_bytes: int = 0
    downloads: int = 0
    download_bytes: int = 0
    hidden_downloads: int = 0
    peer_copies: int = 0
    peer_copy_bytes: int = 0
    allocations: int = 0
    peak_bytes: int = 0
    graph_launches: int = 0
    graph_nodes: int = 0
    compilations: int = 0
    races: int = 0

    def as_dict(self) -> dict[str, int]:
        """The counters by name."""
        return dataclasses.asdict(self)


class Record(NamedTuple):
    """One event: what kind it was, of what, where the caller stands, on which device and stream."""

    kind: str
    name: str
    file: str
    line: int
    device: int
    stream: int
    nbytes: int = 0

    def __str__(self) -> str:
        size = f", {self.nbytes} bytes" if self.nbytes else ""
        where = f"device {self.device}, stream {self.stream}"
        return f"{self.file}:{self.line}: {self.kind} of {self.name} ({where}{size})"


@dataclass(slots=True, eq=False)
class DeviceState:
    """One simulated device.

    Attributes:
      index: its number.
      total_bytes: its memory.
      reserved_bytes: the memory that pools and single allocations hold.
      used_bytes: the memory that arrays hold, in blocks of 512 bytes.
      counters: what happened on it.
      streams: its living streams by number; 0 is the legacy default stream.

    """

    index: int
    total_bytes: int
    reserved_bytes: int = 0
    used_bytes: int = 0
    counters: Counters = field(default_factory=Counters)
    streams: dict[int, StreamState] = field(default_factory=dict)


class Recording(Protocol):
    """A capture that goes on, as the streams know it that take part; it is a `capture.Capture`.

    Attributes:
      origin: the stream where it began.
      is_void: whether something that cannot be captured was tried.
      joined: the streams, by key, for whose work the origin waits.

    """

    origin: StreamState
    is_void: bool
    joined: set[int]

    def add(
        self,
        name: str,
        replay: Callable[[StreamState], None],
        reads: Sequence[Any],
        writes: Sequence[Any],
        launches: int,
        stream: StreamState,
    ) -> None:
        """Add an operation of a stream that takes part."""

    def fork(self, stream: StreamState) -> None:
        """Let a stream take part."""

    def end(self) -> Any:
        """The graph of what was captured."""


@dataclass(slots=True, eq=False)
class StreamState:
    """One stream of one device.

    Attributes:
      number: stands for its pointer; 0 is the legacy default stream of its device.
      device: whose stream it is.
      blocks: whether it and the legacy default stream wait for one another.
      tick: how many operations were put on it.
      clock: for each stream (by device and number) the tick that is done before what comes next.
      pending: what becomes visible to the host when it has waited for a tick.
      capture: the capture that it is part of, or None.
      host_version: which state of the host's clock it knows.
      key: its number among the streams of all devices.

    """

    number: int
    device: DeviceState
    blocks: bool = True
    tick: int = 0
    clock: dict[int, int] = field(default_factory=dict)
    pending: collections.deque[tuple[int, Callable[[], None]]] = field(
        default_factory=collections.deque
    )
    capture: Recording | None = None
    host_version: int = 0
    key: int = 0

    def __post_init__(self) -> None:
        self.key = self.number or -1 - self.device.index


class _Local(threading.local):
    """The state of a host thread: device, stream of each device, allocators, settings."""

    def __init__(self) -> None:
        self.device = 0
        self.streams: dict[int, StreamState] = {}
        self.allocators: list[Allocator] = []
        self.linalg = "ignore"


class Machine:
    """All simulated devices, and the host's knowledge of their progress.

    Args:
      devices: how many there are.
      memory_bytes: the memory of one.
      seed: of the order in which duplicates in a scatter are written.

    """

    def __init__(self, devices: int, memory_bytes: int, seed: int) -> None:
        self.devices = [DeviceState(index, memory_bytes) for index in range(devices)]
        self.chance = random.Random(seed)
        self.lock = threading.RLock()
        self.log: collections.deque[Record] = collections.deque(maxlen=_REMEMBERED)
        self.races: list[str] = []
        self.host_clock: dict[int, int] = {}
        self.host_version = 0
        self.stream_numbers: Iterator[int] = itertools.count(1)
        self.local = _Local()
        self.allocator: Allocator | None = None  # a pool's, once the modules are there
        self.addresses: dict[int, Any] = {}  # which the program was told
        self.compiled: set[tuple[int | str, ...]] = set()  # sources of kernels, with their devices
        self.raising = False

    @property
    def device(self) -> DeviceState:
        """The current device of this thread."""
        return self.devices[self.local.device]

    @property
    def stream(self) -> StreamState:
        """The current stream of this thread on its current device."""
        index = self.local.device
        return self.local.streams.get(index) or self.devices[index].streams[0]

    def record(self, kind: str, name: str, nbytes: int = 0) -> Record:
        """Remember an event of the current device and stream, with the caller's place in code."""
        frame: FrameType = sys._getframe(1)  # noqa: SLF001 - the documented way to the caller
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        event = Record(
            kind,
            name,
            frame.f_code.co_filename,
            frame.f_lineno,
            self.local.device,
            self.stream.number,
            nbytes,
        )
        self.log.append(event)
        return event

    def race(self, text: str, name: str) -> None:
        """Remember an access without order; raise it if the machine was installed so."""
        self.device.counters.races += 1
        message = f"{text}: {self.record('race', name)}"
        self.races.append(message)
        if self.raising:
            raise AssertionError(message)

    def shuffled(self, count: int) -> list[int]:
        """The numbers below `count` in an order by chance, never the plain one if there is another.

        A GPU may write duplicates in any order; a test is to see one that differs from numpy's.
        """
        order = list(range(count))
        self.chance.shuffle(order)
        return order[::-1] if count > 1 and order == sorted(order) else order


_MACHINES: Final[list[Machine]] = []


def machine() -> Machine:
    """The machine that is installed.

    Raises:
      RuntimeError: none is: the array is left over from one that was uninstalled.

    """
    if not _MACHINES:
        raise RuntimeError("no simulated GPU is installed: call simulated_gpu.install() first")
    return _MACHINES[-1]


def switch_to(other: Machine | None) -> None:
    """Install this machine in place of the one before, or none."""
    _MACHINES.clear()
    if other is not None:
        _MACHINES.append(other)


def merge(into: dict[int, int], other: Mapping[int, int]) -> None:
    """Let a vector clock know whatever another one knows."""
    for stream, tick in other.items():
        if into.get(stream, 0) < tick:
            into[stream] = tick
