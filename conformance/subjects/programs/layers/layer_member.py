"""Programs of base classes of layers, cells, regularizers and metrics, and of their members."""

from __future__ import annotations

import copy

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.layered_graphs import examples
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _rules(tf):
    """The base classes of regularizers and constraints, and their configs."""
    keras = tf.keras
    x = tf.constant([[1.0, -2.0]])
    base, limit = keras.regularizers.Regularizer, keras.constraints.Constraint
    return attempt(
        lambda: base()(x),
        lambda: base().get_config(),
        lambda: base.from_config({}).__class__,
        lambda: keras.regularizers.L1(0.5).get_config(),
        lambda: keras.regularizers.L2.from_config({"l2": 0.25}).get_config(),
        lambda: keras.regularizers.L1L2.from_config({"l1": 0.5, "l2": 0.25}).get_config(),
        lambda: limit()(x),
        lambda: limit().get_config(),
        lambda: limit.from_config({}).__class__,
        lambda: keras.constraints.MaxNorm.from_config({"max_value": 3}).get_config(),
        lambda: keras.regularizers.L1("much"),
        lambda: keras.regularizers.L1(float("nan")),
        lambda: keras.regularizers.L1(l=0.5).get_config(),
        lambda: keras.regularizers.L1(m=0.5),
    )


def _demands(tf):
    """Inputs that violate the input spec of a layer, one requirement at a time."""
    spec = tf.keras.layers.InputSpec
    layer = tf.keras.layers.Layer(name="one")

    def held(demand, *inputs) -> Action:
        def call():
            layer.input_spec = demand
            return layer(*inputs).shape

        return call

    x = tf.zeros([2, 3])
    named = spec(shape=(2, 3), name="a")
    return attempt(
        lambda: spec.from_config(spec(ndim=2, axes={1: 3}).get_config()).get_config(),
        lambda: repr(spec(min_ndim=1, dtype="float32")),
        held(spec(max_ndim=1), x),
        held(spec(dtype="int32"), x),
        held(spec(axes={1: 4}), x),
        held(spec(axes={1: 3}), x),
        held(spec(shape=(2, 4)), x),
        held(spec(shape=(2, None)), x),
        held(spec(shape=(2, 3, 1), allow_last_axis_squeeze=True), x),
        held([named], {"a": x}),
        held([named], {"b": x}),
        held([named, named], [x]),
        held(spec(ndim=2), 3.0),
        lambda: setattr(layer, "input_spec", 3),
    )


def _signatures(tf):
    """`compute_output_signature` for signatures of inputs."""
    layers, spec = tf.keras.layers, tf.TensorSpec
    given = spec([None, 3], tf.float32)
    return attempt(
        lambda: layers.Dense(4).compute_output_signature(given).shape,
        lambda: layers.Dense(4, dtype="float64").compute_output_signature(given).dtype,
        lambda: layers.Add().compute_output_signature([given, given]).shape,
        lambda: layers.Dense(4).compute_output_signature(tf.zeros([2, 3])),
        lambda: layers.Masking().compute_output_signature(given).shape,
    )


def _attributes(tf):
    """A layer no longer tracks layers and variables whose attributes are deleted."""

    class Outer(tf.keras.layers.Layer):  # type: ignore[misc,name-defined]  # of the namespace
        """A layer with two layers and a variable as attributes."""

        def __init__(self) -> None:
            super().__init__(name="outer")
            self.first = tf.keras.layers.Dense(1, name="first")
            self.second = tf.keras.layers.Dense(2, name="second")
            self.scale = self.add_weight("scale", shape=[1], initializer="ones")

        def call(self, inputs):
            return self.second(self.first(inputs)) * self.scale

    layer = Outer()
    layer(tf.zeros([1, 3]))
    results = [[weight.name for weight in layer.weights], layer.dynamic, layer.metrics]
    del layer.first
    results.append([weight.name for weight in layer.weights])
    del layer.scale
    results.append([weight.name for weight in layer.trainable_weights])
    layer.activity_regularizer = tf.keras.regularizers.L2(0.5)
    return results + attempt(
        lambda: layer.inbound_nodes,
        lambda: layer.outbound_nodes,
        lambda: layer.compute_dtype,
        lambda: layer.get_output_at(0),
        lambda: layer.get_input_at(0),
        lambda: layer.output,
        lambda: delattr(layer, "nothing"),
        lambda: layer.activity_regularizer.get_config(),
    )


def _masks(tf):
    layers = tf.keras.layers
    gaps = examples(2, 3, 2)
    gaps[0, 1] = 0.0
    x = tf.constant(gaps)
    wrapped = layers.TimeDistributed(layers.Dense(2, activity_regularizer="l2"))
    with tf.Session() as session:
        masks = [layers.Masking().compute_mask(x), layers.Masking().compute_mask(x, tf.no_op())]
        same = layers.Identity()(x)
        return [
            session.run(masks),
            session.run(same),
            same,
            wrapped.activity_regularizer is wrapped.layer.activity_regularizer,
            layers.TimeDistributed(layers.Flatten()).activity_regularizer,
        ]


def _functions(tf):
    """Layers of functions that are restored from their configs."""
    kind = tf.keras.layers.Lambda
    layer = kind(tf.abs, arguments={"name": "absolute"}, name="made")
    again = kind.from_config(layer.get_config())
    out = again(tf.constant([-1.0, 2.0]))
    masked = kind(tf.abs, mask=lambda x, mask: mask is None or x)
    return [
        out,
        tf.Session().run(out),
        again.name,
        again.arguments,
        masked.get_config()["mask_type"],
    ]


def _abstract_cells(tf):
    """A cell that a program derives, and the abstract base class."""
    layers = tf.keras.layers
    bare = layers.AbstractRNNCell()

    class Sum(layers.AbstractRNNCell):  # type: ignore[misc,name-defined]  # of the namespace
        """Adds its inputs to its state."""

        @property
        def state_size(self) -> int:
            return 2

        @property
        def output_size(self) -> int:
            return 2

        def call(self, inputs, states):
            total = inputs + states[0]
            return total, [total]

    x = tf.constant(examples(2, 3, 2))
    out = layers.RNN(Sum(), return_sequences=True)(x)
    zeros = Sum().get_initial_state(batch_size=2, dtype=tf.float32)
    cell = layers.GRUCell(2, recurrent_dropout=0.5)
    cell.reset_recurrent_dropout_mask()
    return [
        tf.Session().run([out, zeros]),
        attempt(
            lambda: bare.state_size,
            lambda: bare.output_size,
            lambda: bare.call(x, [x]),
            lambda: bare.get_initial_state(batch_size=2, dtype=tf.float32),
            lambda: Sum().get_initial_state(),
            lambda: Sum().get_initial_state(inputs=x[:, 0]),
        ),
    ]


def _two_ways(tf):
    """The states of a stateful Bidirectional layer, which are set and reset."""
    layers = tf.keras.layers
    x = tf.constant(examples(2, 3, 2))

    def stateful():
        layer = layers.Bidirectional(
            layers.GRU(2, stateful=True, kernel_initializer="ones", recurrent_initializer="ones")
        )
        out = layer(x)
        session = tf.keras.backend.get_session()
        first = session.run(out)
        layer.reset_states([np.ones([2, 2], np.float32)] * 2)
        second = session.run(out)
        layer.reset_states()
        return [np.round(value, 3) for value in (first, second, session.run(out))]

    plain = layers.Bidirectional(layers.GRU(2))
    other = layers.Bidirectional(layers.GRU(2), backward_layer=layers.GRU(2, go_backwards=True))
    return attempt(
        stateful,
        plain.reset_states,
        lambda: plain.reset_states(3),
        lambda: layers.Bidirectional.from_config(other.get_config()).backward_layer.units,
        lambda: layers.Bidirectional(3),
        lambda: (other.build((2, 3, 4)), other.built)[1],
        lambda: layers.Bidirectional(layers.GRU(2), backward_layer=3),
        lambda: layers.Bidirectional(layers.GRU(2), backward_layer=layers.GRU(2)),
    )


def _older_layers(tf):
    """Layers of `tf.layers`: deep copies, deleted attributes, and the graph they are built in."""
    layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer(), name="one")
    twin = copy.deepcopy(layer)
    outs = [layer(tf.ones([1, 2])), twin(tf.ones([1, 3]))]
    layer.mine = 3
    del layer.mine
    with tf.layers.experimental.keras_style_scope():
        tf.layers.experimental.set_keras_style()
        kept = tf.layers.Dense(1, name="kept")
        kept(tf.ones([1, 2]))
    with tf.variable_scope("outer") as scope:
        named = tf.layers.Dense(1, name=scope)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [
            session.run(outs),
            [v.name for v in tf.global_variables()],
            hasattr(layer, "mine"),
            layer.graph,
            twin is layer,
            twin.name,
            kept.kernel.name,
            caught(lambda: named(tf.ones([1, 2])).name),
        ]


def _metrics(tf):
    """The base class of metrics implements neither updates nor results."""
    base = tf.keras.metrics.Metric

    class Bare(base):  # type: ignore[misc,valid-type]  # of the namespace
        """A metric that calls the abstract methods of its base class."""

        def update_state(self, *args, **kwargs):
            return super().update_state(*args, **kwargs)

        def result(self):
            return super().result()

    return attempt(lambda: Bare().update_state(1.0), lambda: Bare().result())


BEHAVIOURS = {
    "rules": _rules,
    "demands": _demands,
    "signatures": _signatures,
    "attributes": _attributes,
    "masks": _masks,
    "functions": _functions,
    "abstract cells": _abstract_cells,
    "two ways": _two_ways,
    "older layers": _older_layers,
    "metrics": _metrics,
}
