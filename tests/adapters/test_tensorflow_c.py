"""TensorFlow's C API, under our client and without one."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.process.host import spawn
from sessrun.adapters.registry import load
from sessrun.conformance.plan import Plan, build_plan
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.outcomes import Fetched, Opened
from sessrun.spec.since import load_since

HERE = Path(__file__).parent

needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed"
)
STRINGS = {
    "node": [
        {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_STRING"}}},
        {"name": "y", "op": "Identity", "input": ["x"], "attr": {"T": {"type": "DT_STRING"}}},
    ]
}


def every(profile: str, step: int) -> Plan:
    plan = build_plan(profile, 2026, 10)
    return dataclasses.replace(plan, cases=plan.cases[::step])


def counted(backend: str, plan: Plan) -> Counter[str]:
    runner = Runner(backend)
    try:
        lines = [runner.run(case) for case in plan.cases]
    finally:
        runner.shutdown()
    odd = [line for line in lines if line["result"] not in {"pass", "unsupported"}]
    assert not odd, odd[0]
    return Counter(line["result"] for line in lines)


@needs_tensorflow
@pytest.mark.tensorflow
@pytest.mark.parametrize("profile", ["core", "state", "training", "concurrency"])
def test_under_our_client_it_is_as_tensorflow_itself(profile: str) -> None:
    assert counted("tensorflow-c", every(f"{profile}-engine", 11))["pass"] > 3


@needs_tensorflow
@pytest.mark.tensorflow
def test_without_a_client_it_is_judged_by_what_an_engine_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=":")
    results = counted("below_client:backend", every("core-below-client", 5))
    assert results["unsupported"] <= results["pass"] // 20


@needs_tensorflow
@pytest.mark.tensorflow
def test_strings_of_any_length_go_there_and_back() -> None:
    backend = load("tensorflow-c")
    opened = backend.open(STRINGS, {})
    assert isinstance(opened, Opened)
    texts = np.array([b"", b"\0", b"a" * 22, b"b" * 23, b"\xff" * 100_000], object)
    for value in (texts, texts.reshape(1, 5), texts[:0], np.array(b"one", object)):
        fetched = backend.run(opened.handle, ["y:0"], {"x:0": value}, {})
        assert isinstance(fetched, Fetched)
        assert fetched.values[0].shape == value.shape
        assert fetched.values[0].tolist() == value.tolist()
    backend.shutdown()


@needs_tensorflow
@pytest.mark.tensorflow
def test_it_tells_its_release() -> None:
    backend = spawn("tensorflow-c")
    try:
        newest = load_since()["releases"][-1]
        assert int(backend.describe().details["producer"]) >= newest["producer"]
    finally:
        backend.shutdown()


def test_a_folder_without_libraries_is_an_adapter_error(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=r"has neither libtensorflow_cc\.so\.2 nor"):
        load(f"tensorflow-c#{tmp_path}")
    (tmp_path / "libtensorflow.so.2").write_bytes(b"no library")
    with pytest.raises(AdapterError, match="cannot be loaded"):
        load(f"tensorflow-c#{tmp_path}")
