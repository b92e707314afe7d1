"""The jobs of dispatch give what their checks want, and a check refuses anything else."""

from __future__ import annotations

import pytest

import sessrun.reference as tf
from sessrun.conformance.benchmarks.selection import select

NAMES = (
    "no-op-callable",
    "scalar-add-callable",
    "assign-add",
    "assign-add-callable",
    "fetch-list-3",
    "fetch-dict-3",
    "chain-fed-5",
    "independent-4",
    "variables-4",
    "branches-4",
    "while-5",
    "map-3",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_job_gives_what_is_wanted(name: str) -> None:
    (job,) = select([name])
    assert job.name == name
    prepared = job.prepare(tf, "/cpu:0")
    for _ in range(25):
        result = prepared.call()
        assert prepared.check(result) is None
    prepared.close()
    wrong = {"assign-add": (1, 5.0), "fetch-dict": {"sum0": 9.0}}
    family = name.removesuffix("-callable").rstrip("0123456789").rstrip("-")
    assert prepared.check(wrong.get(family, 77.0)) is not None


def test_a_job_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="fetch-list-SIZE"):
        select(["fetch-set-3"])
