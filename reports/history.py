"""The history of benchmark runs: a file of runs by commit and machine, and where speed changed.

The file is JSON Lines, a line for each run (`history.schema.json`), so that it can be kept in git.
Runs of one machine, backend and job, in the order in which they were added, are a series. Where
its level changed is searched by halves: the split is where the ranks of the times before it are
furthest from what they would be by chance, and it counts if the same runs in another order rarely
have one so far (a permutation test, which knows that the best split was chosen). Then each half is
searched. Orders are drawn once for each number of runs. What is rarer than one in all that are
drawn, and series of thousands of runs, have the bound of Miller and Siegmund ("Maximally selected
chi square statistics", Biometrics 38, 1982): the chance that a Brownian bridge is anywhere so many
standard deviations from 0, which is above that of ranks.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy

from sessrun.reports.block_verdicts import LEVEL, seconds_of_calls
from sessrun.spec.loader import parse_json
from sessrun.spec.schema import SpecError, check

__all__ = ["Change", "Series", "append", "changes", "entry_of", "read_history", "series_of"]

#: The fewest runs on either side of a change.
_SIDE: Final = 4
#: A change by less is nobody's concern.
_CONCERN: Final = 0.01
#: Orders that are drawn for a number of runs, so many at a time, and for how many runs at most.
_ORDERS: Final = 9999
_AT_A_TIME: Final = 1000
_DRAWN: Final = 2000
#: What a side of two trees has after its backend: its commit, and whether files differ from it.
_COMMIT: Final = re.compile(r"@[0-9a-f]{8}\+?$")
_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Series:
    """One job of one backend on one machine, over runs.

    Attributes:
      machine: the machine's digest.
      backend: the backend.
      case: the job.
      commits: of each run.
      times: when each run was, ISO 8601.
      seconds: of one call in each run.

    """

    machine: str
    backend: str
    case: str
    commits: tuple[str, ...]
    times: tuple[str, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of level.

    Attributes:
      index: of the first run after it.
      commit: of that run.
      before: the commit of the run before it: the change came between the two.
      ratio: median after it over median before it, between its neighbours.
      pvalue: of the permutation test.

    """

    index: int
    commit: str
    before: str
    ratio: float
    pvalue: float


def entry_of(run: Mapping[str, Any], commit: str) -> dict[str, Any]:
    """The line of a benchmark run.

    Args:
      run: as `sessrun.reports.comparison.read_bench` gives it; wrong answers are left out. Of a
        backend in two trees the second counts, the one that was there when it was measured.
      commit: what was measured.

    """
    facts = {key: value for key, value in run["fingerprint"].items() if key != "backends"}
    text = json.dumps(facts, sort_keys=True).encode()
    newest = {
        (series["case"], _COMMIT.sub("", series["backend"])): series for series in run["series"]
    }
    return {
        "history": 1,
        "commit": commit,
        "started": run["started"],
        "machine": hashlib.sha256(text).hexdigest()[:16],
        "fingerprint": facts,
        "series": [
            {"case": case, "backend": backend} | _seconds(series, run.get("block_rounds", 0))
            for (case, backend), series in newest.items()
            if series["correct"]
        ],
    }


def _seconds(series: Mapping[str, Any], rounds: int) -> dict[str, Any]:
    """The time of one call, and by which clock: the median of the blocks, or of the samples."""
    if "batches" in series:
        for clock, seconds in seconds_of_calls(series, rounds).items():  # processor time first
            return {"clock": clock, "seconds": float(np.median(seconds))}
    device = "device_samples" in series
    samples = series["device_samples" if device else "samples"]
    return {"clock": "device" if device else "wall", "seconds": float(np.median(samples))}


def append(path: Path, entry: Mapping[str, Any]) -> None:
    """Add a run at the end of the file, which is made if there is none.

    Raises:
      SpecError: the entry is none, or the file's last line is cut off.

    """
    check(entry, "history", str(path))
    if path.exists():
        read_history(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, sort_keys=True) + "\n")


def read_history(path: Path) -> list[dict[str, Any]]:
    """The runs of a file, in their order.

    Raises:
      SpecError: a line is none; its number is in the message.
      OSError: the file cannot be read.

    """
    entries = []
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        entry = parse_json(line, f"{path}, line {number}")
        check(entry, "history", f"{path}, line {number}")
        entries.append(entry)
    if text and not text.endswith("\n"):
        raise SpecError(str(path), f"line {number}", "the last line is cut off")
    return entries


def series_of(entries: Iterable[Mapping[str, Any]]) -> list[Series]:
    """The series of a history; a clock of its own makes a series of its own."""
    points: dict[tuple[str, str, str, str], list[tuple[str, str, float]]] = {}
    for entry in entries:
        for point in entry["series"]:
            key = entry["machine"], point["backend"], point["case"], point["clock"]
            points.setdefault(key, []).append((entry["commit"], entry["started"], point["seconds"]))
    return [
        Series(machine, backend, case, *map(tuple, zip(*members, strict=True)))
        for (machine, backend, case, _), members in points.items()
    ]


def changes(series: Series, compared: int = 1) -> list[Change]:
    """Where the level of a series changed, oldest first.

    Args:
      series: the series.
      compared: how many series are looked at together: they share the level of the test.

    """
    seconds = np.asarray(series.seconds, np.float64)
    splits = sorted(_splits(seconds, 0, len(seconds), LEVEL / compared))
    ends = [0, *(start for start, _ in splits), len(seconds)]
    changed = []
    for number, (start, pvalue) in enumerate(splits, 1):
        before, after = seconds[ends[number - 1] : start], seconds[start : ends[number + 1]]
        ratio = float(np.median(after) / np.median(before))
        if abs(math.log(ratio)) > math.log1p(_CONCERN):
            commits = series.commits[start], series.commits[start - 1]
            changed.append(Change(start, *commits, ratio, pvalue))
    return changed


def _splits(seconds: _Array, first: int, last: int, level: float) -> list[tuple[int, float]]:
    """Where runs `first` to `last` fall apart, and each part again: index and p-value."""
    count = last - first
    if count < 2 * _SIDE:
        return []
    apart = _apart(scipy.stats.rankdata(seconds[first:last]))
    pvalue = _pvalue(count, float(apart.max()))
    if pvalue > level:
        return []
    split = first + _SIDE + int(np.argmax(apart))
    return [
        (split, pvalue),
        *_splits(seconds, first, split, level),
        *_splits(seconds, split, last, level),
    ]


def _apart(ranks: _Array) -> _Array:
    """By split, how many standard deviations the ranks before it are from their mean by chance."""
    count = ranks.shape[-1]
    before = np.arange(_SIDE, count - _SIDE + 1)
    sums = np.cumsum(ranks, axis=-1)[..., before - 1]
    deviation = np.sqrt(before * (count - before) * (count + 1) / 12)
    return np.asarray(np.abs(sums - before * (count + 1) / 2) / deviation, np.float64)


def _pvalue(count: int, apart: float) -> float:
    """The chance that so many runs in a random order are somewhere so far apart, or more."""
    bound = _bound(count, apart)
    if count > _DRAWN:
        return bound
    farther = _ORDERS - int(np.searchsorted(_drawn(count), apart * (1 - 1e-9)))
    return min(bound, (1 + farther) / (1 + _ORDERS))


def _bound(count: int, apart: float) -> float:
    """What that chance is at most; it holds beyond two standard deviations."""
    outside = _SIDE / count
    density = float(scipy.stats.norm.pdf(apart))
    splits = 2 * math.log((1 - outside) / outside)
    return min(1.0, density * ((apart - 1 / apart) * splits + 4 / apart)) if apart > 2 else 1.0


@functools.cache
def _drawn(count: int) -> _Array:
    """How far so many ranks are apart at their best split, in each order that is drawn; sorted."""
    generator = np.random.default_rng(count)
    greatest: list[_Array] = []
    for first in range(0, _ORDERS, _AT_A_TIME):
        orders = min(_AT_A_TIME, _ORDERS - first)
        ranks = np.tile(np.arange(1.0, count + 1), (orders, 1))
        greatest.append(_apart(generator.permuted(ranks, axis=1)).max(axis=1))
    return np.sort(np.concatenate(greatest))
