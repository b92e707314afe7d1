"""Nsight Compute over one job: of each kernel its time, its memory traffic and its arithmetic.

Which counters of tensor cores a device has, its `ncu` says: their names differ from release to
release. All are written as they come; what is made of them is the report's business
(`sessrun.reports.kernel_profile`).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = ["chosen", "main"]

#: Time in ns, bytes between the chip and its memory, additions, products and fused ones by thread.
_BASIC: Final = (
    "gpu__time_duration.sum",
    "dram__bytes.sum",
    *(
        f"smsp__sass_thread_inst_executed_op_{kind}{what}_pred_on.sum"
        for kind in "fd"
        for what in ("add", "mul", "fma")
    ),
)
#: Operations of tensor cores by the types of their inputs and sums.
_TENSOR: Final = re.compile(r"^(sm__ops_path_tensor_src_(?:bf16|fp16|fp64|tf32)\w*)", re.MULTILINE)
#: So many launches are looked at, the first ones: each runs several times under the profiler, and a
#: step of training has fewer.
_KERNELS: Final = 500


def chosen(known: str) -> list[str]:
    """The counters to ask for, of the names that `ncu --query-metrics` prints.

    Of a counter and its parts (`…_dst_fp32` and `…_dst_fp32_sparsity_on`) the counter alone.
    """
    names = set(_TENSOR.findall(known))
    tensor = sorted(
        name for name in names if not any(name.startswith(f"{other}_") for other in names)
    )
    return [*_BASIC, *(f"{name}.sum" for name in tensor)]


def main(argv: Sequence[str] | None = None) -> int:
    """`profiled BACKEND JOB FILE`: the status of `ncu`."""
    spec, job, path = sys.argv[1:] if argv is None else argv
    asked = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True, check=False)  # noqa: S607 - wherever it is installed
    # Clocks stay as they are: locking them needs rights, and would measure another machine.
    command = [
        "ncu",
        "--clock-control",
        "none",
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--launch-count",
        str(_KERNELS),
        "--target-processes",
        "all",
        "--log-file",
        path,
        "--metrics",
        ",".join(chosen(asked.stdout)),
        sys.executable,
        "-m",
        "sessrun.conformance.gpu_day.once",
        spec,
        job,
    ]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return subprocess.run(command, check=False).returncode  # noqa: S603 - ours


if __name__ == "__main__":
    sys.exit(main())
