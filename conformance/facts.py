"""Facts of this machine that the host observes itself: what decides whether a case applies.

A backend's word never decides this: a backend that declares no GPU on a machine with one fails.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from typing import Any

from sessrun.spec.cases.facts import facts_of

__all__ = ["environment", "facts"]


@functools.cache
def facts() -> frozenset[str]:
    """The facts that hold here, of those a clause's condition or a case's needs may name."""
    return facts_of({"gpus": gpus(), "cpus": os.cpu_count() or 1})


@functools.cache
def gpus() -> tuple[str, ...]:
    """Name and driver of each NVIDIA GPU that this process may use, as the driver tells."""
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


def environment() -> dict[str, Any]:
    """What a record says of the machine: system, processor, Python, packages, GPUs."""
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
        "gpus": list(gpus()),
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
