"""Jobs of a recurrent network: an LSTM in `while_loop` and unrolled, with its gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from sessrun.conformance.benchmarks.differentiated import Differentiated, job
from sessrun.spec.cases.namespace import Namespace

__all__ = ["SEQUENCE_JOBS"]

_BATCH: Final = 32
_DEPTH: Final = 128
_SCALE: Final = 0.1
_WHILE_STEPS: Final = 50
_UNROLLED_STEPS: Final = 20


def _inputs(steps: int) -> np.ndarray:
    """The inputs, float32 [steps, batch, depth]."""
    return np.random.default_rng(5).standard_normal((steps, _BATCH, _DEPTH), np.float32)


def _cell(
    tf: Namespace, x: Any, state: tuple[Any, Any], weights: Any, bias: Any
) -> tuple[Any, Any]:
    """The state (output, memory) after one more input; the forget gate's bias is 1 more."""
    output, memory = state
    gates = tf.nn.bias_add(tf.matmul(tf.concat([x, output], 1), weights), bias)
    enters, new, forget, shown = tf.split(gates, 4, 1)
    memory = memory * tf.sigmoid(forget + 1.0) + tf.sigmoid(enters) * tf.tanh(new)
    return tf.tanh(memory) * tf.sigmoid(shown), memory


def _unrolled(tf: Namespace, arrays: Sequence[Any]) -> list[Any]:
    """The last output of an LSTM that has operations of its own for each step."""
    weights, bias = arrays
    inputs = tf.unstack(tf.constant(_inputs(_UNROLLED_STEPS)))
    zeros = tf.zeros([_BATCH, _DEPTH])
    state = (zeros, zeros)
    for x in inputs:
        state = _cell(tf, x, state, weights, bias)
    return [state[0]]


def _looped(tf: Namespace, arrays: Sequence[Any]) -> list[Any]:
    """The last output of an LSTM whose steps are the iterations of a loop."""
    weights, bias = arrays
    weights, bias = tf.identity(weights), tf.identity(bias)
    inputs = tf.TensorArray(tf.float32, _WHILE_STEPS).unstack(tf.constant(_inputs(_WHILE_STEPS)))
    zeros = tf.zeros([_BATCH, _DEPTH])

    def step(number: Any, output: Any, memory: Any) -> tuple[Any, Any, Any]:
        state = _cell(tf, inputs.read(number), (output, memory), weights, bias)
        return number + 1, *state

    _, output, _ = tf.while_loop(
        lambda number, *_: number < _WHILE_STEPS, step, (tf.constant(0), zeros, zeros)
    )
    return [output]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    powers: np.ndarray = np.exp(-x)
    return 1 / (1 + powers)


def _values(steps: int) -> Callable[[Sequence[np.ndarray]], list[np.ndarray]]:
    def outputs(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        weights, bias = arrays
        output = memory = np.zeros((_BATCH, _DEPTH))
        for x in _inputs(steps):
            gates = np.concatenate([x, output], 1) @ weights + bias
            enters, new, forget, shown = np.split(gates, 4, 1)
            memory = memory * _sigmoid(forget + 1) + _sigmoid(enters) * np.tanh(new)
            output = np.tanh(memory) * _sigmoid(shown)
        return [output]

    return outputs


_SHAPES: Final = ((2 * _DEPTH, 4 * _DEPTH), (4 * _DEPTH,))

SEQUENCE_JOBS: Final = (
    job(
        "lstm-while",
        f"an LSTM of depth {_DEPTH} in a while_loop of {_WHILE_STEPS} steps, {_BATCH} sequences, "
        "and its gradients",
        Differentiated(_SHAPES, _SCALE, _looped, _values(_WHILE_STEPS)),
    ),
    job(
        "lstm-unrolled",
        f"the same unrolled, {_UNROLLED_STEPS} steps",
        Differentiated(_SHAPES, _SCALE, _unrolled, _values(_UNROLLED_STEPS)),
    ),
)
