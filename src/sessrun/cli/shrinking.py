"""What `certify`, `run` and `replay` share: making failing generated cases as small as they go."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console

from sessrun.cli.failure import in_one_line

if TYPE_CHECKING:
    from sessrun.conformance.oracle import Oracle
    from sessrun.conformance.plan import Plan
    from sessrun.conformance.runner import Runner
    from sessrun.reports.summary import Summary
    from sessrun.spec.cases.model import Case

__all__ = ["shrink_case", "shrink_failures"]


#: How many shrunk cases are named.
_SHOWN: Final = 4


def shrink_case(case: Case, runner: Runner, oracle: Oracle, seconds: float) -> Case:
    """The smallest case found within `seconds` that fails on the runner's backend as this one."""
    from sessrun.conformance.shrink import Shrinker

    def fails(candidate: Case) -> bool:
        return bool(runner.run_once(candidate)["result"] == "fail")

    return Shrinker(fails, oracle, seconds=seconds).shrink(case)


def shrink_failures(
    folder: Path, plan: Plan, summary: Summary, backend: str, seconds: float = 30.0
) -> list[str]:
    """Write the shrunk replay of one generated case of each group of failures.

    Args:
      folder: the replays go into its folder `shrunk`.
      plan: the plan that ran.
      summary: its groups of failures.
      backend: the backend's name.
      seconds: what all of it may take, starting the workers aside.

    Returns:
      A sentence for each file written, or one that says why there is none: whatever the backend
      does here, the run's result stands.

    """
    from sessrun.adapters.process.errors import AdapterError, WorkerError
    from sessrun.conformance.oracle import Oracle
    from sessrun.conformance.patience import Patience
    from sessrun.conformance.runner import Runner
    from sessrun.conformance.shrink import shrinkable

    shrunk = folder / "shrunk"
    for old in shrunk.glob("*.json"):
        old.unlink()
    cases = {case.id: case for case in plan.cases}
    firsts = [cases[group.cases[0]] for group in summary.failures if group.result == "fail"]
    firsts = [case for case in firsts if ":" in case.id and shrinkable(case)]
    if not firsts:
        return []
    sentences: list[str] = []
    oracle = Oracle()
    patience = Patience(cases=2, whole=2 * seconds)
    runner = Runner(backend, deadline_s=5.0, ask_oracle=oracle, patience=patience)
    try:
        with Console(stderr=True).status("shrinking failures"):
            runner.describe()
            oracle(firsts[0])
            sentences.extend(_shrink_cases(firsts, runner, oracle, shrunk, seconds))
    except (AdapterError, WorkerError) as error:
        sentences.append(f"no further failures were shrunk: {in_one_line(error)}")
    finally:
        runner.shutdown()
        oracle.shutdown()
    hidden = len(sentences) - _SHOWN
    return sentences if hidden <= 0 else [*sentences[:_SHOWN], f"and {hidden} more in {shrunk}"]


def _shrink_cases(
    cases: Sequence[Case], runner: Runner, oracle: Oracle, folder: Path, seconds: float
) -> Iterator[str]:
    """Write the replay of each case made smaller; a sentence where it has fewer nodes."""
    from sessrun.conformance.replay import write_replay
    from sessrun.conformance.shrink import node_count
    from sessrun.reports.failures import replay_name

    end = time.monotonic() + seconds
    for number, case in enumerate(cases):
        left = end - time.monotonic()
        if left <= 0:
            return
        small = shrink_case(case, runner, oracle, left / (len(cases) - number))
        if small is case:
            continue
        path = folder / replay_name(case.id)
        write_replay(path, small, runner.run_once(small), runner.spec)
        before, after = node_count(case), node_count(small)
        if after < before:
            yield f"{case.id}, shrunk from {before} to {after} nodes: {path}"
