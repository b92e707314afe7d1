"""Runs a plan into a record: header first, one line per case, resumed where it was cut."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sessrun import __version__
from sessrun.conformance.facts import environment
from sessrun.conformance.plan import Plan, suite_digest
from sessrun.conformance.runner import Runner
from sessrun.spec import SPEC_VERSION
from sessrun.spec.loader import spec_digest
from sessrun.spec.records import RecordWriter, RunRecord, read_record

__all__ = ["Progress", "ResumeError", "execute", "header"]

#: Called after each case with (done, planned, result line).
Progress = Callable[[int, int, dict[str, Any]], None]


class ResumeError(ValueError):
    """The record on disk belongs to another run and cannot be continued."""


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a run starts: lines already there, bytes to keep (None: a new file)."""

    done: frozenset[str]
    keep: int | None
    complete: bool = False


def header(plan: Plan, runner: Runner) -> dict[str, Any]:
    """The header line of a run of this plan against this backend."""
    return {
        "kind": "header",
        "record": 1,
        "sessrun": __version__,
        "spec": {"version": SPEC_VERSION, "digest": spec_digest()},
        "suite": suite_digest(),
        "plan": {
            "hash": plan.hash,
            "cases": len(plan.cases),
            "profile": plan.profile,
            "seed": plan.seed,
            "generated": plan.generated,
        },
        "backend": {"spec": runner.spec, **runner.describe().to_json()},
        "environment": environment(),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "mode": "in-process" if runner.in_process else "workers",
    }


def execute(
    plan: Plan,
    runner: Runner,
    path: Path,
    *,
    resume: bool = False,
    progress: Progress | None = None,
) -> RunRecord:
    """Run every case of the plan that the record does not hold yet.

    Args:
      plan: the plan.
      runner: the backend's runner; it is not shut down here.
      path: the record; written anew unless `resume` is set and it exists.
      resume: continue a record that was cut.
      progress: called after each case.

    Raises:
      ResumeError: the record is of another plan, spec, suite or backend.
      SpecError: the record is damaged otherwise than by a cut last line.

    """
    first = header(plan, runner)
    start = _resumed(path, first) if resume and path.exists() else _Start(frozenset(), None)
    if start.complete:
        return read_record(path)
    began = time.perf_counter()
    with RecordWriter(path, start.keep) as writer:
        if start.keep is None:
            writer.write(first)
        else:
            writer.write({"kind": "event", "event": "resumed", "detail": f"{len(start.done)} done"})
        runner.on_event = lambda event, detail, seconds: writer.write(
            {"kind": "event", "event": event, "detail": detail, "seconds": round(seconds, 3)}
        )
        done = len(start.done)
        for case in plan.cases:
            if case.id in start.done:
                continue
            line = runner.run(case)
            writer.write(line)
            done += 1
            if progress is not None:
                progress(done, len(plan.cases), line)
        writer.write(
            {"kind": "footer", "cases": done, "seconds": round(time.perf_counter() - began, 3)}
        )
    return read_record(path)


def _resumed(path: Path, first: dict[str, Any]) -> _Start:
    record = read_record(path)
    for key in ("plan", "spec", "suite", "mode"):
        if record.header[key] != first[key]:
            raise ResumeError(
                f"{path}: cannot resume, the {key} differs: the record has {record.header[key]}, "
                f"this run has {first[key]}; start anew without --resume"
            )
    theirs, ours = record.header["backend"], first["backend"]
    if (theirs["spec"], theirs["version"]) != (ours["spec"], ours["version"]):
        raise ResumeError(
            f"{path}: cannot resume, the record is of {theirs['spec']} {theirs['version']}, "
            f"this run of {ours['spec']} {ours['version']}"
        )
    return _Start(frozenset(record.results), record.valid_bytes, record.complete)
