"""Sessions of the reference runtime on a simulated GPU, under default placement.

Larger ones, with budgets: tests/conformance/test_gpu_mistakes.py.
"""

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.adapters.fakes import simulated_gpu
from sessrun.reference.kernels import fused
from sessrun.reference.kernels.host import in_memory_of
from sessrun.reference.kernels.tensor_list import TensorList, added


@pytest.fixture(autouse=True)
def graph(machine, monkeypatch):
    monkeypatch.setattr(fused, "on_new_kernel", [simulated_gpu.kernel])
    with tf.Graph().as_default():
        yield
    assert not machine.races


def test_a_product_runs_on_the_gpu():
    given = tf.placeholder(tf.float32, (4, 2))
    product = tf.matmul(tf.ones((3, 4)), given)
    with tf.Session() as session:
        simulated_gpu.reset()
        value = session.run(product, {given: np.ones((4, 2))})
    assert value.tolist() == [[4, 4]] * 3
    assert simulated_gpu.counters().launches
    assert simulated_gpu.counters().downloads == 1


def test_a_variable_is_updated():
    variable = tf.get_variable("v", initializer=np.ones(3, np.float32))
    update = tf.assign_add(variable, [1.0, 2.0, 3.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        assert session.run(variable).tolist() == [2, 3, 4]


def test_a_loop_and_a_condition():
    count, power = tf.while_loop(
        lambda i, x: i < 5, lambda i, x: (i + 1, x * 2.0), [tf.constant(0), tf.constant(1.0)]
    )
    chosen = tf.placeholder(tf.bool, ())
    either = tf.cond(chosen, lambda: power + 1, lambda: power - 1)
    with tf.Session() as session:
        assert session.run([count, power]) == [5, 32]
        assert session.run(either, {chosen: True}) == 33
        assert session.run(either, {chosen: False}) == 31


def test_what_a_gpu_cannot_hold_or_count_stays_on_the_cpu():
    """Strings, handles of variables, variables of int32; elements of lists written in loops."""
    with simulated_gpu.installed() as machine, tf.Graph().as_default():
        words = tf.gather(tf.constant(["a", "b"]), [1, 0])
        counter = tf.Variable(0)
        scale = tf.get_variable("scale", initializer=2.0, use_resource=True)
        mapped = tf.map_fn(lambda x: x * scale, tf.ones([3]))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = session.run([words, tf.assign_add(counter, 2), mapped])
        assert not machine.races
    assert values[0].tolist() == [b"b", b"a"]
    assert values[1] == 2
    assert values[2].tolist() == [2, 2, 2]


@pytest.mark.parametrize("kind", [False, True])
def test_rows_that_repeat_are_multiplied_and_divided_by_each_update(kind):
    variable = tf.get_variable("v", initializer=[[1.0, 2.0], [8.0, 64.0]], use_resource=kind)
    updates = tf.IndexedSlices([[2.0, 2.0], [4.0, 4.0], [3.0, 3.0]], [1, 1, 0])
    more, less = variable.scatter_mul(updates), variable.scatter_div(updates)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(more.op)
        assert session.run(variable).tolist() == [[3, 6], [64, 512]]
        session.run(less.op)
        assert session.run(variable).tolist() == [[1, 2], [8, 64]]


def test_lists_are_added_whose_elements_are_in_different_memories(machine):
    del machine
    import cupy  # noqa: PLC0415 - the simulated one

    made = [TensorList("float32", None, [place.ones(2, "float32")]) for place in (np, cupy)]
    for one, other in (made, made[::-1]):
        total = added(np, one, other).elements[0]
        assert in_memory_of(np, total).tolist() == [2, 2]
