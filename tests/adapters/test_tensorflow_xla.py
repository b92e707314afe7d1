"""XLA: all that a run needs is compiled by it; what it has no kernel for is declined."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence

import numpy as np
import pytest
from adapter_graphs import node, placeholder

from sessrun.adapters.backend import Backend
from sessrun.adapters.client_layer.converting import TableEngine
from sessrun.adapters.registry import load
from sessrun.spec.cases.outcomes import Fetched, Opened, Outcome, Unsupported

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="needs TensorFlow"),
]
#: TensorFlow is imported in this process, which other tests compare with: as they want it.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

FLOAT, INT = {"type": 1}, {"type": 3}
GRAPH = {
    "node": [
        placeholder("x"),
        node("y", "Neg", "x", T=FLOAT),
        node("z", "Square", "y", T=FLOAT),
        node("same", "Identity", "x", T=FLOAT),
        node("i", "Cast", "x", SrcT=FLOAT, DstT=INT),
        node("s", "AsString", "i", T=INT),
        node("length", "StringLength", "s"),
        node("i0", "Sub", "i", "i", T=INT),
        node("quotient", "FloorDiv", "i", "i0", T=INT),
    ]
}
ONES = np.ones((2, 3), np.float32)


@pytest.fixture
def backend() -> Backend:
    return load("tensorflow-xla")


def run(backend: Backend, fetches: Sequence[str], feeds: dict[str, np.ndarray]) -> Outcome:
    opened = backend.open(graph=GRAPH, config={})
    assert isinstance(opened, Opened)
    return backend.run(session=opened.handle, fetches=fetches, feeds=feeds, options={})


def test_values_by_feeds_and_fetches(backend: Backend) -> None:
    for feeds in ({"x:0": ONES}, {"x:0": ONES[:1]}, {"y:0": -ONES, "x:0": ONES}):
        fetched = run(backend, ["z:0", "same:0"], feeds)
        assert isinstance(fetched, Fetched)
        fed = feeds["x:0"]
        for value in fetched.values:
            assert value.dtype == np.float32
            assert np.array_equal(value, fed)


def test_what_is_not_declared_is_declined(backend: Backend) -> None:
    assert run(backend, ["s:0"], {"x:0": ONES}) == Unsupported("op", "operation AsString")


def test_an_operation_without_a_kernel_of_xla_is_declined_though_tensorflow_has_one(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`length` is of int32, but of strings, which only TensorFlow's own kernels take."""
    monkeypatch.setattr(TableEngine, "_check", lambda *_: None)
    assert run(backend, ["length:0"], {"x:0": ONES}) == Unsupported("op", "AsString")


def test_the_values_are_those_of_xla(backend: Backend) -> None:
    """An integer by zero, an error of TensorFlow's kernel, is -1 for XLA, which raises none."""
    fetched = run(backend, ["quotient:0"], {"x:0": ONES})
    assert isinstance(fetched, Fetched)
    assert np.array_equal(fetched.values[0], np.full((2, 3), -1, np.int32))
