"""The four parts of `make gpu`: what is run in each, on a GPU or, as a rehearsal, without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sessrun.conformance.benchmarks.jobs import JOBS, Job
from sessrun.conformance.benchmarks.selection import FAMILIES, select
from sessrun.conformance.gpu_day.steps import Step
from sessrun.conformance.workers import MOST_WORKERS

__all__ = ["PARTS", "PROFILES", "Target", "steps_of"]

PARTS: Final = ("survey", "certify", "bench", "profile")
#: What is certified unless other profiles are named: on a GPU, and to rehearse it.
PROFILES: Final = ("core", "gpu", "state", "training")
REHEARSED: Final = ("gpu", "tracing")
#: What is measured where the times mean nothing, and counts are all that is wanted.
_REHEARSED_JOBS: Final = (
    "no-op",
    "matmul-float32-64",
    "add-float32-1",
    "chain-resident-100",
    "cnn-adam-fed-4",
    "cnn-adam-resident-4",
)
#: Whose launches, waits and copies are counted: on the stand-in, since a GPU counts none of them.
_COUNTED_JOBS: Final = (
    "cnn-adam-fed-256",
    "cnn-adam-resident-256",
    "matmul-float32-1024",
    "matmul-bfloat16-1024",
    "scatter-float32-4096",
    "chain-resident-100",
)
_STAND_IN: Final = "reference#simulated-gpu"
_ROUNDS: Final = 20
#: Enough that two clocks of a busy machine do not disagree in every one of them by chance.
_REHEARSED_ROUNDS: Final = 10
#: The jobs that a profiler looks at: a step of training, and products.
_PROFILED_JOBS: Final = (
    "cnn-adam-resident-256",
    "matmul-float32-4096",
    "matmul-bfloat16-4096",
)
#: The seed of every plan and order: what was compiled to warm up is what is certified then.
_SEED: Final = 2026
#: As many drawn cases a property as `certify` has.
_GENERATED: Final = 60


@dataclass(frozen=True, slots=True)
class Target:
    """What is measured.

    Attributes:
      folder: where everything is written.
      simulated: whether on the stand-in, quickly, to see that everything runs.
      profiles: what is certified.

    """

    folder: Path
    simulated: bool
    profiles: Sequence[str] = ()

    @property
    def backend(self) -> str:
        """The reference, as the command line names it."""
        return _STAND_IN if self.simulated else "reference"

    @property
    def certified(self) -> Sequence[str]:
        """The profiles, or those of old."""
        return self.profiles or (REHEARSED if self.simulated else PROFILES)


def steps_of(part: str, target: Target) -> list[Step]:
    """The steps of a part, in their order."""
    return {
        "survey": _survey,
        "certify": _certify,
        "bench": _bench,
        "profile": _profile,
    }[part](target)


def _module(name: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", f"sessrun.conformance.gpu_day.{name}", *arguments)


def _sessrun(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "sessrun.cli.main", *arguments)


def _survey(target: Target) -> list[Step]:
    """Versions and hardware, small programs, ceilings, and the compile cache."""
    backend, smoke = target.backend, "{folder}/smoke.jsonl"
    survey = _module("survey", backend, "{folder}/survey.json")
    return [
        Step("survey", "survey", survey, 60, "survey.json"),
        Step("smoke", "survey", _module("smoke", backend, "--output", smoke), 180, "smoke.jsonl"),
        Step(
            "ceilings",
            "survey",
            _measured(target, "ceilings", [JOBS[0].name]),
            120,
            "ceilings/bench.json",
        ),
        *(_warm(target, profile) for profile in target.certified),
    ]


def _warm(target: Target, profile: str) -> Step:
    """Every case once, in as many processes as there are processors: what they compile is kept.

    Of what these runs say nothing counts, the time that they took neither.
    """
    workers = max(1, min(MOST_WORKERS, os.cpu_count() or 1))
    command = _sessrun(
        "run",
        target.backend,
        "--profile",
        profile,
        "--seed",
        str(_SEED),
        "--generated",
        "0" if target.simulated else str(_GENERATED),
        "--workers",
        "2" if target.simulated else str(workers),
        "--record",
        f"{{folder}}/warm/{profile}/record.jsonl",
        "--resume",
    )
    return Step(f"warm-{profile}", "survey", command, 400, f"warm/{profile}/results.json")


def _certify(target: Target) -> list[Step]:
    """A certificate for each profile; one that was cut goes on where it was."""
    return [
        Step(
            f"certify-{profile}",
            "certify",
            _certified(target, profile),
            540,
            f"certify/{profile}/package.zip",
        )
        for profile in target.certified
    ]


def _certified(target: Target, profile: str) -> tuple[str, ...]:
    # Cases of memory need the device for themselves; the others share it.
    workers = 1 if profile.startswith("gpu") else 4
    return _sessrun(
        "certify",
        target.backend,
        "--profile",
        profile,
        "--seed",
        str(_SEED),
        "--minutes",
        "60",
        "--workers",
        str(workers),
        "--output",
        f"{{folder}}/certify/{profile}",
        "--resume",
    )


def _bench(target: Target) -> list[Step]:
    """A run for each family of jobs, so that one that is cut costs its own alone."""
    families: dict[str, tuple[tuple[Job, ...], list[str]]]
    if target.simulated:
        families = {"rehearsal": (select(_REHEARSED_JOBS), [])}
    else:
        peers = _peers(target)
        families = {}
        for name, (sizes, make) in FAMILIES.items():
            jobs = tuple(make(size) for size in sizes)
            families[name] = (jobs, peers if all(job.peer for job in jobs) else [])
        families["calls"] = (JOBS, [])
    measured = [
        Step(
            f"bench-{family}",
            "bench",
            _measured(target, f"bench/{family}", [job.name for job in jobs], by),
            240,
            f"bench/{family}/bench.json",
        )
        for family, (jobs, by) in families.items()
    ]
    return measured if target.simulated else [*measured, _counted()]


def _counted() -> Step:
    """What a call of some jobs asks of a device, counted where nothing is timed."""
    command = _benched(_STAND_IN, "counts", _COUNTED_JOBS, rounds=1)
    return Step("counts", "bench", command, 120, "counts/bench.json")


def _peers(target: Target) -> list[str]:
    """The peers that compute on the GPU, asked in a process of its own: each takes memory there."""
    path = target.folder / "peers.json"
    if not path.exists():
        subprocess.run(_module("peers", str(path)), check=False, timeout=120)  # noqa: S603 - ours
    try:
        peers = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [name for name, answer in peers.items() if "version" in answer]


def _measured(
    target: Target, output: str, names: Sequence[str], peers: Sequence[str] = ()
) -> tuple[str, ...]:
    rounds = _REHEARSED_ROUNDS if target.simulated else _ROUNDS
    return _benched(target.backend, output, names, rounds=rounds, peers=peers)


def _benched(
    backend: str, output: str, names: Sequence[str], *, rounds: int, peers: Sequence[str] = ()
) -> tuple[str, ...]:
    jobs = [word for name in names for word in ("--job", name)]
    options = ("--device", "/gpu:0", "--rounds", str(rounds), *jobs)
    return _sessrun("bench", backend, *peers, *options, "--output", f"{{folder}}/{output}")


def _profile(target: Target) -> list[Step]:
    """The heaviest kernels under Nsight Compute, the small programs under Compute Sanitizer."""
    absent = "a simulated GPU has no kernels to profile" if target.simulated else ""
    return [
        *(
            Step(
                f"ncu-{job}",
                "profile",
                _module("profiled", target.backend, job, f"{{folder}}/profile/{job}.csv"),
                250,
                f"profile/{job}.csv",
                "ncu",
                absent,
            )
            for job in _PROFILED_JOBS
        ),
        *(
            Step(
                f"sanitizer-{tool}",
                "profile",
                (
                    "compute-sanitizer",
                    "--tool",
                    tool,
                    "--error-exitcode",
                    "1",
                    "--log-file",
                    f"{{folder}}/profile/{tool}.txt",
                    *_module("smoke", target.backend, "--all"),
                ),
                250,
                f"profile/{tool}.txt",
                "compute-sanitizer",
                absent,
            )
            for tool in ("memcheck", "racecheck")
        ),
    ]
