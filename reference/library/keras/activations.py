"""`tf.keras.activations`: functions by name. Source: tf_keras 2.21 in graph mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.object_configs import (
    CustomObjects,
    Identifier,
    Serialized,
    TensorFunction,
    deserialized,
    interpreted,
    serialized,
)

__all__ = [
    "deserialize",
    "elu",
    "exponential",
    "get",
    "hard_sigmoid",
    "linear",
    "mish",
    "relu",
    "selu",
    "serialize",
    "sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "swish",
    "tanh",
]


def softmax(x: Any, axis: int | Sequence[int] = -1) -> Tensor:
    """exp(x) / sum(exp(x)), the sum taken along one axis or several.

    Raises:
      ValueError: the tensor has rank 1 or less.

    """
    if x.shape.rank is not None and x.shape.rank <= 1:
        raise bad_value(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    if isinstance(axis, int):
        return tf.nn.softmax(x, axis=axis)
    powers = tf.exp(x - tf.reduce_max(x, axis=axis, keepdims=True))
    return powers / tf.reduce_sum(powers, axis=axis, keepdims=True)


def elu(x: Any, alpha: TensorLike = 1.0) -> Any:
    """x, or alpha * (exp(x) - 1) where x is negative."""
    value = tf.nn.elu(x)
    return value if alpha == 1 else tf.where_v2(x > 0, value, alpha * value)


def selu(x: Tensor) -> Tensor:
    """The scaled elu."""
    return tf.nn.selu(x)


def softplus(x: Tensor) -> Tensor:
    """log(exp(x) + 1)."""
    return tf.math.softplus(x)


def softsign(x: Tensor) -> Tensor:
    """X / (|x| + 1)."""
    return tf.nn.softsign(x)


def swish(x: Tensor) -> Tensor:
    """X * sigmoid(x)."""
    return tf.nn.swish(x)


def relu(
    x: Any, alpha: TensorLike = 0.0, max_value: float | None = None, threshold: TensorLike = 0.0
) -> Tensor:
    """max(x, 0), with a slope `alpha` below `threshold` and cut off at `max_value`.

    Args:
      x: a tensor.
      alpha: the slope below the threshold.
      max_value: the largest value, if any.
      threshold: where x begins to count.

    """
    below = None
    if alpha != 0.0:
        if max_value is None and threshold == 0:
            return tf.nn.leaky_relu(x, alpha=alpha)
        below = tf.nn.relu(-x + threshold if threshold != 0 else -x)
    if threshold != 0:
        value = x * tf.cast(tf.greater(x, threshold), x.dtype)
    elif max_value == 6:
        value, max_value = tf.nn.relu6(x), None
    else:
        value = tf.nn.relu(x)
    kind = value.dtype.base_dtype
    if max_value is not None:
        most = tf.constant(max_value, dtype=kind)
        value = tf.clip_by_value(value, tf.constant(0, dtype=kind), most)
    if below is not None:
        value -= tf.convert_to_tensor(alpha, dtype=kind) * below
    return value


def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return tf.tanh(x)


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return tf.sigmoid(x)


def exponential(x: Tensor) -> Tensor:
    """exp(x)."""
    return tf.exp(x)


def hard_sigmoid(x: Tensor) -> Tensor:
    """0.2 * x + 0.5, clipped to [0, 1]."""
    kind = x.dtype.base_dtype
    slope, middle = tf.constant(0.2, dtype=kind), tf.constant(0.5, dtype=kind)
    return tf.clip_by_value(tf.add(tf.multiply(x, slope), middle), 0.0, 1.0)


def linear(x: Tensor) -> Tensor:
    """X itself."""
    return x


def mish(x: Tensor) -> Tensor:
    """X * tanh(softplus(x))."""
    return x * tf.tanh(tf.math.softplus(x))


def _known() -> dict[str, object]:
    functions = (
        elu,
        exponential,
        hard_sigmoid,
        linear,
        mish,
        relu,
        selu,
        sigmoid,
        softmax,
        softplus,
        softsign,
        swish,
        tanh,
    )
    return {
        **{function.__name__: function for function in functions},
        "leaky_relu": tf.nn.leaky_relu,
        "log_softmax": tf.nn.log_softmax,
        "relu6": tf.nn.relu6,
        "silu": swish,
    }


#: The name that the config of a function has, where that is not its own.
_SERIALIZED: Final = {"softmax_v2": "softmax"}


def serialize(activation: Identifier, use_legacy_format: bool = False) -> Serialized:  # noqa: ARG001 - as there
    """The name of a function, or the config of an object."""
    name = getattr(activation, "__name__", None)
    return _SERIALIZED[name] if name in _SERIALIZED else serialized(activation)


def deserialize(
    name: str,
    custom_objects: CustomObjects = None,
    use_legacy_format: bool = False,  # noqa: ARG001 - both formats are read
) -> TensorFunction:
    """The function of a name or a config; raises ValueError for one that is not known."""
    return deserialized(name, _known(), "activation", custom_objects)


def get(identifier: Identifier) -> TensorFunction:
    """A function by name or config; a callable itself; `linear` for None.

    Raises:
      TypeError: the identifier is neither a name, a config nor callable.
      ValueError: the name is not known.

    """
    activation = interpreted(identifier, deserialize, "activation function", bad_type)
    return linear if activation is None else activation
