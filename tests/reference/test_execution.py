"""Registers and partial runs: how a plan is executed changes no value."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import sessrun.reference as tf
from sessrun.reference.kernels import products
from sessrun.reference.kernels.products import product
from sessrun.reference.session.execute.plan import Plan


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def random_graph(draw: random.Random) -> tuple[Any, list[Any]]:
    """A placeholder, and tensors that depend on it and on one another."""
    x = tf.placeholder(tf.float64, [3])
    made = [x, tf.constant([1.0, 2.0, 3.0], tf.float64)]
    for _ in range(draw.randint(1, 30)):
        function = draw.choice([tf.add, tf.subtract, tf.maximum, tf.minimum])
        made.append(function(draw.choice(made), draw.choice(made)))
        if draw.random() < 0.2:
            made += tf.unstack(tf.stack([made[-1], draw.choice(made)]))
        if draw.random() < 0.2:
            with tf.control_dependencies([draw.choice(made)]):
                made.append(tf.identity(draw.choice(made)))
    return x, made


@pytest.mark.parametrize("seed", range(30))
def test_registers_shared_out_hold_what_registers_of_their_own_hold(seed: int) -> None:
    draw = random.Random(seed)
    x, made = random_graph(draw)
    fed = np.array([draw.uniform(-9, 9) for _ in range(3)])
    session = tf.Session()
    wanted = [tensor for tensor in draw.sample(made, len(made) // 2 + 1) if tensor is not x]
    handle = session.partial_run_setup([*wanted, tf.no_op()], [x])
    kept = session.partial_run(handle, wanted, {x: fed})
    for value, own in zip(session.run(wanted, {x: fed}), kept, strict=True):
        assert np.array_equal(value, own)
    for tensor, own in zip(wanted, kept, strict=True):
        assert np.array_equal(session.run(tensor, {x: fed}), own)


def test_a_value_is_freed_once_it_has_been_read(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [1000])
    middle = tf.tanh(x)
    end = tf.reduce_sum(middle) + tf.reduce_max(middle)
    left: list[int] = []
    run = Plan.run

    def watched(self: Plan, registers: list[Any]) -> None:
        run(self, registers)
        left.append(sum(np.size(value) == 1000 for value in registers))

    monkeypatch.setattr(Plan, "run", watched)
    assert tf.Session().run(end, {x: np.zeros(1000)}) == 0
    assert left == [0]


def test_a_partial_run_computes_each_operation_once() -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    counter = tf.Variable(0, use_resource=True)
    with tf.control_dependencies([counter.assign_add(1)]):
        first = a * 2.0
    second = first + b
    session = tf.Session()
    session.run(counter.initializer)
    handle = session.partial_run_setup([first, second], [a, b])
    assert session.run(counter) == 1
    assert session.partial_run(handle, first, {a: 3.0}) == 6.0
    assert session.partial_run(handle, second, {b: 1.0}) == 7.0
    assert session.run(counter) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
        session.partial_run(handle, second, {b: 1.0})


def test_a_closed_session_has_no_partial_runs() -> None:
    a = tf.placeholder(tf.float32, [])
    session = tf.Session()
    handle = session.partial_run_setup([a + 1.0], [a])
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.partial_run(handle, a, {a: 1.0})
    with pytest.raises(RuntimeError, match="closed"):
        session.partial_run_setup([a + 1.0], [a])


def test_a_sparse_feed_key_serves_a_partial_run() -> None:
    sparse = tf.sparse_placeholder(tf.float32)
    doubled = sparse.values * 2.0
    session = tf.Session()
    handle = session.partial_run_setup([doubled], [sparse])
    value = tf.SparseTensorValue([[0, 1]], [5.0], [2, 3])
    assert session.partial_run(handle, doubled, {sparse: value}).tolist() == [10.0]


def test_a_kept_tensor_is_forgotten_some_time_after_its_handle() -> None:
    session = tf.Session()
    fetch = tf.get_session_handle(tf.constant([1.0]))
    raw = session.run(fetch).handle
    holder, value = tf.get_session_tensor(raw, tf.float32)
    assert session.run(value, {holder: raw}).tolist() == [1.0]
    for _ in range(20):
        session.run(fetch)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
        session.run(value, {holder: raw})


@pytest.mark.parametrize("shape", [(3, 4, 5), (70, 64, 71), (1, 5, 7), (0, 2, 3), (2, 0, 3)])
def test_a_product_shared_out_over_threads_is_the_product(
    shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "_WORTH_SHARING", 1)
    rows, inner, columns = shape
    rng = np.random.default_rng(1)
    left = rng.integers(-3, 4, (rows, inner)).astype(np.float32)
    right = rng.integers(-3, 4, (inner, columns)).astype(np.float32)
    found = product(np, left, right)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, left @ right)


def test_blas_is_held_to_one_thread() -> None:
    product(np, np.ones((2, 2)), np.ones((2, 2)))
    pools = ThreadpoolController().select(user_api="blas").info()
    assert {pool["num_threads"] for pool in pools} <= {1}
