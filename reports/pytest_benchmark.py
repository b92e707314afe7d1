"""pytest-benchmark's JSON: written from a benchmark run, and read as one.

Each test of pytest-benchmark is a series whose case is the test's `fullname`. Rounds of different
tests do not alternate, and there are no blocks, so that two such files are compared as two runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

__all__ = ["from_pytest_benchmark", "is_pytest_benchmark", "to_pytest_benchmark"]

#: The version of its format that is written.
_VERSION: Final = "5.0.0"
_BACKEND: Final = "pytest-benchmark"


def to_pytest_benchmark(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run as `pytest-benchmark compare` and its plots read it.

    Args:
      run: the run, as `sessrun.reports.comparison.read_bench` gives it.

    """
    machine = run["fingerprint"]
    return {
        "machine_info": {
            "system": machine.get("system", ""),
            "processor": machine.get("processor", ""),
            "python_version": machine.get("python", ""),
            "cpu": {"count": machine.get("cpus", 0)},
        },
        "commit_info": {"id": "unknown", "dirty": False},
        "benchmarks": [_benchmark(series) for series in run["series"]],
        "datetime": run["started"],
        "version": _VERSION,
    }


def _benchmark(series: Mapping[str, Any]) -> dict[str, Any]:
    name = f"{series['case']}[{series['backend']}]"
    return {
        "group": series["case"],
        "name": name,
        "fullname": name,
        "params": {"backend": series["backend"]},
        "param": series["backend"],
        "extra_info": {"correct": series["correct"]},
        "options": {},
        "stats": _statistics(series),
    }


def _statistics(series: Mapping[str, Any]) -> dict[str, Any]:
    samples = np.asarray(series["samples"], np.float64)
    low, median, high = (float(q) for q in np.quantile(samples, (0.25, 0.5, 0.75)))
    return {
        "min": float(samples.min()),
        "max": float(samples.max()),
        "mean": float(samples.mean()),
        "stddev": float(samples.std(ddof=1)) if samples.size > 1 else 0.0,
        "rounds": int(samples.size),
        "median": median,
        "iqr": high - low,
        "q1": low,
        "q3": high,
        "ops": 1 / float(samples.mean()),
        "total": float(samples.sum()),
        "iterations": series.get("batches", {}).get("calls", 1),
        "data": samples.tolist(),
    }


def is_pytest_benchmark(form: Any) -> bool:
    """Whether a JSON value has the form that pytest-benchmark writes."""
    return isinstance(form, Mapping) and {"benchmarks", "machine_info"} <= form.keys()


def from_pytest_benchmark(form: Mapping[str, Any]) -> dict[str, Any]:
    """What pytest-benchmark wrote, as a run in the form of `bench.schema.json`.

    A file has samples if it was saved with `--benchmark-save-data`, `--benchmark-autosave` or
    `--benchmark-json`; otherwise minimum, quartiles and maximum are taken for samples.

    Args:
      form: the content of its file.

    Raises:
      KeyError: a key is missing.
      TypeError: a value has another type.

    """
    series = [_series(benchmark) for benchmark in form["benchmarks"]]
    machine = form["machine_info"]
    return {
        "bench": 1,
        "sessrun": f"{_BACKEND} {form.get('version', '')}".strip(),
        "started": form.get("datetime", "unknown"),
        "fingerprint": {
            "processor": machine.get("processor", ""),
            "cpus": machine.get("cpu", {}).get("count", 0),
            "python": machine.get("python_version", ""),
            "backends": {_BACKEND: str(form.get("commit_info", {}).get("id", "unknown"))},
        },
        "seed": 0,
        "rounds": max((len(entry["samples"]) for entry in series), default=1),
        "series": series,
    }


def _series(benchmark: Mapping[str, Any]) -> dict[str, Any]:
    statistics = benchmark["stats"]
    samples = statistics.get("data") or [
        statistics[name] for name in ("min", "q1", "median", "q3", "max")
    ]
    return {
        "case": benchmark["fullname"],
        "backend": _BACKEND,
        "unit": "s",
        "samples": [float(sample) for sample in samples],
        "correct": True,
        "about": benchmark.get("group") or "",
        "detail": f"iterations a sample: {statistics.get('iterations', 1):,}",
    }
