"""Programs of recurrent networks with rare options, states, inputs and lengths."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _ran(tf, build):
    """The outputs, variables and values of a function, with weights that are all different."""
    with (
        tf.Graph().as_default(),
        tf.variable_scope("s", initializer=tf.constant_initializer(0.25), use_resource=False),
    ):
        outputs = build()
        names = [(v.name, v.shape) for v in tf.global_variables()]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for number, variable in enumerate(tf.global_variables()):
                size = int(np.prod(variable.shape.as_list()))
                values = np.linspace(-0.5 - number, 0.5, size).reshape(variable.shape.as_list())
                variable.load(values.astype(variable.dtype.as_numpy_dtype), session)
            return outputs, names, session.run(outputs)


def _inputs(batch: int = 2, steps: int = 3, depth: int = 4) -> np.ndarray:
    count = batch * steps * depth
    return (np.arange(count, dtype=np.float32) % 7 - 3).reshape(batch, steps, depth) / 4


def _cells(tf):
    """Cells with every option over sequences of unequal lengths."""
    rnn = tf.nn.rnn_cell
    cells = (
        lambda: rnn.BasicRNNCell(2),
        lambda: rnn.BasicRNNCell(2, activation="relu"),
        lambda: rnn.GRUCell(2),
        lambda: rnn.BasicLSTMCell(2),
        lambda: rnn.BasicLSTMCell(2, forget_bias=0.0, state_is_tuple=False),
        lambda: rnn.LSTMCell(2, use_peepholes=True, cell_clip=0.5, num_proj=3, proj_clip=0.1),
        lambda: rnn.LSTMCell(2, num_proj=1, state_is_tuple=False),
        lambda: rnn.LSTMCell(2, num_unit_shards=2, num_proj_shards=2, num_proj=4),
        lambda: rnn.MultiRNNCell([rnn.GRUCell(2), rnn.BasicLSTMCell(3)]),
        lambda: rnn.MultiRNNCell([rnn.GRUCell(2), rnn.GRUCell(3)], state_is_tuple=False),
        lambda: rnn.ResidualWrapper(rnn.GRUCell(4)),
        lambda: rnn.DeviceWrapper(rnn.GRUCell(2), "/cpu:0"),
        lambda: rnn.DropoutWrapper(rnn.GRUCell(2), input_keep_prob=1.0),
        lambda: rnn.ResidualWrapper(rnn.GRUCell(4), lambda x, y: x * y),
    )
    lengths = (None, [0, 2])

    def run(make, given, time_major: bool):
        x = np.swapaxes(_inputs(), 0, 1) if time_major else _inputs()
        return _ran(
            tf,
            lambda: tf.nn.dynamic_rnn(
                make(), tf.constant(x), given, dtype=tf.float32, time_major=time_major
            ),
        )

    return attempt(
        *(
            lambda c=cell, n=given, t=major: run(c, n, t)
            for cell in cells
            for given in lengths
            for major in (False, True)
        )
    )


def _kinds(tf):
    """Static, dynamic, bidirectional, state-saving and raw loops over one cell."""
    rnn, nn = tf.nn.rnn_cell, tf.nn
    x = _inputs()

    def parts() -> list[Tensor]:
        return [tf.constant(x[:, n]) for n in range(3)]

    class Swaps(rnn.RNNCell):  # type: ignore[misc] # the backend's class
        state_size = output_size = 1

        def call(self, _, state):
            return state, state

    def raw(finish_at: int):
        cell = rnn.GRUCell(2)
        array = tf.TensorArray(tf.float32, 3).unstack(tf.constant(np.swapaxes(x, 0, 1)))

        def loop(time, output, state, kept):
            new = cell.zero_state(2, tf.float32) if output is None else state
            done = tf.logical_or(time >= 3, tf.equal([finish_at, finish_at + 1], time))
            read = tf.cond(tf.reduce_all(done), lambda: tf.zeros([2, 4]), lambda: array.read(time))
            return done, read, new, output, kept

        outputs, state, _ = nn.raw_rnn(cell, loop)
        return outputs.stack(), state

    return attempt(
        lambda: _ran(tf, lambda: nn.static_rnn(rnn.GRUCell(2), parts(), dtype=tf.float32)),
        lambda: _ran(
            tf,
            lambda: nn.static_rnn(
                rnn.GRUCell(2), parts(), dtype=tf.float32, sequence_length=[1, 3]
            ),
        ),
        lambda: _ran(tf, lambda: nn.static_rnn(rnn.GRUCell(2), [], dtype=tf.float32)),
        lambda: _ran(
            tf,
            lambda: nn.static_bidirectional_rnn(
                rnn.GRUCell(2), rnn.GRUCell(3), parts(), dtype=tf.float32, sequence_length=[2, 3]
            ),
        ),
        lambda: _ran(
            tf,
            lambda: nn.bidirectional_dynamic_rnn(
                rnn.GRUCell(2), rnn.BasicLSTMCell(3), tf.constant(x), [2, 3], dtype=tf.float32
            ),
        ),
        *(lambda n=number: _ran(tf, lambda: raw(n)) for number in (0, 1, 3)),
        lambda: nn.dynamic_rnn(rnn.GRUCell(2), tf.constant(x)),
        lambda: nn.dynamic_rnn(3, tf.constant(x), dtype=tf.float32),
        lambda: nn.dynamic_rnn(rnn.GRUCell(2), tf.zeros([2]), dtype=tf.float32),
        lambda: nn.dynamic_rnn(rnn.GRUCell(2), tf.placeholder(tf.float32, None), dtype=tf.float32),
        lambda: nn.dynamic_rnn(rnn.GRUCell(2), tf.constant(x), [[1]], dtype=tf.float32),
        lambda: nn.dynamic_rnn(rnn.GRUCell(2), tf.constant(x), [1, 2, 3], dtype=tf.float32),
        lambda: nn.dynamic_rnn(rnn.GRUCell(2), tf.constant(x), initial_state=tf.zeros([2, 3])),
        lambda: nn.dynamic_rnn(rnn.GRUCell(2), tf.constant(x), initial_state=tf.zeros([3, 2])),
        lambda: nn.dynamic_rnn(
            rnn.BasicLSTMCell(2), tf.constant(x), initial_state=tf.zeros([2, 2])
        ),
        *(
            lambda s=sizes: [
                (out.shape, state.shape)
                for out, state in [
                    nn.dynamic_rnn(rnn.GRUCell(2), tf.placeholder(tf.float32, s), dtype=tf.float32)
                ]
            ]
            for sizes in ([None, None, 4], [2, None, 4], [None, 3, 4], [2, 3, None])
        ),
        lambda: nn.static_rnn(Swaps(), [tf.placeholder(tf.float32, [2, None])], dtype=tf.float32),
    )


def _states(tf):
    """States of cells: sizes as numbers, shapes and tuples; zero states of several dtypes."""
    rnn = tf.nn.rnn_cell

    class Own(rnn.RNNCell):  # type: ignore[misc]
        def __init__(self, size, out) -> None:
            super().__init__()
            self._size, self._out = size, out

        @property
        def state_size(self):
            return self._size

        @property
        def output_size(self):
            return self._out

        def call(self, inputs, state):
            return inputs, state

    sizes = (
        3,
        tf.TensorShape([3]),
        tf.TensorShape([2, 3]),
        (2, 3),
        [2, tf.TensorShape([1, 2])],
        tf.TensorShape([None, 2]),
        ((1, 2), 3),
        {"a": 2, "b": 3},
        tf.Dimension(3),
    )

    def zeros(size, batch, dtype):
        cell = Own(size, 4)
        state = cell.zero_state(batch, dtype)
        return state, cell.output_size, tf.nest.is_nested(cell.state_size)

    def looped(size):
        cell, x = Own(size, tf.TensorShape([4])), tf.constant(_inputs())
        out, state = tf.nn.dynamic_rnn(cell, x, [1, 3], dtype=tf.float32)
        with tf.Session() as session:
            return session.run([out, state])

    return attempt(
        *(
            lambda s=size, b=batch, d=dtype: zeros(s, b, d)
            for size in sizes
            for batch, dtype in ((2, tf.float32), (tf.constant(2), tf.float64), (0, tf.int32))
        ),
        *(lambda s=size: looped(s) for size in sizes),
        lambda: Own(3, 4).get_initial_state(tf.zeros([5, 2])),
        lambda: Own(3, 4).get_initial_state(batch_size=5, dtype=tf.float64),
        lambda: Own(3, 4).get_initial_state(),
        lambda: Own(3, 4)(tf.zeros([2, 4]), tf.zeros([2, 3])),
    )


BEHAVIOURS = {"cells": _cells, "kinds": _kinds, "states": _states}
