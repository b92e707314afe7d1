"""The simulated devices as cupy has them: `Device`, and the waits of the host that are counted."""

from __future__ import annotations

from typing import Self

from sessrun.adapters.fakes.simulated_gpu import ordering
from sessrun.adapters.fakes.simulated_gpu.machine import (
    DeviceState,
    RunTimeError,
    StreamState,
    machine,
)

__all__ = ["Device", "counted", "wait"]


def wait(stream: StreamState, *, hidden: bool = False, name: str = "the stream") -> None:
    """Let the host wait for a stream, because the program says so or because cupy does."""
    ordering.host_waits_for_stream(stream)
    counted(stream.device, name, hidden=hidden)


def counted(device: DeviceState, name: str, *, hidden: bool) -> None:
    """Count a wait of the host for a device, which cupy did on its own where `hidden` says so."""
    counters = device.counters
    if hidden:
        counters.hidden_synchronizations += 1
    else:
        counters.synchronizations += 1
    machine().record("hidden synchronization" if hidden else "synchronization", name)


class Device:
    """A device by its number, the current one by default; in a `with` it becomes the current one.

    Raises:
      RunTimeError: there is no such device.

    """

    __slots__ = ("_before", "id")

    def __init__(self, device: int | Device | None = None) -> None:
        now = machine()
        self.id = now.local.device if device is None else int(device)
        self._before: list[int] = []
        if not 0 <= self.id < len(now.devices):
            raise RunTimeError(101, "cudaErrorInvalidDevice", "invalid device ordinal")

    def __int__(self) -> int:
        return self.id

    def __enter__(self) -> Self:
        local = machine().local
        self._before.append(local.device)
        local.device = self.id
        return self

    def __exit__(self, *_: object) -> None:
        machine().local.device = self._before.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    @property
    def _state(self) -> DeviceState:
        return machine().devices[self.id]

    def use(self) -> Device:
        """Make it the current device of this thread."""
        machine().local.device = self.id
        return self

    def synchronize(self) -> None:
        """Wait for all streams of the device."""
        ordering.host_waits_for_device(self._state)
        counted(self._state, "the device", hidden=False)

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free and total bytes."""
        state = self._state
        return state.total_bytes - state.reserved_bytes, state.total_bytes

    @property
    def compute_capability(self) -> str:
        """Major and minor number in one."""
        return "90"

    @property
    def pci_bus_id(self) -> str:
        """An address that differs from those of other devices."""
        return f"0000:{self.id:02X}:00.0"

    @property
    def attributes(self) -> dict[str, int]:
        """The attributes that somebody may ask for; the cache is small, for small tests."""
        return {
            "MultiProcessorCount": 132,
            "MaxThreadsPerBlock": 1024,
            "WarpSize": 32,
            "ComputeCapabilityMajor": 9,
            "ComputeCapabilityMinor": 0,
            "L2CacheSize": 2**20,
        }
