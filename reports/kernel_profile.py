"""What Nsight Compute counted, by kernel: time, bytes to and from memory, arithmetic.

Read from `ncu --csv --page raw`: a header, a line of units, a line for each launch. Both axes of a
roofline come from here: FLOP by byte and FLOP by second are counted by the chip, not derived from
shapes. A fused multiply-add is two operations. Products in 16 bits outside of tensor cores are not
in it: the chip counts threads there, each with one or two operations.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Kernel", "ProfileError", "heaviest", "read_profile"]

#: What a unit is in seconds or bytes; `--print-units base` asks for the first of each.
_UNITS: Final = {
    "ns": 1e-9,
    "nsecond": 1e-9,
    "us": 1e-6,
    "usecond": 1e-6,
    "ms": 1e-3,
    "msecond": 1e-3,
    "s": 1.0,
    "second": 1.0,
    "byte": 1.0,
    "Kbyte": 1e3,
    "Mbyte": 1e6,
    "Gbyte": 1e9,
}
_TIME: Final = "gpu__time_duration.sum"
_BYTES: Final = "dram__bytes.sum"
_THREADS: Final = "smsp__sass_thread_inst_executed_op_"
_TENSOR: Final = "sm__ops_path_tensor_src_"
_OPERATIONS: Final = {"add": 1, "mul": 1, "fma": 2}


class ProfileError(ValueError):
    """A file is not what `ncu` writes, or `ncu` wrote why it could not count."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """All launches of one kernel.

    Attributes:
      name: its name, arguments and template left out by `ncu` or not.
      launches: how many were counted.
      seconds: what they took together.
      nbytes: bytes between the chip and its memory, both ways, together.
      flops: floating-point operations by threads and tensor cores, together.
      units: where most of the operations were done: `float32`, `float64`, `tensor cores`, or
        empty where none was counted.

    """

    name: str
    launches: int
    seconds: float
    nbytes: float
    flops: float
    units: str

    @property
    def intensity(self) -> float | None:
        """FLOP by byte; None where one of them is 0."""
        return self.flops / self.nbytes if self.flops and self.nbytes else None


def read_profile(text: str) -> list[Kernel]:
    """The kernels of a file of `ncu`, the heaviest first.

    Raises:
      ProfileError: it is none, or says an error of `ncu`'s.

    """
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        error = next((line for line in lines if line.startswith("==ERROR==")), None)
        raise ProfileError(error or 'no line begins with "ID": ncu counted nothing')
    rows = list(csv.DictReader(lines[begin:]))
    if not rows or rows[0].get("ID") or _TIME not in rows[0]:
        raise ProfileError("the line of units, or the time of the kernels, is missing")
    if any(None in row.values() for row in rows):
        raise ProfileError("a line has too few columns: it was cut")
    units, launches = rows[0], rows[1:]
    by_name: dict[str, list[Mapping[str, str]]] = {}
    for row in launches:
        if row.get("ID") and row.get("Kernel Name"):
            by_name.setdefault(row["Kernel Name"], []).append(row)
    kernels = [_kernel(name, members, units) for name, members in by_name.items()]
    return sorted(kernels, key=lambda kernel: -kernel.seconds)


def heaviest(kernels: Iterable[Kernel], count: int = 5) -> list[Kernel]:
    """Those that take the most time together, the heaviest first."""
    return sorted(kernels, key=lambda kernel: -kernel.seconds)[:count]


def _kernel(name: str, rows: Sequence[Mapping[str, str]], units: Mapping[str, str]) -> Kernel:
    arithmetic = {"float32": 0.0, "float64": 0.0, "tensor cores": 0.0}
    for column in units:
        if column.startswith(_TENSOR):
            arithmetic["tensor cores"] += _sum(rows, column)
        elif column.startswith(_THREADS):
            kind, what = column[len(_THREADS)], column[len(_THREADS) + 1 :].partition("_")[0]
            if kind in "fd" and what in _OPERATIONS:
                dtype = "float32" if kind == "f" else "float64"
                arithmetic[dtype] += _OPERATIONS[what] * _sum(rows, column)
    most = max(arithmetic, key=lambda key: arithmetic[key])
    return Kernel(
        name=name,
        launches=len(rows),
        seconds=_sum(rows, _TIME) * _scale(units[_TIME]),
        nbytes=_sum(rows, _BYTES) * _scale(units[_BYTES]) if _BYTES in units else 0.0,
        flops=sum(arithmetic.values()),
        units=most if arithmetic[most] else "",
    )


def _scale(unit: str) -> float:
    if unit not in _UNITS:
        raise ProfileError(f"nothing is known of the unit {unit!r}")
    return _UNITS[unit]


def _sum(rows: Sequence[Mapping[str, str]], column: str) -> float:
    """The sum over launches; what a chip does not count (`n/a`) is left out."""
    total = 0.0
    for row in rows:
        value = (row.get(column) or "").replace(",", "")
        if value and value != "n/a":
            try:
                total += float(value)
            except ValueError as error:
                raise ProfileError(f"{column}: {value!r} is no number") from error
    return total
