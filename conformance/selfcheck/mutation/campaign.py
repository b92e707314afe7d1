"""A campaign: mutants drawn over all functions, each asked of the cases that enter its function."""

from __future__ import annotations

import difflib
import itertools
import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sessrun.conformance.selfcheck.covered import PACKAGE
from sessrun.conformance.selfcheck.mutation.equivalents import Equivalents, mutation_key
from sessrun.conformance.selfcheck.mutation.functions import SourceFunction, source_of
from sessrun.conformance.selfcheck.mutation.sites import Site, changed, sites_of
from sessrun.spec.forms import Json

if TYPE_CHECKING:
    from sessrun.spec.cases.model import Case

__all__ = [
    "CampaignError",
    "Entries",
    "Mutant",
    "Outcome",
    "draw_mutants",
    "examine_mutants",
    "record_entries",
    "subject_of",
]

#: Of the cases that enter a function, how many of those that enter least beside it run first.
_FOCUSED: Final = 40
#: How many of others, drawn so that every subject has its turn.
_BY_SUBJECT: Final = 240
#: And how many of what is left, drawn.
_OTHERS: Final = 80
#: How long the cases of one profile may take on one mutant, in seconds.
_SECONDS: Final = 10.0


class CampaignError(RuntimeError):
    """A campaign cannot go on."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A function with one change in it.

    Attributes:
      function: the function.
      site: what is changed.
      diff: the changed lines, old and new.
      key: what the list of equivalent mutants knows it by.

    """

    function: SourceFunction
    site: Site
    diff: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant.

    Attributes:
      mutant: the mutant.
      entered_by: profile to how many of its cases enter the function.
      killed_by: profile to the case that caught it, or `(it hung or died)`.
      ran: how many cases ran on it.
      equivalent: the reason why no program can tell it from the original, or empty.
      showing: a case that passes with another answer than the original's, else one that enters
        the function; empty if none does.
      differs: whether `showing` gives another answer.

    """

    mutant: Mutant
    entered_by: Mapping[str, int]
    killed_by: Mapping[str, str]
    ran: int
    equivalent: str
    showing: str
    differs: bool

    @property
    def killed(self) -> bool:
        """Whether any profile caught it."""
        return bool(self.killed_by)

    def to_json(self) -> dict[str, Json]:
        """The form that is published."""
        return {
            "function": self.mutant.function.id,
            "operator": self.mutant.site.operator,
            "diff": list(self.mutant.diff),
            "key": self.mutant.key,
            "entered_by": dict(self.entered_by),
            "killed_by": dict(self.killed_by),
            "equivalent": self.equivalent,
        }


@dataclass(frozen=True, slots=True)
class Entries:
    """Which cases enter which functions, as `entries.py` recorded it.

    Attributes:
      path: the file of its lines.
      profiles: profile to the ids of its planned cases, each with its subject.
      cases: module and first line of a function to the ids of the cases that enter it.
      breadth: a case's id to how many functions it enters.
      imported: the functions that the import of the package calls.

    """

    path: Path
    profiles: Mapping[str, Mapping[str, str]]
    cases: Mapping[str, Sequence[str]]
    breadth: Mapping[str, int]
    imported: frozenset[str]

    @classmethod
    def read(cls, path: Path, profiles: Mapping[str, Mapping[str, str]]) -> Entries:
        """The entries of a file that `record_entries` wrote."""
        cases: dict[str, list[str]] = {}
        breadth: dict[str, int] = {}
        imported: set[str] = set()
        with path.open(encoding="utf-8") as file:
            for form in map(json.loads, file):
                if form["answers"] is None:
                    continue
                if not form["id"]:
                    imported.update(form["entered"])
                    continue
                breadth[form["id"]] = len(form["entered"])
                for function in form["entered"]:
                    cases.setdefault(function, []).append(form["id"])
        return cls(path, profiles, cases, breadth, frozenset(imported))

    def of(self, function: SourceFunction, draw: random.Random) -> dict[str, list[str]]:
        """The cases to ask, by profile: the most focused first, then drawn ones."""
        entering = self._entering(function)
        chosen = {}
        for profile, subjects in self.profiles.items():
            own = sorted((id_ for id_ in entering if id_ in subjects), key=self.breadth.__getitem__)
            others = own[_FOCUSED:]
            draw.shuffle(others)
            by_subject = list(itertools.islice(_in_turn(others, subjects), _BY_SUBJECT))
            left = [id_ for id_ in others if id_ not in set(by_subject)]
            if own:
                chosen[profile] = [*own[:_FOCUSED], *by_subject, *left[:_OTHERS]]
        return chosen

    def _entering(self, function: SourceFunction) -> Sequence[str]:
        """The cases that enter a function, or its module if only its import calls it."""
        id_ = f"{function.module}:{function.first}"
        if id_ in self.cases or id_ not in self.imported:
            return self.cases.get(id_, ())
        module = f"{function.module}:"
        of_module = (ids for key, ids in self.cases.items() if key.startswith(module))
        return sorted({id_ for ids in of_module for id_ in ids})


def _in_turn(ids: Sequence[str], subjects: Mapping[str, str]) -> Iterator[str]:
    """One case of each subject, then a second of each, and so on."""
    by_subject: dict[str, list[str]] = {}
    for id_ in ids:
        by_subject.setdefault(subjects[id_], []).append(id_)
    for turn in itertools.zip_longest(*by_subject.values()):
        yield from (id_ for id_ in turn if id_ is not None)


def subject_of(case: Case) -> str:
    """What a case is about: the topic of its program, its property, or its vector's folder."""
    program = case.steps[0].get("args", {}).get("program")
    if program:
        return str(program).rpartition("/")[0]
    return case.id.removeprefix("variant/").partition(":")[0].partition("/")[0]


def record_entries(path: Path, seed: int, count: int, profiles: Sequence[str], jobs: int) -> None:
    """Run every planned case once on the unchanged reference and record what it enters.

    Raises:
      CampaignError: one of the campaign's processes failed.

    """
    module = "sessrun.conformance.selfcheck.mutation.entries"
    commands = [
        [sys.executable, "-m", module, str(part), str(jobs), str(seed), str(count), *profiles]
        for part in range(jobs)
    ]
    with ThreadPoolExecutor(jobs) as pool:
        parts = list(pool.map(_output, commands))
    path.write_text("".join(parts), encoding="utf-8")


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(  # noqa: S603 - our own program
        command, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise CampaignError(f"the cases' functions cannot be recorded: {last}")
    return done.stdout


def draw_mutants(functions: Sequence[SourceFunction], count: int, seed: int) -> Iterator[Mutant]:
    """Mutants, each of another draw of function, operator and site; uniform in that order.

    Uniform over functions: a long one is no more likely than a short one.
    """
    draw = random.Random(f"mutants:{seed}")
    taken: set[tuple[str, Site]] = set()
    candidates = list(functions)
    while count and candidates:
        function = draw.choice(candidates)
        sites = [s for s in sites_of(function) if (function.module, s) not in taken]
        if not sites:
            candidates.remove(function)
            continue
        operator = draw.choice(sorted({site.operator for site in sites}))
        site = draw.choice([site for site in sites if site.operator == operator])
        taken.add((function.module, site))
        diff = _diff(source_of(function.path), changed(function.path, site))
        if diff:
            count -= 1
            yield Mutant(function, site, diff, mutation_key(function, site, diff))


def _diff(before: str, after: str) -> tuple[str, ...]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return tuple(line for line in lines if line[:3] not in {"---", "+++"} and line[:2] != "@@")


def examine_mutants(
    mutants: Sequence[Mutant],
    entries: Entries,
    equivalents: Equivalents,
    seed: int,
    count: int,
    jobs: int,
) -> Iterator[Outcome]:
    """Ask the cases about each mutant, `jobs` at a time; in the order given."""
    arguments = [str(entries.path), str(seed), str(count), *entries.profiles]
    idle = [_Server(arguments) for _ in range(jobs)]
    lock = threading.Lock()

    def examined(mutant: Mutant) -> Outcome:
        with lock:
            server = idle.pop()
        try:
            return _outcome(mutant, entries, equivalents, server)
        finally:
            with lock:
                idle.append(server)

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(examined, mutants)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for server in idle:
            server.shutdown()


def _outcome(
    mutant: Mutant, entries: Entries, equivalents: Equivalents, ask: Callable[..., Any]
) -> Outcome:
    cases = entries.of(mutant.function, random.Random(mutant.key))
    entered_by = {profile: len(ids) for profile, ids in cases.items()}
    entering = next((ids[0] for ids in cases.values()), "")
    equivalent = equivalents.reason(mutant.key)
    if equivalent or not cases:
        return Outcome(mutant, entered_by, {}, 0, equivalent, entering, differs=False)
    module = mutant.function.module.removesuffix(".py").removesuffix("/__init__")
    answer = ask(
        module=f"{PACKAGE}.{module.replace('/', '.')}",
        source=changed(mutant.function.path, mutant.site),
        seconds=_SECONDS,
        cases=cases,
    )
    killed_by = {
        profile: form["killer"] for profile, form in (answer or {}).items() if form["killer"]
    }
    # A list that was not answered is that of a mutant that hung or died in one of its cases.
    killed_by |= dict.fromkeys(cases.keys() - (answer or {}).keys(), "(it hung or died)")
    ran = sum(form["ran"] for form in (answer or {}).values())
    differing = next((f["differs"] for f in (answer or {}).values() if f["differs"]), None)
    return Outcome(
        mutant, entered_by, killed_by, ran, "", differing or entering, differs=bool(differing)
    )


class _Server:
    """A process of `server.py`."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "sessrun.conformance.selfcheck.mutation.server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, **asked: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: PT018
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise CampaignError("the process of the mutants has ended")
        return json.loads(line)

    def shutdown(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
