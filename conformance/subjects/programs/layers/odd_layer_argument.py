"""Programs of layers with unusual arguments: dtypes, flags, custom classes, limits."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _value(tf, tensor):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return tensor.dtype, tensor.shape, session.run(tensor)


def _constraints(tf):
    """Constraints of weights of several dtypes, along other axes."""
    kinds = tf.keras.constraints
    values = (np.arange(12.0).reshape(3, 4) - 5) / 4
    constraints = (
        kinds.MaxNorm(0.5),
        kinds.MaxNorm(1.5, axis=1),
        kinds.NonNeg(),
        kinds.UnitNorm(),
        kinds.UnitNorm(axis=[0, 1]),
        kinds.MinMaxNorm(0.5, 1.0, rate=0.5, axis=1),
        kinds.MinMaxNorm(),
        kinds.MinMaxNorm(1.0, 2.0),
        kinds.MaxNorm(0.0),
        kinds.UnitNorm(axis=-1),
    )

    def constrained(kind, dtype: str):
        with tf.Graph().as_default():
            return _value(tf, kind(tf.constant(values, dtype))), kind.get_config()

    return attempt(
        *(
            lambda k=kind, d=dtype: constrained(k, d)
            for kind in constraints
            for dtype in ("float32", "float64", "float16", "int32")
        )
    )


def _flags(tf):
    """Members of layers before and after they are built."""
    layers = tf.keras.layers
    constructors = (
        lambda: layers.Attention(),
        lambda: layers.AdditiveAttention(),
        lambda: layers.LayerNormalization(),
        lambda: layers.LayerNormalization(axis=[1, 2]),
        lambda: layers.BatchNormalization(),
        lambda: layers.BatchNormalization(axis=1, fused=False),
        lambda: layers.Dense(2),
        lambda: layers.Masking(),
        lambda: layers.Dropout(0.5),
        lambda: layers.GRU(2),
        lambda: layers.LSTM(2, stateful=False),
        lambda: layers.SimpleRNN(2),
        lambda: layers.Bidirectional(layers.LSTM(2)),
        lambda: layers.TimeDistributed(layers.Dense(2)),
        lambda: layers.Conv1D(2, 1),
        lambda: layers.MaxPooling1D(),
        lambda: layers.Flatten(),
        lambda: layers.Activation("relu"),
        lambda: layers.Add(),
        lambda: layers.GaussianNoise(0.5),
        lambda: layers.Permute((1, 2)),
        lambda: layers.Embedding(4, 2),
        lambda: layers.ActivityRegularization(0.5),
        lambda: layers.PReLU(),
        lambda: layers.ELU(),
        lambda: layers.RepeatVector(2),
        lambda: layers.Softmax(),
        lambda: layers.UpSampling1D(2),
    )
    names = (
        "supports_masking",
        "stateful",
        "trainable",
        "built",
        "dynamic",
        "dtype",
        "name",
        "trainable_weights",
        "non_trainable_weights",
        "losses",
        "updates",
    )

    def facts_of(make):
        layer = make()
        facts = attempt(*(lambda n=name: getattr(layer, n) for name in names))
        config = {
            name: list(value) if isinstance(value, list) else value  # TensorFlow's list wrapper
            for name, value in layer.get_config().items()
        }
        return type(layer).__name__, facts, config

    return attempt(*(lambda m=make: facts_of(m) for make in constructors))


def _backend(tf):
    """Constants and casts of the Keras backend, with a dtype and without."""
    k = tf.keras.backend
    values = (1, 2.5, True, [1, 2], [1.0, 2.5], np.int64(3), np.float64(4), np.ones(2, np.int8))
    return attempt(
        *(
            lambda v=value, d=dtype: k.constant(v, dtype=d)
            for value in values
            for dtype in (None, "int32", "float64", "float16")
        ),
        lambda: k.constant(3, shape=[2, 2]),
        lambda: k.constant(3, name="named"),
        *(
            lambda v=value, d=dtype: k.cast(v, d)
            for value in ([1, 2], [1.5, -2.5])
            for dtype in ("int32", "float64", "bool")
        ),
        *(
            lambda d=dtype: (k.zeros([2], d).dtype, k.ones([2], d).dtype, k.eye(2, d).dtype)
            for dtype in (None, "int32", "float64")
        ),
        *(lambda v=value: k.cast_to_floatx(v) for value in ([1, 2], np.ones(2, np.float64), 3)),
        lambda: k.arange(3),
        lambda: k.arange(1, 6, 2, "float32"),
        lambda: k.arange(5, 2),
        lambda: k.ndim(k.placeholder((2, None))),
        lambda: k.int_shape(k.placeholder((2, None))),
        lambda: k.placeholder(ndim=3),
        lambda: k.placeholder(dtype="int32", name="named"),
        lambda: k.dtype(k.placeholder((2,), dtype="float64")),
        lambda: k.is_sparse(k.constant(1)),
        lambda: (k.epsilon(), k.floatx(), k.image_data_format()),
    )


class _Doubling:
    """The class of a layer that doubles its inputs."""

    def __init__(self, tf) -> None:
        class Doubling(tf.keras.layers.Layer):
            def call(self, inputs, training=None):
                return inputs * 2.0 if training is None else inputs

        self.kind = Doubling


def _configured(tf):
    """Wrapped layers that are restored from their configs."""
    layers, own = tf.keras.layers, _Doubling(tf).kind

    def again(layer, custom=None):
        config = layer.get_config()
        restored = type(layer).from_config(config, **({"custom_objects": custom} if custom else {}))
        return type(restored).__name__, restored.get_config() == config, sorted(config)

    return attempt(
        lambda: again(layers.Bidirectional(layers.GRU(2, return_sequences=True))),
        lambda: again(
            layers.Bidirectional(layers.GRU(2), backward_layer=layers.GRU(2, go_backwards=True))
        ),
        lambda: again(layers.Bidirectional(layers.LSTM(2), merge_mode="sum")),
        lambda: again(layers.TimeDistributed(layers.Dense(2))),
        lambda: again(layers.TimeDistributed(own())),
        lambda: again(layers.TimeDistributed(own()), {"Doubling": own}),
        lambda: again(layers.Dense(2, activation="relu", kernel_regularizer="l2")),
        lambda: again(layers.Dense(2, kernel_constraint=tf.keras.constraints.MaxNorm(0.5))),
        lambda: again(layers.BatchNormalization(axis=2)),
        lambda: tf.keras.layers.deserialize({"class_name": "Dense", "config": {"units": 2}}).units,
        lambda: tf.keras.layers.deserialize({"class_name": "Nothing", "config": {}}),
        lambda: (
            tf.keras.layers.deserialize(
                {"class_name": "Doubling", "config": {}}, {"Doubling": own}
            ).name
        ),
        lambda: tf.keras.layers.serialize(layers.Dense(2, name="named")),
    )


def _refused(tf):
    """Arguments that layers refuse, and the smallest and the largest that they accept."""
    layers, x = tf.keras.layers, tf.zeros([2, 3, 4])
    calls = (
        *(lambda n=n: layers.BatchNormalization(virtual_batch_size=n) for n in (0, -1, 1)),
        *(lambda r=r: layers.Dropout(r)(x, training=True).shape for r in (0, 0.0, 1, 1.0, 1.5, -1)),
        *(lambda n=n: layers.Dense(n)(x).shape for n in (0, -1, 1, 2.5, "2")),
        *(lambda a=a: layers.BatchNormalization(axis=a)(x).shape for a in (0, 1, -1, 3, [1, 2])),
        *(
            lambda a=a: layers.LayerNormalization(axis=a)(x).shape
            for a in (0, 1, -1, 3, [1, 2], [1, 1])
        ),
        *(lambda d=d: layers.Permute(d)(x).shape for d in ((2, 1), (1, 2), (0, 1), (1,), (1, 3))),
        *(
            lambda s=s: layers.Reshape(s)(x).shape
            for s in ((12,), (-1,), (-1, -1), (5,), (2, -1), ())
        ),
        *(lambda n=n: layers.RepeatVector(n)(tf.zeros([2, 3])).shape for n in (0, 1, 2, "2")),
        *(lambda p=p: layers.ZeroPadding1D(p)(x).shape for p in (0, 1, (1, 2), (1, 2, 3), -1)),
        *(lambda p=p: layers.Cropping1D(p)(x).shape for p in (0, 1, (1, 2), (2, 1), 2)),
        *(lambda n=n: layers.Embedding(n, 2)(tf.zeros([2], tf.int32)).shape for n in (0, 1, -1)),
        *(lambda u=u: layers.GRU(u)(x).shape for u in (0, 1, -1)),
        *(
            lambda r=r: layers.GRU(2, recurrent_dropout=r)(x, training=True).shape
            for r in (0, 0.5, 1, 2)
        ),
        *(lambda f=f: layers.Conv1D(f, 1)(x).shape for f in (0, 1, 2.5, None)),
        *(lambda k=k: layers.Conv1D(2, k)(x).shape for k in (0, 3, 4, (2,), (1, 2))),
        *(
            lambda m=m: layers.Bidirectional(layers.GRU(2), merge_mode=m)(x)
            for m in (None, "sum", "mul", "ave", "concat", "other")
        ),
        *(
            lambda k=k: getattr(layers, k)()([x, x]).shape
            for k in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate")
        ),
        *(
            lambda k=k: getattr(layers, k)()([x]).shape
            for k in ("Add", "Subtract", "Multiply", "Concatenate", "Maximum")
        ),
        *(lambda a=a: layers.Dot(a)([x, x]).shape for a in (0, 1, 2, -1, (1, 2), (2, 1), (1, 1))),
        *(
            lambda t=t: tf.layers.MaxPooling1D(2, 2, **t).trainable
            for t in ({}, {"trainable": True}, {"name": "named"})
        ),
        lambda: tf.layers.Dense(2).trainable,
        lambda: tf.layers.AveragePooling2D(2, 2).trainable,
        lambda: _value(tf, layers.ELU(alpha=-1.0)(tf.constant([[-1.0, 1.0]]))),
        *(
            lambda k=k: k(3, dtype=tf.float64)(tf.ones([1, 2]))
            for k in (layers.Dense, tf.layers.Dense)
        ),
        lambda: (tf.layers.dense(x, 3), tf.layers.dense(x, 3, reuse=True)),
        *(
            lambda m=m: _value(tf, layers.Concatenate().compute_mask([tf.ones([1, 2, 3])] * 2, m))
            for m in (
                [tf.constant([[True, False]]), tf.constant([[True, True]])],
                [tf.constant([[True, False]]), None],
            )
        ),
        lambda: tf.keras.backend.random_normal_variable((2,), dtype="int32"),
        lambda: tf.keras.backend.random_uniform_variable((2,), 0.0, dtype="bool"),
    )
    return attempt(*calls)


BEHAVIOURS = {
    "constraints": _constraints,
    "flags": _flags,
    "backend": _backend,
    "configured": _configured,
    "refused": _refused,
}
