"""Programs of cells of `tf.nn.rnn_cell` and their wrappers: variables, nodes, values, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, Plain

__all__ = ["BEHAVIOURS"]

_X = np.arange(12, dtype=np.float32).reshape(2, 3, 2) / 12


def _p(tf, shape=(2, 2)):
    return tf.placeholder(tf.float32, shape, name="p")


def _seen(tf, build: Action, value):
    """What `build` returns in a graph of its own, the variables, the nodes and the values."""

    def build_and_run():
        with tf.Graph().as_default() as graph:
            ones = tf.constant_initializer(0.5)
            tf.set_random_seed(3)
            with tf.variable_scope("net", initializer=ones):
                outputs = build()
            places = [op for op in graph.get_operations() if op.type == "Placeholder"]
            fed = {placeholder.outputs[0]: value for placeholder in places}
            start = tf.global_variables_initializer()
            built = nodes(graph)
            with tf.Session() as session:
                session.run(start)
                values = attempt(lambda: session.run(outputs, fed))
            variables = [[variable.name, variable.shape] for variable in tf.trainable_variables()]
            return outputs, variables, built, values

    return attempt(build_and_run)


def _in_own_graphs(tf, *builds: Action, value=_X[:, 0]) -> list[Plain]:
    return [_seen(tf, build, value) for build in builds]


def _stepped(tf, cell, *, times: int = 1):
    x = _p(tf)
    state = cell.zero_state(2, tf.float32)
    output = x
    for _ in range(times):
        output, state = cell(x, state)
    return output, state


def _plain(tf):
    cells = tf.nn.rnn_cell

    def step(make: Action, times: int = 1) -> Action:
        return lambda: _stepped(tf, make(), times=times)

    return _in_own_graphs(
        tf,
        step(lambda: cells.BasicRNNCell(3)),
        step(lambda: cells.BasicRNNCell(3, tf.nn.relu), 2),
        step(lambda: cells.BasicRNNCell(3, activation="sigmoid", name="mine")),
        step(lambda: cells.GRUCell(3)),
        step(
            lambda: cells.GRUCell(
                3, kernel_initializer=tf.zeros_initializer(), bias_initializer=tf.ones_initializer()
            ),
            2,
        ),
        step(lambda: cells.BasicLSTMCell(3)),
        step(lambda: cells.BasicLSTMCell(3, 0.5, state_is_tuple=False), 2),
        step(lambda: cells.LSTMCell(3)),
        step(lambda: cells.LSTMCell(3, use_peepholes=True), 2),
        step(lambda: cells.LSTMCell(3, cell_clip=0.1, num_proj=2, proj_clip=0.05), 2),
        step(lambda: cells.LSTMCell(3, state_is_tuple=False, num_proj=2)),
        step(lambda: cells.LSTMCell(4, num_unit_shards=2, num_proj_shards=2, num_proj=2)),
        step(
            lambda: cells.LSTMCell(
                3,
                initializer=tf.ones_initializer(),
                forget_bias=0.0,
                activation=tf.nn.elu,
                name="lstm",
            )
        ),
        step(lambda: cells.LSTMCell(3, dtype=tf.int32)),
        lambda: cells.BasicRNNCell(3)(_p(tf, (2, None)), tf.zeros([2, 3])),
        lambda: cells.BasicRNNCell(3)(tf.zeros([2, 2], tf.int32), tf.zeros([2, 3])),
        lambda: cells.BasicRNNCell(3)(tf.zeros([2, 2]), tf.zeros([2, 3], tf.int32)),
        lambda: cells.LSTMCell(3)(_p(tf, (2, 3, 2)), None),
        lambda: cells.BasicLSTMCell(3)(
            _p(tf), cells.LSTMStateTuple(*[tf.ones([2, 3])] * 2), scope="s"
        ),
    )


def _described_cells(tf):
    cells = tf.nn.rnn_cell
    lstm, gru = cells.LSTMCell(4, num_proj=2), cells.GRUCell(3)
    many = cells.MultiRNNCell([lstm, gru])
    pair = cells.LSTMStateTuple(tf.zeros([]), tf.zeros([], tf.float64))
    return (
        lstm.state_size,
        lstm.output_size,
        gru.state_size,
        many.state_size,
        many.output_size,
        gru.get_config()["num_units"],
        attempt(lambda: pair.dtype),
        attempt(
            lambda: cells.RNNCell().state_size,
            lambda: cells.RNNCell().output_size,
            lambda: gru.get_initial_state(),
            lambda: gru.get_initial_state(tf.zeros([2, 3])),
            lambda: gru.get_initial_state(tf.zeros([2, 3]), 4),
            lambda: gru.get_initial_state(tf.zeros([2, 3]), dtype=tf.float64),
            lambda: gru.get_initial_state(batch_size=tf.constant(2), dtype=tf.float64),
            lambda: many.zero_state(2, tf.float32),
            lambda: lstm.zero_state(tf.placeholder(tf.int32, []), tf.float32),
            lambda: cells.MultiRNNCell([]),
            lambda: cells.MultiRNNCell(gru),
            lambda: cells.MultiRNNCell([lstm], state_is_tuple=False),
            lambda: cells.DropoutWrapper(gru, 1.5),
            lambda: cells.DropoutWrapper(3),
            lambda: cells.DropoutWrapper(gru, 0.5, variational_recurrent=True),
            lambda: cells.DropoutWrapper(gru, 0.5, variational_recurrent=True, dtype=tf.float32),
            lambda: cells.DropoutWrapper(gru, dropout_state_filter_visitor=3),
            lambda: cells.ResidualWrapper(None),
            lambda: cells.DeviceWrapper("a", "/cpu:0"),
        ),
    )


def _wrapped(tf):
    cells = tf.nn.rnn_cell

    def step(make: Action, times: int = 1) -> Action:
        return lambda: _stepped(tf, make(), times=times)

    def gru():
        return cells.GRUCell(2)

    def many(**options):
        return cells.MultiRNNCell([gru(), cells.BasicRNNCell(3)], **options)

    drop = cells.DropoutWrapper
    return _in_own_graphs(
        tf,
        step(many),
        step(lambda: many(state_is_tuple=False), 2),
        step(lambda: cells.MultiRNNCell([cells.LSTMCell(2), cells.BasicLSTMCell(3)])),
        step(lambda: drop(gru(), 0.5)),
        step(lambda: drop(gru(), 0.5, 0.7, 0.9, seed=4), 2),
        step(lambda: drop(cells.LSTMCell(2), state_keep_prob=0.5, seed=4)),
        step(lambda: drop(gru(), output_keep_prob=tf.placeholder_with_default(0.5, []))),
        step(lambda: drop(gru(), 0.5, 0.5, 0.5, True, 2, tf.float32, 7), 2),
        step(
            lambda: drop(
                cells.LSTMCell(2),
                state_keep_prob=0.5,
                seed=1,
                dropout_state_filter_visitor=lambda _: True,
            )
        ),
        step(lambda: cells.ResidualWrapper(gru())),
        step(lambda: cells.ResidualWrapper(gru(), lambda x, y: x * y)),
        step(lambda: cells.ResidualWrapper(cells.GRUCell(3))),
        step(lambda: cells.DeviceWrapper(gru(), "/cpu:0")),
        step(lambda: cells.MultiRNNCell([cells.ResidualWrapper(drop(gru(), 0.5)), gru()])),
    )


def _unrolled(tf):
    cells, nn = tf.nn.rnn_cell, tf.nn

    def x():
        return _p(tf, (2, 3, 2))

    def trained(outputs):
        loss = tf.reduce_mean(tf.square(outputs))
        return tf.gradients(loss, tf.trainable_variables())

    kind = {"dtype": tf.float32}
    return _in_own_graphs(
        tf,
        lambda: nn.dynamic_rnn(cells.LSTMCell(3), x(), **kind),
        lambda: nn.dynamic_rnn(cells.GRUCell(3), x(), [1, 3], **kind),
        lambda: trained(nn.dynamic_rnn(cells.LSTMCell(3), x(), **kind)[0]),
        lambda: trained(nn.dynamic_rnn(cells.GRUCell(3), x(), [2, 3], **kind)[0]),
        lambda: trained(nn.static_rnn(cells.BasicLSTMCell(2), tf.unstack(x(), axis=1), **kind)[0]),
        lambda: nn.bidirectional_dynamic_rnn(cells.LSTMCell(2), cells.GRUCell(2), x(), **kind),
        lambda: nn.dynamic_rnn(
            cells.MultiRNNCell([cells.LSTMCell(2), cells.GRUCell(3)]), x(), **kind
        ),
        lambda: nn.static_bidirectional_rnn(
            cells.BasicRNNCell(2), cells.BasicRNNCell(2), tf.unstack(x(), axis=1), **kind
        ),
        value=_X,
    )


BEHAVIOURS = {
    "plain": _plain,
    "described": _described_cells,
    "wrapped": _wrapped,
    "unrolled": _unrolled,
}
