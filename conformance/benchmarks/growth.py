"""Measures costs at growing sizes, each backend in processes of its own.

Every process does every cost at every size; a size is left out, with those above it, where it
would take longer than a cost may. What the host counts of a batch of calls, less that of an empty
batch, is kept for each process and batch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from sessrun.conformance.benchmarks.costs import Cost
from sessrun.conformance.benchmarks.processes import (
    BatchTime,
    BenchProcess,
    JobError,
    ProcessEndedError,
    Side,
)

__all__ = ["Grown", "measure_growth"]

#: A batch lasts about this long, so that asking for it is a small part.
_BATCH_SECONDS: Final = 0.01
_MAX_CALLS: Final = 1000
#: Batches of a size in a process, and the empty ones that tell what asking takes.
_BATCHES: Final = 3
_LEAST_SECONDS: Final = 1e-9
#: By how much the next size may take longer than the last one, so that it is begun at all.
_NEXT: Final = 2.5


@dataclass(slots=True)
class Grown:
    """A cost on a backend.

    Attributes:
      cost: the cost.
      backend: the backend's name.
      wall: by size, seconds of a call by the host's clock, of each batch; a list for each process.
      processor: the same by what the kernel counts, where it does.
      wrong: what was wrong with a result, None if nothing.

    """

    cost: Cost
    backend: str
    wall: dict[int, list[list[float]]] = field(default_factory=dict)
    processor: dict[int, list[list[float]]] = field(default_factory=dict)
    wrong: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The cost in the form of `growth.schema.json`."""
        return {
            "cost": self.cost.name,
            "about": self.cost.about,
            "quantity": self.cost.quantity,
            "order": self.cost.order,
            "backend": self.backend,
            "points": [
                {"size": size, "wall": _rounded(wall)}
                | ({"processor": _rounded(self.processor[size])} if size in self.processor else {})
                for size, wall in sorted(self.wall.items())
            ],
            "correct": self.wrong is None,
            "detail": self.wrong or "",
        }


def _rounded(several: Sequence[Sequence[float]]) -> list[list[float]]:
    """Seconds to five digits, which is more than any clock is right to."""
    return [[float(f"{seconds:.5g}") for seconds in batches] for batches in several]


def measure_growth(
    sides: Sequence[Side],
    costs: Sequence[Cost],
    *,
    processes: int,
    budget: float,
    seed: int,
    device: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Grown], dict[str, str], list[dict[str, str]]]:
    """Measure costs on sides.

    Args:
      sides: the backends.
      costs: the costs, with their sizes.
      processes: how many processes of each side there are, one after the other.
      budget: seconds that a cost may take in a process, with all its sizes, about.
      seed: of the orders and of the processes' hashes.
      device: where graphs are placed.
      progress: called after each cost with how many are done, and how many there are.

    Returns:
      The costs that were measured, the sides' versions, and what was left out and why.

    Raises:
      AdapterError: a side cannot be loaded, does not answer, or answers something else.

    """
    draw = random.Random(seed)
    grown = {(cost.name, side.name): Grown(cost, side.name) for cost in costs for side in sides}
    versions: dict[str, str] = {}
    left_out: dict[tuple[str, str], dict[str, str]] = {}
    done, total = 0, processes * len(grown)
    for _ in range(processes):
        hashes = draw.randrange(2**31)
        for side in draw.sample(sides, len(sides)):
            waiting = draw.sample(costs, len(costs))
            while waiting:  # once more where a cost ended the process
                with BenchProcess(side, hashes) as process:
                    process.loaded()
                    versions[side.name] = process.version
                    lives = True
                    while waiting and lives:
                        entry = grown[waiting.pop().name, side.name]
                        reason, lives = _measure(process, entry, budget, device)
                        if reason:
                            key = (entry.cost.name, side.name)
                            case = {"case": entry.cost.name, "backend": side.name}
                            left_out.setdefault(key, case | {"reason": reason[:500]})
                        done += 1
                        if progress is not None:
                            progress(done, total)
    measured = [entry for entry in grown.values() if entry.wall]
    return measured, versions, list(left_out.values())


def _measure(process: BenchProcess, entry: Grown, budget: float, device: str) -> tuple[str, bool]:
    """A cost at all sizes; why sizes were left out, if any were, and whether the process lives."""
    began = monotonic()
    for index, size in enumerate(entry.cost.sizes):
        at = monotonic()
        try:
            _measure_size(process, entry, size, device)
        except (JobError, ProcessEndedError) as error:
            return f"size {size:,}: {error}", isinstance(error, JobError)
        took, spent = monotonic() - at, monotonic() - began
        if index + 1 < len(entry.cost.sizes) and spent + _NEXT * took > budget:
            larger = entry.cost.sizes[index + 1]
            return f"from size {larger:,} on: {size:,} took {took:.1f} s", True
    return "", True


def _measure_size(process: BenchProcess, entry: Grown, size: int, device: str) -> None:
    seconds, wrong = process.prepare_cost(entry.cost.name, size, device)
    entry.wrong = entry.wrong or wrong
    calls = max(1, min(_MAX_CALLS, int(_BATCH_SECONDS / max(seconds, _LEAST_SECONDS))))
    if entry.cost.name == "threads":
        calls = 1
    empty = [process.cost_batch(0)[0] for _ in range(_BATCHES)]
    times = []
    for _ in range(_BATCHES):
        time, wrong = process.cost_batch(calls)
        entry.wrong = entry.wrong or wrong
        times.append(time)
    process.finish_cost()
    asking = BatchTime(
        min(time.wall for time in empty),
        min((time.processor for time in empty if time.processor is not None), default=None),
    )
    entry.wall.setdefault(size, []).append(
        [max(_LEAST_SECONDS, (time.wall - asking.wall) / calls) for time in times]
    )
    spent = [time.processor for time in times if time.processor is not None]
    if asking.processor is not None and len(spent) == len(times):
        entry.processor.setdefault(size, []).append(
            [max(_LEAST_SECONDS, (one - asking.processor) / calls) for one in spent]
        )
