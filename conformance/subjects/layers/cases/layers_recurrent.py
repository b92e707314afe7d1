"""Vectors of LAYERS: cells, and their steps through sequences."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case
from sessrun.conformance.subjects.layers.cases.layers import check_names, near_to, started

_X = np.array([[[1.0], [2.0], [-1.0]], [[0.5], [3.0], [4.0]]], np.float32)
#: Inputs plus half of the state before.
_KERNEL = np.array([[1.0], [0.5]], np.float32)


def _sums(sequence: np.ndarray, lengths: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Outputs and last states of a cell without activation, with that kernel."""
    outputs, states = np.zeros(_X.shape), np.zeros((2, 1))
    for row, length in enumerate(lengths):
        for time in range(length):
            states[row] = sequence[row, time] + 0.5 * states[row]
            outputs[row, time] = states[row]
    return outputs, states


def _stepped(
    c: ApiAuthor, inputs: Recordable, **options: Recordable
) -> tuple[Symbol, Symbol, Symbol]:
    """A session, the outputs and the last state of that cell; its variables are initialized."""
    tf = c.tf
    cell = tf.nn.rnn_cell.BasicRNNCell(1, activation=tf.identity)
    both = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32, **options)
    session = started(c)
    session.run(tf.global_variables()[0].assign(_KERNEL))
    return session, both[0], both[1]


@api_case("LAYERS-031", title="Outputs end with their sequences.")
def outputs_end(c: ApiAuthor) -> None:
    lengths = c.tf.placeholder(c.tf.int32, [2])
    session, outputs, _ = _stepped(c, c.tf.constant(_X), sequence_length=lengths)
    for given in ((1, 3), (2, 0)):
        want = _sums(_X, given)[0]
        c.check(session.run(outputs, {lengths: list(given)}), near_to(want))


@api_case("LAYERS-032", title="The last state is that of the last step.")
def states_stay(c: ApiAuthor) -> None:
    lengths = c.tf.placeholder(c.tf.int32, [2])
    session, _, state = _stepped(c, c.tf.constant(_X), sequence_length=lengths)
    for given in ((1, 3), (2, 0), (3, 3)):
        c.check(session.run(state, {lengths: list(given)}), near_to(_sums(_X, given)[1]))


@api_case("LAYERS-033", title="Time may come first.")
def time_may_come_first(c: ApiAuthor) -> None:
    turned = _X.transpose(1, 0, 2)
    session, outputs, state = _stepped(c, c.tf.constant(turned), time_major=True)
    c.check(outputs.shape.as_list(), [3, 2, 1])
    want, last = _sums(_X, (3, 3))
    c.check(session.run(outputs), near_to(want.transpose(1, 0, 2)))
    c.check(session.run(state), near_to(last))


_ROW = np.array([[0.5, -1.0]], np.float32)
_STATE = np.array([[0.25, 1.0]], np.float32)


def _matrix(rows: int, columns: int) -> np.ndarray:
    """Numbers around 0, all of them different."""
    count = rows * columns
    return ((np.arange(count) * 7 % 11 - 5) / 8).reshape(rows, columns).astype(np.float32)


def _set(c: ApiAuthor, values: list[np.ndarray]) -> Symbol:
    """A session in which the first variables have these values, the others their first ones."""
    session = started(c)
    for index, value in enumerate(values):
        session.run(c.tf.global_variables()[index].assign(value))
    return session


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


@api_case("LAYERS-034", title="A basic cell's equation.")
def a_basic_cell_computes(c: ApiAuthor) -> None:
    tf = c.tf
    both = tf.nn.rnn_cell.BasicRNNCell(2)(tf.constant(_ROW), tf.constant(_STATE))
    bias = np.array([0.125, -0.5], np.float32)
    session = _set(c, [_matrix(4, 2), bias])
    want = np.tanh(np.hstack([_ROW, _STATE]) @ _matrix(4, 2) + bias)
    c.check(session.run(both[0]), near_to(want))
    c.check(session.run(both[1]), near_to(want))


@api_case("LAYERS-035", title="An LSTM's gates.")
def an_lstm_computes(c: ApiAuthor) -> None:
    tf = c.tf
    carry = np.array([[1.5, -0.5]], np.float32)
    both = tf.nn.rnn_cell.BasicLSTMCell(2)(
        tf.constant(_ROW), (tf.constant(carry), tf.constant(_STATE))
    )
    session = _set(c, [_matrix(4, 8)])
    i, j, f, o = np.split(np.hstack([_ROW, _STATE]) @ _matrix(4, 8), 4, axis=1)
    new = carry * _sigmoid(f + 1) + _sigmoid(i) * np.tanh(j)
    c.check(session.run(both[1][0]), near_to(new))
    c.check(session.run(both[0]), near_to(np.tanh(new) * _sigmoid(o)))


@api_case("LAYERS-040", title="A GRU's biases are ones for the gates, zeros for the candidate.")
def biases_of_a_gru(c: ApiAuthor) -> None:
    tf = c.tf
    tf.nn.rnn_cell.GRUCell(2, name="g")(tf.constant(_ROW), tf.constant(_STATE))
    biases = [tf.global_variables()[index] for index in (1, 3)]
    c.check(started(c).run(biases), [np.ones(4, np.float32), np.zeros(2, np.float32)])


@api_case("LAYERS-039", title="A GRU's gates.")
def a_gru_computes(c: ApiAuthor) -> None:
    tf = c.tf
    cell = tf.nn.rnn_cell.GRUCell(2, name="g", bias_initializer=tf.ones_initializer())
    both = cell(tf.constant(_ROW), tf.constant(_STATE))
    check_names(
        c,
        tf.global_variables(),
        [
            "g/gates/kernel",
            "g/gates/bias",
            "g/candidate/kernel",
            "g/candidate/bias",
        ],
    )
    session = started(c)
    session.run(tf.global_variables()[0].assign(_matrix(4, 4)))
    session.run(tf.global_variables()[2].assign(_matrix(4, 2)))
    r, u = np.split(_sigmoid(np.hstack([_ROW, _STATE]) @ _matrix(4, 4) + 1), 2, axis=1)
    new = np.tanh(np.hstack([_ROW, r * _STATE]) @ _matrix(4, 2) + 1)
    c.check(session.run(both[0]), near_to(u * _STATE + (1 - u) * new))


@api_case("LAYERS-037", title="Where a cell's variables are.")
def variables_of_cells(c: ApiAuthor) -> None:
    tf = c.tf
    cell = tf.nn.rnn_cell.BasicRNNCell(1, activation=tf.identity)
    tf.nn.dynamic_rnn(cell, tf.constant(_X), dtype=tf.float32)
    check_names(c, tf.global_variables(), ["rnn/basic_rnn_cell/kernel", "rnn/basic_rnn_cell/bias"])


@api_case("LAYERS-038", title="Cells one after the other.")
def cells_one_after_the_other(c: ApiAuthor) -> None:
    tf = c.tf
    cells = [tf.nn.rnn_cell.BasicRNNCell(n, activation=tf.identity) for n in (2, 1)]
    one = np.array([[3.0]], np.float32)
    both = tf.nn.rnn_cell.MultiRNNCell(cells)(
        tf.constant(_ROW), (tf.constant(_STATE), tf.constant(one))
    )
    check_names(
        c,
        tf.global_variables(),
        [
            f"multi_rnn_cell/cell_{n}/basic_rnn_cell/{name}"
            for n in range(2)
            for name in ("kernel", "bias")
        ],
    )
    session = started(c)
    session.run(tf.global_variables()[0].assign(_matrix(4, 2)))
    session.run(tf.global_variables()[2].assign(_matrix(3, 1)))
    first = np.hstack([_ROW, _STATE]) @ _matrix(4, 2)
    second = np.hstack([first, one]) @ _matrix(3, 1)
    c.check(session.run(both[1][0]), near_to(first))
    c.check(session.run(both[1][1]), near_to(second))
    c.check(session.run(both[0]), near_to(second))
