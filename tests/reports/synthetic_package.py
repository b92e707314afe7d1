"""Packages of synthetic runs, and what a verifier's installation says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synthetic_run import SPEC_DIGEST, SUITE, SyntheticRun, make_run

from sessrun.reports.package import Package, open_package, write_package
from sessrun.reports.verify import Installed, Verification, verify


@dataclass(frozen=True)
class Certified:
    """A run, its package, and what the verifier's installation says."""

    run: SyntheticRun
    path: Path
    raw: bytes
    installed: Installed

    def verify(
        self, raw: bytes | None = None, rerun: Mapping[str, str] | None = None
    ) -> Verification:
        return verify(self.open(raw), self.installed, rerun)

    def open(self, raw: bytes | None = None) -> Package:
        return open_package(self.raw if raw is None else raw, "package.zip")


def certify(
    folder: Path,
    choose: Callable[[Any], str | None],
    generated: int = 20,
    per_subject: int = 5,
    change: Callable[[dict[str, Any]], None] | None = None,
) -> Certified:
    run = make_run(
        folder / "record.jsonl", choose, generated=generated, per_subject=per_subject, change=change
    )

    def replay_of(id_: str, line: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "replay": 1,
            "case": run.cases[id_].to_json(),
            "backend": "tensorflow",
            "result": line["result"],
            "finding": line.get("finding"),
            "python": [],
        }

    path = folder / "package.zip"
    write_package(path, run.path, run.plan, run.clauses, replay_of=replay_of)
    installed = Installed(
        "0.1.0", "0.1", SPEC_DIGEST, SUITE, run.clauses, run.plan, run.cases.__getitem__, replay_of
    )
    return Certified(run, path, path.read_bytes(), installed)
