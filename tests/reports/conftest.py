"""Packages of synthetic runs, honest ones, to be verified and tampered with."""

from __future__ import annotations

import itertools

import pytest
from synthetic_package import Certified, certify
from synthetic_run import mixed, passing


def answered(case) -> str:
    """Some of every kind, every case answered."""
    return answered.choose(case) or "missing"


@pytest.fixture(scope="session")
def failing(tmp_path_factory) -> Certified:
    """A package of a run in which much went wrong."""
    answered.choose = mixed()
    return certify(tmp_path_factory.mktemp("failing"), answered)


@pytest.fixture(scope="session")
def good(tmp_path_factory) -> Certified:
    """A package of a run that is CERTIFIED."""
    return certify(tmp_path_factory.mktemp("good"), passing, generated=4)


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Certified:
    """A small package of a run in which one case in three went wrong: for many mutations."""
    results = itertools.cycle(("pass", "fail", "pass", "unsupported", "pass", "crash"))

    def choose(case) -> str:
        return "skipped" if "gpu" in case.needs else next(results)

    return certify(tmp_path_factory.mktemp("small"), choose, generated=1, per_subject=1)
