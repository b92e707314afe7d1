"""Facts of this machine that the host observes itself: what decides whether a case applies.

A backend's word never decides this: a backend that declares no GPU on a machine with one fails.
One that says its GPUs are simulated is asked as on a machine with GPUs, and is not certified
(`sessrun.reports.verdicts`).
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sessrun.adapters.backend import Description
from sessrun.spec.cases.facts import facts_of
from sessrun.spec.forms import Json
from sessrun.spec.records import SIMULATED, is_simulated

__all__ = ["environment", "facts"]


def facts(backend: Description | None = None) -> frozenset[str]:
    """The facts that hold here, of those a clause's condition or a case's needs may name.

    Args:
      backend: the backend that is asked, which may have simulated GPUs; None for the machine's.

    """
    cpus = os.cpu_count() or 1
    return facts_of({"gpus": _gpus_of(backend), "cpus": cpus, "file_modes": file_modes()})


def _gpus_of(backend: Description | None) -> tuple[str, ...]:
    """The GPUs that a backend can be asked for: simulated ones, or this machine's."""
    if backend is not None and is_simulated(backend.details):
        return (SIMULATED,) * sum("GPU" in device for device in backend.devices)
    return gpus()


@functools.cache
def gpus() -> tuple[str, ...]:
    """Name and driver of each NVIDIA GPU that this process may use, by the driver's list."""
    tool = shutil.which("nvidia-smi")
    if tool is None or os.environ.get("CUDA_VISIBLE_DEVICES") in {"", "-1"}:
        return ()
    query = [tool, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed command line
            query, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(answer.stdout.strip().splitlines()) if answer.returncode == 0 else ()


@functools.cache
def file_modes() -> bool:
    """Whether a file's mode can keep this process from reading it: not if it is root's."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).chmod(0)
        try:
            os.close(os.open(file.name, os.O_RDONLY))
        except PermissionError:
            return True
        return False


def environment(backend: Description | None = None) -> dict[str, Json]:
    """The facts of the machine in a record: system, processor, Python, packages, GPUs.

    Args:
      backend: the backend that is asked, which may have simulated GPUs; None for the machine's.

    """
    packages = {}
    for name in ("numpy", "protobuf", "ml_dtypes", "hypothesis", "tensorflow-cpu", "tensorflow"):
        try:
            packages[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _processor(),
        "cpus": os.cpu_count() or 1,
        "python": sys.version.split()[0],
        "packages": packages,
        "gpus": list(_gpus_of(backend)),
        "file_modes": file_modes(),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123 - a virtual file
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
