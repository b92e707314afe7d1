"""`sessrun verify --rerun` asks what the package's backend declares: no clause rests on more."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from sessrun.cli import verify
from sessrun.conformance.plan import build_plan
from sessrun.conformance.runner import Runner
from sessrun.spec.inference import Offer, demand_of

ENGINE = """
from sessrun.adapters.client_layer import ClientLayer
from sessrun.adapters.client_layer.converting import ConvertingEngine


def backend():
    return ClientLayer(ConvertingEngine("neg", "1.0", {"Neg": ["float32"]}))
"""
OFFER = Offer((), {"Neg": ("float32",)})


def test_cases_run_again_and_cases_drawn_anew_are_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "neg.py").write_text(ENGINE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    asked = []
    monkeypatch.setattr(
        Runner, "run", lambda _, case: asked.append(case) or {"id": case.id, "result": "pass"}
    )
    args = argparse.Namespace(rerun=20, seed=3)
    rerun, fresh = verify._ran(args, build_plan("inference", 1), "neg:backend", OFFER)
    assert len(rerun) == len(fresh.lines) == 20
    assert len(asked) == 40
    for case in asked:
        demand = demand_of(case)
        assert demand is None or not OFFER.lacks(demand)


def test_a_backend_that_declares_nothing_is_asked_all() -> None:
    plan = build_plan("tracing", 1)
    assert verify._declared(plan.cases, Offer(())) == list(plan.cases)
