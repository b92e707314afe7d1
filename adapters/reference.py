"""The adapter of the reference runtime: the one module outside it that imports it."""

from __future__ import annotations

import importlib
from typing import Any, Final

import sessrun
from sessrun.adapters.cupy_gpu import CupyGpu
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.spec.records import SIMULATED

__all__ = ["backend"]


#: The argument that puts simulated GPUs into the process; `simulated-gpu=2` for two.
_SIMULATED: Final = "simulated-gpu"
#: The arguments that hold the executor to one of its tiers.
_TIERS: Final = {"tier-1": 1, "tier-2": 2}


def backend(argument: str | None = None) -> NamespaceBackend:
    """The reference runtime in this process.

    Args:
      argument: `simulated-gpu` to run on a simulated GPU, `simulated-gpu=2` on two; `tier-1` and
        `tier-2` to execute in one tier alone (`experimental.set_execution_tier`).

    Raises:
      AdapterError: the argument is another one, or the real cupy is imported already.

    """
    details = {}
    tier = _TIERS.get(argument or "")
    is_simulated = argument is not None and tier is None
    if is_simulated:
        details["gpu"] = SIMULATED
        _simulate(str(argument))
    namespace = importlib.import_module("sessrun.reference")  # lazily: 0.3 s that few pay
    if is_simulated:
        _announce_kernels()
    if tier is not None:
        namespace.experimental.set_execution_tier(tier)
    return NamespaceBackend(
        namespace,
        "reference",
        sessrun.__version__,
        details=details,
        gpu=lambda index: _gpu(namespace.ConfigProto(), index),
    )


def _gpu(config: Any, index: int) -> CupyGpu | None:
    """The GPU of this number among the devices of a session, through the runtime's own cupy."""
    devices = importlib.import_module("sessrun.reference.devices.devices")
    listed = [device for device in devices.local_devices(config) if device.kind == "GPU"]
    return CupyGpu(listed[index].xp, index) if index < len(listed) else None


def _announce_kernels() -> None:
    """Let the functions that the runtime's own kernels are made of stand for them."""
    fused = importlib.import_module("sessrun.reference.kernels.fused")
    simulated_gpu = importlib.import_module("sessrun.adapters.fakes.simulated_gpu")
    if simulated_gpu.kernel not in fused.on_new_kernel:
        fused.on_new_kernel.append(simulated_gpu.kernel)


def _simulate(argument: str) -> None:
    kind, _, count = argument.partition("=")
    if kind != _SIMULATED or not (count or "1").isdecimal() or not int(count or "1"):
        raise AdapterError(
            f"the adapter 'reference' takes '{_SIMULATED}', '{_SIMULATED}=2', "
            f"'tier-1' or 'tier-2', got {argument!r}"
        )
    simulated_gpu = importlib.import_module("sessrun.adapters.fakes.simulated_gpu")
    try:
        simulated_gpu.install(int(count or "1"))
    except RuntimeError as error:
        raise AdapterError(str(error)) from error
