"""Programs of the Keras layers Attention, Dot, UpSampling and LocallyConnected."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples, layered
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _attention(tf):
    layers = tf.keras.layers
    query, value = examples(2, 3, 4), examples(2, 5, 4)

    def calls(make: Action, **options):
        def build(q, v):
            layer = make()
            return [
                layer([q, v], **options),
                [w.name for w in layer.weights],
                layer.get_config(),
                layer.compute_output_shape([(2, 3, 4), (2, 5, 4)]),
            ]

        return layered(tf, build, query, value)

    def masked(q, v):
        seen = [[True, True, False]] * 2, [[True, False, True, False, True]] * 2
        masks = [tf.constant(part) for part in seen]
        layer = layers.Attention()
        return [
            layer([q, v, v * 2.0], mask=masks),
            layer.compute_mask([q, v], masks),
            layer([q, v], mask=[None, masks[1]], return_attention_scores=True),
            layers.AdditiveAttention()([q, v], mask=[masks[0], None]),
        ]

    def through(p):
        here = layers.Masking(7.0)(p)
        out = layers.Attention(name="a")([here, here])
        return [out, out._keras_mask]

    one = tf.constant([[[1.0]]])
    wrong = [one, [one], [one] * 4]
    return [
        calls(layers.Attention),
        calls(lambda: layers.Attention(use_scale=True)),
        calls(lambda: layers.Attention(score_mode="concat", use_scale=True)),
        calls(lambda: layers.Attention(score_mode="concat")),
        calls(layers.AdditiveAttention),
        calls(lambda: layers.AdditiveAttention(use_scale=False)),
        calls(lambda: layers.Attention(causal=True)),
        calls(layers.AdditiveAttention, use_causal_mask=True),
        calls(lambda: layers.Attention(dropout=0.5), training=False),
        layered(tf, lambda q: layers.Attention(dropout=0.5)([q, q]).shape, query),
        layered(tf, masked, query, value),
        layered(tf, through, query),
        [attempt(lambda bad=bad: layers.Attention()(bad)) for bad in wrong],
        attempt(lambda: layers.Attention()([one, one], mask=one > 0)),
        attempt(lambda: layers.Attention()([one, one], mask=[None])),
        attempt(lambda: layers.Attention(score_mode="other")),
    ]


def _products(tf):
    layers = tf.keras.layers
    shapes = [
        ((2, 3), (2, 3), 1), ((2, 3), (2, 3), -1), ((2, 3, 4), (2, 4), (2, 1)),
        ((2, 3, 4), (2, 5, 4), 2), ((2, 3, 4), (2, 4, 5), (2, 1)), ((2, 3, 4), (2, 3, 5), 1),
        ((2, 3, 4, 5), (2, 4, 5, 3), (1, 3)), ((2, 4), (2, 3, 4), (1, 2)),
    ]  # fmt: skip

    def products(axes, **options):
        def build(x, y):
            layer = layers.Dot(axes, **options)
            return [layer([x, y]), layer.get_config()]

        return build

    one = tf.constant([[1.0, 2.0]])
    return [
        [
            layered(tf, products(axes), examples(*first), examples(*second))
            for first, second, axes in shapes
        ],
        layered(tf, products(1, normalize=True), examples(2, 3), examples(2, 3)),
        layered(tf, lambda x, y: layers.dot([x, y], axes=1), examples(2, 3), examples(2, 3)),
        layered(
            tf, lambda x, y: tf.keras.backend.batch_dot(x, y), examples(2, 3, 4), examples(2, 4, 3)
        ),
        layers.Dot(1).compute_output_shape([(2, 3), (2, 3)]),
        layers.Dot((2, 1)).compute_output_shape([(2, 3, 4), (2, 4)]),
        *(attempt(lambda bad=bad: layers.Dot(bad)) for bad in ("a", (1, 2, 3), (1, "b"))),
        attempt(lambda: layers.Dot(1)(one)),
        attempt(lambda: layers.Dot(1)([one] * 3)),
        attempt(lambda: layers.Dot(1)([one, tf.constant([[1.0]])])),
    ]


def _larger(tf):
    layers = tf.keras.layers
    pictures, volumes = examples(2, 3, 4, 2), examples(1, 2, 3, 2, 2)

    def layer_of(kind: str, *args, **options):
        def build(p):
            layer = getattr(layers, kind)(*args, **options)
            rank = len(p.shape)
            return [
                layer(p),
                layer.get_config(),
                layer.compute_output_shape((2, *range(3, rank + 2))),
            ]

        return build

    ways = ("nearest", "bilinear", "bicubic", "area")
    return [
        [
            layered(tf, layer_of("UpSampling2D", (2, 3), interpolation=way), pictures)
            for way in ways
        ],
        layered(tf, layer_of("UpSampling2D", data_format="channels_first"), pictures),
        layered(tf, layer_of("UpSampling2D", 2), pictures, shape=(None, None, None, 2)),
        layered(tf, layer_of("UpSampling3D"), volumes),
        layered(tf, layer_of("UpSampling3D", (1, 2, 3), data_format="channels_first"), volumes),
        layered(tf, layer_of("UpSampling3D", 2), volumes, shape=(1, None, 3, None, 2)),
        layered(tf, layer_of("UpSampling1D", 3), examples(2, 3, 4)),
        layered(tf, layer_of("UpSampling1D", 3), examples(2, 3, 4), shape=(2, None, 4)),
        attempt(lambda: layers.UpSampling2D(interpolation="other")),
        attempt(lambda: layers.UpSampling2D((1, 2, 3))),
    ]


def _places(tf):
    layers = tf.keras.layers

    def layer_of(kind: str, *args, **options):
        def build(p):
            layer = getattr(layers, kind)(*args, **options)
            return [
                layer(p),
                [w.name for w in layer.weights],
                layer.get_config(),
                layer.compute_output_shape(p.shape),
            ]

        return build

    lines, pictures = examples(2, 5, 2), examples(2, 4, 5, 2)
    return [
        [
            layered(tf, layer_of("LocallyConnected1D", 3, 2, strides, implementation=way), lines)
            for way in (1, 2, 3)
            for strides in (1, 2)
        ],
        [
            layered(
                tf, layer_of("LocallyConnected1D", 3, 2, padding="same", implementation=way), lines
            )
            for way in (2, 3)
        ],
        [
            layered(
                tf,
                layer_of(
                    "LocallyConnected2D",
                    2,
                    (2, 3),
                    implementation=way,
                    use_bias=False,
                    kernel_regularizer="l2",
                    activation="relu",
                ),
                pictures,
            )
            for way in (1, 2, 3)
        ],
        [
            layered(
                tf,
                layer_of(
                    "LocallyConnected2D",
                    2,
                    2,
                    (2, 1),
                    implementation=way,
                    data_format="channels_first",
                ),
                pictures,
            )
            for way in (1, 2, 3)
        ],
        layered(tf, layer_of("LocallyConnected1D", 3, 2, data_format="channels_first"), lines),
        attempt(lambda: layers.LocallyConnected1D(3, 2, padding="same")),
        layered(tf, layer_of("LocallyConnected2D", 2, 7), pictures),
        layered(tf, layer_of("LocallyConnected2D", 2, 1), pictures, shape=(None, None, 5, 2)),
        layered(tf, layer_of("LocallyConnected1D", 2, 1, implementation=4), lines),
    ]


def _kept(tf):
    layers, backend = tf.keras.layers, tf.keras.backend

    class Own(layers.Layer):
        def __init__(self) -> None:
            super().__init__(name="own")
            self.older = tf.Variable(1.0, use_resource=False, name="older")
            self.newer = tf.Variable(2.0, use_resource=True, name="newer")

    def said(call: Action):
        try:
            return call()
        except ValueError as error:
            return str(error).split(" Received")[0]

    one = tf.ones([2, 3])
    many = layers.Embedding(3, 2, input_length=(None, 2))
    again = layers.Embedding.from_config(layers.Embedding(3, 2).get_config())
    dense = layers.Dense(2, activity_regularizer="l2")
    dense(inputs := backend.variable([[1.0, 2.0]]))
    merges = [layers.Add(), layers.Concatenate()]
    return [
        [v.name for v in Own().weights],
        len(dense.get_losses_for(inputs)),
        [said(lambda m=m: m.compute_mask([one, one], one)) for m in merges],
        [said(lambda m=m: m.compute_mask(one, [one, one])) for m in merges],
        [said(lambda m=m: m.compute_mask([one, one], [one])) for m in merges],
        [m.compute_mask([one, one], [one, one]).shape.as_list() for m in merges],
        layers.Lambda(lambda x: tf.reduce_sum(x, 1)).compute_output_shape((3, 2)),
        layers.Lambda(lambda x: x, output_shape=[(10,), (20,)]).compute_output_shape(
            [(10, 10), (10, 20)]
        ),
        layers.Lambda(lambda x: tf.matmul(*x), dtype="float64").compute_output_shape(
            [(10, 10), (10, 20)]
        ),
        layers.Lambda(lambda x: x, output_shape=lambda shape: shape).compute_output_shape(
            [(10, 10), (10, 20)]
        ),
        [
            layers.Lambda(lambda x: x, output_shape=given).get_config()[name]
            for given in (None, (2, 3), lambda shape: shape)
            for name in ("function_type", "output_shape_type")
        ],
        len(layers.Lambda(lambda x, v: x * v, arguments={"v": tf.Variable(1.0)}).weights),
        many(tf.zeros([3, 4, 2], tf.int32)).shape,
        again(tf.zeros([3, 4, 2], tf.int32)).shape,
        layers.TimeDistributed(layers.TimeDistributed(layers.Dense(2)))(
            tf.ones([2, 3, 4, 5])
        ).shape,
        backend.random_normal_variable((2, 3), 0.0, 1.0).shape,
    ]


BEHAVIOURS = {
    "attention as a layer": _attention,
    "products as a layer": _products,
    "layers that make pictures larger": _larger,
    "layers with kernels of each place": _places,
    "what layers keep, and masks of several inputs": _kept,
}
