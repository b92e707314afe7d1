"""Where JAX itself differs from TensorFlow 2.21: each test states TensorFlow's answer.

They are expected to fail. One that passes says that JAX has changed: then `DIVERGENT` in
`test_jax_operations` and docs/findings/jax.md are to be shortened.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

import numpy as np
import pytest

from sessrun.adapters.registry import load
from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.spec import tensors
from sessrun.spec.cases.outcomes import Failure, Fetched, Opened, Outcome
from sessrun.spec.rules import numeric
from sessrun.spec.tables.ops import OPERATIONS

HERE = importlib.util.find_spec("jax") is not None
pytestmark = [pytest.mark.jax, pytest.mark.skipif(not HERE, reason="JAX is not installed")]


def applied(*nodes: tuple[str, Sequence[str | np.ndarray]]) -> Outcome:
    """The last of some operations, each on fed arrays or on operations before it by op type."""
    writer, feeds, names = GraphWriter(), {}, {}
    for op, inputs in nodes:
        given = []
        for value in inputs:
            if isinstance(value, str):
                given.append(names[value])
                continue
            dtype = tensors.encode(value)["dtype"]
            given.append(writer.placeholder(dtype, value.shape))
            feeds[f"{given[-1]}:0"] = value
        attrs = {attr.name: attr.default for attr in OPERATIONS[op].attrs if attr.has_default}
        for arg, name in zip(OPERATIONS[op].inputs, given, strict=True):
            if arg.type_attr:
                fed = feeds.get(f"{name}:0")
                attrs[arg.type_attr] = "float32" if fed is None else tensors.encode(fed)["dtype"]
        names[op] = writer.operation(OPERATIONS[op], given, attrs, op)
    backend = load("jax")
    opened = backend.open(writer.graph(), {})
    assert isinstance(opened, Opened)
    return backend.run(opened.handle, [f"{nodes[-1][0]}:0"], feeds, {})


def value_of(outcome: Outcome) -> np.ndarray:
    assert isinstance(outcome, Fetched), outcome
    (value,) = outcome.values
    return np.asarray(value)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="XLA multiplies by the reciprocal of what is broadcast",
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_division_by_a_broadcast_tensor(dtype: type) -> None:
    x, y = np.arange(1, 2049).astype(dtype), np.array(3.3, dtype)
    assert np.array_equal(value_of(applied(("RealDiv", [x, y]))), x / y)


@pytest.mark.xfail(
    strict=True, raises=AssertionError, reason="it is 128 units in the last place off near -0.414"
)
def test_log1p_of_float64() -> None:
    x = np.array([-0.41418, -0.4138, -0.4135])
    assert numeric.difference("ulp(8)", np.log1p(x), value_of(applied(("Log1p", [x])))) is None


@pytest.mark.xfail(
    strict=True, raises=AssertionError, reason="XLA's compiled code fuses the two into one rounding"
)
def test_a_product_is_rounded_before_a_sum() -> None:
    a, b, c = np.random.default_rng(1).uniform(-10, 10, (3, 1000)).astype(np.float32)
    assert np.array_equal(value_of(applied(("Mul", [a, b]), ("AddV2", ["Mul", c]))), a * b + c)


@pytest.mark.xfail(
    strict=True, raises=AssertionError, reason="a compiled program of JAX raises no error"
)
@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("FloorDiv", [np.array([7], np.int32), np.array([0], np.int32)]),
        ("TruncateDiv", [np.array([7], np.int32), np.array([0], np.int32)]),
        ("Pow", [np.array([2], np.int32), np.array([-1], np.int32)]),
        ("Gather", [np.arange(3, dtype=np.float32), np.array([3], np.int32)]),
        ("MatrixInverse", [np.zeros((2, 2), np.float32)]),
    ],
)
def test_what_is_not_defined_is_an_error(op: str, inputs: list[np.ndarray]) -> None:
    outcome = applied((op, inputs))
    assert isinstance(outcome, Failure)
    assert outcome.code == 3
