"""Translations of activation functions, softmaxes and losses."""

from __future__ import annotations

from typing import Final

import jax
import jax.numpy as jnp

from sessrun.adapters.jax.rules import COMPLEX, FLOATS, NUMBERS, REALS, Array, Node, plain, rule

__all__: list[str] = []

_SELU_SCALE: Final = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA: Final = 1.7580993408473768599402175208123


def _elu(x: Array) -> Array:
    return jnp.where(x < 0, jnp.expm1(x), x)


def _selu(x: Array) -> Array:
    scale, scaled_alpha = (jnp.asarray(n, x.dtype) for n in (_SELU_SCALE, _SELU_SCALE_ALPHA))
    return jnp.where(x < 0, scaled_alpha * jnp.expm1(x), scale * x)


def _relu(x: Array) -> Array:
    return jnp.maximum(x, jnp.zeros((), x.dtype))


plain({"Sigmoid": jax.nn.sigmoid, "Tanh": jnp.tanh}, FLOATS | COMPLEX)
plain(
    {
        "Relu": _relu,
        "Relu6": lambda x: jnp.minimum(_relu(x), jnp.asarray(6, x.dtype)),
    },
    REALS,
)
plain(
    {
        "Elu": _elu,
        "Selu": _selu,
        "Softplus": jax.nn.softplus,
        "Softsign": lambda x: x / (jnp.ones((), x.dtype) + jnp.abs(x)),
    },
    FLOATS,
)


@rule("LeakyRelu", dtypes=FLOATS)
def _leaky_relu(node: Node, x: Array) -> Array:
    return jnp.where(x > 0, x, jnp.asarray(node["alpha"], x.dtype) * x)


@rule("Softmax", "LogSoftmax", dtypes=FLOATS)
def _softmax(node: Node, x: Array) -> Array:
    node.check(x.ndim >= 1, "logits are a scalar")
    return (jax.nn.softmax if node.op == "Softmax" else jax.nn.log_softmax)(x, axis=-1)


@rule("SoftmaxCrossEntropyWithLogits", dtypes=FLOATS)
def _cross_entropy(node: Node, logits: Array, labels: Array) -> list[Array]:
    """The loss of every row, and its gradient by the logits."""
    logits, labels = jnp.broadcast_arrays(logits, labels)
    node.check(logits.ndim == 2, "logits are no matrix")
    logs = jax.nn.log_softmax(logits, axis=-1)
    return [_loss(labels, logs), jnp.exp(logs) - labels]


@rule("SparseSoftmaxCrossEntropyWithLogits", dtypes=FLOATS)
def _sparse_cross_entropy(node: Node, logits: Array, numbers: Array) -> list[Array]:
    node.check(logits.ndim == 2, "logits are no matrix")
    node.check(numbers.shape == logits.shape[:1], "there is not one label a row")
    node.check_range(numbers, logits.shape[1])
    labels = jax.nn.one_hot(numbers, logits.shape[1], dtype=logits.dtype)
    logs = jax.nn.log_softmax(logits, axis=-1)
    return [_loss(labels, logs), jnp.exp(logs) - labels]


def _loss(labels: Array, logs: Array) -> Array:
    products = jnp.where(labels == 0, jnp.zeros((), logs.dtype), labels * logs)
    return -jnp.sum(products, axis=-1)


@rule("L2Loss", dtypes=NUMBERS)
def _half_square_sum(_node: Node, x: Array) -> Array:
    return jnp.sum(x * x) / jnp.asarray(2, x.dtype)
