"""Devices, streams and events, as `cupy.cuda` has them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import ClassVar, Self, TypeVar

from sessrun.adapters.fakes.simulated_gpu import ordering
from sessrun.adapters.fakes.simulated_gpu.capture import Capture, Graph
from sessrun.adapters.fakes.simulated_gpu.devices import counted, wait
from sessrun.adapters.fakes.simulated_gpu.host_values import OnStream
from sessrun.adapters.fakes.simulated_gpu.machine import (
    Recording,
    RunTimeError,
    StreamState,
    machine,
    merge,
)

__all__ = [
    "Event",
    "ExternalStream",
    "Stream",
    "get_current_stream",
    "get_elapsed_time",
]


#: The argument of the callback of `launch_host_func`.
_Argument = TypeVar("_Argument")


class Event:
    """A mark on a stream, for other streams and for the host to wait for."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess and not disable_timing:
            raise ValueError("Timing must be disabled for interprocess events")
        self.clock: dict[int, int] = {}
        self.capture: Recording | None = None
        self.stream: StreamState | None = None
        self.seconds: float | None = None
        self.is_timed = not disable_timing
        self._asked = False

    def record(self, stream: OnStream | None = None) -> None:
        """Mark the present end of a stream's work."""
        state = machine().stream if stream is None else stream.state
        ordering.begin(state)
        self.clock = dict(state.clock)
        self.capture, self.stream = state.capture, state
        self.seconds = time.perf_counter()
        self._asked = False

    @property
    def done(self) -> bool:
        """Whether the host knows that it is reached: not at the first question, as on a GPU."""
        known = machine().host_clock
        if all(known.get(key, 0) >= tick for key, tick in self.clock.items()):
            return True
        if self._asked:
            ordering.host_waits_for(self.clock)
        self._asked = True
        return not self.clock

    def synchronize(self) -> None:
        """Let the host wait for it."""
        if self.capture is not None and self.stream is not None:
            ordering.not_captured(self.stream)
        ordering.host_waits_for(self.clock)
        device = machine().device if self.stream is None else self.stream.device
        counted(device, "an event", hidden=False)


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds of the host between two events.

    Raises:
      RunTimeError: an event was not recorded, or the host did not wait for the second.

    """
    if start_event.seconds is None or end_event.seconds is None:
        raise RunTimeError(400, "cudaErrorInvalidResourceHandle", "invalid resource handle")
    known = machine().host_clock
    if any(known.get(key, 0) < tick for key, tick in end_event.clock.items()):
        raise RunTimeError(600, "cudaErrorNotReady", "device not ready")
    return 1000 * (end_event.seconds - start_event.seconds)


class _NullStream:
    """The legacy default stream, of whichever device is current."""

    def __get__(self, _: object, owner: type[Stream]) -> Stream:
        return owner.of(machine().device.streams[0])


class Stream:
    """A stream of the current device.

    Args:
      null: the legacy default stream.
      non_blocking: whether it and the legacy default stream do not wait for one another.
      ptds: the default stream of the thread: here a blocking stream as any other.
      priority: no matter here.

    """

    null: ClassVar[_NullStream] = _NullStream()

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> None:
        now = machine()
        self.priority = priority or 0
        self._before: list[StreamState | None] = []
        self._owned = not null
        device = now.device
        if null:
            self.state = device.streams[0]
            return
        number = next(now.stream_numbers)
        self.state = StreamState(number, device, blocks=not non_blocking)
        device.streams[number] = self.state
        merge(self.state.clock, now.host_clock)

    @classmethod
    def of(cls, state: StreamState) -> Stream:
        """An object for a stream that lives already."""
        stream = cls.__new__(cls)
        vars(stream).update(state=state, priority=0, _before=[], _owned=False)
        return stream

    def __del__(self) -> None:
        state = getattr(self, "state", None)
        if state is not None and self._owned and not state.pending:
            state.device.streams.pop(state.number, None)

    @property
    def ptr(self) -> int:
        """Its number in place of a pointer; 0 for the legacy default stream."""
        return self.state.number

    @property
    def device_id(self) -> int:
        """The number of its device; -1 for the legacy default stream, as cupy has it."""
        return self.state.device.index if self.state.number else -1

    @property
    def is_non_blocking(self) -> bool:
        """Whether the legacy default stream does not wait for it."""
        return not self.state.blocks

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.state is other.state

    def __hash__(self) -> int:
        return hash(id(self.state))

    def __repr__(self) -> str:
        return f"<Stream {self.ptr} (device {self.device_id})>"

    def __enter__(self) -> Self:
        local = machine().local
        self._check_device()
        self._before.append(local.streams.get(self.state.device.index))
        local.streams[self.state.device.index] = self.state
        return self

    def __exit__(self, *_: object) -> None:
        before = self._before.pop()
        streams = machine().local.streams
        if before is None:
            streams.pop(self.state.device.index, None)
        else:
            streams[self.state.device.index] = before

    def _check_device(self) -> None:
        if self.state.number and self.state.device is not machine().device:
            raise RuntimeError(
                f"This stream was not created on device {machine().local.device}: its device "
                f"{self.device_id} does not match with the current device"
            )

    def use(self) -> Stream:
        """Make it the current stream of this thread on its device."""
        self._check_device()
        machine().local.streams[self.state.device.index] = self.state
        return self

    def synchronize(self) -> None:
        """Let the host wait for it."""
        wait(self.state)

    @property
    def done(self) -> bool:
        """Whether the host knows that all on it is done: not at the first question."""
        event = self.__dict__.setdefault("_asked", Event())
        if event.clock.get(self.state.key) != self.state.tick:
            event.record(self)
        return bool(event.done)

    def record(self, event: Event | None = None) -> Event:
        """Record an event on it, a new one by default."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let what comes next on it come after the event."""
        if event.capture is not None and event.stream is not None:
            capture = event.capture
            if self.state.capture is None:
                capture.fork(self.state)
            elif self.state is capture.origin:
                capture.joined.add(event.stream.key)
        ordering.wait(self.state, event.clock)

    def add_callback(
        self, callback: Callable[[Stream, int, _Argument], None], arg: _Argument
    ) -> None:
        """Call the host when all on it until now is done."""
        tick = ordering.begin(self.state)
        self.state.pending.append((tick, lambda: callback(self, 0, arg)))

    def launch_host_func(self, callback: Callable[[_Argument], None], arg: _Argument) -> None:
        """Call the host when all on it until now is done."""
        tick = ordering.begin(self.state)
        self.state.pending.append((tick, lambda: callback(arg)))

    def begin_capture(self, mode: int | None = None) -> None:
        """Begin to capture the operations put on the stream.

        Raises:
          RuntimeError: it is the legacy default stream.
          RunTimeError: it is being captured already.

        """
        if not self.state.number:
            raise RuntimeError("cannot capture on the default (legacy) stream")
        if self.state.capture is not None:
            raise RunTimeError(1, "cudaErrorInvalidValue", "invalid argument")
        self.state.capture = Capture(self.state)

    def end_capture(self) -> Graph:
        """The graph of the captured operations.

        Raises:
          RunTimeError: nothing is being captured, or something could not be.

        """
        capture = self.state.capture
        if capture is None:
            raise RunTimeError(903, "cudaErrorIllegalState", "no capture goes on")
        graph: Graph = capture.end()
        return graph

    def is_capturing(self) -> bool:
        """Whether a capture goes on."""
        return self.state.capture is not None


class ExternalStream(Stream):
    """A stream by its pointer, which somebody else owns."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        self.priority, self._before, self._owned = 0, [], False
        devices = machine().devices
        with contextlib.suppress(StopIteration):
            self.state = next(it.streams[ptr] for it in devices if ptr in it.streams)
            return
        raise RunTimeError(400, "cudaErrorInvalidResourceHandle", "invalid resource handle")


def get_current_stream(device_id: int | None = None) -> Stream:
    """The current stream of a device, of the current one by default."""
    now = machine()
    index = now.local.device if device_id is None else device_id
    return Stream.of(now.local.streams.get(index) or now.devices[index].streams[0])
