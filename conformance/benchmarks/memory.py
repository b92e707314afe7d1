"""What of a process's memory is resident, as the kernel counts it and another process reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["JobMemory", "Resident", "resident", "set_peak_back"]

#: The folder in which Linux shows its processes.
_PROCESSES: Final = Path("/proc")
#: What the file `clear_refs` is told to set a process's high-water mark back.
_PEAK: Final = "5"


@dataclass(frozen=True, slots=True)
class Resident:
    """The bytes of a process's memory that are in main memory.

    Attributes:
      now: at present.
      peak: the most since the process began, or since `set_peak_back`.

    """

    now: int
    peak: int


@dataclass(frozen=True, slots=True)
class JobMemory:
    """What the kernel counted as resident of a process that did one job, in bytes.

    Attributes:
      before: with interpreter and backend loaded, before the job.
      peak: the most while the job was prepared and called.
      after: with the job's session open, after the last call.
      is_of_job: whether the peak was counted from `before` on; if not, it may be that of the
        backend's import.

    """

    before: int
    peak: int
    after: int
    is_of_job: bool


def resident(pid: int) -> Resident | None:
    """What of a process is resident; None where the kernel does not tell.

    Args:
      pid: the number of the process.

    """
    try:
        lines = (_PROCESSES / str(pid) / "status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    sizes = {}
    for line in lines.splitlines():
        name, _, value = line.partition(":")
        number, _, unit = value.strip().partition(" ")
        if name in {"VmRSS", "VmHWM"} and unit == "kB" and number.isdecimal():
            sizes[name] = 1024 * int(number)
    if len(sizes) < 2:  # another kernel, or the process has ended
        return None
    return Resident(sizes["VmRSS"], max(sizes.values()))


def set_peak_back(pid: int) -> bool:
    """Let the high-water mark of a process begin at what it has now.

    Args:
      pid: the number of the process.

    Returns:
      Whether the kernel did.

    """
    try:
        (_PROCESSES / str(pid) / "clear_refs").write_text(_PEAK, encoding="ascii")
    except OSError:
        return False
    return True
