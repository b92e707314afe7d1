"""Where a run computes: a CPU, or a GPU through the backend that shows it; and its facts."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.adapters.cupy_gpu import CupyGpu
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.conformance.facts import environment, gpus
from sessrun.spec import devices
from sessrun.spec.forms import Json

__all__ = ["MeasuredDevice", "measured_device"]

#: What is asked of the driver once, by its name and ours, and after each round.
_SETTINGS: Final = {
    "driver_version": "driver",
    "clocks.max.sm": "most_sm_clock_mhz",
    "clocks.max.memory": "most_memory_clock_mhz",
    "power.limit": "power_limit_w",
}
_STATE: Final = {
    "clocks.sm": "sm_clock_mhz",
    "clocks.mem": "memory_clock_mhz",
    "power.draw": "power_w",
    "temperature.gpu": "temperature_c",
}
#: The mask of reasons, by its newer and its older name, and its bits (NVML's documentation).
_REASONS: Final = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
_BITS: Final = {
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}


@dataclass(frozen=True, slots=True)
class MeasuredDevice:
    """A device.

    Attributes:
      name: as its driver calls it, or the processor's.
      index: number of the GPU, None for a CPU.
      gpu: the GPU, where a backend shows it.

    """

    name: str
    index: int | None = None
    gpu: CupyGpu | None = None

    @property
    def simulated(self) -> bool:
        """Whether it is a stand-in."""
        return self.gpu is not None and self.gpu.simulated

    def to_json(self) -> dict[str, Json]:
        """The device in the form of `bench.schema.json`."""
        kind = "cpu" if self.index is None else "gpu"
        return {"name": self.name, "kind": kind, "simulated": self.simulated}

    def fingerprint(self) -> dict[str, Json]:
        """What makes times on two GPUs incomparable: name, versions, the most its clocks can be."""
        if self.index is None:
            return {}
        known: dict[str, Any] = {"name": self.name}
        if self.gpu is not None:
            known |= self.gpu.versions()
        settings = self._ask(_SETTINGS)
        return {"gpu": known | {_SETTINGS[key]: value for key, value in settings.items()}}

    def state(self) -> dict[str, Any] | None:
        """Clocks, power, temperature and what holds the clocks down; None where all are unknown."""
        answers = self._ask(_STATE)
        state: dict[str, Any] = {
            _STATE[key]: float(value) for key, value in answers.items() if _is_number(value)
        }
        for name in _REASONS if state else ():
            mask = self._ask([name]).get(name, "")
            if mask.startswith("0x"):
                held = int(mask, 16)
                state["throttle"] = [reason for bit, reason in _BITS.items() if held & bit]
                break
        return state or None

    def _ask(self, names: Sequence[str] | dict[str, str]) -> dict[str, str]:
        """The driver's answers by name; none where there is no driver, or the GPU is simulated."""
        tool = shutil.which("nvidia-smi")
        if tool is None or self.index is None or self.simulated:
            return {}
        which = self.gpu.address if self.gpu is not None else str(self.index)
        command = [
            tool,
            f"--query-gpu={','.join(names)}",
            "--format=csv,noheader,nounits",
            f"--id={which}",
        ]
        try:
            answer = subprocess.run(  # noqa: S603 - a fixed command line
                command, capture_output=True, text=True, timeout=20, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return {}
        return dict(zip(names, (part.strip() for part in answer.stdout.split(",")), strict=False))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None


def measured_device(device: str, backends: Sequence[Any]) -> MeasuredDevice:
    """Where graphs on a device compute.

    Args:
      device: as a user gives it (`/gpu:0`); empty for the default, which is a GPU if the first
        backend with a session lists one.
      backends: the backends.

    Raises:
      AdapterError: a backend shows GPUs, and not this one.

    """
    name = devices.parse(device)
    sessions = [it for it in backends if isinstance(it, NamespaceBackend)]
    kind = name.kind or ("GPU" if any(map(_lists_gpu, sessions[:1])) else "CPU")
    if kind != "GPU":
        return MeasuredDevice(str(environment()["processor"]))
    index = name.index or 0
    showing = next((it for it in sessions if it.gpu is not None), None)
    gpu = showing.gpu(index) if showing is not None and showing.gpu is not None else None
    if gpu is not None:
        return MeasuredDevice(gpu.name, index, gpu)
    listed = gpus()
    return MeasuredDevice(listed[index].split(",")[0] if index < len(listed) else "GPU", index)


def _lists_gpu(backend: NamespaceBackend) -> bool:
    return any(devices.parse(name).kind == "GPU" for name in backend.describe().devices)
