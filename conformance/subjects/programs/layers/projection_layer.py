"""Programs of layers that project any axes, and of attention of several heads, by their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples, projections

__all__ = ["BEHAVIOURS"]


def _computed(tf, layer, *inputs, **options):
    """What a layer computes once its weights are known numbers, and the shapes of these."""
    made = layer(*(tf.constant(value) for value in inputs), **options)
    shapes = [weight.shape.as_list() for weight in layer.weights]
    with tf.Session() as session:
        for number, weight in enumerate(layer.weights):
            session.run(weight.assign(examples(*shapes[number]) + np.float32(number)))
        values = session.run(tf.nest.flatten(made))
    return [shapes, [np.round(value.astype(np.float64), 3) for value in values]]


def _projections(tf):
    kind = tf.keras.layers.EinsumDense
    layer = kind("ab,bc->ac", 3, bias_axes="c")
    layer.build((None, 4))
    return [
        attempt(
            *(
                lambda row=row: _computed(tf, kind(row[1], **row[2]), row[0])
                for row in projections()
            )
        ),
        layer.compute_output_shape((None, 4)).as_list(),
        layer.get_config()["bias_axes"],
    ]


def _heads(tf):
    kind = tf.keras.layers.MultiHeadAttention
    query, value, wide = examples(2, 3, 4), examples(2, 5, 4), examples(2, 3, 2, 4)
    seen = tf.constant(np.array([[[1, 1, 0, 1, 0]] * 3] * 2) > 0)
    scored = {"return_attention_scores": True}
    return attempt(
        lambda: _computed(tf, kind(2, 3), query, value),
        lambda: _computed(tf, kind(2, 3), query, value, **scored),
        lambda: _computed(tf, kind(2, 3), query, value, value + np.float32(1)),
        lambda: _computed(tf, kind(2, 3, value_dim=2, use_bias=False), query, value),
        lambda: _computed(tf, kind(2, 3, output_shape=5), query, value),
        lambda: _computed(tf, kind(2, 3), query, value, attention_mask=seen, **scored),
        lambda: _computed(tf, kind(2, 3, dropout=0.5), query, value, training=False),
        lambda: _computed(tf, kind(2, 3, attention_axes=(1, 2)), wide, wide),
        lambda: _computed(tf, kind(2, 3, attention_axes=1), wide, wide),
    )


def _configs_of_heads(tf):
    """A layer is made again from its config, with weights once it is built."""
    kind = tf.keras.layers.MultiHeadAttention
    layer = kind(2, 3, value_dim=2, name="heads")
    before = kind.from_config(layer.get_config())
    layer(tf.constant(examples(2, 3, 4)), tf.constant(examples(2, 5, 4)))
    config = layer.get_config()
    after = kind.from_config(config)
    keys = ("name", "num_heads", "key_dim", "value_dim", "dropout", "use_bias", "output_shape")
    return [
        [config[key] for key in keys],
        len(before.weights),
        len(after.weights),
        [weight.name for weight in layer.trainable_weights],
    ]


def _masked_heads(tf):
    """Values that are masked by a layer before are not looked at."""
    layers = tf.keras.layers
    gaps = examples(2, 3, 4)
    gaps[0, 2] = 0.0
    layer = layers.MultiHeadAttention(1, 2)
    hidden = layers.Masking()(tf.constant(gaps))
    out, scores = layer(hidden, hidden, return_attention_scores=True)
    with tf.Session() as session:
        for weight in layer.weights:
            session.run(weight.assign(examples(*weight.shape.as_list())))
        return [np.round(value, 3) for value in session.run([out, scores])]


BEHAVIOURS: dict[str, Callable[[Any], Any]] = {
    "projections": _projections,
    "heads": _heads,
    "configs of heads": _configs_of_heads,
    "masked heads": _masked_heads,
}
