"""Programs of cells that are unrolled over time: nodes, values, gradients, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, Plain

__all__ = ["BEHAVIOURS"]

_X = np.arange(12, dtype=np.float32).reshape(2, 3, 2) / 12


class _Cell:
    """A cell of the program whose state is its output, or twice its output."""

    def __init__(self, tf, units: int = 2, *, two: bool = False) -> None:
        self.tf = tf
        self.units = units
        self.two = two

    @property
    def state_size(self):
        return (self.units, self.units) if self.two else self.units

    @property
    def output_size(self):
        return self.units

    def zero_state(self, batch_size, dtype):
        zero = self.tf.zeros([batch_size, self.units], dtype)
        return (zero, zero) if self.two else zero

    def __call__(self, inputs, state, scope=None):
        tf = self.tf
        ones = tf.constant_initializer(0.5)
        with tf.variable_scope(scope or "cell"):
            first = state[0] if self.two else state
            matrix = tf.get_variable("w", [inputs.shape[1], self.units], initializer=ones)
            output = tf.tanh(tf.matmul(inputs, matrix) + first)
        return output, ((output, state[1] + 1.0) if self.two else output)


def _p(tf, shape=(2, 3, 2)):
    return tf.placeholder(tf.float32, shape, name="p")


def _seen(tf, build: Action, value=_X):
    """What `build` returns in a graph of its own, the nodes and the values."""

    def build_and_run():
        with tf.Graph().as_default() as graph:
            outputs = build()
            places = [op for op in graph.get_operations() if op.type == "Placeholder"]
            fed = {placeholder.outputs[0]: value for placeholder in places}
            start = tf.global_variables_initializer()
            built = nodes(graph)
            with tf.Session() as session:
                session.run(start)
                values = attempt(lambda: session.run(outputs, fed))
            return outputs, built, values

    return attempt(build_and_run)


def _in_own_graphs(tf, *builds: Action, value=_X) -> list[Plain]:
    return [_seen(tf, build, value) for build in builds]


def _dynamic(tf):
    rnn, cell, two = tf.nn.dynamic_rnn, _Cell(tf), _Cell(tf, two=True)
    kind = {"dtype": tf.float32}
    return _in_own_graphs(
        tf,
        lambda: rnn(cell, _p(tf), **kind),
        lambda: rnn(two, _p(tf), [3, 1], **kind),
        lambda: rnn(cell, _p(tf), initial_state=tf.ones([2, 2]), time_major=False, scope="s"),
        lambda: rnn(cell, _p(tf, [None, None, 2]), [1, 2], **kind),
        lambda: rnn(
            two, _p(tf, (2, 3, 2)), time_major=True, parallel_iterations=1, swap_memory=True, **kind
        ),
        lambda: rnn(cell, _p(tf)),
        lambda: rnn(cell, _p(tf, None), **kind),
        lambda: rnn(cell, _p(tf, [2, 3, None]), **kind),
        lambda: rnn("cell", _p(tf), **kind),
        lambda: rnn(cell, _p(tf), [[1, 2]], **kind),
        lambda: rnn(cell, _p(tf), [1, 2, 3], **kind),
        lambda: rnn(cell, _p(tf), tf.constant([3, 0], tf.int64), **kind),
    )


def _dynamic_gradients(tf):
    def of(make: Action) -> Action:
        def build():
            outputs, _ = make()
            return tf.gradients(tf.reduce_sum(outputs), tf.trainable_variables())

        return build

    rnn = tf.nn.dynamic_rnn
    return _in_own_graphs(
        tf,
        of(lambda: rnn(_Cell(tf), _p(tf), dtype=tf.float32)),
        of(lambda: rnn(_Cell(tf, two=True), _p(tf), [1, 3], dtype=tf.float32)),
    )


def _both_ways(tf):
    rnn, static = tf.nn.bidirectional_dynamic_rnn, tf.nn.static_bidirectional_rnn

    def pair():
        return _Cell(tf), _Cell(tf, 2, two=True)

    kind = {"dtype": tf.float32}
    return _in_own_graphs(
        tf,
        lambda: rnn(*pair(), _p(tf), **kind),
        lambda: rnn(*pair(), _p(tf), [1, 2], **kind),
        lambda: rnn(*pair(), _p(tf), time_major=True, scope="b", **kind),
        lambda: static(*pair(), tf.unstack(_p(tf), axis=1), **kind),
        lambda: static(*pair(), tf.unstack(_p(tf), axis=1), sequence_length=[2, 1], **kind),
        lambda: static(*pair(), _p(tf), **kind),
        lambda: static(*pair(), [], **kind),
        lambda: rnn(_Cell(tf), None, _p(tf), **kind),
    )


def _static(tf):
    rnn, cell, two = tf.nn.static_rnn, _Cell(tf), _Cell(tf, two=True)
    kind = {"dtype": tf.float32}

    def steps(shape=(2, 3, 2)):
        return tf.unstack(_p(tf, shape), num=3, axis=1)

    return _in_own_graphs(
        tf,
        lambda: rnn(cell, steps(), **kind),
        lambda: rnn(two, steps(), sequence_length=[1, 2], **kind),
        lambda: rnn(cell, steps([None, 3, 2]), sequence_length=[0, 3], scope="s", **kind),
        lambda: rnn(cell, steps(), tf.ones([2, 2])),
        lambda: rnn(cell, steps()),
        lambda: rnn(cell, _p(tf), **kind),
        lambda: rnn(cell, (), **kind),
        lambda: rnn(cell, steps([2, 3, None]), **kind),
        lambda: rnn(3, steps(), **kind),
        lambda: rnn(cell, steps(), sequence_length=[[1, 2]], **kind),
    )


class _Saver:
    """A state saver that keeps the states in variables."""

    def __init__(self, tf) -> None:
        self.tf = tf
        self.kept = {name: tf.Variable(tf.ones([2, 2]), name=name) for name in "ab"}

    def state(self, name: str):
        return self.kept[name]

    def save_state(self, name: str, value):
        return self.tf.assign(self.kept[name], value)


def _saving(tf):
    rnn = tf.nn.static_state_saving_rnn

    def steps():
        return tf.unstack(_p(tf), axis=1)

    def many():
        return _Cell(tf, two=True)

    return _in_own_graphs(
        tf,
        lambda: rnn(_Cell(tf), steps(), _Saver(tf), "a")[0],
        lambda: rnn(many(), steps(), _Saver(tf), ("a", "b"), [1, 3]),
        lambda: rnn(many(), steps(), _Saver(tf), "a"),
        lambda: rnn(many(), steps(), _Saver(tf), ("a", "b", "a")),
    )


def _raw(tf):
    def with_steps(lengths, emit=None, state=None) -> Action:
        def build():
            x = tf.transpose(_p(tf), [1, 0, 2])
            array = tf.TensorArray(tf.float32, 3).unstack(x)
            cell = _Cell(tf)

            def loop(time, output, cell_state, kept):
                is_first = output is None
                next_state = cell.zero_state(2, tf.float32) if is_first else cell_state
                finished = time >= tf.constant(lengths)
                over = tf.reduce_all(finished)
                following = tf.cond(over, lambda: tf.zeros([2, 2]), lambda: array.read(time))
                put_out = emit(tf) if is_first and emit else output
                if not is_first and emit:
                    put_out = (output * 2.0, tf.reduce_sum(output, 1))
                count = state if is_first else None if state is None else kept + 1
                return finished, following, next_state, put_out, count

            arrays, final, kept = tf.nn.raw_rnn(cell, loop)
            return (
                tf.nest.map_structure(lambda array: array.stack(), arrays),
                final,
                (tf.constant(0) if kept is None else kept),
            )

        return build

    return _in_own_graphs(
        tf,
        with_steps([3, 1]),
        with_steps([2, 2], state=0),
        with_steps([1, 3], emit=lambda tf: (tf.zeros([2]), tf.zeros([]))),
    ), attempt(lambda: tf.nn.raw_rnn(_Cell(tf), 3), lambda: tf.nn.raw_rnn(None, lambda *_: None))


BEHAVIOURS = {
    "dynamic": _dynamic,
    "dynamic gradients": _dynamic_gradients,
    "both ways": _both_ways,
    "static": _static,
    "saving": _saving,
    "raw": _raw,
}
