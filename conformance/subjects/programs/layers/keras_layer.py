"""Programs of `tf.keras.layers`: base class, reshaping, merging, activations, noise, padding."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples, layered

__all__ = ["BEHAVIOURS"]


def _base(tf):
    layers = tf.keras.layers

    class Inner(layers.Layer):
        def __init__(self, units: int, **kwargs) -> None:
            super().__init__(**kwargs)
            self.units = units
            self.dense = layers.Dense(units, kernel_regularizer="l2")
            self.more = [layers.Dense(1), layers.Dense(2)]
            self.own = tf.Variable(1.0, name="own")
            self.fixed = tf.Variable(1.0, name="fixed", trainable=False)

        def call(self, inputs):
            self.add_loss(tf.reduce_mean(inputs), inputs=inputs)
            return self.dense(inputs) * self.own + self.more[0](inputs) + self.fixed

    def build(p):
        layer = Inner(3, name="inner")
        out = layer(p)
        layer.more[1](p)
        lists = [layer.weights, layer.trainable_weights, layer.non_trainable_weights]
        names = [[v.name for v in group] for group in lists]
        layer.trainable = False
        return [
            out,
            names,
            [v.name for v in layer.trainable_variables],
            [v.name for v in layer.non_trainable_variables],
            layer.dense.trainable,
            len(layer.losses),
            layer.losses,
            layer.get_losses_for(p),
            layer.count_params(),
            layer.name,
            layer.dense.name,
            layer.built,
            layer.dtype,
        ]

    return [layered(tf, build, examples(2, 4))]


def _refusals(tf):
    layers = tf.keras.layers

    class Nothing(layers.Layer):
        def call(self, _) -> None:
            return None

    class Bare(layers.Layer):
        def __init__(self) -> None:
            pass

    class Configured(layers.Layer):
        def __init__(self, size: int = 3, **kwargs) -> None:
            super().__init__(**kwargs)
            self.size = size

    one = tf.constant([[1.0]])
    return attempt(
        lambda: Nothing()(one),
        lambda: Bare()(one),
        lambda: layers.Layer()(),
        lambda: layers.Layer(nope=1),
        lambda: layers.Layer().input,
        lambda: layers.Layer().output,
        lambda: layers.Layer().input_shape,
        lambda: layers.Layer().output_shape,
        lambda: layers.Layer().get_input_at(0),
        lambda: layers.Dense(2).count_params(),
        lambda: setattr(layers.Dense(2), "weights", []),
        lambda: Configured(5).get_config(),
        lambda: Configured.from_config({"size": 4}).size,
        lambda: Configured.from_config({"nope": 4}),
        lambda: Configured([1]).get_config()["size"],
        lambda: layers.Layer(name="n").get_config(),
        lambda: layers.Layer(dtype="int32").dtype,
        lambda: layers.Dense(2, input_shape=(3,)).get_config()["batch_input_shape"],
        lambda: layers.Dense(2, input_dim=3).get_config()["batch_input_shape"],
        lambda: layers.Dense(2, input_shape=(3,), batch_size=5).get_config()["batch_input_shape"],
        lambda: layers.Dense(2).set_weights([]),
        lambda: layers.Dense(2).losses,
        lambda: layers.Dense(2, activation="relu").get_config(),
        lambda: layers.Dense(
            2,
            kernel_constraint="max_norm",
            bias_regularizer="l1_l2",
            kernel_initializer="he_normal",
        ).get_config(),
        lambda: layers.Dense.from_config(layers.Dense(4).get_config()).units,
        lambda: setattr(layers.Dense(2), "input_spec", 3),
        lambda: layers.InputSpec(shape=(None, 3), axes={5: 1}),
        lambda: repr(layers.InputSpec(shape=(None, 3), dtype="float32")),
        lambda: layers.InputSpec(min_ndim=2, axes={-1: 3}).get_config(),
        lambda: layers.Dense(2)(tf.constant([[1]])),
        lambda: layers.Dense(2)("a"),
        lambda: layers.Dense(2)(None),
        lambda: layers.Dense(2)([one, one]),
        lambda: layers.Conv2D(2, 3, dtype="float64")(tf.zeros([1, 5, 5, 3])),
    )


def _sparse(tf):
    rows, places = examples(5), [[0, 1], [0, 2], [2, 0], [2, 1], [3, 2]]
    return layered(
        tf, lambda p: tf.keras.layers.Dense(3)(tf.SparseTensor(places, p, [4, 3])), rows, shape=[5]
    )


def _weights(tf):
    layer = tf.keras.layers.Dense(2, weights=[examples(3, 2), examples(2)], name="w")
    out = layer(tf.constant(examples(4, 3)))
    first = layer.get_weights()
    layer.set_weights([first[0] * 2, first[1] + 1])
    backend = tf.keras.backend
    value = backend.get_value(layer.bias)
    backend.set_value(layer.bias, [5.0, 6.0])
    with tf.Session() as session:
        backend.set_session(session)
        named = backend.get_session() is session
    return [
        out.name,
        first,
        value,
        layer.count_params(),
        named,
        backend.learning_phase(),
        backend.floatx(),
        backend.epsilon(),
        backend.image_data_format(),
        attempt(
            lambda: layer.set_weights([first[0]]),
            lambda: backend.set_floatx("a"),
            lambda: backend.set_learning_phase(3),
            lambda: backend.get_uid("a"),
            lambda: backend.get_uid("a"),
            lambda: backend.int_shape(out),
            lambda: backend.ndim(out),
            lambda: backend.dtype(out),
        ),
    ]


def _reshaped(tf):
    layers, x = tf.keras.layers, examples(2, 3, 4)
    return [
        layered(tf, lambda p: layers.Reshape((4, 3))(p), x),
        layered(tf, lambda p: layers.Reshape((-1, 2))(p), x),
        layered(tf, lambda p: layers.Reshape((-1, 2))(p), x, shape=[None, None, 4]),
        layered(tf, lambda p: layers.Permute((2, 1))(p), x),
        layered(tf, lambda p: layers.RepeatVector(3)(p), examples(2, 4)),
        layered(tf, lambda p: layers.Flatten()(p), x),
        layered(tf, lambda p: layers.Lambda(lambda v: v * 2.0)(p), x),
        layered(tf, lambda p: layers.Lambda(lambda v, k: v * k, arguments={"k": 3.0})(p), x),
        layered(tf, lambda p: layers.Activation("tanh")(p), x),
        layered(tf, lambda p: layers.Embedding(5, 3)(p), abs(examples(2, 4)).astype("int32")),
        layered(tf, lambda p: layers.Embedding(5, 3)(p), abs(examples(2, 4))),
        layered(
            tf,
            lambda p: layers.GlobalAveragePooling1D()(layers.Embedding(5, 3, mask_zero=True)(p)),
            abs(examples(2, 4)).astype("int64"),
        ),
        layered(tf, lambda p: layers.Masking()(p), x),
        layered(tf, lambda p: layers.GlobalAveragePooling1D()(layers.Masking()(p)), x),
        attempt(
            lambda: layers.Reshape((5,))(tf.constant(x)),
            lambda: layers.Reshape((-1, -1))(tf.constant(x)),
            lambda: layers.Permute((0, 1)),
            lambda: layers.RepeatVector("a"),
            lambda: layers.Permute((2, 1)).get_config(),
            lambda: layers.Embedding(0, 3),
            lambda: layers.Embedding(3, 2).get_config(),
            lambda: str(layers.Embedding(3, 2).compute_output_shape((None, 4))),
            lambda: str(layers.Reshape((2, -1)).compute_output_shape((None, 3, 4))),
            lambda: str(layers.RepeatVector(2).compute_output_shape((None, 4))),
        ),
    ]


def _merged(tf):
    layers = tf.keras.layers
    one, two = examples(2, 3), examples(2, 3) * 2
    names = ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate")
    return [
        *(
            layered(tf, lambda p, q, name=name: getattr(layers, name)()([p, q]), one, two)
            for name in names
        ),
        *(
            layered(tf, lambda p, q, name=name: getattr(layers, name.lower())([p, q]), one, two)
            for name in names
        ),
        layered(tf, lambda p, q: layers.Add()([p, q]), examples(2, 4, 3), two),
        layered(tf, lambda p, q: layers.Concatenate(axis=1)([p, q]), one, examples(2, 5)),
        attempt(
            lambda: layers.Add()(tf.constant(one)),
            lambda: layers.Add()([tf.constant(one), tf.zeros([3, 3])]),
            lambda: layers.Add()([tf.constant(one), tf.zeros([2, 4])]),
            lambda: layers.Subtract()([tf.constant(one)] * 3),
            lambda: layers.Concatenate()([tf.constant(one), tf.zeros([3, 3])]),
            lambda: layers.Concatenate(axis=1).get_config(),
            lambda: layers.Add().get_config(),
        ),
    ]


def _activated(tf):
    layers, x = tf.keras.layers, examples(3, 4)
    functions = (
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
        "tanh",
    )
    return [
        layered(tf, lambda p: layers.LeakyReLU()(p), x),
        layered(tf, lambda p: layers.ELU(alpha=0.5)(p), x),
        layered(tf, lambda p: layers.ELU()(p), x),
        layered(tf, lambda p: layers.ReLU(max_value=0.5)(p), x),
        layered(tf, lambda p: layers.ReLU(6.0)(p), x),
        layered(tf, lambda p: layers.ReLU(negative_slope=0.1, threshold=0.2)(p), x),
        layered(tf, lambda p: layers.ThresholdedReLU(0.3)(p), x),
        layered(tf, lambda p: layers.PReLU("ones")(p), x),
        layered(tf, lambda p: layers.PReLU(shared_axes=1)(p), examples(2, 3, 4)),
        layered(tf, lambda p: layers.Softmax()(p), x),
        layered(tf, lambda p: layers.Softmax(axis=[1, 2])(p), examples(2, 3, 4)),
        *(
            layered(tf, lambda p, name=name: tf.keras.activations.get(name)(p), x)
            for name in functions
        ),
        attempt(
            lambda: layers.ReLU(-1.0),
            lambda: layers.LeakyReLU(None),
            lambda: layers.LeakyReLU(0.5).get_config(),
            lambda: layers.PReLU().get_config(),
            lambda: layers.ThresholdedReLU(-1.0),
            lambda: tf.keras.activations.get(3),
            lambda: tf.keras.activations.get(None).__name__,
            lambda: tf.keras.activations.serialize(tf.keras.activations.relu),
            lambda: tf.keras.activations.get("nope"),
            lambda: tf.keras.activations.softmax(tf.constant([1.0])),
        ),
    ]


def _disturbed(tf):
    layers, x = tf.keras.layers, examples(3, 4, 2)
    return [
        layered(tf, lambda p: layers.Dropout(0.4)(p, training=True), x),
        layered(tf, lambda p: layers.Dropout(0.4, seed=3)(p), x),
        layered(tf, lambda p: layers.GaussianNoise(0.4)(p, training=True), x),
        layered(tf, lambda p: layers.GaussianNoise(0.4)(p), x),
        layered(tf, lambda p: layers.GaussianDropout(0.4)(p, training=True), x),
        layered(tf, lambda p: layers.AlphaDropout(0.4)(p, training=True), x),
        layered(tf, lambda p: layers.SpatialDropout1D(0.4)(p, training=True), x),
        layered(tf, lambda p: layers.SpatialDropout2D(0.4)(p, training=True), examples(2, 3, 3, 2)),
        layered(tf, lambda p: layers.ActivityRegularization(0.1, 0.2)(p), x),
        attempt(
            lambda: layers.GaussianNoise(0.4).get_config(),
            lambda: layers.AlphaDropout(0.4).get_config(),
            lambda: layers.SpatialDropout2D(0.4, data_format="a"),
            lambda: layers.Dropout(0.5, rng_type="a"),
            lambda: layers.Dropout(-1),
        ),
    ]


def _margins(tf):
    layers = tf.keras.layers
    sequence, image, volume = examples(2, 5, 3), examples(2, 5, 4, 3), examples(1, 4, 4, 4, 2)
    return [
        layered(
            tf,
            lambda p: [
                layers.ZeroPadding1D()(p),
                layers.ZeroPadding1D((0, 2))(p),
                layers.Cropping1D()(p),
                layers.Cropping1D((1, 0))(p),
                layers.UpSampling1D(3)(p),
            ],
            sequence,
        ),
        layered(
            tf,
            lambda p: [
                layers.ZeroPadding2D()(p),
                layers.ZeroPadding2D((1, 2))(p),
                layers.ZeroPadding2D(((0, 1), (2, 3)), data_format="channels_first")(p),
                layers.Cropping2D(1)(p),
                layers.Cropping2D(((1, 0), (0, 1)))(p),
                layers.Cropping2D()(p),
            ],
            image,
        ),
        layered(
            tf,
            lambda p: [
                layers.ZeroPadding3D()(p),
                layers.ZeroPadding3D(2, data_format="channels_first")(p),
                layers.Cropping3D()(p),
                layers.Cropping3D(((1, 0), (0, 1), (1, 1)))(p),
            ],
            volume,
        ),
        attempt(
            lambda: layers.ZeroPadding2D((1, 2, 3)),
            lambda: layers.Cropping2D("a"),
            lambda: layers.ZeroPadding1D(-1),
            lambda: layers.Cropping1D(3)(tf.zeros([1, 4, 2])),
            lambda: layers.ZeroPadding2D().get_config(),
            lambda: layers.Cropping1D().get_config(),
            lambda: str(layers.ZeroPadding2D().compute_output_shape([None, 3, None, 2])),
            lambda: str(layers.Cropping2D(1).compute_output_shape([None, 3, None, 2])),
        ),
    ]


def _functions(tf):
    K = tf.keras.backend  # noqa: N806 - as programs call it
    x, y = examples(3, 4), abs(examples(3, 4)) + 0.5
    calls = (
        lambda p, q: [K.abs(p), K.exp(p), K.log(q), K.sqrt(p), K.square(p), K.sign(p), K.sin(q)],
        lambda p, q: [K.sum(p), K.mean(p, axis=1), K.max(p, 0, True), K.min(p), K.prod(q, axis=-1)],
        lambda p, q: [
            K.any(p > 0.0),
            K.all(p > 0.0, axis=1),
            K.mean(q > 1.0),
            K.argmax(p),
            K.argmin(p, 0),
        ],
        lambda p, q: [
            K.greater(p, q),
            K.less_equal(p, q),
            K.equal(p, q),
            K.maximum(p, q),
            K.minimum(p, q),
            K.pow(q, 2.0),
        ],
        lambda p, q: [
            K.dot(p, K.transpose(q)),
            K.permute_dimensions(p, (1, 0)),
            K.flatten(p),
            K.batch_flatten(K.expand_dims(p)),
            K.reshape(p, (4, 3)),
            K.repeat(p, 2),
        ],
        lambda p, q: [
            K.concatenate([p, q]),
            K.concatenate([p, q], axis=0),
            K.stack([p, q]),
            K.tile(p, [1, 2]),
            K.reverse(p, 1),
            K.squeeze(K.expand_dims(p), 2),
        ],
        lambda p, q: [
            K.cumsum(p),
            K.cumprod(q, axis=1),
            K.l2_normalize(p, axis=1),
            K.one_hot(tf.constant([0, 2]), 3),
            K.gather(p, tf.constant([1, 0])),
        ],
        lambda p, q: [
            K.clip(p, -0.5, 0.5),
            K.cast(p, "int32"),
            K.cast_to_floatx(p),
            K.stop_gradient(q),
            K.temporal_padding(K.expand_dims(p)),
        ],
        lambda p, q: [
            K.switch(K.sum(p) > 0.0, p, q),
            K.in_train_phase(p, q),
            K.in_test_phase(p, q, training=1),
            K.relu(p, 0.1),
            K.elu(p),
            K.softmax(p),
        ],
        lambda p, q: [
            K.zeros((2, 3)) + K.ones((2, 3)),
            K.variable([1.0, 2.0], name="v"),
            K.constant(3.0),
            K.gradients(K.sum(p * q), [p])[0],
        ],
        lambda p, q: [
            p,
            q,
            K.random_uniform((2,), seed=3),
            K.random_normal((2,), 1.0, seed=3),
            K.truncated_normal((2,), stddev=2.0, seed=3),
        ],
    )
    return [layered(tf, call, x, y) for call in calls]


BEHAVIOURS = {
    "base": _base,
    "refusals": _refusals,
    "weights": _weights,
    "sparse": _sparse,
    "reshaped": _reshaped,
    "merged": _merged,
    "activated": _activated,
    "disturbed": _disturbed,
    "margins": _margins,
    "functions": _functions,
}
