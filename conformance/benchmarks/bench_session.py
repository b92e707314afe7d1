"""The jobs as pytest-benchmark cases.

pytest --pyargs sessrun.conformance.benchmarks.bench_session --sessrun-backend reference
"""

from __future__ import annotations

from typing import Any

import pytest

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.benchmarks.jobs import JOBS, Job
from sessrun.spec.cases.namespace import Namespace


@pytest.fixture(scope="module")
def namespace(request: pytest.FixtureRequest) -> Any:
    """The namespace of `--sessrun-backend`, in this process."""
    spec = request.config.getoption("--sessrun-backend")
    if not spec:
        pytest.skip("needs --sessrun-backend")
    backend = load(spec)
    if not isinstance(backend, NamespaceBackend):
        pytest.skip(f"{spec} has no Python namespace")
    return backend.namespace


@pytest.mark.parametrize("job", JOBS, ids=[job.name for job in JOBS])
def test_job(job: Job, namespace: Namespace, benchmark: Any) -> None:
    """The job's result is right, and its time is measured."""
    prepared = job.prepare(namespace, "")
    try:
        result = benchmark(prepared.call)
        assert prepared.check(result) is None
    finally:
        prepared.close()
