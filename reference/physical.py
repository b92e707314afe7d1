"""What a program can ask about the machine: `tf.config`, `tf.test`, memory limits."""

from __future__ import annotations

from typing import NamedTuple

from sessrun.reference import devices

__all__ = ["PhysicalDevice", "gpu_device_name", "is_built_with_cuda", "is_gpu_available",
           "list_logical_devices", "list_physical_devices"]  # fmt: skip


class PhysicalDevice(NamedTuple):
    """A device of the machine: `/physical_device:GPU:0`, `GPU`."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as sessions name it: `/device:GPU:0`, `GPU`."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, CPU first, of one type or of all."""
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    found += [
        PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(devices.gpu_count())
    ]
    return [device for device in found if device_type in {None, device.device_type}]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that a session without configuration has, of one type or of all."""
    return [
        LogicalDevice(device.name.replace("/physical_device", "/device"), device.device_type)
        for device in list_physical_devices(device_type)
    ]


def is_gpu_available(
    cuda_only: bool = False,  # noqa: ARG001 - TensorFlow's signature; every GPU here is CUDA's
    min_cuda_compute_capability: tuple[int, int] | None = None,  # noqa: ARG001 - as above
) -> bool:
    """Whether a session can use a GPU."""
    return devices.gpu_count() > 0


def is_built_with_cuda() -> bool:
    """Whether this build can use CUDA: it can, where cupy is installed and finds a GPU."""
    return devices.gpu_count() > 0


def gpu_device_name() -> str:
    """The name of the first GPU, or the empty string."""
    return "/device:GPU:0" if devices.gpu_count() else ""
