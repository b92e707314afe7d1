"""The memory of benchmark jobs in words: what a process had before, its peak, the job's part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reports.printable import shortened

__all__ = [
    "MEMORY_COLUMNS",
    "MEMORY_NOTE",
    "MIB",
    "_NOT_KNOWN",
    "MemoryRow",
    "memory_rows",
    "mib_text",
]

#: The columns of numbers in `MemoryRow.cells`.
MEMORY_COLUMNS: Final = ("before", "peak", "of the job", "peak / first")
#: What stands where the kernel does not tell.
_NOT_KNOWN: Final = "not known"
#: What the numbers are, in sentences.
MEMORY_NOTE: Final = (
    "Resident memory of a process that does one job, as the kernel counts it: before the job, with "
    "interpreter and backend loaded, and the most while the job was prepared and called. The "
    "difference is the job's part."
)
MIB: Final = 2**20


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A job on a backend.

    Attributes:
      case: the job.
      backend: the backend.
      cells: texts in the order of `MEMORY_COLUMNS`.

    """

    case: str
    backend: str
    cells: tuple[str, str, str, str]


def memory_rows(run: Mapping[str, Any]) -> list[MemoryRow]:
    """The series of a run whose memory was measured, or was to be; in file order.

    Args:
      run: the run (`sessrun.reports.comparison.read_bench`).

    """
    firsts: dict[str, int | None] = {}
    rows = []
    for series in run["series"]:
        if "memory" not in series:
            continue
        memory = series["memory"]
        first = firsts.setdefault(series["case"], memory and memory["peak"])
        cells = (_NOT_KNOWN,) * 4 if memory is None else _cells(memory, first)
        rows.append(
            MemoryRow(shortened(series["case"], 80), shortened(series["backend"], 80), cells)
        )
    return rows


def _cells(memory: Mapping[str, Any], first: int | None) -> tuple[str, str, str, str]:
    before, peak = memory["before"], memory["peak"]
    part = mib_text(max(0, peak - before))
    return (
        mib_text(before),
        mib_text(peak),
        part if memory["is_of_job"] else f"at most {part}",
        f"{peak / first:.3g}" if first else _NOT_KNOWN,
    )


def mib_text(count: float) -> str:
    """Bytes in MiB: `53.8 MiB`."""
    return f"{count / MIB:,.1f} MiB"
