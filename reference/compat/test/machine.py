"""Facts about the machine and this installation that tests depend on."""

from __future__ import annotations

import logging
import platform
from typing import Final

from sessrun.reference.devices import devices

__all__ = [
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_built_with_xla",
    "is_cpu_target_available",
    "is_gpu_available",
]

#: Kinds of processors, by the beginning of their names, and the names of such machines.
_MACHINES: Final = {
    "arm": ("armv",),
    "aarch64": ("aarch64", "arm64"),
    "ppc": ("ppc",),
    "powerpc": ("ppc",),
    "x86": ("x86", "amd64", "i386", "i686"),
    "s390x": ("s390x",),
}


def is_gpu_available(
    cuda_only: bool = False,  # noqa: ARG001 - TensorFlow's signature; every GPU here is CUDA's
    min_cuda_compute_capability: tuple[int, int] | None = None,
) -> bool:
    """Whether a session can use a GPU, of that compute capability at least."""
    logging.getLogger("sessrun").warning("Use `tf.config.list_physical_devices('GPU')` instead.")
    wanted = min_cuda_compute_capability
    return any(wanted is None or gpu.capability >= tuple(wanted) for gpu in devices.gpus())


def gpu_device_name() -> str:
    """The name of the first GPU, or the empty string."""
    return "/device:GPU:0" if devices.gpus() else ""


def is_built_with_cuda() -> bool:
    """Whether this installation can use CUDA: whether cupy is installed, GPU or not."""
    return devices.has_cupy()


is_built_with_gpu_support = is_built_with_cuda


def is_built_with_rocm() -> bool:
    """False: only CUDA's GPUs are used."""
    return False


def is_built_with_xla() -> bool:
    """False: nothing is compiled by XLA."""
    return False


def is_cpu_target_available(target: str) -> bool:
    """Whether this machine is of that kind: `x86`, `arm`, `aarch64`, `ppc`, `s390x`.

    Raises:
      AssertionError: no such kind is known.

    """
    for kind, names in _MACHINES.items():
        if target.startswith(kind):
            return platform.machine().lower().startswith(names)
    raise AssertionError(f"Unknown CPU target: {target}")
