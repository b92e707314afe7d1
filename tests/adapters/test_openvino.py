"""OpenVINO: what it offers is right, what it does not is declined, and it says which it is."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest
from adapter_graphs import CONDITIONAL

from sessrun.adapters.backend import Backend
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.registry import load
from sessrun.conformance.plan import case_of
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.outcomes import Failure, Fetched, Opened, Unsupported

HERE = importlib.util.find_spec("openvino") is not None

needs_it = [pytest.mark.openvino, pytest.mark.skipif(not HERE, reason="OpenVINO is not installed")]

FLOAT, INT = {"type": "DT_FLOAT"}, {"type": "DT_INT64"}
AXES = {"tensor": {"dtype": "DT_INT32", "tensorShape": {"dim": [{"size": "2"}]}, "intVal": [0, 1]}}
GRAPH = {
    "node": [
        {"name": "x", "op": "Placeholder", "attr": {"dtype": FLOAT}},
        {"name": "y", "op": "Neg", "input": ["x"], "attr": {"T": FLOAT}},
        {"name": "z", "op": "Square", "input": ["y"], "attr": {"T": FLOAT}},
        {"name": "w", "op": "Square", "input": ["x", "^z"], "attr": {"T": FLOAT}},
        {"name": "n", "op": "Placeholder", "attr": {"dtype": INT}},
        {"name": "m", "op": "Neg", "input": ["n"], "attr": {"T": INT}},
        {"name": "k", "op": "Const", "attr": {"dtype": {"type": "DT_INT32"}, "value": AXES}},
        {
            "name": "turned",
            "op": "ReverseV2",
            "input": ["x", "k"],
            "attr": {"T": FLOAT, "Tidx": {"type": "DT_INT32"}},
        },
    ]
}
ONES = np.ones((2, 3), np.float32)


def test_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(AdapterError, match=r"pip install 'sessrun\[openvino\]'"):
        load("openvino")


@pytest.fixture
def backend() -> Backend:
    return load("openvino")


class TestOpenVino:
    pytestmark = needs_it

    def test_values_by_feeds_and_fetches(self, backend: Backend) -> None:
        opened = backend.open(GRAPH, {"graphOptions": {}})
        assert isinstance(opened, Opened)
        for feeds in ({"x:0": ONES}, {"x:0": ONES[:1]}, {"y:0": -ONES}):
            fetched = backend.run(opened.handle, ["z:0", "y:0"], feeds, {})
            assert isinstance(fetched, Fetched)
            (fed,) = feeds.values()
            assert np.array_equal(fetched.values[0], np.ones_like(fed))
            assert np.array_equal(fetched.values[1], -np.ones_like(fed))

    def test_what_it_lacks_is_declined(self, backend: Backend) -> None:
        opened = backend.open(GRAPH, {})
        assert isinstance(opened, Opened)
        effect = backend.run(opened.handle, ["w:0"], {"x:0": ONES}, {})
        assert effect == Unsupported("control_inputs", "y")
        wide = backend.run(opened.handle, ["m:0"], {"n:0": np.array([1], np.int64)}, {})
        assert wide == Unsupported("op", "operation Neg of int64")
        declined = backend.open(GRAPH, {"deviceCount": {"CPU": 2}})
        assert declined == Unsupported("config", "device_count")

    def test_what_has_no_rule_of_conversion_is_declined(self, backend: Backend) -> None:
        """It reads neither branch of this conditional as one; with values in a branch it does."""
        opened = backend.open(CONDITIONAL, {})
        assert isinstance(opened, Opened)
        feeds = {"x:0": np.float32(1), "y:0": np.float32(0)}
        assert backend.run(opened.handle, ["m:0"], feeds, {}) == Unsupported("op", "Merge")

    def test_a_failure_says_its_cause(self, backend: Backend) -> None:
        opened = backend.open(GRAPH, {})
        assert isinstance(opened, Opened)
        failure = backend.run(opened.handle, ["turned:0"], {"x:0": ONES}, {})
        assert isinstance(failure, Failure)
        assert "does not support Reverse or ReverseV2 with multiple axes" in failure.message

    @pytest.mark.parametrize(
        "case", ["feed-keys/a-constant-can-be-fed", "feed-shapes/values-are-not-broadcast"]
    )
    def test_cases_pass(self, case: str) -> None:
        runner = Runner("openvino")
        try:
            line = runner.run(case_of(case))
        finally:
            runner.shutdown()
        assert line["result"] == "pass", line
