"""Indices out of range on a simulated GPU: zeros and sums that leave them out, without a wait."""

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.adapters.fakes import simulated_gpu

ROWS = np.arange(1.0, 7.0, dtype=np.float32).reshape(3, 2)
AT = np.array([0, 5, -1])


@pytest.fixture(autouse=True)
def graph(machine):
    with tf.Graph().as_default(), tf.device("/gpu:0"):
        yield
    assert not machine.races


def fed():
    return tf.placeholder(tf.float32, (None, 2)), tf.placeholder(tf.int64, (None,))


GATHERED = {
    "rows": tf.gather,
    "columns": lambda x, i: tf.transpose(tf.gather(tf.transpose(x), i, axis=1)),
    "batches": lambda x, i: tf.gather(tf.stack([x, x]), tf.stack([i, i]), batch_dims=1)[0],
    "vectors": lambda x, i: tf.gather_nd(x, i[:, None]),
}


@pytest.mark.parametrize("name", GATHERED)
def test_gathered_elements_are_zero_without_a_wait(name):
    x, i = fed()
    gathered = GATHERED[name](x, i)
    with tf.Session() as session:
        feeds = {x: ROWS, i: AT}
        assert session.run(gathered, feeds).tolist() == [[1, 2], [0, 0], [0, 0]]
        simulated_gpu.reset()
        session.run(gathered.op, feeds)
    waits = simulated_gpu.counters()
    assert waits.synchronizations + waits.hidden_synchronizations == 0, simulated_gpu.log()


def test_a_row_of_nan_is_not_gathered_for_an_index_out_of_range():
    x, i = fed()
    with tf.Session() as session:
        value = session.run(tf.gather(x, i), {x: np.full((1, 2), np.nan), i: [3, 0]})
    assert value[0].tolist() == [0, 0]
    assert np.isnan(value[1]).all()


def test_rows_of_a_variable_are_gathered_and_sums_leave_out_what_is_not_there():
    x, i = fed()
    variable = tf.get_variable("v", initializer=ROWS, use_resource=True)
    reference = tf.get_variable("r", initializer=ROWS, use_resource=False)
    updates = [
        variable.scatter_add(tf.IndexedSlices(tf.ones_like(x), i)).op,
        tf.scatter_sub(reference, i, 1.0).op,
    ]
    summed = tf.tensor_scatter_nd_add(x, i[:, None], tf.ones_like(x))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        gathered = session.run(tf.gather(variable, i), {i: AT})
        assert gathered.tolist() == [[1, 2], [0, 0], [0, 0]]
        feeds = {x: ROWS, i: AT}
        simulated_gpu.reset()
        session.run([*updates, summed.op], feeds)
        assert simulated_gpu.counters().hidden_synchronizations == 0
        assert session.run(variable).tolist() == [[2, 3], [3, 4], [5, 6]]
        assert session.run(reference).tolist() == [[0, 1], [3, 4], [5, 6]]
        assert session.run(summed, feeds).tolist() == [[2, 3], [3, 4], [5, 6]]


def test_what_replaces_rows_is_refused_and_so_is_every_index_of_nothing():
    x, i = fed()
    replaced = tf.tensor_scatter_nd_update(x, i[:, None], tf.ones_like(x))
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[5\]"):
            session.run(replaced, {x: ROWS, i: AT})
        for gathered in (tf.gather(x, i), tf.gather_nd(x, i[:, None])):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(gathered, {x: np.zeros((0, 2)), i: [0]})
