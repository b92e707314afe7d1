"""JAX: each translated operation is right in its dtypes, and the rest is declined."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable

import numpy as np
import pytest

from sessrun.adapters.backend import Backend
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.registry import load
from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.conformance.plan import case_of
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.outcomes import Failure, Fetched, Opened, Outcome, Unsupported

HERE = importlib.util.find_spec("jax") is not None

needs_it = [pytest.mark.jax, pytest.mark.skipif(not HERE, reason="JAX is not installed")]

FLOAT, INT, STRING = {"type": "DT_FLOAT"}, {"type": "DT_INT32"}, {"type": "DT_STRING"}
ONES = np.ones((2, 3), np.float32)


def placeholder(name: str, dtype: dict[str, str]) -> dict[str, object]:
    return {"name": name, "op": "Placeholder", "attr": {"dtype": dtype}}


GRAPH = {
    "node": [
        placeholder("x", FLOAT),
        placeholder("n", INT),
        placeholder("s", STRING),
        {"name": "y", "op": "Neg", "input": ["x"], "attr": {"T": FLOAT}},
        {"name": "z", "op": "Square", "input": ["y"], "attr": {"T": FLOAT}},
        {"name": "nothing", "op": "NoOp"},
        {"name": "after", "op": "Square", "input": ["x", "^nothing"], "attr": {"T": FLOAT}},
        {"name": "waits", "op": "Square", "input": ["x", "^z"], "attr": {"T": FLOAT}},
        {"name": "shape", "op": "Shape", "input": ["y"], "attr": {"T": FLOAT}},
        {"name": "twos", "op": "AddV2", "input": ["shape", "shape"], "attr": {"T": INT}},
        {"name": "filled", "op": "Fill", "input": ["twos", "x0"], "attr": {"T": FLOAT}},
        placeholder("x0", FLOAT),
        {"name": "reshaped", "op": "Reshape", "input": ["x", "n"], "attr": {"T": FLOAT}},
        {"name": "where", "op": "Where", "input": ["x"], "attr": {"T": FLOAT}},
        {"name": "text", "op": "StringLower", "input": ["s"]},
        {"name": "sum", "op": "MatMul", "input": ["x", "y"], "attr": {"T": FLOAT}},
    ]
}


def test_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(AdapterError, match=r"pip install 'sessrun\[jax\]'"):
        load("jax")


@pytest.fixture
def backend() -> Backend:
    return load("jax")


@pytest.fixture
def run(backend: Backend) -> Callable[..., Outcome]:
    opened = backend.open(GRAPH, {"graphOptions": {}})
    assert isinstance(opened, Opened)
    return lambda fetches, feeds: backend.run(opened.handle, fetches, feeds, {})


class TestJax:
    pytestmark = needs_it

    def test_values_by_feeds_and_fetches(self, run: Callable[..., Outcome]) -> None:
        for feeds in ({"x:0": ONES}, {"x:0": ONES[:1]}, {"y:0": -ONES}):
            fetched = run(["z:0", "y:0"], feeds)
            assert isinstance(fetched, Fetched)
            (fed,) = feeds.values()
            assert np.array_equal(fetched.values[0], np.ones_like(fed))
            assert np.array_equal(fetched.values[1], -np.ones_like(fed))

    def test_shapes_are_constants(self, run: Callable[..., Outcome]) -> None:
        fetched = run(["filled:0"], {"x:0": ONES, "x0:0": np.float32(5)})
        assert isinstance(fetched, Fetched)
        assert np.array_equal(fetched.values[0], np.full((4, 6), 5, np.float32))

    def test_a_control_input_from_nothing_is_satisfied(self, run: Callable[..., Outcome]) -> None:
        assert isinstance(run(["after:0"], {"x:0": ONES}), Fetched)
        assert run(["waits:0"], {"x:0": ONES}) == Unsupported("control_inputs", "y")

    def test_what_it_lacks_is_declined(self, backend: Backend, run: Callable[..., Outcome]) -> None:
        sizes = np.array([3, 2], np.int32)
        declined = run(["reshaped:0"], {"x:0": ONES, "n:0": sizes})
        assert declined == Unsupported("op", "Reshape whose shape is no constant")
        assert run(["where:0"], {"x:0": ONES}) == Unsupported("op", "Where")
        text = np.array(b"A", object)
        assert run(["text:0"], {"s:0": text}) == Unsupported("dtype", "string")
        count = {"deviceCount": {"CPU": 2}}
        assert backend.open(GRAPH, count) == Unsupported("config", "device_count")

    def test_shapes_that_do_not_fit_are_code_3(self, run: Callable[..., Outcome]) -> None:
        refused = run(["sum:0"], {"x:0": ONES})
        assert isinstance(refused, Failure)
        assert refused.code == 3

    def test_a_slice_backwards_from_before_the_first_element_is_empty(
        self, backend: Backend
    ) -> None:
        writer = GraphWriter()
        ends = [writer.constant(np.array([n], np.int32)) for n in (-3, -3, -1)]
        name = writer.placeholder("float32", (2,))
        attrs = {"T": dtype_attr("float32"), "Index": dtype_attr("int32")}
        sliced = writer.node("StridedSlice", [name, *ends], attrs)
        opened = backend.open(writer.graph(), {})
        assert isinstance(opened, Opened)
        fetched = backend.run(opened.handle, [f"{sliced}:0"], {f"{name}:0": ONES[0, :2]}, {})
        assert isinstance(fetched, Fetched)
        assert fetched.values[0].shape == (0,)

    def test_it_declares_what_it_translates(self, backend: Backend) -> None:
        declared = backend.describe().operations
        assert declared is not None
        assert "Where" not in declared
        assert declared["LogicalAnd"] == {"bool"}
        assert set(declared["Abs"]) == {
            "bfloat16",
            "float16",
            "float32",
            "float64",
            "int8",
            "int16",
            "int32",
            "int64",
        }

    @pytest.mark.parametrize(
        "case", ["feed-keys/a-constant-can-be-fed", "feed-shapes/values-are-not-broadcast"]
    )
    def test_cases_pass(self, case: str) -> None:
        runner = Runner("jax")
        try:
            line = runner.run(case_of(case))
        finally:
            runner.shutdown()
        assert line["result"] == "pass", line
