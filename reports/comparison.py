"""Comparisons of benchmark runs: FASTER, SLOWER, SAME or UNDECIDED, with ratio and interval.

What was measured in blocks is judged by its blocks (`block_verdicts`). The rest of this is on runs
whose backends shared one process, those on a GPU and of peers.

The ratio is the median of the new samples over the median of the old ones: below 1 is faster.
Its interval comes from a seeded bootstrap of whole rounds: of each side by itself where the
sides are two runs, of both together where they were interleaved in one run, so that a round
that was slow for everybody cancels. SAME: the interval lies within the margin (3 % either way).
FASTER and SLOWER: the ratio is beyond the margin and the interval excludes 1. All else, too few
rounds, wrong answers and simulated devices included, is UNDECIDED. Where both sides have times
between events of the device these are compared, else the wall clock's. Two runs of the same code
are called FASTER or SLOWER in at most about one comparison in twenty; a test measures it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from sessrun.reports.block_verdicts import (
    CLOCKS,
    LEVEL,
    MARGIN,
    Decision,
    decide_runs,
    decide_series,
)
from sessrun.reports.device_words import doubts
from sessrun.reports.measures import is_of_stand_in
from sessrun.reports.printable import number, shortened
from sessrun.reports.pytest_benchmark import from_pytest_benchmark, is_pytest_benchmark
from sessrun.spec.loader import read_json
from sessrun.spec.schema import SpecError, check

__all__ = [
    "COMPARISON_VERDICTS",
    "Comparison",
    "Row",
    "check_bench",
    "compare",
    "compare_backends",
    "read_bench",
]

RowVerdict = Literal["FASTER", "SLOWER", "SAME", "UNDECIDED"]
COMPARISON_VERDICTS: Final[tuple[RowVerdict, ...]] = ("SLOWER", "FASTER", "UNDECIDED", "SAME")
#: Fewer rounds than this have no 95 % interval for a median.
_ROUNDS: Final = 6
_RESAMPLES: Final = 10_000
_CONFIDENCE: Final = 0.95
_Sides = tuple[Mapping[str, Any], Mapping[str, Any]]
_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One case of one backend, on two sides.

    Attributes:
      case: the benchmark.
      backend: the backend; `new / old` where the sides are two backends.
      verdict: FASTER, SLOWER, SAME, UNDECIDED, of the new side.
      ratio: median of the new times over that of the old; None if it means nothing.
      low: lower end of the interval of the ratio.
      high: upper end.
      old_median: in seconds.
      new_median: in seconds.
      old_rounds: how many samples the old side has.
      new_rounds: how many the new side has.
      paired: whether sample i of both sides is from the same round.
      clock: `device` where times between events of the device are compared, `processor` where
        what the processes had on processors decided, else `wall`.
      reason: why the verdict, in words.
      blocks: after how many blocks, where the sides were measured in processes of their own.

    """

    case: str
    backend: str
    verdict: RowVerdict
    ratio: float | None
    low: float | None
    high: float | None
    old_median: float
    new_median: float
    old_rounds: int
    new_rounds: int
    paired: bool
    clock: Literal["wall", "device", "processor"]
    reason: str
    blocks: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two benchmark runs, or two backends of one, say of each other.

    Attributes:
      kind: `runs` or `backends`.
      old: the name of the old side.
      new: the name of the new side.
      same_machine: whether both fingerprints are equal but for the backends' versions.
      differs: the parts of the fingerprints that differ, in words.
      rows: the series that both sides have: SLOWER first, then by ratio.
      only_old: series that only the old side has, as `case (backend)`.
      only_new: series that only the new side has.
      doubts: why the times of a side may not be what they seem, in sentences.
      confidence: of the intervals.
      margin: within which a ratio is SAME.
      resamples: of the bootstrap.
      seed: of the bootstrap.

    """

    kind: Literal["runs", "backends"]
    old: str
    new: str
    same_machine: bool
    differs: tuple[str, ...]
    rows: tuple[Row, ...]
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    confidence: float = _CONFIDENCE
    margin: float = MARGIN
    resamples: int = _RESAMPLES
    seed: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have which verdict."""
        return {
            verdict: sum(row.verdict == verdict for row in self.rows)
            for verdict in COMPARISON_VERDICTS
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the rows, in sentences."""
        notes = []
        if not self.same_machine:
            notes.append(
                "The two sides come from different machines or settings "
                f"({'; '.join(self.differs)}): the ratios compare these as much as the code."
            )
        notes += self.doubts
        by_device = sum(row.clock == "device" for row in self.rows)
        if by_device:
            rest = number(len(self.rows) - by_device, "row")
            notes.append(
                f"{number(by_device, 'row')}: times between events of the device; "
                f"{rest}: times by the wall clock."
            )
        in_blocks = sum(row.blocks is not None for row in self.rows)
        if in_blocks:
            notes.append(
                f"{number(in_blocks, 'row')} measured in blocks: if nothing differs, the chance "
                f"that any of them is FASTER or SLOWER is at most {LEVEL:.0%}."
            )
        tested = sum(row.ratio is not None and row.blocks is None for row in self.rows)
        expected = (1 - self.confidence) * tested
        if expected >= 1:
            notes.append(
                f"Of {number(tested, 'comparison')} at {self.confidence:.0%}, up to "
                f"{expected:.0f} may be called FASTER or SLOWER by chance alone."
            )
        for side, names in (("old", self.only_old), ("new", self.only_new)):
            if names:
                notes.append(f"Only the {side} side has {shortened(', '.join(names), 300)}.")
        return tuple(notes)

    def to_json(self) -> dict[str, Any]:
        """The JSON form, as `comparison.schema.json` describes it."""
        form = asdict(self)
        del form["doubts"]  # the notes have them
        lists = {key: list(form[key]) for key in ("differs", "only_old", "only_new")}
        lists["rows"] = [
            {key: value for key, value in row.items() if key != "blocks" or value is not None}
            for row in form["rows"]
        ]
        return {"comparison": 1, **form, **lists, "notes": list(self.notes)}


def read_bench(path: Path) -> dict[str, Any]:
    """Read a benchmark file, ours or pytest-benchmark's.

    Raises:
      SpecError: it is not one.

    """
    form: dict[str, Any] = read_json(path)
    if not is_pytest_benchmark(form):
        check_bench(form, str(path))
        return form
    try:
        run = from_pytest_benchmark(form)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"pytest-benchmark has another form: {type(error).__name__}: {error}"
        raise SpecError(str(path), "benchmarks", reason) from error
    check(run, "bench", str(path))  # its tests have as many samples as each of them took
    names = [series["case"] for series in run["series"]]
    if len(set(names)) < len(names):
        raise SpecError(str(path), "benchmarks", "a fullname is there twice")
    return run


def check_bench(form: Any, source: str) -> None:
    """Check a benchmark file's form.

    Raises:
      SpecError: it breaks `bench.schema.json`, a series is there twice, one has not a sample
        of each kind for each round, a case was measured in different ways on two backends, or a
        state is of no round.

    """
    check(form, "bench", source)
    seen = set()
    ways: dict[str, tuple[Any, ...]] = {}
    for index, series in enumerate(form["series"]):
        key = (series["case"], series["backend"])
        if key in seen:
            raise SpecError(source, f"series.{index}", f"{key} is there twice")
        seen.add(key)
        way = _way(series)
        if ways.setdefault(series["case"], way) != way:
            reason = f"{series['case']} has other blocks, calls or clocks than on another backend"
            raise SpecError(source, f"series.{index}", reason)
        _check_lengths(form, series, source, f"series.{index}")
    for index, state in enumerate(form.get("states", [])):
        if state["round"] >= form["rounds"]:
            raise SpecError(source, f"states.{index}", f"there is no round {state['round']}")


def _check_lengths(
    form: Mapping[str, Any], series: Mapping[str, Any], source: str, at: str
) -> None:
    """Refuse a series that has not a sample, and a batch, of each kind for each round."""
    rounds = form["rounds"]
    if "batches" in series:
        rounds = form.get("block_rounds", 0) * series.get("blocks", 0)
    lists = {kind: values for kind, values in series.items() if kind.endswith("samples")}
    for kind, times in series.get("batches", {}).items():
        if kind != "calls":
            lists[f"batches.{kind}"] = times
    for clock in CLOCKS:
        if (f"batches.{clock}_once" in lists) != (f"batches.{clock}_twice" in lists):
            raise SpecError(source, at, f"{clock} time of some batches alone")
    for kind, values in lists.items():
        if len(values) != rounds:
            raise SpecError(source, at, f"{len(values)} {kind} in {rounds} rounds")


def _way(series: Mapping[str, Any]) -> tuple[Any, ...]:
    """How a case was measured: in one run the same way on every backend."""
    batches = series.get("batches", {})
    return series.get("blocks"), batches.get("calls"), tuple(sorted(batches))


def compare(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    *,
    names: tuple[str, str] = ("old", "new"),
    seed: int = 0,
) -> Comparison:
    """Compare two benchmark runs, each series with the one of the same case and backend.

    Args:
      old: the old run, as `read_bench` gives it.
      new: the new run.
      names: what to call them.
      seed: of the bootstrap.

    """
    sides = [{(s["case"], s["backend"]): s for s in run["series"]} for run in (old, new)]
    theirs, ours = sides
    simulated = is_of_stand_in(old) or is_of_stand_in(new)
    common = [key for key in theirs if key in ours]
    rounds = old.get("block_rounds", 0), new.get("block_rounds", 0)
    rows = []
    for key in common:
        pair = theirs[key], ours[key]
        if _in_blocks(pair):
            decision = decide_runs(*pair, rounds, len(common))
            rows.append(_block_row(*key, pair, decision, paired=False))
        else:
            rows.append(_row(*key, pair, paired=False, simulated=simulated, seed=seed))
    differs = _different(*map(_machine, (old, new)))
    return Comparison(
        kind="runs",
        old=names[0],
        new=names[1],
        same_machine=not differs,
        differs=differs,
        rows=_sorted(rows),
        only_old=tuple(f"{c} ({b})" for c, b in theirs if (c, b) not in ours),
        only_new=tuple(f"{c} ({b})" for c, b in ours if (c, b) not in theirs),
        doubts=tuple(
            f"The {side} side: {doubt}"
            for side, run in (("old", old), ("new", new))
            for doubt in doubts(run)
        ),
        seed=seed,
    )


def compare_backends(run: Mapping[str, Any], old: str, new: str, *, seed: int = 0) -> Comparison:
    """Compare two backends that were interleaved in one run, round by round.

    Args:
      run: the run, as `read_bench` gives it.
      old: the backend to compare with.
      new: the backend to judge.
      seed: of the bootstrap.

    """
    sides = [{s["case"]: s for s in run["series"] if s["backend"] == name} for name in (old, new)]
    theirs, ours = sides
    label = f"{new} / {old}"
    common = [case for case in theirs if case in ours]
    rows = []
    for case in common:
        pair = theirs[case], ours[case]
        if _in_blocks(pair):
            decision = decide_series(*pair, run["block_rounds"], len(common), ended=True)
            rows.append(_block_row(case, label, pair, decision, paired=True))
        else:
            simulated = is_of_stand_in(run)
            rows.append(_row(case, label, pair, paired=True, simulated=simulated, seed=seed))
    return Comparison(
        kind="backends",
        old=old,
        new=new,
        same_machine=True,
        differs=(),
        rows=_sorted(rows),
        only_old=tuple(case for case in theirs if case not in ours),
        only_new=tuple(case for case in ours if case not in theirs),
        doubts=tuple(doubts(run)),
        seed=seed,
    )


def _sorted(rows: list[Row]) -> tuple[Row, ...]:
    order = {verdict: index for index, verdict in enumerate(COMPARISON_VERDICTS)}
    return tuple(sorted(rows, key=lambda r: (order[r.verdict], -(r.ratio or 0), r.case, r.backend)))


def _in_blocks(sides: _Sides) -> bool:
    return all("batches" in side for side in sides)


def _block_row(case: str, backend: str, sides: _Sides, decision: Decision, *, paired: bool) -> Row:
    """A row whose sides were measured in processes of their own."""
    wrong = _wrong(sides)
    return Row(
        case,
        backend,
        "UNDECIDED" if wrong else decision.verdict,
        None if wrong else decision.ratio,
        None if wrong else decision.low,
        None if wrong else decision.high,
        float(np.median(sides[0]["samples"])),
        float(np.median(sides[1]["samples"])),
        len(sides[0]["samples"]),
        len(sides[1]["samples"]),
        paired,
        decision.clock,
        wrong or decision.reason,
        decision.blocks,
    )


def _wrong(sides: _Sides) -> str:
    """That a side's answers were wrong, in words; empty if none were."""
    wrong = [name for name, side in zip(("old", "new"), sides, strict=True) if not side["correct"]]
    if not wrong:
        return ""
    return f"the answers of the {' and the '.join(wrong)} side were wrong: no time counts"


def _row(
    case: str, backend: str, sides: _Sides, *, paired: bool, simulated: bool, seed: int
) -> Row:
    by_device = all("device_samples" in side for side in sides)
    samples = "device_samples" if by_device else "samples"
    before, after = (np.asarray(side[samples], dtype=np.float64) for side in sides)
    ratio: float | None = float(np.median(after) / np.median(before))
    low: float | None = None
    high: float | None = None
    verdict: RowVerdict = "UNDECIDED"
    wrong = _wrong(sides)
    if wrong:
        reason, ratio = wrong, None
    elif simulated:
        reason, ratio = "SIMULATED: the times of a stand-in for a device mean nothing", None
    elif min(before.size, after.size) < _ROUNDS:
        reason = f"{min(before.size, after.size)} rounds are too few; {_ROUNDS} are the least"
    else:
        generator = np.random.default_rng(_entropy(case, backend, seed))
        low, high = _interval(before, after, paired, generator)
        assert ratio is not None
        verdict, reason = _decide(ratio, low, high)
    return Row(
        case,
        backend,
        verdict,
        ratio,
        low,
        high,
        float(np.median(before)),
        float(np.median(after)),
        before.size,
        after.size,
        paired,
        "device" if by_device else "wall",
        reason,
    )


def _entropy(case: str, backend: str, seed: int) -> list[int]:
    """The bootstrap's seed for one series: the same whatever else is compared."""
    digest = hashlib.sha256(f"{case}\n{backend}".encode("utf-8", "surrogatepass")).digest()
    return [seed, int.from_bytes(digest[:8], "big")]


def _interval(
    before: _Array, after: _Array, paired: bool, generator: np.random.Generator
) -> tuple[float, float]:
    """The percentile interval of the ratio of medians over resampled rounds."""
    picks = generator.integers(before.size, size=(_RESAMPLES, before.size))
    other = picks if paired else generator.integers(after.size, size=(_RESAMPLES, after.size))
    ratios = np.median(after[other], axis=1) / np.median(before[picks], axis=1)
    tail = (1 - _CONFIDENCE) / 2
    low, high = np.quantile(ratios, (tail, 1 - tail))
    return float(low), float(high)


def _decide(ratio: float, low: float, high: float) -> tuple[RowVerdict, str]:
    if low >= 1 / (1 + MARGIN) and high <= 1 + MARGIN:
        return "SAME", f"the interval lies within {MARGIN:.0%}"
    if high < 1 and ratio < 1 / (1 + MARGIN):
        return "FASTER", f"{1 / ratio:.2f} times as fast; the interval excludes 1"
    if low > 1 and ratio > 1 + MARGIN:
        return "SLOWER", f"{ratio:.2f} times as long; the interval excludes 1"
    return "UNDECIDED", "the interval neither excludes 1 clearly nor lies within the margin"


def _machine(run: Mapping[str, Any]) -> dict[str, Any]:
    """What makes times comparable: not the backends' versions, another one is what one compares."""
    facts = {key: value for key, value in run["fingerprint"].items() if key != "backends"}
    device = run.get("device", {"kind": "cpu"})  # a CPU is the fingerprint's processor
    if device["kind"] == "cpu":
        return facts
    return facts | {"measured on": device["name"] + ", SIMULATED" * device["simulated"]}


def _different(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """The parts of two fingerprints that differ, each by itself: `protobuf: 7.36.2 / 6.33.6`."""
    differences: list[str] = []
    for key in sorted({*old, *new}):
        theirs, ours = old.get(key, "absent"), new.get(key, "absent")
        if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
            differences += _different(theirs, ours)
        elif theirs != ours:
            differences.append(f"{key}: {shortened(theirs, 80)} / {shortened(ours, 80)}")
    return tuple(differences)
