"""Simulated GPUs: a strict stand-in for cupy that needs no GPU, with numpy underneath.

    from sessrun.adapters.fakes import simulated_gpu

    with simulated_gpu.installed() as machine:
        import cupy
        ...
    assert not machine.races

It refuses what cupy refuses, by a description that is generated from the real one; memory that
nobody wrote is poison; what CUDA leaves open is decided by chance; what CUDA does not put in order
is a race. It counts launches, waits and copies. It shows neither time nor rounding: see
docs/gpu.md.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from sessrun.adapters.fakes.simulated_gpu import modules
from sessrun.adapters.fakes.simulated_gpu.kernels import kernel
from sessrun.adapters.fakes.simulated_gpu.machine import (
    Counters,
    Machine,
    Record,
    StreamState,
    machine,
    switch_to,
)

__all__ = [
    "Counters",
    "Machine",
    "Record",
    "counters",
    "install",
    "installed",
    "is_installed",
    "kernel",
    "log",
    "machine",
    "races",
    "reset",
    "uninstall",
]

_KEPT: dict[str, object] = {}


def install(
    devices: int = 1, memory_bytes: int = 16 * 2**30, seed: int = 0, *, raising: bool = False
) -> Machine:
    """Let `import cupy` in this process give the simulated one.

    Args:
      devices: how many GPUs there are.
      memory_bytes: the memory of one.
      seed: of what CUDA leaves open: the order of duplicates in a scatter.
      raising: whether a race raises AssertionError where it happens, and is not only recorded.

    Returns:
      The machine: its devices with their counters, its log and its races.

    Raises:
      RuntimeError: the real cupy is imported already, whose arrays would meet simulated ones.
      ValueError: there are no devices.

    """
    present = modules.imported()
    if present is not None and not modules.is_simulated(present):
        raise RuntimeError(
            f"cupy {getattr(present, '__version__', '')} is imported in this process already; "
            "install the simulated GPU before that, or in a process of its own"
        )
    if devices < 1:
        raise ValueError(f"a machine has 1 device or more, not {devices}")
    uninstall()
    new_machine = Machine(devices, memory_bytes, seed)
    new_machine.raising = raising
    for device in new_machine.devices:
        device.streams[0] = StreamState(0, device)
    switch_to(new_machine)
    sys.modules.update(modules.built(seed))
    _forget()
    return new_machine


def uninstall() -> None:
    """Undo `install`; arrays that are left over cannot be used any more."""
    if is_installed():
        for name in [it for it in sys.modules if it.partition(".")[0] in {"cupy", "cupyx"}]:
            del sys.modules[name]
    switch_to(None)
    _forget()


def _forget() -> None:
    """Let the reference runtime look for GPUs again, if it is imported."""
    looked = sys.modules.get("sessrun.reference.devices.devices")
    if looked is not None:
        looked._cupy.cache_clear()  # noqa: SLF001 - what it knows of the machine is out of date


@contextlib.contextmanager
def installed(
    devices: int = 1, memory_bytes: int = 16 * 2**30, seed: int = 0, *, raising: bool = False
) -> Iterator[Machine]:
    """`install` for the time of a `with`."""
    try:
        yield install(devices, memory_bytes, seed, raising=raising)
    finally:
        uninstall()


def is_installed() -> bool:
    """Whether `import cupy` gives the simulated one."""
    return modules.is_simulated(modules.imported())


def counters(device: int = 0) -> Counters:
    """The counters of a device; they go on counting."""
    return machine().devices[device].counters


def reset() -> None:
    """Set all counters to 0, and forget the log and the races."""
    for device in machine().devices:
        device.counters = Counters(peak_bytes=device.used_bytes)
    machine().log.clear()
    machine().races.clear()


def log() -> tuple[Record, ...]:
    """The last events, oldest first."""
    return tuple(machine().log)


def races() -> tuple[str, ...]:
    """What nothing put in an order, each with the caller's file and line."""
    return tuple(machine().races)
