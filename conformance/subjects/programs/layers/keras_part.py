"""Programs of the constraints, regularizers, activations and initializers of Keras."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import caught, run

__all__ = ["BEHAVIOURS"]

_WEIGHTS = np.array([[3.0, -4.0, 0.0], [0.0, 1.0, -2.0]], np.float32)


def _constraints(tf):
    kinds = tf.keras.constraints
    constraints = [
        kinds.MaxNorm(2.0),
        kinds.MaxNorm(max_value=1.0, axis=1),
        kinds.NonNeg(),
        kinds.UnitNorm(),
        kinds.UnitNorm(axis=[0, 1]),
        kinds.MinMaxNorm(0.5, 2.0),
        kinds.MinMaxNorm(1.0, 1.5, rate=0.5, axis=1),
    ]
    return [
        [run(tf, constraint(tf.constant(_WEIGHTS))), constraint.get_config()]
        for constraint in constraints
    ]


def _constraints_by_name(tf):
    get = tf.keras.constraints.get
    return [
        *(type(get(name)).__name__ for name in ("max_norm", "non_neg", "UnitNorm", "MinMaxNorm")),
        get(None),
        caught(lambda: get("no_such_constraint")),
        caught(lambda: get(3)),
        run(tf, get("max_norm")(tf.constant(_WEIGHTS))),
    ]


def _regularizers(tf):
    kinds = tf.keras.regularizers
    regularizers = [
        kinds.l1(0.1),
        kinds.l2(0.1),
        kinds.l1_l2(0.1, 0.2),
        kinds.L1L2(l1=0.5),
        kinds.L1L2(l2=0.5),
        kinds.get("l2"),
    ]
    values = [run(tf, regularizer(tf.constant(_WEIGHTS))) for regularizer in regularizers]
    return [values, kinds.get(None), caught(lambda: kinds.get("l7"))]


def _regularized_layers(tf):
    layer = tf.keras.layers.Dense(
        2,
        kernel_initializer="ones",
        kernel_regularizer=tf.keras.regularizers.l2(0.1),
        bias_regularizer=tf.keras.regularizers.l1(0.1),
        activity_regularizer=tf.keras.regularizers.l1_l2(0.01, 0.02),
        kernel_constraint=tf.keras.constraints.MaxNorm(1.0),
    )
    layer(tf.constant(_WEIGHTS))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(layer.losses), layer.kernel_constraint.get_config()]


def _activations(tf):
    names = (
        "elu",
        "exponential",
        "hard_sigmoid",
        "linear",
        "relu",
        "selu",
        "sigmoid",
        "softmax",
        "softplus",
        "softsign",
        "swish",
        "tanh",
    )
    activations = tf.keras.activations
    values = [run(tf, activations.get(name)(tf.constant(_WEIGHTS))) for name in names]
    more = [
        activations.relu(tf.constant(_WEIGHTS), alpha=0.1, max_value=2.0, threshold=0.5),
        activations.elu(tf.constant(_WEIGHTS), alpha=0.5),
        activations.softmax(tf.constant(_WEIGHTS), axis=0),
    ]
    return [
        values,
        run(tf, more),
        [activations.serialize(activations.get(name)) for name in ("relu", "tanh")],
        caught(lambda: activations.get("no_such_activation")),
        caught(lambda: activations.softmax(tf.constant([1.0, 2.0]))),
    ]


def _initializers(tf):
    kinds = tf.keras.initializers
    fixed = [kinds.Zeros(), kinds.Ones(), kinds.Constant(3.0), kinds.Identity(2.0)]
    drawn = [
        kinds.RandomNormal(1.0, 2.0, seed=1),
        kinds.RandomUniform(-1.0, 1.0, seed=1),
        kinds.TruncatedNormal(0.0, 0.5, seed=1),
        kinds.VarianceScaling(seed=1),
        kinds.Orthogonal(seed=1),
        kinds.glorot_uniform(seed=1),
        kinds.he_normal(seed=1),
        kinds.lecun_uniform(seed=1),
    ]
    values = [run(tf, initializer([3, 3])) for initializer in fixed]
    shapes = [
        [run(tf, initializer([4, 4])).shape, initializer([2, 2]).dtype.name]
        for initializer in drawn
    ]
    configs = [initializer.get_config() for initializer in (*fixed, *drawn)]
    return [values, shapes, configs, caught(lambda: kinds.get("no_such_initializer"))]


BEHAVIOURS = {
    "constraints": _constraints,
    "constraints by name": _constraints_by_name,
    "regularizers": _regularizers,
    "losses of regularized layers": _regularized_layers,
    "activations": _activations,
    "initializers": _initializers,
}
