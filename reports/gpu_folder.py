"""What `make gpu` wrote into its folder, read: what is there, and what is wrong with the rest.

A file that is missing is missing; one that is broken is named with the reason, and everything else
is read all the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from sessrun.reports.archive import PACKAGE, PackageError
from sessrun.reports.certificate import Certificate, read_certificate
from sessrun.reports.comparison import read_bench
from sessrun.reports.kernel_profile import Kernel, read_profile
from sessrun.reports.measures import is_of_stand_in, is_on_gpu
from sessrun.spec.loader import read_json
from sessrun.spec.records import is_simulated, read_record
from sessrun.spec.schema import SpecError

__all__ = ["GpuFolder", "Program", "StepRun", "read_gpu_folder"]

T = TypeVar("T")
#: What a reader of a broken file may raise.
_BROKEN: Final = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    SpecError,
    PackageError,
    RecursionError,
)
#: How the summaries of Compute Sanitizer begin.
_SUMMARIES: Final = ("ERROR SUMMARY", "RACECHECK SUMMARY")
_RULE: Final = "========="


@dataclass(frozen=True, slots=True)
class StepRun:
    """The last try of a step: see `sessrun.conformance.gpu_day.steps`."""

    step: str
    part: str
    state: str
    seconds: float
    says: str


@dataclass(frozen=True, slots=True)
class Program:
    """A small program: whether GPU and CPU agreed, and what is wrong if not."""

    name: str
    passed: bool
    wrong: str


@dataclass(slots=True)
class GpuFolder:
    """A folder of `make gpu`.

    Attributes:
      name: the folder's name.
      steps: the last try of each step, in the order of their first.
      survey: what the machine is, or None.
      peers: library to its version, or why it is not measured.
      programs: the small programs that ran.
      certificates: profile to its package.
      begun: profile that has no package yet to how many cases were answered, and of how many.
      benches: name of a run to what it measured; `ceilings` is that of the survey.
      counts: what calls of some jobs ask of a device, counted on the stand-in beside what a GPU
        measured; None where there is none.
      kernels: job to its kernels.
      sanitizers: tool to what it says in the end, empty if it came to no end.
      problems: file to what is wrong with it.

    """

    name: str
    steps: list[StepRun] = field(default_factory=list)
    survey: Mapping[str, Any] | None = None
    peers: Mapping[str, str] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)
    certificates: dict[str, Certificate] = field(default_factory=dict)
    begun: dict[str, tuple[int, int]] = field(default_factory=dict)
    benches: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    counts: Mapping[str, Any] | None = None
    kernels: dict[str, list[Kernel]] = field(default_factory=dict)
    sanitizers: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        """Whether any of it is of a simulated GPU: then no time of it is one of a GPU."""
        surveyed = self.survey is not None and is_simulated(self.survey["details"])
        certified = any(
            is_simulated(certificate.backend.get("details", {}))
            for certificate in self.certificates.values()
        )
        return surveyed or certified or any(map(_is_simulated, self.benches.values()))

    @property
    def measured(self) -> dict[str, Mapping[str, Any]]:
        """The runs that say of themselves that they were timed on a GPU."""
        return {
            name: run
            for name, run in self.benches.items()
            if not _is_simulated(run) and is_on_gpu(run)
        }


def _is_simulated(run: Mapping[str, Any]) -> bool:
    names = [series["backend"] for series in run["series"]]
    return is_of_stand_in(run) or any("simulated-gpu" in name for name in names)


def read_gpu_folder(folder: Path) -> GpuFolder:
    """Read what is there.

    Raises:
      OSError: there is no such folder.

    """
    if not folder.is_dir():
        raise NotADirectoryError(20, "no such folder", str(folder))
    reader = _Reader(folder)
    return GpuFolder(
        name=folder.resolve().name,
        steps=list({it.step: it for it in reader.lines("steps.jsonl", _step)}.values()),
        survey=reader.file(folder / "survey.json", _survey),
        peers=reader.file(folder / "peers.json", _peers) or {},
        programs=list({it.name: it for it in reader.lines("smoke.jsonl", _program)}.values()),
        certificates={
            path.parent.name: certificate
            for path, certificate in reader.files(f"certify/*/{PACKAGE}", read_certificate)
        },
        begun={
            path.parent.name: counts
            for path, counts in reader.files("certify/*/record.jsonl", _begun)
            if not (path.parent / PACKAGE).exists()
        },
        benches={
            path.parent.name: run
            for pattern in ("ceilings/bench.json", "bench/*/bench.json")
            for path, run in reader.files(pattern, read_bench)
        },
        counts=reader.file(folder / "counts/bench.json", read_bench),
        kernels={path.stem: it for path, it in reader.files("profile/*.csv", _kernels)},
        sanitizers={path.stem: it for path, it in reader.files("profile/*.txt", _sanitizer)},
        problems=reader.problems,
    )


class _Reader:
    """Reads files of a folder, and remembers of those that are broken what is wrong."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.problems: dict[str, str] = {}

    def file(self, path: Path, form: Callable[[Path], T]) -> T | None:
        """What a file holds; None if it is missing or broken."""
        if not path.exists():
            return None
        try:
            return form(path)
        except _BROKEN as error:
            self.problems[path.relative_to(self._folder).as_posix()] = _reason(error, path)
            return None

    def files(self, pattern: str, form: Callable[[Path], T]) -> Iterator[tuple[Path, T]]:
        """The files of a pattern that are not broken, by name, with what they hold."""
        for path in sorted(self._folder.glob(pattern)):
            value = self.file(path, form)
            if value is not None:
                yield path, value

    def lines(self, name: str, form: Callable[[Any], T]) -> list[T]:
        """The lines of a file that are not broken; the first broken line is reported."""
        path, good = self._folder / name, []
        text = self.file(path, lambda path: path.read_text(encoding="utf-8")) or ""
        for number, line in enumerate(text.splitlines(), 1):
            try:
                good.append(form(json.loads(line)))
            except _BROKEN as error:
                self.problems.setdefault(name, f"line {number}: {_reason(error, path)}")
        return good


def _reason(error: BaseException, path: Path) -> str:
    """What is wrong, without the file's own name, which stands beside it."""
    if isinstance(error, KeyError):
        return f"it has no {error}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return (str(error) or type(error).__name__).removeprefix(f"{path}: ")


def _text(form: Any, key: str) -> str:
    value = form[key]
    if not isinstance(value, str):
        raise TypeError(f"{key!r} is no text")
    return value


def _number(form: Any, key: str) -> float:
    value = form[key]
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError(f"{key!r} is no number")
    return float(value)


def _step(form: Any) -> StepRun:
    texts = {key: _text(form, key) for key in ("step", "part", "state", "says")}
    return StepRun(**texts, seconds=_number(form, "seconds"))


def _program(form: Any) -> Program:
    if not isinstance(form["passed"], bool):
        raise TypeError("'passed' is neither true nor false")
    wrong = "" if form["passed"] else _text(form, "wrong")
    return Program(_text(form, "program"), form["passed"], wrong)


def _survey(path: Path) -> dict[str, Any]:
    form = read_json(path)
    kinds = {"backend": str, "devices": list, "details": dict, "gpus": list, "packages": dict}
    for key, kind in kinds.items():
        if not isinstance(form[key], kind):
            raise TypeError(f"{key!r} is no {kind.__name__}")
    if not all(isinstance(gpu, dict) for gpu in form["gpus"]):
        raise TypeError("'gpus' has something that describes no GPU")
    return dict(form)


def _begun(path: Path) -> tuple[int, int]:
    record = read_record(path)
    return len(record.results), int(record.header["plan"]["cases"])


def _peers(path: Path) -> dict[str, str]:
    form = read_json(path)
    return {
        str(name): _text(answer, "version" if "version" in answer else "absent")
        for name, answer in form.items()
    }


def _kernels(path: Path) -> list[Kernel]:
    return read_profile(path.read_text(encoding="utf-8"))


def _sanitizer(path: Path) -> str:
    """The summary that a tool ends with, or its first words where it came to none."""
    text = path.read_text(encoding="utf-8")
    lines = [line.removeprefix(_RULE).strip() for line in text.splitlines()]
    summary = [line for line in lines if line.startswith(_SUMMARIES)]
    if summary:
        return summary[-1]
    first = next((line for line in lines if line.startswith("Error")), "")
    return f"no summary: {first}" if first else "no summary: it was cut"
