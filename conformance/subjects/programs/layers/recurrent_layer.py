"""Programs of recurrent layers of Keras: cells, options, stateful layers, wrappers, configs."""

from __future__ import annotations

import copy

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples, layered
from sessrun.conformance.subjects.programs.program import Program

__all__ = ["BEHAVIOURS"]

_X = examples(2, 3, 4)


def _one(tf, make: Program, *more, **options):
    """The outputs of a layer on sequences, its variables and its losses."""

    def build(p, *rest):
        layer = make(tf.keras.layers)
        out = layer(p, *rest)
        return [out, [v.name for v in layer.weights], layer.losses, len(layer.updates)]

    return layered(tf, build, _X, *more, **options)


def _kinds(tf):
    return [
        _one(tf, lambda k: k.SimpleRNN(2)),
        _one(tf, lambda k: k.LSTM(2)),
        _one(tf, lambda k: k.GRU(2)),
        _one(tf, lambda k: k.LSTM(2, implementation=2, unit_forget_bias=False)),
        _one(tf, lambda k: k.GRU(2, implementation=2)),
        _one(tf, lambda k: k.GRU(2, implementation=2, reset_after=True)),
        _one(tf, lambda k: k.GRU(2, reset_after=True)),
        _one(tf, lambda k: k.GRU(2, use_bias=False, implementation=2, reset_after=True)),
        _one(tf, lambda k: k.LSTM(2, use_bias=False)),
        _one(
            tf,
            lambda k: k.SimpleRNN(
                2,
                "relu",
                False,
                "ones",
                "ones",
                activity_regularizer="l2",
                kernel_regularizer="l1",
                recurrent_regularizer="l2",
            ),
        ),
    ]


def _flags(tf):
    wide = {"shape": (2, 3, 4)}
    return [
        _one(
            tf, lambda k: k.GRU(2, return_sequences=True, return_state=True), shape=(None, None, 4)
        ),
        _one(tf, lambda k: k.LSTM(2, go_backwards=True, return_state=True, return_sequences=True)),
        _one(tf, lambda k: k.LSTM(2, unroll=True, return_sequences=True), **wide),
        _one(tf, lambda k: k.SimpleRNN(2, unroll=True, go_backwards=True)),
        _one(tf, lambda k: k.SimpleRNN(2, time_major=True, return_sequences=True), **wide),
        _one(tf, lambda k: k.SimpleRNN(2, stateful=True), **wide),
        _one(tf, lambda k: k.LSTM(2, stateful=True, name="kept"), **wide),
        _one(tf, lambda k: k.SimpleRNN(2, unroll=True), shape=(2, None, 4)),
        _one(tf, lambda k: k.SimpleRNN(2, stateful=True)),
        _one(tf, lambda k: k.SimpleRNN(0)),
        _one(tf, lambda k: k.SimpleRNN(2), shape=(2, 3)),
    ]


def _masks(tf):
    def masked(**options):
        def build(p):
            layers = tf.keras.layers
            here = layers.Masking(_X[1, 2, 0])(p)
            layer = layers.SimpleRNN(2, name="r", **options)
            out = layer(here)
            return [out, [getattr(o, "_keras_mask", None) for o in tf.nest.flatten(out)]]

        return layered(tf, build, _X)

    def given(p):
        mask = tf.constant([[True, True, False], [True, False, True]])
        layer = tf.keras.layers.LSTM(2, return_sequences=True, zero_output_for_mask=True)
        unrolled = tf.keras.layers.GRU(
            2, return_sequences=True, unroll=True, zero_output_for_mask=True
        )
        return [layer(p, mask=mask), unrolled(p, mask=mask)]

    return [
        masked(),
        masked(return_sequences=True),
        masked(go_backwards=True, return_state=True),
        masked(unroll=True, return_sequences=True),
        layered(tf, given, _X),
    ]


def _states(tf):
    def first(p, s):
        layers = tf.keras.layers
        layer, other = layers.SimpleRNN(2), layers.LSTM(2)
        return [
            layer(p, initial_state=s),
            layer([p, s]),
            other(p, initial_state=(s, s)),
            attempt(lambda: layer(p, initial_state=[s, s])),
            attempt(lambda: layers.GRU(3)(p, initial_state=s)).__class__.__name__,
        ]

    def kept():
        p = tf.placeholder(tf.float32, [2, 3, 4])
        layer = tf.keras.layers.SimpleRNN(
            2, stateful=True, kernel_initializer="ones", recurrent_initializer="ones"
        )
        out = layer(p)
        backend = tf.keras.backend
        backend.set_session(session := tf.Session())
        session.run(tf.global_variables_initializer())
        values = []
        for _ in range(2):
            values += [session.run([out, *layer.updates], {p: _X})[0].round(3).tolist()]
        layer.reset_states()
        values += [session.run(out, {p: _X}).round(3).tolist()]
        layer.reset_states([examples(2, 2)])
        values += [session.run(out, {p: _X}).round(3).tolist()]
        wrong = [
            attempt(lambda: layer.reset_states([examples(2, 3)])).__class__.__name__,
            attempt(lambda: layer.reset_states([_X, _X])).__class__.__name__,
        ]
        backend.set_session(None)
        return [out, values, wrong, len(layer.weights), layer.stateful]

    return [layered(tf, first, _X, examples(2, 2)), kept()]


def _dropouts(tf):
    def graphs(**options):
        def build(p):
            layers = tf.keras.layers
            kinds = layers.LSTM, layers.GRU, layers.SimpleRNN
            return [kind(2, **options)(p).shape for kind in kinds]

        return layered(tf, build, _X)

    def training(p):
        layer = tf.keras.layers.GRU(2, dropout=0.5, recurrent_dropout=0.2, name="d")
        return [layer(p, training=True).shape, layer(p, training=False)]

    return [
        graphs(dropout=0.5),
        graphs(recurrent_dropout=0.5),
        graphs(dropout=0.3, implementation=2),
        graphs(dropout=0.3, unroll=True),
        layered(tf, training, _X),
    ]


def _cells(tf):
    layers = tf.keras.layers

    class Own(layers.Layer):
        def __init__(self, units: int, **kwargs) -> None:
            self.units = units
            self.state_size = units
            super().__init__(**kwargs)

        def build(self, input_shape) -> None:
            self.kernel = self.add_weight("kernel", (input_shape[-1], self.units))
            self.built = True

        def call(self, inputs, states):
            output = tf.matmul(inputs, self.kernel) + states[0]
            return output, [output]

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    class Bare:
        state_size = 4

        def call(self, inputs, states):
            return inputs + states[0], [inputs]

    def stacked(p):
        cells = [layers.LSTMCell(2), layers.GRUCell(3), Own(2)]
        layer = layers.RNN(cells, return_state=True)
        out = layer(p)
        config = layer.get_config()
        again = layers.RNN.from_config(copy.deepcopy(config), custom_objects={"Own": Own})
        return [
            out,
            [v.name for v in layer.weights],
            config,
            [str(list(s) if isinstance(s, list) else s) for s in again.cell.state_size],
            layer.cell.output_size,
            layer.compute_output_shape((2, 3, 4)),
        ]

    def single(p):
        cell = layers.LSTMCell(2)
        states = cell.get_initial_state(inputs=p)
        return [
            cell(p, states),
            states,
            [v.name for v in cell.weights],
            attempt(lambda: cell.get_initial_state()),
            attempt(lambda: layers.LSTMCell(-1)),
        ]

    return [
        layered(tf, stacked, _X),
        layered(tf, single, examples(2, 4)),
        _one(tf, lambda k: k.RNN(Own(2))),
        _one(tf, lambda k: k.RNN(Bare())),
        _one(tf, lambda k: k.RNN([k.SimpleRNNCell(2), k.SimpleRNNCell(3)], return_sequences=True)),
        _one(
            tf,
            lambda k: k.RNN(
                k.StackedRNNCells([k.LSTMCell(2), k.GRUCell(3)], reverse_state_order=True),
                return_state=True,
            ),
        ),
        attempt(lambda: layers.RNN(3)).__class__.__name__,
        _one(tf, lambda k: k.RNN(tf.nn.rnn_cell.BasicRNNCell(2))),
        _one(tf, lambda k: k.RNN(tf.nn.rnn_cell.BasicLSTMCell(2), return_state=True)),
    ]


def _both_ways(tf):
    modes = [
        _one(tf, lambda k, mode=mode: k.Bidirectional(k.LSTM(2, return_sequences=True), mode))
        for mode in ("concat", "sum", "ave", "mul", None)
    ]

    def states(p, s):
        layers = tf.keras.layers
        layer = layers.Bidirectional(layers.GRU(2, return_state=True), name="b")
        out = layer(p, initial_state=[s, s])
        config = layer.get_config()
        again = layers.Bidirectional.from_config(config)
        return [
            out,
            config,
            again.name,
            layer.compute_output_shape((2, 3, 4)),
            attempt(lambda: layer(p, initial_state=[s])),
        ]

    return [
        *modes,
        layered(tf, states, _X, examples(2, 2)),
        _one(
            tf,
            lambda k: k.Bidirectional(k.SimpleRNN(2), backward_layer=k.GRU(2, go_backwards=True)),
        ),
        _one(tf, lambda k: k.Bidirectional(k.SimpleRNN(2), backward_layer=k.GRU(2))),
        _one(tf, lambda k: k.Bidirectional(k.SimpleRNN(2), "other")),
    ]


def _times(tf):
    layers = tf.keras.layers

    class Own(layers.Layer):
        def call(self, inputs):
            return inputs * 2.0

    def nested(p):
        layer = layers.TimeDistributed(layers.Dense(2))
        out = layer(p)
        return [
            out,
            layer.get_config(),
            layers.TimeDistributed.from_config(layer.get_config()).layer.units,
            layer.compute_output_shape((2, 3, 4)),
            [v.name for v in layer.weights],
        ]

    def masked(p):
        here = layers.Masking()(p)
        out = layers.TimeDistributed(layers.Dense(2, name="d"), name="t")(here)
        return [out, out._keras_mask]

    return [
        layered(tf, nested, _X),
        layered(tf, masked, _X),
        layered(tf, nested, _X, shape=(2, 3, 4)),
        _one(tf, lambda k: k.TimeDistributed(k.Dense(2)), shape=(None, None, 4)),
        _one(tf, lambda k: k.TimeDistributed(k.Dropout(0.5))),
        _one(tf, lambda k: k.TimeDistributed(Own(name="o")), shape=(2, 3, 4)),
        _one(tf, lambda k: k.TimeDistributed(Own(name="o"))),
        _one(tf, lambda k: k.TimeDistributed(k.Dense(2)), shape=(2, 3)),
        attempt(lambda: layers.TimeDistributed(3)),
        attempt(lambda: layers.Wrapper(3)),
    ]


def _configs(tf):
    layers = tf.keras.layers
    with tf.Graph().as_default():
        instances = [
            layers.SimpleRNN(2, dropout=0.1),
            layers.LSTM(2, return_sequences=True, name="l"),
            layers.GRU(2, reset_after=True, kernel_constraint="non_neg"),
            layers.LSTMCell(3),
            layers.GRUCell(2),
            layers.SimpleRNNCell(1, "relu"),
            layers.Dense(3, "relu"),
            layers.Dropout(0.5),
            layers.Bidirectional(layers.LSTM(1)),
        ]
        configs = [layers.serialize(layer) for layer in instances]
        again = [layers.deserialize(config) for config in configs]
        return [
            configs,
            [
                layers.serialize(layer) == config
                for layer, config in zip(again, configs, strict=True)
            ],
            [type(layer).__name__ for layer in again],
            *(
                attempt(lambda bad=bad: layers.deserialize(bad)).__class__.__name__
                for bad in (None, 3, {"a": 1}, {"class_name": "Nope", "config": {}}, "Dense")
            ),
            [getattr(instances[1], name) for name in ("units", "use_bias", "implementation")],
        ]


BEHAVIOURS = {
    "recurrent layers of each kind": _kinds,
    "recurrent layers' flags": _flags,
    "recurrent layers' masks": _masks,
    "recurrent layers' states": _states,
    "recurrent layers that drop out": _dropouts,
    "cells of Keras, stacked and of a program's own": _cells,
    "recurrent layers in both directions": _both_ways,
    "layers for each time": _times,
    "configs of recurrent layers": _configs,
}
