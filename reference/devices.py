"""The devices of a session: the CPUs of its configuration, and GPUs through cupy; allocators.

A device has an array module, copies to and from it, and an allocator that may have a limit.
"""

from __future__ import annotations

import functools
import importlib
import math
import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.resources import KernelError
from sessrun.spec import devices
from sessrun.spec.devices import DeviceName

__all__ = ["DeviceAttributes", "LocalDevice", "gpu_count", "local_devices", "set_memory_limit"]

#: What TensorFlow lists as a CPU's memory limit; nothing enforces it there either.
_CPU_LISTED_BYTES: Final = 268435456


@dataclass(frozen=True, slots=True)
class DeviceAttributes:
    """An entry of `Session.list_devices`: full name, type, memory limit in bytes, incarnation."""

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int

    def __repr__(self) -> str:
        return (
            f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, "
            f"{self.incarnation})"
        )


class Allocator:
    """Counts the bytes of arrays that live on a device, and refuses more than its limit."""

    def __init__(self, device: str, name: str) -> None:
        self.device = device
        self.name = name
        self.limit: int | None = None
        self.in_use = 0
        self.peak = 0
        self._lock = threading.Lock()

    def admit(self, value: Any, node: str) -> None:
        """Charge an array that a kernel made, until it is freed.

        Raises:
          KernelError: code 8, naming shape, dtype, device and allocator.

        """
        size = value.nbytes
        with self._lock:
            if self.limit is not None and self.in_use + size > self.limit:
                shape = ",".join(map(str, value.shape))
                raise KernelError(
                    8, f"OOM when allocating tensor with shape[{shape}] and type {value.dtype} "
                    f"on {self.device} by allocator {self.name} in node {node}: "
                    f"{size} bytes wanted, {self.in_use} of {self.limit} in use"
                )  # fmt: skip
            self.in_use += size
            self.peak = max(self.peak, self.in_use)
        weakref.finalize(value, self._release, size)

    def _release(self, size: int) -> None:
        with self._lock:
            self.in_use -= size


_ALLOCATORS: Final[dict[str, Allocator]] = {}


def _allocator(name: str, kind: str, index: int) -> Allocator:
    label = "cpu" if kind == "CPU" else f"{kind}_{index}_bfc"
    return _ALLOCATORS.setdefault(name, Allocator(name, label))


def set_memory_limit(device: str, limit: int | None) -> None:
    """Limit the memory of a device for sessions that place on it from now on.

    Args:
      device: a device name such as `/cpu:0`.
      limit: bytes of arrays that may live at once; None for no limit.

    Raises:
      ValueError: no single local device is named, or the limit is negative.

    """
    wanted = devices.parse(device)
    if wanted.kind is None or wanted.index is None:
        raise ValueError(f"{device!r} names no single device; write /cpu:0")
    if limit is not None and limit < 0:
        raise ValueError(f"a memory limit is at least 0, got {limit}")
    full = wanted.over(devices.full_name(wanted.kind, wanted.index))
    _allocator(str(full), wanted.kind, wanted.index).limit = limit


class LocalDevice:
    """A device of an in-process session.

    Attributes:
      full: its full name, parsed.
      name: its full name.
      kind: `CPU` or `GPU`.
      xp: its array module.
      allocator: counts what lives on it.

    """

    def __init__(self, kind: str, index: int, xp: Any, memory: int) -> None:
        self.full: DeviceName = devices.full_name(kind, index)
        self.name = str(self.full)
        self.kind = kind
        self.xp = xp
        self.allocator = _allocator(self.name, kind, index)
        self._memory = memory
        self._index = index

    @property
    def is_limited(self) -> bool:
        """Whether its allocator has a limit."""
        return self.allocator.limit is not None

    def upload(self, value: Any) -> Any:
        """A copy of a host array in this device's memory."""
        with self.xp.cuda.Device(self._index):
            return self.xp.asarray(value)

    def download(self, value: Any) -> Any:
        """A copy of this device's array in host memory."""
        return self.xp.asnumpy(value)

    def guarded(self, kernel: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The kernel, run on this device, its results charged to a limited allocator."""
        if self.kind == "GPU":
            kernel = self._selected(kernel)
        if self.allocator.limit is None:
            return kernel
        admit = self.allocator.admit

        def charged(*inputs: Any) -> Any:
            result = kernel(*inputs)
            for value in result if isinstance(result, tuple) else (result,):
                if isinstance(value, self.xp.ndarray) and value.base is None and value.size:
                    admit(value, name)
            return result

        return charged

    def _selected(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        device = self.xp.cuda.Device(self._index)

        def on_device(*inputs: Any) -> Any:
            with device:
                return kernel(*inputs)

        return on_device

    def attributes(self) -> DeviceAttributes:
        """Its entry in `list_devices`; the incarnation is the process's own."""
        return DeviceAttributes(self.name, self.kind, self._memory, _incarnation(self.name))


@functools.cache
def _incarnation(_name: str) -> int:
    return int.from_bytes(os.urandom(8), "little", signed=True)


@functools.cache
def _cupy() -> Any:
    """The module cupy if it is installed and finds a GPU, else None.

    Without a driver the import succeeds and every use raises; without a library it fails.
    """
    try:
        cupy = importlib.import_module("cupy")
        return cupy if cupy.is_available() else None
    except (ImportError, RuntimeError):
        return None


def gpu_count() -> int:
    """How many GPUs this process may use."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in {"", "-1"}:
        return 0
    cupy = _cupy()
    return 0 if cupy is None else int(cupy.cuda.runtime.getDeviceCount())


def local_devices(config: Any) -> tuple[LocalDevice, ...]:
    """The devices of a session of this ConfigProto: CPUs first, then GPUs.

    Raises:
      NotFoundError: it asks for no CPU.

    """
    cpus = config.device_count.get("CPU", 1)
    if cpus < 1:
        raise errors.NotFoundError(None, None, "No CPU devices are available in this process")
    found = [LocalDevice("CPU", index, np, _CPU_LISTED_BYTES) for index in range(cpus)]
    gpus = min(gpu_count(), config.device_count.get("GPU", math.inf))
    for index in range(int(gpus)):
        memory = int(_cupy().cuda.Device(index).mem_info[1])
        found.append(LocalDevice("GPU", index, _cupy(), memory))
    return tuple(found)
