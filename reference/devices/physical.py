"""`tf.config`: the devices of the machine, and settings for sessions without a configuration.

The settings are logical devices, visible devices, soft placement and threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar

from sessrun.reference.devices import allocators, devices, optimizer_options
from sessrun.reference.public import public
from sessrun.spec import devices as names
from sessrun.spec.proto import ConfigProto

__all__ = ["default_config"]


@public("config.PhysicalDevice")
class PhysicalDevice(NamedTuple):
    """A device of the machine: `/physical_device:GPU:0`, `GPU`."""

    name: str
    device_type: str


@public("config.LogicalDevice")
class LogicalDevice(NamedTuple):
    """A device as sessions name it: `/device:GPU:0`, `GPU`."""

    name: str
    device_type: str


@public("config.LogicalDeviceConfiguration", "config.experimental.VirtualDeviceConfiguration")
class LogicalDeviceConfiguration(NamedTuple):
    """One of the logical devices of a physical one.

    Attributes:
      memory_limit: its memory in MB, or None; of a GPU only.
      experimental_priority: the priority of its stream, or None; not used.
      experimental_device_ordinal: its number among the logical devices, or None.

    """

    memory_limit: float | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


Device = TypeVar("Device", PhysicalDevice, LogicalDevice)


class _Settings:
    """The settings of the process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.visible: list[PhysicalDevice] | None = None
        self.logical: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}
        self.growth: dict[PhysicalDevice, bool] = {}
        self.soft_placement = False
        self.threads: dict[str, int | None] = {"Inter": None, "Intra": None}
        self.are_fixed = False


_SETTINGS: Final = _Settings()


# --- devices ---------------------------------------------------------------------------------


@public("config.experimental.list_physical_devices", "config.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, CPU first, of one type or of all."""
    physical = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    physical += [
        PhysicalDevice(f"/physical_device:GPU:{gpu.index}", "GPU") for gpu in devices.gpus()
    ]
    return _of_type(physical, device_type)


@public("config.experimental.list_logical_devices", "config.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices of a session without configuration; from now on their number is fixed.

    Raises:
      NotFoundError: no CPU is visible.

    """
    local = devices.local_devices(default_config())
    _SETTINGS.are_fixed = True
    logical = [LogicalDevice(_short(device), device.kind) for device in local]
    return _of_type(logical, device_type)


def _of_type(listed: list[Device], device_type: str | None) -> list[Device]:
    return [device for device in listed if device_type is None or device.device_type == device_type]


def _short(device: devices.LocalDevice) -> str:
    return device.name[device.name.index("/device:") :]


@public("config.experimental.get_visible_devices", "config.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that sessions may use."""
    visible = _SETTINGS.visible
    return _of_type(list_physical_devices() if visible is None else visible, device_type)


@public("config.experimental.set_visible_devices", "config.set_visible_devices")
def set_visible_devices(
    devices: PhysicalDevice | list[PhysicalDevice], device_type: str | None = None
) -> None:
    """Let sessions use these devices only, of their type or of all types.

    Raises:
      ValueError: a device is not of this machine, or not of the type.
      RuntimeError: the devices are fixed already.

    """
    wanted = devices if isinstance(devices, list) else [devices]
    for device in wanted:
        _check_known(device, list_physical_devices(device_type))
    with _SETTINGS.lock:
        others = (
            []
            if device_type is None
            else [device for device in get_visible_devices() if device.device_type != device_type]
        )
        chosen = sorted([*others, *wanted], key=list_physical_devices().index)
        _check_free(chosen == get_visible_devices(), "Visible devices")
        _SETTINGS.visible = chosen


@public(
    "config.experimental.get_virtual_device_configuration",
    "config.get_logical_device_configuration",
)
def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """The logical devices that were set for a physical one; None if none were.

    Raises:
      ValueError: the device is not of this machine.

    """
    _check_known(device, list_physical_devices())
    return _SETTINGS.logical.get(device)


@public(
    "config.experimental.set_virtual_device_configuration",
    "config.set_logical_device_configuration",
)
def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Iterable[LogicalDeviceConfiguration]
) -> None:
    """Make several devices of one, for sessions without a configuration.

    Raises:
      ValueError: the device is not of this machine, a CPU's has a memory limit, a priority or a
        number, or one for a GPU has no limit.
      RuntimeError: the devices are fixed already.

    """
    _check_known(device, list_physical_devices())
    wanted = list(logical_devices)
    for logical in wanted:
        _check_logical(device, logical)
    with _SETTINGS.lock:
        _check_free(_SETTINGS.logical.get(device) == wanted, "Virtual devices")
        _SETTINGS.logical[device] = wanted


def _check_logical(device: PhysicalDevice, logical: LogicalDeviceConfiguration) -> None:
    if device.device_type == "GPU":
        if logical.memory_limit is None:
            raise ValueError("Setting memory limit is required for GPU virtual devices")
        return
    for name, value in logical._asdict().items():
        if value is not None:
            text = f"Setting {name} on CPU virtual devices is currently not supported"
            raise ValueError(text)


def _check_known(device: object, known: list[PhysicalDevice]) -> None:
    if device not in known:
        raise ValueError(f"Unrecognized device: {device!r}")


def _check_free(is_same: bool, what: str) -> None:
    if _SETTINGS.are_fixed and not is_same:
        raise RuntimeError(f"{what} cannot be modified after being initialized")


def default_config() -> ConfigProto:
    """The configuration of a session that is opened without one."""
    config = ConfigProto(
        allow_soft_placement=_SETTINGS.soft_placement,
        inter_op_parallelism_threads=_SETTINGS.threads["Inter"] or 0,
        intra_op_parallelism_threads=_SETTINGS.threads["Intra"] or 0,
    )
    optimizer_options.write_into(config)
    visible = _SETTINGS.visible
    if visible is None and not _SETTINGS.logical:
        return config
    for device in list_physical_devices("CPU"):
        logical = _SETTINGS.logical.get(device, [LogicalDeviceConfiguration()])
        config.device_count["CPU"] = len(logical) if device in get_visible_devices() else 0
    chosen = get_visible_devices("GPU")
    config.gpu_options.visible_device_list = ",".join(
        device.name.rpartition(":")[2] for device in chosen
    )
    if not chosen:
        config.device_count["GPU"] = 0
    if any(device in _SETTINGS.logical for device in chosen):
        for device in chosen:
            limits = [part.memory_limit for part in _SETTINGS.logical.get(device, ())]
            config.gpu_options.experimental.virtual_devices.add(
                memory_limit_mb=[limit for limit in limits if limit is not None]
            )
    return config


# --- placement, threads, memory --------------------------------------------------------------


@public("config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """Whether sessions without a configuration place softly."""
    return _SETTINGS.soft_placement


@public("config.set_soft_device_placement")
def set_soft_device_placement(enabled: object) -> None:
    """Let sessions without a configuration place softly, or not."""
    _SETTINGS.soft_placement = bool(enabled)


def _getter(kind: str) -> Callable[[], int]:
    def get() -> int:
        return _SETTINGS.threads[kind] or 0

    get.__doc__ = f"The threads for {kind.lower()}-op parallelism; 0 lets the runtime choose."
    return get


def _setter(kind: str) -> Callable[[int], None]:
    def set_(num_threads: int) -> None:
        if _SETTINGS.are_fixed and num_threads != _SETTINGS.threads[kind]:
            raise RuntimeError(f"{kind} op parallelism cannot be modified after initialization.")
        _SETTINGS.threads[kind] = num_threads

    set_.__doc__ = f"Set the threads for {kind.lower()}-op parallelism; 0 lets the runtime choose."
    return set_


@public("config.experimental.get_memory_growth")
def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether the memory of a GPU is allocated as needed; by default True.

    Raises:
      ValueError: the device is not of this machine.
      KeyError: the device is not a GPU.

    """
    _check_known(device, list_physical_devices())
    if device.device_type != "GPU":
        raise KeyError(device)
    return _SETTINGS.growth.get(device, True)


@public("config.experimental.set_memory_growth")
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Set whether the memory of a GPU is allocated as needed.

    Raises:
      ValueError: the device is not of this machine, or not a GPU.

    """
    _check_known(device, list_physical_devices())
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    _SETTINGS.growth[device] = bool(enable)


@public("config.experimental.get_memory_info")
def get_memory_info(device: str | None) -> dict[str, int]:
    """The bytes in use on a device: `current` and `peak`.

    Raises:
      ValueError: there is no such device, or it has no memory limit and so no statistics.

    """
    _, statistics = _counting_allocator(device)
    return {"current": statistics.bytes_in_use, "peak": statistics.peak_bytes_in_use}


@public("config.experimental.get_memory_usage")
def get_memory_usage(device: str | None) -> int:
    """The bytes in use on a device; errors as `get_memory_info`."""
    return get_memory_info(device)["current"]


@public("config.experimental.reset_memory_stats")
def reset_memory_stats(device: str | None) -> None:
    """Set the peak of a device to the bytes in use; errors as `get_memory_info`."""
    allocator, _ = _counting_allocator(device)
    allocator.forget_peak()


def _counting_allocator(
    device: str | None,
) -> tuple[allocators.Allocator, allocators.AllocatorStatistics]:
    """The allocator of a device, and its statistics."""
    allocator = _allocator(device)
    statistics = allocator.statistics()
    if statistics is None:
        raise ValueError(f"Allocator stats not available for device {device or ''!r}")
    return allocator, statistics


def _allocator(device: str | None) -> allocators.Allocator:
    """The allocator of a device by a short name; None or an empty name is the first CPU."""
    if not isinstance(device, str | None):
        raise TypeError(f"a device is named by a string, not by {device!r}")
    local_devices = devices.local_devices(default_config())
    _SETTINGS.are_fixed = True
    if not device:
        return local_devices[0].allocator
    try:
        wanted = names.parse(device)
    except names.DeviceNameError:
        wanted = names.DeviceName()
    if wanted.kind is None or wanted.index is None:
        raise ValueError(
            f"Failed parsing device name: {device!r}. Note a valid device string should at least "
            'contain a device type and a device index, like "GPU:0".'
        )
    for local in local_devices:
        if wanted.matches(local.full):
            return local.allocator
    raise ValueError(f"No matching devices found for {device!r}")


@public("config.experimental.get_device_details")
def get_device_details(device: object) -> dict[str, str | tuple[int, int]]:
    """The name and the compute capability of a GPU; nothing of a CPU.

    Raises:
      ValueError: the argument is not a PhysicalDevice of this machine.

    """
    if not isinstance(device, PhysicalDevice):
        text = f"device must be a tf.config.PhysicalDevice, but got: {device}"
        raise ValueError(text)  # noqa: TRY004 - TensorFlow's class
    if device not in list_physical_devices():
        raise ValueError(
            "The PhysicalDevice must be one obtained from calling "
            f"`tf.config.list_physical_devices`, but got: {device}"
        )
    if device.device_type != "GPU":
        return {}
    gpu = devices.gpus()[int(device.name.rpartition(":")[2])]
    return {"device_name": gpu.name, "compute_capability": gpu.capability}


for _pool in ("Inter", "Intra"):
    _name = f"{_pool.lower()}_op_parallelism_threads"
    public(f"config.threading.get_{_name}")(_getter(_pool))
    public(f"config.threading.set_{_name}")(_setter(_pool))
public("experimental.memory_statistics")(allocators.memory_statistics)
public("experimental.set_memory_limit")(allocators.set_memory_limit)
