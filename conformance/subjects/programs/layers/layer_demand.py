"""Programs of input specs, of the objects that layers track, and of merged shapes."""

from __future__ import annotations

import itertools

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Program

__all__ = ["BEHAVIOURS"]


def _demands(tf):
    """Every input spec, or none, with every input, alone and as one of two."""
    spec = tf.keras.layers.InputSpec
    demands = [
        None,
        spec(ndim=2),
        spec(ndim=3),
        spec(min_ndim=3),
        spec(max_ndim=1),
        spec(max_ndim=2),
        spec(dtype="int32"),
        spec(dtype=tf.float32, min_ndim=2),
        spec(axes={-1: 3}),
        spec(axes={1: 2}),
        spec(axes={0: None}),
        spec(shape=(None, 3)),
        spec(shape=[2, 2]),
        spec(shape=(2, 3), allow_last_axis_squeeze=True),
        spec(optional=True, ndim=1),
        spec(shape=(2, 1), allow_last_axis_squeeze=True),
        spec(ndim=2, name="a"),
    ]
    inputs = [
        tf.zeros([2, 3]),
        tf.zeros([2, 3, 1]),
        tf.zeros([2], tf.int32),
        tf.placeholder(tf.float32),
        tf.placeholder(tf.float32, [None, None]),
        tf.zeros([2, 1]),
    ]

    def held(demand, given):
        layer = tf.keras.layers.Layer(name="one")
        layer.input_spec = demand
        return str(tf.nest.map_structure(lambda tensor: tensor.dtype, layer(given)))

    alone = [lambda d=d, x=x: held(d, x) for d, x in itertools.product(demands, inputs)]
    two = [
        lambda d=d, x=x: held([d, demands[1]], [x, inputs[0]])
        for d, x in itertools.product(demands, inputs)
    ]
    return (
        attempt(*alone),
        attempt(*two),
        attempt(
            lambda: held(demands[1], [inputs[0], inputs[0]]),
            lambda: held([demands[1]] * 2, inputs[0]),
            lambda: held(
                [spec(ndim=2, name="a"), spec(ndim=1, name="b")],
                {"a": inputs[0], "b": inputs[2], "c": inputs[1]},
            ),
            lambda: held(
                [spec(ndim=2, name="a"), spec(ndim=1, name="b")], {"b": inputs[0], "a": inputs[2]}
            ),
            lambda: held([spec(ndim=2, name="a"), spec(ndim=1)], {"b": inputs[0], "a": inputs[2]}),
            lambda: spec(axes={2: 3}, ndim=2),
            lambda: spec(axes={"a": 3}),
            lambda: spec(axes=[1]),
            lambda: spec(axes={1: 3}, max_ndim=1),
            lambda: repr(spec(shape=(None, 2), axes={"1": 2})),
        ),
    )


def _kept(tf):
    """The tracked weights and layers while attributes of a layer are set, changed and deleted."""
    layers = tf.keras.layers

    class Holder(layers.Layer):  # type: ignore[misc,name-defined]  # of the namespace
        """A layer to which attributes are assigned."""

        def tracked_names(self):
            """The names of its weights and layers."""
            return [
                [member.name for member in group]
                for group in (
                    self.trainable_weights,
                    self.non_trainable_weights,
                    self._flatten_layers(),
                )
            ]

    layer = Holder(name="holder")
    one, two = (layers.Dense(2, name=name) for name in ("one", "two"))
    for dense in (one, two):
        dense.build((None, 3))
    a, b = (tf.Variable(1.0, name=name, use_resource=True) for name in "ab")
    fixed = tf.Variable(1.0, name="fixed", trainable=False, use_resource=True)
    steps = [
        ("v", a),
        ("v", a),
        ("v", b),
        ("w", b),
        ("v", None),
        ("v", a),
        ("w", None),
        ("w", fixed),
        ("l", one),
        ("l", two),
        ("m", two),
        ("l", None),
        ("l", [one, two]),
        ("m", {"x": one}),
        ("l", [a, b]),
        ("l", (a, [b])),
        ("l", 3),
        ("v", one),
        ("w", {"x": [fixed, a]}),
        ("n", [one]),
        ("n", [one]),
        ("trainable", False),
        ("v", two),
        ("trainable", True),
        ("weights", 3),
        ("name", "other"),
        ("dtype", "int32"),
        ("losses", []),
    ]

    def step(name: str, value):
        setattr(layer, name, value)
        return layer.tracked_names()

    outcomes = attempt(*(lambda arguments=arguments: step(*arguments) for arguments in steps))
    return outcomes, attempt(
        lambda: layer.count_params(),
        lambda: [layer.get_layer("one")],
        lambda: layer.built,
        lambda: delattr(layer, "v"),
        layer.tracked_names,
        lambda: delattr(layer, "v"),
    )


def _numbers(tf):
    """Dtypes of numbers that Keras converts to its float type."""
    backend, kinds = tf.keras.backend, tf.keras.regularizers
    values = (1, 2.5, [1, 2], np.arange(3), np.float64(2.0), np.array([1.5], np.float16), True)

    def seen(value):
        cast = backend.cast_to_floatx(value)
        return cast.dtype, np.asarray(cast)

    def penalty(regularizer, dtype):
        return regularizer(tf.constant([[1.0, -2.0], [3.0, 0.5]], dtype))

    before = backend.floatx()
    results = []
    try:
        for dtype in ("float32", "float64", "float16"):
            backend.set_floatx(dtype)
            numbers = attempt(*(lambda v=v: seen(v) for v in values))
            results.append(
                [
                    backend.floatx(),
                    numbers,
                    attempt(
                        lambda: backend.cast_to_floatx(tf.constant([1, 2])),
                        lambda: tf.keras.layers.LeakyReLU(0.1).alpha,
                        lambda: tf.keras.layers.ELU(0.1).alpha,
                        lambda: tf.keras.layers.ReLU(2).max_value,
                        lambda: tf.keras.layers.ThresholdedReLU(0.1).theta,
                        *(
                            lambda regularizer=regularizer, dtype=dtype: penalty(regularizer, dtype)
                            for regularizer in (
                                kinds.L1(0.1),
                                kinds.L2(0.1),
                                kinds.L1L2(0.1, 0.3),
                            )
                        ),
                        lambda: kinds.L1L2(1, 3).get_config(),
                        lambda: [kinds.L1(0.3).l1, kinds.L2(0.3).l2],
                        lambda: tf.keras.layers.Dense(1)(tf.zeros([1, 2])),
                        lambda: backend.epsilon(),
                        lambda: backend.zeros([2]).dtype,
                    ),
                ]
            )
    finally:
        backend.set_floatx(before)
    return results, attempt(lambda: backend.set_floatx("int32"), lambda: backend.set_floatx(None))


def _merged(tf):
    """Merging layers with inputs of compatible and of incompatible shapes, in both orders."""
    layers = tf.keras.layers
    pairs = [
        ((2, 3), (2, 3)), ((2, 3), (2, 1)), ((None, 3), (2, 3)), ((2, 3), (4, 3)), ((2, 3), (2, 4)),
        ((2, 3, 4), (2, 4)), ((2, 3, 4), (2, 3)), ((2, 3, 4), (2,)), ((2, None), (2, 3)),
        ((2, 0), (2, 1)), ((2, 0), (2, 3)), ((None, None), (None, 1, None)), ((2,), (2,)),
        ((2, 5, 1, 3), (2, 4, 1)), (None, (2, 3)),
    ]  # fmt: skip
    both = [pair for one, other in pairs for pair in ((one, other), (other, one))]

    def merged(kind, shapes, dtype="float32"):
        given = [tf.placeholder(dtype, shape) for shape in shapes]
        return kind(name="merged")(given)

    def output_shape(kind, shapes):
        return kind().compute_output_shape([tf.TensorShape(shape) for shape in shapes])

    three = [[(2, 3), (2, 1), (1, 3)], [(2, 3)] * 3, [(2, 3)], [], [(2, 3), (2, 1), (2, 5)]]
    kinds = (
        layers.Add,
        layers.Subtract,
        layers.Multiply,
        layers.Average,
        layers.Maximum,
        layers.Minimum,
        layers.Concatenate,
    )
    with tf.Graph().as_default():
        return [
            attempt(*(lambda s=s: merged(layers.Add, s) for s in both)),
            attempt(*(lambda s=s: output_shape(layers.Add, s) for s in [*both, *three])),
            attempt(*(lambda k=k, s=s: merged(k, s) for k in kinds for s in three)),
            attempt(*(lambda s=s: output_shape(layers.Concatenate, s) for s in [*both, *three])),
        ]


def _cases(*programs: Program) -> dict[str, Program]:
    return {program.__name__.removeprefix("_"): program for program in programs}


BEHAVIOURS = _cases(_demands, _kept, _merged, _numbers)
