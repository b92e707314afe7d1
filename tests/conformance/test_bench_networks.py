"""The jobs of networks give what their checks want, and a check refuses a step too many or few."""

from __future__ import annotations

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.conformance.benchmarks.jobs import Prepared
from sessrun.conformance.benchmarks.layers import LAYER_JOBS
from sessrun.conformance.benchmarks.selection import select
from sessrun.conformance.benchmarks.sequences import SEQUENCE_JOBS
from sessrun.conformance.benchmarks.updates import UPDATE_JOBS

DIFFERENTIATED = [job.name for job in (*LAYER_JOBS, *SEQUENCE_JOBS)]
UPDATES = [job.name for job in UPDATE_JOBS]


def _prepared(name: str) -> Prepared:
    (job,) = select([name])
    assert job.name == name
    return job.prepare(tf, "/cpu:0")


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_outputs_and_gradients_are_those_of_finite_differences(name: str) -> None:
    prepared = _prepared(name)
    prepared.call()
    assert prepared.checked is not None
    got = np.asarray(prepared.checked())
    assert prepared.check(got) is None
    for number in range(len(got)):  # the sum of the outputs, and the slope of each array
        wrong = got.copy()
        wrong[number] = wrong[number] * 1.01 + 0.01
        assert prepared.check(wrong) is not None
    prepared.close()


@pytest.mark.parametrize("name", UPDATES)
def test_variables_are_where_their_steps_lead(name: str) -> None:
    prepared = _prepared(name)
    assert prepared.checked is not None
    for _ in range(25):
        prepared.call()
    values = prepared.checked()
    assert prepared.check(values) is None
    prepared.call()
    assert prepared.check(values) is not None  # 25 steps are not 26
    assert prepared.check(prepared.checked()) is None
    prepared.close()
