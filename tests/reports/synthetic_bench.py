"""Realistic benchmark files made up from a seed: noise, spikes, drifts that rounds share."""

from __future__ import annotations

from typing import Any

import numpy as np

CASES = {
    "no-op run": 1.3e-7,
    "scalar add, two feeds": 1.6e-6,
    "fetch 4 MB": 2.6e-4,
    "matmul 1024": 2.2e-2,
    "CNN training step": 5.3e-2,
    "chain of 1000 adds": 4.7e-4,
}
BACKENDS = {"tensorflow": 60.0, "reference": 1.0, "numpy floor": 0.6}
FINGERPRINT = {"processor": "AMD EPYC 7B13", "cpus": 2, "python": "3.11.7", "blas": "OpenBLAS 0.3"}


def samples(seconds: float, rounds: int, seed: int, noise: float = 0.03) -> list[float]:
    rng = np.random.default_rng(seed)
    spikes = np.where(rng.random(rounds) < 0.08, rng.uniform(1.2, 2.5, rounds), 1.0)
    values = seconds * np.exp(rng.normal(0, noise, rounds)) * spikes
    return [float(value) for value in values]


def in_blocks(blocks: int = 12, calls: int = 10, factor: float = 1.0) -> dict[str, Any]:
    """A benchmark file of two backends in blocks of three rounds; the second is slower."""
    rounds = 3 * blocks
    rng = np.random.default_rng(blocks)
    series = []
    for backend, slowness in (("old", 1.0), ("new", factor)):
        times = 1e-6 * slowness * np.exp(rng.normal(0, 0.002, (2, rounds)))
        once, twice = (times * [[calls + 1], [2 * calls + 1]]).tolist()
        batches: dict[str, Any] = {"calls": calls, "wall_once": once, "wall_twice": twice}
        batches |= {"processor_once": once, "processor_twice": twice}
        series.append(
            {
                "case": "no-op",
                "backend": backend,
                "unit": "s",
                "correct": True,
                "samples": samples(1e-6 * slowness, rounds, 3, 0.002),
                "batches": batches,
                "blocks": blocks,
            }
        )
    return bench() | {"rounds": rounds, "block_rounds": 3, "series": series}


def bench(
    seed: int = 1,
    rounds: int = 30,
    factors: dict[str, float] | None = None,
    fingerprint: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A benchmark file; `factors` multiplies the times of a case."""
    series = []
    for place, (case, seconds) in enumerate(CASES.items()):
        for other, (backend, slowness) in enumerate(BACKENDS.items()):
            factor = (factors or {}).get(case, 1.0) if backend == "reference" else 1.0
            time = seconds * factor * (slowness if place < 3 else 1 + 0.1 * other)
            entry: dict[str, Any] = {
                "case": case,
                "backend": backend,
                "unit": "s",
                "correct": True,
                "samples": samples(time, rounds, 1000 * seed + 10 * place + other),
            }
            if case == "matmul 1024":
                entry["flops"] = 2.0 * 1024**3
            series.append(entry)
    return {
        "bench": 1,
        "sessrun": "0.1.0",
        "started": "2026-11-21T04:00:00+00:00",
        "fingerprint": dict(fingerprint or FINGERPRINT),
        "seed": seed,
        "rounds": rounds,
        "ceilings": {"flops": 1.6e11, "bytes": 1.4e10},
        "series": series,
    }
