"""Attention layers: values weighted by the scores of keys and queries (tf_keras 2.21)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import RandomLayer
from sessrun.reference.library.keras.engine.layer_options import CommonOptions
from sessrun.reference.library.keras.functions import ones_like
from sessrun.reference.library.keras.learning_phases import learning_phase, smart_cond
from sessrun.reference.library.keras.object_configs import Config

__all__ = ["AdditiveAttention", "Attention"]


class DenseAttention(RandomLayer):
    """Base class of attention layers; inputs are [query, value] or [query, value, key].

    Args:
      dropout: the share of the weights that is dropped while training.
      **kwargs: as for Layer; `seed`; `causal`, whether a query looks at no later value.

    """

    def __init__(self, dropout: float = 0.0, **kwargs: Any) -> None:
        causal = kwargs.pop("causal", False)
        super().__init__(**kwargs)
        self.causal = causal
        self.dropout = dropout
        self.supports_masking = True

    @abstractmethod
    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        """The scores of keys for queries, [batch, queries, keys]."""

    def call(
        self,
        inputs: Sequence[Tensor],
        mask: Sequence[Tensor | None] | None = None,
        training: bool | Tensor | None = None,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """For each query the weighted sum of the values, and the weights if requested.

        Args:
          inputs: query of shape [batch, queries, size], value of [batch, keys, size], and key of
            the value's shape; by default it is the value.
          mask: which queries exist, and which values (the rest is padding), or None for either.
          training: whether weights are dropped.
          return_attention_scores: whether the weights are returned too.
          use_causal_mask: whether a query looks at no later value.

        Raises:
          ValueError: the inputs or the masks are no lists of two or three.

        """
        self._check(inputs, mask)
        query, value = inputs[0], inputs[1]
        query_mask, value_mask = (mask[0], mask[1]) if mask else (None, None)
        scores = self._scores(query, inputs[2] if len(inputs) > 2 else value)
        seen = None if value_mask is None else tf.expand_dims(value_mask, axis=-2)
        if self.causal or use_causal_mask:
            sizes = tf.shape(scores)
            before = _lower_triangle(tf.concat([ones_like(sizes[:-2]), sizes[-2:]], axis=0))
            seen = before if seen is None else tf.logical_and(seen, before)
        result, weights = self._weighted(scores, value, seen, training)
        if query_mask is not None:
            result *= tf.cast(tf.expand_dims(query_mask, axis=-1), dtype=result.dtype)
        return (result, weights) if return_attention_scores else result

    def _weighted(
        self, scores: Tensor, value: TensorLike, seen: Tensor | None, training: bool | Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The weighted sums of the values, and the weights; masked keys get weight 0."""
        if seen is not None:
            large = 65504.0 if scores.dtype == tf.float16 else 1.0e9
            scores -= large * tf.cast(tf.logical_not(seen), dtype=scores.dtype)
        training = learning_phase() if training is None else training
        weights = tf.nn.softmax(scores)
        if self.dropout > 0:
            all_weights = weights

            def dropped() -> Tensor:
                return tf.nn.dropout(all_weights, rate=self.dropout, seed=self._seed_of_operation())

            weights = smart_cond(training, dropped, lambda: tf.identity(all_weights))
        return tf.matmul(weights, value), weights

    def compute_mask(self, inputs: Any, mask: Any = None) -> Tensor | None:
        """The mask of the queries."""
        self._check(inputs, mask)
        if not mask or mask[0] is None:
            return None
        return tf.convert_to_tensor(mask[0])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the queries."""
        return tf.TensorShape(input_shape[0])

    def _check(self, inputs: Sequence[Tensor], mask: Sequence[Tensor | None] | None) -> None:
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise bad_value(
                f"{name} layer must be called on a list of inputs, namely [query, value] or "
                f"[query, value, key]. Received: {inputs}."
            )
        if not 2 <= len(inputs) <= 3:
            raise bad_value(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or "
                f"[query, value, key]. Received length: {len(inputs)}."
            )
        if not mask:
            return
        if not isinstance(mask, list):
            raise bad_value(
                f"{name} layer mask must be a list, namely [query_mask, value_mask]. "
                f"Received: {mask}."
            )
        if not 2 <= len(mask) <= len(inputs):
            raise bad_value(
                f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]. "
                f"Received length: {len(mask)}."
            )

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        own = {name: getattr(self, name) for name in (*self._own, "dropout")}
        return {**super().get_config(), **own}

    #: The further attributes that the config of a class holds.
    _own: tuple[str, ...] = ()


def _lower_triangle(sizes: Tensor) -> Tensor:
    """A causal mask of this shape: True where the key index is at most the query index."""
    rows = tf.cumsum(tf.ones(shape=sizes, dtype=tf.int32), axis=-2)
    columns = tf.cumsum(tf.ones(shape=sizes, dtype=tf.int32), axis=-1)
    return tf.greater_equal(rows, columns)


class Attention(DenseAttention):
    """Dot-product attention; `score_mode="concat"` scores by tanh of query + key.

    Args:
      use_scale: whether scores are scaled by a variable.
      score_mode: `dot` for products, `concat` for sums.
      **kwargs: `dropout`, `causal`, and those of Layer.

    Raises:
      ValueError: there is no such mode.

    """

    _own = ("use_scale", "score_mode")

    def __init__(
        self, use_scale: bool = False, score_mode: str = "dot", **kwargs: Unpack[CommonOptions]
    ) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale
        self.score_mode = score_mode
        if score_mode not in {"dot", "concat"}:
            raise bad_value(
                f'Received: score_mode={score_mode}. Acceptable values are: ["dot", "concat"]'
            )

    def build(self, input_shape: ShapeLike) -> None:
        """Create the scales, if the layer has any."""
        self.scale = self._one("scale") if self.use_scale else None
        is_sum = self.score_mode == "concat"
        self.concat_score_weight = self._one("concat_score_weight") if is_sum else None
        super().build(input_shape)

    def _one(self, name: str) -> Variable:
        return self.add_weight(
            name=name, shape=(), initializer="ones", dtype=self.dtype, trainable=True
        )

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        if self.score_mode == "dot":
            scores = tf.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        query, key = tf.expand_dims(query, axis=-2), tf.expand_dims(key, axis=-3)
        total = query + key if self.scale is None else self.scale * (query + key)
        return self.concat_score_weight * tf.reduce_sum(tf.tanh(total), axis=-1)


class AdditiveAttention(DenseAttention):
    """Additive (Bahdanau) attention: scores are weighted sums of tanh(query + key).

    Args:
      use_scale: whether the weights are a variable; else they are 1.
      **kwargs: `dropout`, `causal`, and those of Layer.

    """

    _own = ("use_scale",)

    def __init__(self, use_scale: bool = True, **kwargs: Unpack[CommonOptions]) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        """Make the weights, if they are a variable."""
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(
                name="scale",
                shape=[tf.TensorShape(input_shape[1]).as_list()[-1]],
                initializer="glorot_uniform",
                dtype=self.dtype,
                trainable=True,
            )
        super().build(input_shape)

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        query, key = tf.expand_dims(query, axis=-2), tf.expand_dims(key, axis=-3)
        scale = self.scale if self.use_scale else 1.0
        return tf.reduce_sum(scale * tf.tanh(query + key), axis=-1)
