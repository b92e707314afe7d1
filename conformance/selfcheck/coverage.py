"""What of the reference the plans of the profiles enter: functions, and branches within them.

The plans run in processes of their own (`covered.py`), one for each profile, or, where only the sum
is asked for, all of them shared out among a few. What no profile enters is asked of
nobody: it gets a case, a reason in `unasked.toml`, or is deleted.
"""

from __future__ import annotations

import fnmatch
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sessrun.spec.loader import read_toml
from sessrun.spec.schema import SpecError

if TYPE_CHECKING:
    from sessrun.conformance.selfcheck.mutation.functions import SourceFunction

__all__ = [
    "AREAS",
    "Area",
    "CoverageError",
    "Function",
    "Share",
    "Unasked",
    "area_of",
    "areas",
    "load_floor",
    "load_unasked",
    "measure",
    "measure_together",
    "share",
]

#: The areas of the reference that a certificate speaks of, and the folders that they stand in.
AREAS: Final[Mapping[str, tuple[str, ...]]] = {
    "state": ("state",),
    "kernels": ("kernels",),
    "session": ("session",),
    "public names": ("api",),
    "gradients": ("gradient",),
    "library": ("library",),
    "TensorFlow's module paths": ("compat",),
}
#: The area of all other packages: of what a graph is and how it is built.
_TOP: Final = "graphs"
_HERE: Final = Path(__file__).parent


class CoverageError(RuntimeError):
    """A plan could not be run under coverage."""


@dataclass(slots=True)
class Function:
    """A function of the reference, with the profiles that enter it and take its branches.

    Attributes:
      module: its module's path below the reference's folder.
      name: its qualified name.
      line: the line of its `def`.
      branches: how many branches it has.
      entered: the profiles whose plans enter it.
      taken: profile to the branches that its plan takes, as (line, line) pairs.
      untaken: the branches that no profile's plan takes.

    """

    module: str
    name: str
    line: int
    branches: int
    entered: set[str] = field(default_factory=set)
    taken: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    untaken: set[tuple[int, int]] = field(default_factory=set)

    @property
    def id(self) -> str:
        """`module.py:name`, as the list of reasons has it."""
        return f"{self.module}:{self.name}"


@dataclass(frozen=True, slots=True)
class Area:
    """An area's functions, and those of them that have no reason to stay out."""

    name: str
    functions: tuple[Function, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """How much of some functions is asked: functions entered, branches taken, and of how many."""

    entered: int
    functions: int
    taken: int
    branches: int

    @property
    def of_functions(self) -> float:
        """The share of functions entered, in percent."""
        return 100.0 * self.entered / self.functions if self.functions else 100.0

    @property
    def of_branches(self) -> float:
        """The share of branches taken, in percent."""
        return 100.0 * self.taken / self.branches if self.branches else 100.0


def measure(
    profiles: Sequence[str],
    seed: int,
    count: int,
    jobs: int = 2,
    progress: Callable[[str], None] | None = None,
) -> tuple[Function, ...]:
    """Run the plan of each profile on the reference under coverage.

    Args:
      profiles: names of profiles.
      seed: of the generated cases.
      count: generated cases per property.
      jobs: how many profiles at a time.
      progress: called with a profile's name when its plan has run.

    Returns:
      Every function of the reference, by module and line.

    Raises:
      CoverageError: a plan did not run to its end, or one of its cases did not pass.

    """
    commands = {profile: (profile, str(seed), str(count)) for profile in profiles}
    return _measured(commands, jobs, progress)


def measure_together(
    profiles: Sequence[str],
    seed: int,
    count: int,
    jobs: int = 2,
    progress: Callable[[str], None] | None = None,
) -> tuple[Function, ...]:
    """Run the plans of all profiles, shared out among processes: half the time, one figure for all.

    The report on a process takes half a minute, whatever ran in it.

    Args:
      profiles: names of profiles.
      seed: of the generated cases.
      count: generated cases per property.
      jobs: how many processes.
      progress: called with the name of a share when it has run.

    Returns:
      As `measure`, with the name of a share in place of a profile.

    Raises:
      CoverageError: as `measure`.

    """
    plans = (",".join(profiles), str(seed), str(count))
    commands = {
        f"share {number + 1} of {jobs}": (*plans, str(number), str(jobs)) for number in range(jobs)
    }
    return _measured(commands, jobs, progress)


def _measured(
    commands: Mapping[str, Sequence[str]], jobs: int, progress: Callable[[str], None] | None
) -> tuple[Function, ...]:
    """What the program `covered` reports for each of some arguments, as one."""

    def measured(name: str) -> Any:
        report = _covered(*commands[name])
        if progress is not None:
            progress(name)
        return report

    with ThreadPoolExecutor(jobs) as pool:
        reports = list(pool.map(measured, commands))
    return _merged(dict(zip(commands, reports, strict=True)))


def _covered(*arguments: str) -> Any:
    """What the program `covered` reports."""
    command = [sys.executable, "-m", "sessrun.conformance.selfcheck.covered", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise CoverageError(f"the plan of {arguments[0]!r} cannot be covered: {last}")
    return json.loads(done.stdout)


def _merged(reports: Mapping[str, Any]) -> tuple[Function, ...]:
    functions: dict[tuple[str, str, int], Function] = {}
    for profile, modules in reports.items():
        for module, forms in modules.items():
            for name, form in forms.items():
                key = (module, name, form["line"])
                count = len(form["branches"]) + len(form["missing"])
                function = functions.setdefault(key, Function(*key, count))
                if form["entered"]:
                    function.entered.add(profile)
                function.taken[profile] = {(start, end) for start, end in form["branches"]}
                function.untaken.update((start, end) for start, end in form["missing"])
    for function in functions.values():
        function.untaken.difference_update(*function.taken.values())
    return tuple(sorted(functions.values(), key=lambda f: (f.module, f.line)))


def share(functions: Iterable[Function], profile: str | None = None) -> Share:
    """How much of the functions one profile asks, or all of them together."""
    chosen = tuple(functions)
    taken = 0
    for function in chosen:
        sets = function.taken.values() if profile is None else (function.taken.get(profile, set()),)
        taken += len(set().union(*sets))
    entered = sum(bool(f.entered) if profile is None else profile in f.entered for f in chosen)
    return Share(entered, len(chosen), taken, sum(f.branches for f in chosen))


def area_of(module: str) -> str:
    """The area that a module of the reference belongs to."""
    folder, slash, _ = module.partition("/")
    if not slash:
        return _TOP
    return next((name for name, folders in AREAS.items() if folder in folders), _TOP)


def areas(functions: Iterable[Function]) -> tuple[Area, ...]:
    """The functions by area, in the order of `AREAS`, what stands at the top first."""
    by_area: dict[str, list[Function]] = {name: [] for name in (_TOP, *AREAS)}
    for function in functions:
        by_area[area_of(function.module)].append(function)
    return tuple(Area(name, tuple(members)) for name, members in by_area.items() if members)


@dataclass(frozen=True, slots=True)
class Unasked:
    """Functions that no case asks for, and why: patterns of `module.py:name`."""

    reason: str
    functions: tuple[str, ...]

    def has(self, function: Function | SourceFunction) -> bool:
        """Whether the function is one of them."""
        return any(fnmatch.fnmatchcase(function.id, pattern) for pattern in self.functions)


def load_unasked(path: Path = _HERE / "unasked.toml") -> tuple[Unasked, ...]:
    """The list of what stays out of every profile, with the reasons.

    Raises:
      SpecError: an entry lacks its reason or its functions.

    """
    entries = []
    for name, form in read_toml(path).items():
        reason, functions = form.get("reason"), form.get("functions")
        if not reason or not functions:
            raise SpecError(str(path), name, "an entry has a `reason` and `functions`")
        entries.append(Unasked(reason, tuple(functions)))
    return tuple(entries)


def load_floor(path: Path = _HERE / "floor.toml") -> dict[str, Any]:
    """The least that CI's slice must enter: seed, count, and per area percents."""
    return read_toml(path)
