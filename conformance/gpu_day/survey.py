"""What the machine is: its GPUs as the driver describes them, and versions of packages."""

from __future__ import annotations

import csv
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from sessrun.adapters.registry import load
from sessrun.conformance.facts import environment
from sessrun.spec.writing import write_text

__all__ = ["main", "survey"]

#: What `nvidia-smi` is asked of each GPU.
_ASKED: Final = (
    "name",
    "driver_version",
    "memory.total",
    "compute_cap",
    "clocks.sm",
    "clocks.mem",
    "clocks.max.sm",
    "clocks.max.mem",
    "clocks.applications.graphics",
    "power.limit",
    "power.draw",
    "temperature.gpu",
    "persistence_mode",
    "ecc.mode.current",
    "mig.mode.current",
    "pcie.link.gen.current",
    "pcie.link.width.current",
    "clocks_event_reasons.active",
)
#: The packages whose versions decide what a GPU computes and how fast.
_PACKAGES: Final = re.compile(
    r"(cupy|cuda|nvidia|torch$|triton$|jax|numpy$|scipy$|ml.dtypes$)", re.IGNORECASE
)


def _driver(asked: Sequence[str] = _ASKED) -> list[dict[str, str]]:
    """Of each GPU what the driver answers; a field that this driver does not know is left out."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    for fields in (asked, asked[:-1], asked[:8]):
        query = [tool, f"--query-gpu={','.join(fields)}", "--format=csv,noheader"]
        answer = subprocess.run(query, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - a fixed command line
        if answer.returncode == 0:
            rows = csv.reader(answer.stdout.splitlines(), skipinitialspace=True)
            return [dict(zip(fields, row, strict=False)) for row in rows if row]
    return []


def survey(spec: str) -> dict[str, Any]:
    """The machine as `survey.json` has it: `gpus`, `devices`, `details`, `packages`, `machine`.

    Args:
      spec: the backend, whose devices are asked.

    """
    described = load(spec).describe()
    packages = {
        name: entry.version
        for entry in importlib.metadata.distributions()
        if (name := entry.metadata["Name"]) and _PACKAGES.match(name)
    }
    return {
        "survey": 1,
        "backend": f"{described.name} {described.version}",
        "devices": list(described.devices),
        "details": dict(described.details),
        "gpus": _driver(),
        "packages": dict(sorted(packages.items())),
        "machine": environment(),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """`survey BACKEND FILE`: write it; 1 if the backend has no GPU."""
    spec, path = sys.argv[1:] if argv is None else argv
    form = survey(spec)
    write_text(Path(path), json.dumps(form, indent=1) + "\n")
    gpus = [device for device in form["devices"] if "GPU" in device]
    print(f"{form['backend']} has {', '.join(gpus) or 'no GPU'}")
    return 0 if gpus else 1


if __name__ == "__main__":
    sys.exit(main())
