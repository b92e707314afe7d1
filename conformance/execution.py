"""Runs a plan into a record: header first, one line per case, resumed where it was cut."""

from __future__ import annotations

import contextlib
import datetime
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sessrun import __version__
from sessrun.conformance.facts import environment
from sessrun.conformance.plan import Plan, suite_digest
from sessrun.conformance.result_lines import ResultLine
from sessrun.conformance.runner import Runner
from sessrun.conformance.workers import record_lines
from sessrun.spec import SPEC_VERSION
from sessrun.spec.forms import Json
from sessrun.spec.loader import spec_digest
from sessrun.spec.records import RecordWriter, RunRecord, read_record
from sessrun.spec.schema import SpecError
from sessrun.spec.volumes import load_volumes

__all__ = ["Progress", "ResumeError", "execute", "header"]

#: Called after each case with (done, planned, result line).
Progress = Callable[[int, int, ResultLine], None]


#: What every record begins with: its writer sorts the keys of the header.
_BEGINNING: Final = b'{"backend":'


class ResumeError(ValueError):
    """The record on disk belongs to another run and cannot be continued."""


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a run starts: the lines already there, bytes to keep (None: a new file)."""

    done: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    keep: int | None = None
    complete: bool = False


def header(plan: Plan, runner: Runner, workers: int = 1) -> dict[str, Json]:
    """The header line of a run of this plan against this backend."""
    return {
        "kind": "header",
        "record": 1,
        "sessrun": __version__,
        "spec": {
            "version": SPEC_VERSION,
            "digest": spec_digest(),
            "volumes": {name: volume.version for name, volume in load_volumes().items()},
        },
        "suite": suite_digest(),
        "plan": {
            "hash": plan.hash,
            "cases": len(plan.cases),
            "profile": plan.profile,
            "seed": plan.seed,
            "generated": plan.generated,
        },
        "seed": plan.drawn_by.to_json(),
        "backend": {"spec": runner.spec, **runner.describe().to_json()},
        "environment": environment(runner.describe()),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "mode": "in-process" if runner.in_process else "workers",
        "workers": workers,
    }


def execute(
    plan: Plan,
    runner: Runner,
    path: Path,
    *,
    resume: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
    begun: Callable[[], None] | None = None,
) -> RunRecord:
    """Run every case of the plan that the record does not hold yet.

    Args:
      plan: the plan.
      runner: the backend's runner; it is not shut down here.
      path: the record; a new one is written unless `resume` is set and it exists.
      resume: continue a record that was cut.
      workers: how many cases run at a time, each in a worker process of its own.
      progress: called after each case.
      begun: called once the record is ours, before anything is written to it.

    Raises:
      ResumeError: the record is of another plan, spec, suite, backend or machine.
      SpecError: the record is damaged otherwise than by a cut last line.

    """
    first = header(plan, runner, workers)
    start = _resumed(path, first, plan) if resume and path.exists() else _Start()
    if start.complete:
        return read_record(path)
    runner.resume_after(start.done.values())
    began = time.perf_counter()
    with RecordWriter(path, start.keep) as writer:
        if begun is not None:
            begun()
        if start.keep is None:
            writer.write(first)
        else:
            writer.write({"kind": "event", "event": "resumed", "detail": f"{len(start.done)} done"})
        done = len(start.done)
        left = [case for case in plan.cases if case.id not in start.done]
        with contextlib.closing(record_lines(runner, left, workers)) as lines:
            for line in lines:
                writer.write(line)
                if line["kind"] != "result":
                    continue
                done += 1
                if progress is not None:
                    progress(done, len(plan.cases), line)
        writer.write(
            {"kind": "footer", "cases": done, "seconds": round(time.perf_counter() - began, 3)}
        )
    return read_record(path)


def _resumed(path: Path, first: dict[str, Json], plan: Plan) -> _Start:
    if _is_cut_before_its_header(path):  # nothing is lost
        return _Start()
    record = read_record(path)
    for key in ("sessrun", "spec", "suite", "plan", "seed", "backend", "environment", "mode"):
        difference = _difference(record.header[key], first[key], key)
        if difference is not None:
            raise ResumeError(
                f"{path}: cannot resume, the {difference}; start anew without --resume"
            )
    hashes = {case.id: case.hash for case in plan.cases}
    for id_, line in record.results.items():
        if hashes.get(id_) != line["hash"]:
            raise ResumeError(
                f"{path}: cannot resume, it answers {id_!r} with other content than planned"
            )
    return _Start(record.results, record.valid_bytes, record.complete)


def _is_cut_before_its_header(path: Path) -> bool:
    """Whether the run was killed before its first line was whole.

    Raises:
      SpecError: the file cannot be read, or is no beginning of a record.

    """
    try:
        with path.open("rb") as file:
            first = file.readline()
    except OSError as error:
        raise SpecError(str(path), "", f"cannot be read: {error}") from error
    begun = first[: len(_BEGINNING)]
    if not _BEGINNING.startswith(begun):
        raise SpecError(str(path), "line 1", "no record begins so; it is not overwritten")
    return not first.endswith(b"\n")


def _difference(theirs: Json, ours: Json, path: str) -> str | None:
    """The path and values of the first difference of two headers; None if they are equal."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(theirs.keys() | ours.keys()):
            difference = _difference(theirs.get(key), ours.get(key), f"{path}.{key}")
            if difference is not None:
                return difference
        return None
    if theirs == ours:
        return None
    return f"{path} differs: the record has {theirs!r}, this run has {ours!r}"
