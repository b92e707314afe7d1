"""Programs of `tf.layers`: dense layers, dropout, flattening, scopes and collections."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples, layered

__all__ = ["BEHAVIOURS"]


def _dense(tf):
    x = examples(2, 4)
    keras = tf.keras
    return [
        layered(tf, lambda p: tf.layers.dense(p, 3), x),
        layered(tf, lambda p: tf.layers.dense(p, 3, activation=tf.nn.relu, use_bias=False), x),
        layered(tf, lambda p: tf.layers.dense(p, 3, tf.nn.tanh, name="mine"), x),
        layered(
            tf,
            lambda p: tf.layers.dense(
                p,
                2,
                kernel_initializer=tf.ones_initializer(),
                bias_initializer=tf.constant_initializer(0.5),
            ),
            x,
        ),
        layered(tf, lambda p: [tf.layers.dense(p, 3), tf.layers.dense(p, 3)], x),
        layered(
            tf,
            lambda p: tf.layers.dense(
                p,
                3,
                kernel_regularizer=keras.regularizers.l2(0.1),
                bias_regularizer=keras.regularizers.l1(0.2),
                activity_regularizer=keras.regularizers.l1_l2(0.1, 0.2),
            ),
            x,
        ),
        layered(tf, lambda p: tf.layers.dense(p, 3, kernel_regularizer=tf.nn.l2_loss), x),
        layered(tf, lambda p: tf.layers.dense(p, 3, trainable=False), x),
        layered(tf, lambda p: tf.layers.dense(p, 3), examples(2, 5, 4)),
        layered(tf, lambda p: tf.layers.dense(p, 3), examples(2, 4).astype("float64")),
        layered(
            tf,
            lambda p: tf.gradients(
                tf.layers.dense(p, 3, activation=tf.nn.sigmoid), tf.trainable_variables()
            ),
            x,
        ),
        layered(tf, lambda p: tf.gradients(tf.layers.dense(p, 3), p), examples(2, 5, 4)),
        layered(
            tf,
            lambda p: (
                tf.layers.dense(p, 3, kernel_constraint=tf.abs)
                and [v.constraint is tf.abs for v in tf.global_variables()]
            ),
            x,
        ),
    ]


def _dense_refused(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    return attempt(
        lambda: tf.layers.dense(tf.placeholder(tf.float32, [None, None]), 3),
        lambda: tf.layers.dense(tf.placeholder(tf.float32, [4]), 3),
        lambda: tf.layers.dense(tf.placeholder(tf.float32), 3),
        lambda: tf.layers.dense(tf.placeholder(tf.int32, [None, 4]), 3),
        lambda: tf.layers.dense(x, -3),
        lambda: tf.layers.Dense(3)(tf.placeholder(tf.float32, [None])),
        lambda: tf.layers.Dense(3, nope=1),
        lambda: tf.layers.Dense(3, kernel_initializer="nope"),
        lambda: tf.layers.Dense(3, activation="nope"),
        lambda: tf.layers.Dense(3, kernel_regularizer=3),
        lambda: tf.layers.dense(x, 3, name="a") is None or tf.layers.dense(x, 3, name="a"),
        lambda: tf.layers.dense(x, 3, name="b", reuse=True),
        lambda: tf.layers.Dense(3).scope_name,
        lambda: tf.layers.Dense(3).count_params(),
        lambda: tf.layers.Dense(3).input,
        lambda: tf.layers.Dense(3)(),
        lambda: tf.layers.dense(x),
        lambda: tf.layers.Dense(),
    )


def _scopes(tf):
    x = examples(2, 4)

    def shared(p):
        first = tf.layers.dense(p, 2, name="one")
        with tf.variable_scope("outer"):
            second = tf.layers.dense(p, 2, name="one")
            third = tf.layers.dense(p, 2)
        with tf.variable_scope("outer", reuse=True):
            fourth = tf.layers.dense(p, 2, name="one")
        return [first, second, third, fourth, tf.layers.dense(p, 2, name="one", reuse=True)]

    def defaults(p):
        with tf.variable_scope(
            "s",
            initializer=tf.ones_initializer(),
            regularizer=lambda v: tf.reduce_sum(v),
            use_resource=True,
        ):
            return tf.layers.dense(p, 2)

    def given(p):
        def getter(get, name: str, *args, **kwargs):
            return get(name, *args, **kwargs) * 2.0

        with tf.variable_scope("s", custom_getter=getter):
            return tf.layers.dense(p, 2)

    def called_twice(p):
        layer = tf.layers.Dense(2, name="d")
        with tf.name_scope("n"):
            one = layer(p)
        return [one, layer(p), layer.apply(p), tf.add_n(layer.variables[:1] * 2)]

    def parted(p):
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
            return tf.layers.dense(p, 2, kernel_regularizer=tf.nn.l2_loss)

    def opened(p):
        with tf.variable_scope("s") as scope:
            pass
        return [tf.layers.Dense(2, _scope=scope)(p), tf.layers.Dense(2, name="q")(p, scope="t")]

    return [
        layered(tf, build, x) for build in (shared, defaults, given, called_twice, parted, opened)
    ]


def _state(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    layer = tf.layers.Dense(3, activation=tf.nn.relu, kernel_regularizer=tf.nn.l2_loss)
    names = [layer.name, layer.dtype, layer.built, layer.trainable]
    layer(x)
    frozen = tf.layers.Dense(3, trainable=False)
    frozen(x)
    layer.trainable, lists = False, []
    for one in (layer, frozen):
        lists += [
            [v.name for v in got]
            for got in (
                one.weights,
                one.trainable_weights,
                one.non_trainable_weights,
                one.variables,
                one.trainable_variables,
                one.non_trainable_variables,
            )
        ]
    plain = tf.layers.Dense(3, name="plain", dtype=tf.float16)
    return [
        names,
        layer.dtype,
        layer.built,
        layer.scope_name,
        lists,
        layer.count_params(),
        layer.losses,
        layer.updates,
        plain.get_config(),
        layer.get_losses_for(None),
        str(layer.compute_output_shape([None, 4])),
        plain.dtype,
        plain.scope_name == "x" if plain.built else None,
        repr(layer.input_spec),
        [sorted(tf.layers.Dense.from_config(plain.get_config()).get_config())],
    ]


def _dropout(tf):
    x = examples(3, 8)
    return [
        layered(tf, lambda p: tf.layers.dropout(p), x),
        layered(tf, lambda p: tf.layers.dropout(p, 0.3, training=True), x),
        layered(tf, lambda p: tf.layers.dropout(p, 0.3, training=True, seed=5), x),
        layered(tf, lambda p: tf.layers.dropout(p, 0.5, noise_shape=[None, 1], training=True), x),
        layered(tf, lambda p: tf.layers.dropout(p, 0.0, training=True), x),
        layered(tf, lambda p, t: tf.layers.dropout(p, 0.4, training=t[0] > 0), x, examples(2)),
        layered(tf, lambda p: tf.layers.dropout(p, tf.constant(0.6), training=True), x),
        layered(tf, lambda p: tf.layers.Dropout(0.5, name="d")(p, training=tf.constant(True)), x),
        attempt(
            lambda: tf.layers.dropout(tf.constant(1.0), 1.5),
            lambda: tf.layers.dropout(tf.constant([1.0]), 0.5, training="x"),
            lambda: tf.layers.Dropout(0.5).get_config(),
        ),
    ]


def _flatten(tf):
    x = examples(2, 3, 4)
    return [
        layered(tf, tf.layers.flatten, x),
        layered(tf, lambda p: tf.layers.flatten(p, name="f"), x, shape=[2, None, 4]),
        layered(tf, tf.layers.flatten, x, shape=[None, None, 4]),
        layered(tf, tf.layers.flatten, x, shape=[2, 3, 4]),
        layered(tf, tf.layers.flatten, examples(5)),
        layered(tf, lambda p: tf.layers.flatten(p, data_format="channels_first"), x),
        layered(tf, tf.layers.flatten, x, shape=None),
        attempt(
            lambda: tf.layers.flatten(tf.constant(1.0)),
            lambda: tf.layers.flatten(tf.placeholder(tf.float32)),
            lambda: tf.layers.Flatten(data_format="nope"),
            *(
                lambda s=shape: str(tf.layers.Flatten().compute_output_shape(s))
                for shape in ([None, 3, 4], [2, 1, 3], [2, 0, 3])
            ),
            lambda: str(tf.layers.Flatten().compute_output_shape([2, None])),
        ),
    ]


def _own_layers(tf):
    class Scaled(tf.layers.Layer):
        def build(self, _) -> None:
            self.w = self.add_weight("w", shape=[], initializer=tf.ones_initializer())
            self.count = self.add_variable(
                "count", shape=[], initializer=tf.zeros_initializer(), trainable=False
            )
            self.built = True

        def call(self, inputs):
            self.add_loss(tf.reduce_sum(inputs), inputs=True)
            self.add_loss(self.w * 1.0)
            self.add_update(tf.assign_add(self.count, 1.0))
            return inputs * self.w

    class Scoped(tf.layers.Layer):
        def call(self, inputs, scope=None):
            return tf.identity(inputs, name=scope.name.replace("/", "_"))

    def build(p):
        layer = Scaled(name="s")
        return [
            layer(p),
            layer(p),
            layer.losses,
            layer.updates,
            layer.get_losses_for(p),
            layer.get_losses_for(None),
            layer.get_updates_for(p),
            layer.get_updates_for(None),
            Scaled()(p),
            Scoped()(p),
        ]

    return [
        layered(tf, build, examples(2, 2)),
        attempt(
            lambda: tf.layers.Layer(name="l").apply(tf.constant(1.0)),
            lambda: tf.layers.Layer().name,
            lambda: tf.layers.Layer().name,
            lambda: tf.layers.Layer().get_config(),
            lambda: tf.layers.Layer(trainable=False).trainable,
            lambda: tf.layers.Layer(nope=3),
            lambda: tf.layers.Layer().add_weight("a"),
            lambda: tf.layers.Layer().add_weight("a", [], nope=1),
            lambda: tf.layers.Layer().add_weight("b", [2]).name,
            lambda: tf.layers.Layer().add_weight("b", [2], initializer="zeros").initial_value,
            lambda: tf.layers.Layer().add_weight("i", [2], dtype=tf.int32),
            lambda: tf.layers.Layer().compute_output_shape([1]),
        ),
    ]


def _styles(tf):
    def build(p):
        with tf.layers.experimental.keras_style_scope():
            one = tf.layers.Dense(2, name="same")
            two = tf.layers.Dense(2, name="same")
        return [one(p), two(p), tf.layers.Dense(2)(p)]

    def refused(**options):
        with tf.layers.experimental.keras_style_scope():
            return tf.layers.Dense(2, **options)

    return [
        layered(tf, build, examples(2, 3)),
        attempt(
            lambda: refused(_scope="a"),
            lambda: refused(_reuse=True),
            lambda: refused()(tf.constant([[1.0]]), scope="s"),
            lambda: refused(name="d").name,
        ),
    ]


BEHAVIOURS = {
    "dense": _dense,
    "dense-refused": _dense_refused,
    "scopes": _scopes,
    "state": _state,
    "dropout": _dropout,
    "flatten": _flatten,
    "own-layers": _own_layers,
    "styles": _styles,
}
