"""The devices of a session: the CPUs of its configuration, and GPUs through cupy.

A device has an array module, copies to and from it, and an allocator that may have a limit.
Clauses: PLACEMENT, MEMORY.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.devices.allocators import allocator_of
from sessrun.reference.devices.freed_memory import keep_freed_memory
from sessrun.reference.devices.variable_buffers import VariableBuffer
from sessrun.spec import devices
from sessrun.spec.devices import DeviceName, DeviceNameError
from sessrun.spec.proto import ConfigProto

__all__ = ["DeviceAttributes", "Gpu", "LocalDevice", "gpus", "has_cupy", "local_devices"]

#: What TensorFlow lists as a CPU's memory limit; nothing enforces it there either.
_CPU_LISTED_BYTES: Final = 268435456


@dataclass(frozen=True, slots=True, eq=False)
class DeviceAttributes:
    """An entry of `Session.list_devices`.

    Attributes:
      name: the full name; a shorter form is made canonical.
      device_type: `CPU` or `GPU`.
      memory_limit_bytes: the memory limit in bytes.
      incarnation: a number that no other session's device has; never 0.

    """

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", str(devices.parse(self.name)))

    def __repr__(self) -> str:
        return (
            f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, "
            f"{self.incarnation})"
        )


class LocalDevice:
    """A device of an in-process session.

    Attributes:
      full: its full name, parsed.
      name: its full name.
      kind: `CPU` or `GPU`.
      xp: its array module.
      allocator: the allocator of its memory.
      description: the description of the hardware, or empty.
      memory: its memory in bytes, as `list_devices` reports it.
      incarnation: a number of 64 bits, signed, that no other session's device has.

    """

    def __init__(
        self,
        kind: str,
        index: int,
        xp: ArrayModule,
        memory: int,
        *,
        physical: int = 0,
        desc: str = "",
    ) -> None:
        self.full: DeviceName = devices.full_name(kind, index)
        self.name = str(self.full)
        self.kind = kind
        self.xp = xp
        self.allocator = allocator_of(self.name, kind, index)
        self.description = desc
        self.memory = memory
        self.incarnation = int.from_bytes(os.urandom(8), "little", signed=True) or 1
        self._physical = physical

    @property
    def is_limited(self) -> bool:
        """Whether its allocator has a limit."""
        return self.allocator.limit is not None

    def selected(self) -> AbstractContextManager[object]:
        """A context in which arrays are allocated in this device's memory."""
        return self.xp.cuda.Device(self._physical) if self.kind == "GPU" else nullcontext()

    def upload(self, value: HostArray) -> Array:
        """A copy of a host array in this device's memory."""
        with self.selected():
            return self.xp.asarray(value)

    def download(self, value: Array) -> HostArray:
        """A copy of this device's array in host memory."""
        with self.selected():
            return self.xp.asnumpy(value)

    def settle(self) -> None:
        """Wait until this device has finished its work: a GPU works asynchronously."""
        if self.kind == "GPU":
            self.xp.cuda.Device(self._physical).synchronize()

    def address(self, value: Array | HostArray) -> int:
        """The address of an array, in this device's memory or in the host's."""
        on_host = isinstance(value, np.ndarray)
        interface = "__array_interface__" if on_host else "__cuda_array_interface__"
        begins: int = getattr(value, interface)["data"][0]
        return begins

    def guarded(self, kernel: Callable[..., object], name: str) -> Callable[..., object]:
        """The kernel, run on this device, its results charged to a limited allocator."""
        if self.kind == "GPU":
            kernel = self._selected(kernel)
        if self.allocator.limit is None:
            return kernel

        def charged(*inputs: object) -> object:
            owners = [
                value
                for value in inputs
                if isinstance(value, VariableBuffer) or hasattr(value, "container")
            ]
            before = [_value(owner) for owner in owners]
            result = kernel(*inputs)
            outputs = [*result] if isinstance(result, tuple) else [result]
            try:
                self._charge([*outputs, *map(_value, owners)], name)
            except KernelError:
                for owner, value in zip(owners, before, strict=True):
                    _set_back(owner, value)
                raise
            return result

        return charged

    def _charge(self, values: Iterable[object], name: str) -> None:
        for value in values:
            if isinstance(value, self.xp.ndarray) and value.base is None and value.size:
                self.allocator.admit(value, name)

    def _selected(self, kernel: Callable[..., object]) -> Callable[..., object]:
        device = self.xp.cuda.Device(self._physical)

        def on_device(*inputs: object) -> object:
            with device:
                return kernel(*inputs)

        return on_device

    def attributes(self) -> DeviceAttributes:
        """Its entry in `list_devices`; the incarnation is the session's own."""
        return DeviceAttributes(self.name, self.kind, self.memory, self.incarnation)


def _buffer(owner: Any) -> VariableBuffer | None:
    """The buffer of a variable; kernels get the buffer itself or a handle."""
    if not isinstance(owner, VariableBuffer):
        owner = owner.store.get(owner.container, owner.name, owner.scope)
    return owner if isinstance(owner, VariableBuffer) else None


def _value(owner: Any) -> Any:
    buffer = _buffer(owner)
    return None if buffer is None else buffer.value


def _set_back(owner: Any, value: Any) -> None:
    buffer = _buffer(owner)
    if buffer is not None:
        buffer.value = value


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


def has_cupy() -> bool:
    """Whether cupy is installed."""
    return importlib.util.find_spec("cupy") is not None


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU of this machine that the process may use.

    Attributes:
      index: its number in CUDA.
      memory: its memory in bytes.
      name: the product's name.
      capability: major and minor number of its compute capability.

    """

    index: int
    memory: int
    name: str
    capability: tuple[int, int]


def gpus() -> tuple[Gpu, ...]:
    """The GPUs that this process may use: `CUDA_VISIBLE_DEVICES` may hide some, or all."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in {"", "-1"}:
        return ()
    cupy = _cupy()
    return () if cupy is None else tuple(map(_gpu, range(cupy.cuda.runtime.getDeviceCount())))


def _gpu(index: int) -> Gpu:
    properties = _cupy().cuda.runtime.getDeviceProperties(index)
    name = properties["name"]
    return Gpu(
        index,
        int(properties["totalGlobalMem"]),
        name.decode() if isinstance(name, bytes) else str(name),
        (int(properties["major"]), int(properties["minor"])),
    )


def local_devices(config: ConfigProto) -> tuple[LocalDevice, ...]:
    """The devices of a session of this ConfigProto: CPUs first, then GPUs.

    Raises:
      NotFoundError: the ConfigProto allows no CPU.
      InvalidArgumentError: a device filter is no device name, or the options of GPUs are wrong.

    """
    for text in config.device_filters:  # which matter between processes only
        try:
            devices.parse(text)
        except DeviceNameError as error:
            raise errors.bad_argument(f"Invalid device filter: {text}") from error
    cpus = config.device_count.get("CPU", 1)
    if cpus < 1:
        raise errors.NotFoundError(None, None, "No CPU devices are available in this process")
    keep_freed_memory()
    cpu_devices = [
        LocalDevice("CPU", index, cast("ArrayModule", np), _CPU_LISTED_BYTES)
        for index in range(cpus)
    ]
    return (*cpu_devices, *_local_gpus(config))


def _local_gpus(config: ConfigProto) -> Iterator[LocalDevice]:
    """Virtual GPUs, several for each physical one if the configuration defines them."""
    options = config.gpu_options
    if options.experimental.virtual_devices and options.per_process_gpu_memory_fraction > 0:
        raise errors.bad_argument(
            "It's invalid to set per_process_gpu_memory_fraction when virtual_devices is set."
        )
    usable = _visible(options.visible_device_list, gpus())
    usable = usable[: config.device_count.get("GPU", len(usable))]
    index = 0
    for number, gpu in enumerate(usable):
        limits: list[int | None] = [None]
        if options.experimental.virtual_devices:
            if len(options.experimental.virtual_devices) <= number:
                raise errors.bad_argument("virtual_devices must have an entry for each visible GPU")
            wanted = options.experimental.virtual_devices[number].memory_limit_mb
            limits = [int(megabytes * 2**20) for megabytes in wanted] or [None]
        elif options.per_process_gpu_memory_fraction > 0:
            limits = [int(gpu.memory * options.per_process_gpu_memory_fraction)]
        for limit in limits:
            yield _local_gpu(gpu, index, limit)
            index += 1


def _local_gpu(gpu: Gpu, index: int, limit: int | None) -> LocalDevice:
    major, minor = gpu.capability
    desc = f"device: {gpu.index}, name: {gpu.name}, compute capability: {major}.{minor}"
    device = LocalDevice("GPU", index, _cupy(), limit or gpu.memory, physical=gpu.index, desc=desc)
    if limit is not None or device.allocator.limited_by_session:
        device.allocator.limit = limit
        device.allocator.limited_by_session = limit is not None
    return device


def _visible(listed: str, usable: Sequence[Gpu]) -> Sequence[Gpu]:
    """The GPUs that `visible_device_list` names, in its order; all of them if it is empty."""
    if not listed or not usable:
        return usable
    chosen: list[Gpu] = []
    for text in listed.split(","):
        if not text.strip().isdecimal():
            raise errors.bad_argument(
                f"Could not parse entry in 'visible_device_list': '{text}'. "
                f"visible_device_list = {listed}"
            )
        number = int(text)
        if number >= len(usable):
            raise errors.bad_argument(
                f"'visible_device_list' listed an invalid Device id '{number}' but "
                f"visible device count is {len(usable)}"
            )
        if usable[number] in chosen:
            raise errors.bad_argument(f"visible_device_list contained a duplicate entry: {listed}")
        chosen.append(usable[number])
    return chosen
