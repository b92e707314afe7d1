"""`tf.keras.layers.MultiHeadAttention`: several attentions side by side. Source: tf_keras 2.21."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sized
from string import ascii_lowercase as LETTERS  # noqa: N812 - a constant
from typing import Any, Self, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.layer_options import NamedOptions
from sessrun.reference.library.keras.layers.activation_layers import Softmax
from sessrun.reference.library.keras.layers.core import Dropout
from sessrun.reference.library.keras.layers.einsum_dense import EinsumDense
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["MultiHeadAttention"]

#: The arguments of the layer that its config holds, but for the shapes that it was built for.
_ARGUMENTS = (
    "num_heads",
    "key_dim",
    "value_dim",
    "dropout",
    "use_bias",
    "output_shape",
    "attention_axes",
    "kernel_initializer",
    "bias_initializer",
    "kernel_regularizer",
    "bias_regularizer",
    "activity_regularizer",
    "kernel_constraint",
    "bias_constraint",
    "softmax_robust_masking",
)
_SHAPES = ("query_shape", "key_shape", "value_shape")


class MultiHeadAttention(Layer):
    """Multi-head attention: projections per head, scaled dot-product attention, output projection.

    Args:
      num_heads: how many heads there are.
      key_dim: the size of a projected query or key in each.
      value_dim: that of a value; by default `key_dim`.
      dropout: the share of the weights that is dropped while training.
      use_bias: whether projections have a bias.
      output_shape: the last sizes of the result; by default the query's.
      attention_axes: the axes over which attention goes; by default all between batch and last.
      kernel_initializer: makes the first values of the kernels.
      bias_initializer: makes those of the biases.
      kernel_regularizer: a loss of each kernel.
      bias_regularizer: a loss of each bias.
      activity_regularizer: a loss of the outputs of each projection.
      kernel_constraint: what becomes of kernels after an update.
      bias_constraint: what becomes of biases.
      softmax_robust_masking: whether masked scores are replaced, and not lowered.
      **kwargs: those of Layer.

    """

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: Any = None,
        attention_axes: Any = None,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        softmax_robust_masking: bool = False,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.supports_masking = True
        self._num_heads, self._key_dim, self._value_dim = num_heads, key_dim, value_dim or key_dim
        self._dropout, self._use_bias, self._output_shape = dropout, use_bias, output_shape
        is_one = attention_axes is not None and not isinstance(attention_axes, Sized)
        self._attention_axes = (attention_axes,) if is_one else attention_axes
        self._set_rules("_kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_rules("_bias", bias_initializer, bias_regularizer, bias_constraint)
        self._softmax_robust_masking = softmax_robust_masking
        self._built_from_signature = False
        self._query_shape: Any = None
        self._key_shape: Any = None
        self._value_shape: Any = None

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor, and the shapes that the layer was built for."""
        own = {name: self._option(f"_{name}") for name in (*_ARGUMENTS, *_SHAPES)}
        return {**super().get_config(), **own}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The layer with this config, built if that one was."""
        layer = cls(**{key: value for key, value in config.items() if key not in _SHAPES})
        query, key, value = (config[name] for name in _SHAPES)
        if None not in [query, key, value]:
            layer._build_from_signature(query, value, key)
        return layer

    def _build_from_signature(self, query: Any, value: Any, key: Any = None) -> None:
        """Create the projections and attention sublayers, for tensors or shapes."""
        self._built_from_signature = True
        self._query_shape, self._value_shape = _shape_of(query), _shape_of(value)
        self._key_shape = self._value_shape if key is None else _shape_of(key)
        self._query_dense = self._projection("query", self._query_shape, self._key_dim)
        self._key_dense = self._projection("key", self._key_shape, self._key_dim)
        self._value_dense = self._projection("value", self._value_shape, self._value_dim)
        self._build_attention(self._value_shape.rank + 1)
        last = self._output_shape or [self._query_shape[-1]]
        last = [last] if isinstance(last, int) else list(last)
        self._output_dense = self._dense("attention_output", self._query_shape.rank - 1, 2, last)

    def _projection(self, name: str, shape: Any, size: int) -> EinsumDense:
        """The EinsumDense that projects the last axis of a tensor for each head."""
        return self._dense(name, shape.rank - 1, 1, [self._num_heads, size])

    def _dense(self, name: str, free: int, bound: int, last: list[int]) -> EinsumDense:
        """An EinsumDense that contracts `bound` axes after `free` ones into output axes `last`."""
        letters = iter(LETTERS)
        kept, summed, new = (
            "".join(next(letters) for _ in range(count)) for count in (free, bound, len(last))
        )
        return EinsumDense(
            f"{kept}{summed},{summed}{new}->{kept}{new}",
            [None] * (free - 1) + last,
            bias_axes=new if self._use_bias else None,
            name=name,
            activity_regularizer=self._activity_regularizer,
            dtype=self.dtype,
            **self._rules_of("kernel"),
            **self._rules_of("bias"),
        )

    def _rules_of(self, weight: str) -> dict[str, Any]:
        """The initializers, regularizers and constraints of the projections."""
        kinds = ("initializer", "regularizer", "constraint")
        rules = {f"{weight}_{kind}": getattr(self, f"_{weight}_{kind}") for kind in kinds}
        first = rules[f"{weight}_initializer"]  # another one, whose numbers need not be the same
        return {**rules, f"{weight}_initializer": type(first).from_config(first.get_config())}

    def _build_attention(self, rank: int) -> None:
        """Create the softmax and dropout sublayers for projected tensors of this rank."""
        axes = range(1, rank - 2) if self._attention_axes is None else self._attention_axes
        self._attention_axes = axes = tuple(axes)
        self._dot_product_equation, self._combine_equation, scores_rank = _equations(rank, axes)
        self._softmax = Softmax(
            axis=tuple(range(scores_rank - len(axes), scores_rank)),
            robust_masking=self._softmax_robust_masking,
            dtype=self.dtype,
        )
        self._dropout_layer = Dropout(rate=self._dropout, dtype=self.dtype)

    def call(
        self,
        query: Any,
        value: TensorLike,
        key: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: bool | Tensor | None = None,
        use_causal_mask: bool = False,
    ) -> Any:
        """The outputs for the queries, and the heads' weights if `return_attention_scores`.

        Args:
          query: of shape [batch, queries, size].
          value: of shape [batch, keys, size].
          key: the same; by default the value.
          attention_mask: which keys a query sees, of shape [batch, queries, keys].
          return_attention_scores: whether the weights `[batch, heads, queries, keys]` are
            returned too.
          training: whether weights are dropped.
          use_causal_mask: whether a query sees no later key.

        """
        if not self._built_from_signature:
            self._build_from_signature(query=query, value=value, key=key)
        key = value if key is None else key
        mask = self._compute_attention_mask(query, value, key, attention_mask, use_causal_mask)
        query, key, value = self._query_dense(query), self._key_dense(key), self._value_dense(value)
        output, scores = self._compute_attention(query, key, value, mask, training)
        output = self._output_dense(output)
        return (output, scores) if return_attention_scores else output

    def _compute_attention(
        self,
        query: Tensor,
        key: Tensor,
        value: TensorLike,
        attention_mask: Tensor | None = None,
        training: bool | Tensor | None = None,
    ) -> tuple[Any, Any]:
        """Attention over projected tensors: outputs and weights; may be overridden."""
        query = tf.multiply(query, 1.0 / math.sqrt(float(self._key_dim)))
        scores = tf.einsum(self._dot_product_equation, key, query)
        weights = self._masked_softmax(scores, attention_mask)
        kept = self._dropout_layer(weights, training=training)
        return tf.einsum(self._combine_equation, kept, value), weights

    def _masked_softmax(self, attention_scores: Any, attention_mask: Tensor | None = None) -> Any:
        """The softmax of the scores; one mask for all heads."""
        if attention_mask is not None:
            axis = -2 * len(self._attention_axes or ()) - 1
            for _ in range(attention_scores.shape.rank - attention_mask.shape.rank):
                attention_mask = tf.expand_dims(attention_mask, axis=axis)
        return self._softmax(attention_scores, attention_mask)

    def _compute_attention_mask(
        self,
        query: Tensor,
        value: TensorLike,
        key: Tensor,
        attention_mask: Tensor | None,
        use_causal_mask: bool,
    ) -> Any:
        """The attention mask combined with the Keras masks of query, value and key."""
        combined = None
        for tensor, axis in ((query, 2), (value, 1), (key, 1)):
            mask = getattr(tensor, "_keras_mask", None)
            if mask is None:
                continue
            mask = tf.cast(mask, tf.bool)
            mask = mask[:, :, tf.newaxis] if axis == 2 else mask[:, tf.newaxis, :]
            combined = mask if combined is None else combined & mask
        if use_causal_mask:
            sizes = (1, tf.shape(query)[1], tf.shape(value)[1])
            mask = tf.linalg.band_part(tf.ones(sizes, tf.bool), -1, 0)
            combined = mask if combined is None else combined & mask
        if combined is None or attention_mask is None:
            return attention_mask if combined is None else combined
        return tf.cast(attention_mask, tf.bool) & combined

    def compute_output_shape(  # type: ignore[override]  # it has several inputs
        self, query_shape: Any, value_shape: Any, key_shape: Any = None
    ) -> Any:
        """The shape of the result.

        Raises:
          ValueError: the last sizes of query and value differ, or others of value and key.

        """
        query, value = tf.TensorShape(query_shape), tf.TensorShape(value_shape)
        key = value if key_shape is None else tf.TensorShape(key_shape)
        if query[-1] != value[-1]:
            raise bad_value(
                "The last dimension of `query_shape` and `value_shape` must be equal, but are "
                f"{query[-1]}, {value[-1]}."
            )
        if value[1:-1] != key[1:-1]:
            raise bad_value(
                "All dimensions of `value` and `key`, except the last one, must be equal. "
                f"Received {value} and {key}"
            )
        return query[:-1].concatenate(self._output_shape) if self._output_shape else query


def _shape_of(given: Structure) -> Any:
    return tf.TensorShape(getattr(given, "shape", given))


def _equations(rank: int, axes: tuple[int, ...]) -> tuple[str, str, int]:
    """The equations of scores and of weighted sums, and the rank of the scores.

    Tensors are `[batch, ..., heads, size]`; attention goes over `axes`, whose letters differ
    between query and key.
    """
    target = LETTERS[:rank]
    attended = [axis % rank for axis in axes]
    batch = [axis for axis in range(rank) if axis not in {*attended, rank - 1}]
    further = iter(LETTERS[rank:])
    source = "".join(
        target[axis] if axis in batch or axis == rank - 1 else next(further) for axis in range(rank)
    )
    scores = "".join(
        [
            *(target[axis] for axis in batch),
            *(target[axis] for axis in axes),
            *(source[axis] for axis in axes),
        ]
    )
    return f"{source},{target}->{scores}", f"{scores},{source}->{target}", len(scores)
