"""LiteRT: what it converts is right, what it does not is declined, and stdout stays empty."""

from __future__ import annotations

import importlib.util
import os
import sys

import numpy as np
import pytest
from adapter_graphs import node, placeholder

from sessrun.adapters.backend import Backend
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.registry import load
from sessrun.conformance.plan import case_of
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.outcomes import Fetched, Opened, Unsupported

HERE = all(importlib.util.find_spec(name) is not None for name in ("ai_edge_litert", "tensorflow"))

#: TensorFlow is imported in this process, which other tests compare with: as they want it.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
needs_it = [pytest.mark.litert, pytest.mark.skipif(not HERE, reason="LiteRT is not installed")]

FLOAT, HALF = {"type": 1}, {"type": 14}
GRAPH = {
    "node": [
        placeholder("x"),
        node("y", "Neg", "x", T=FLOAT),
        node("z", "Square", "y", T=FLOAT),
        node("same", "Identity", "x", T=FLOAT),
        node("b", "Cast", "x", SrcT=FLOAT, DstT=HALF),
        node("s", "AsString", "x", T=FLOAT),
    ]
}
ONES = np.ones((2, 3), np.float32)


def test_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    with pytest.raises(AdapterError, match=r"pip install 'sessrun\[litert\]'"):
        load("litert")


@pytest.fixture
def backend() -> Backend:
    return load("litert")


class TestLiteRt:
    pytestmark = needs_it

    def test_values_by_feeds_and_fetches(
        self, backend: Backend, capfd: pytest.CaptureFixture[str]
    ) -> None:
        opened = backend.open(graph=GRAPH, config={})
        assert isinstance(opened, Opened)
        for feeds in ({"x:0": ONES}, {"x:0": ONES[:1]}, {"x:0": ONES[:0]}):
            fetched = backend.run(
                session=opened.handle, fetches=["z:0", "same:0", "y:0"], feeds=feeds, options={}
            )
            assert isinstance(fetched, Fetched)
            (fed,) = feeds.values()
            for value, wanted in zip(fetched.values, (fed, fed, -fed), strict=True):
                assert value.dtype == np.float32
                assert np.array_equal(value, wanted)
        inner = backend.run(
            session=opened.handle, fetches=["z:0"], feeds={"y:0": 3 * ONES}, options={}
        )
        assert isinstance(inner, Fetched)
        assert np.array_equal(inner.values[0], 9 * ONES)
        assert capfd.readouterr().out == ""

    def test_what_it_lacks_is_declined(self, backend: Backend) -> None:
        opened = backend.open(graph=GRAPH, config={})
        assert isinstance(opened, Opened)
        for fetch, declined in (
            ("s:0", Unsupported("op", "operation AsString")),
            ("b:0", Unsupported("op", "operation Cast of bfloat16")),
        ):
            feeds = {"x:0": ONES}
            got = backend.run(session=opened.handle, fetches=[fetch], feeds=feeds, options={})
            assert got == declined

    @pytest.mark.parametrize(
        "case", ["feed-keys/a-constant-can-be-fed", "feed-shapes/values-are-not-broadcast"]
    )
    def test_cases_pass(self, case: str) -> None:
        runner = Runner("litert")
        try:
            line = runner.run(case_of(case))
        finally:
            runner.shutdown()
        assert line["result"] == "pass", line
