"""Small float32 networks as they are frozen for inference: their weights are constants."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.subjects.inference.graphs import Program
from sessrun.spec.cases.forms import Expect
from sessrun.spec.cases.model import Case

__all__ = ["network_case"]

_NETWORK: Final = "INFERENCE-018"
_CLOSE: Final[Expect] = {"oracle": {"contract": "close(1e-4, 1e-5)"}}
_ACTIVATIONS: Final = ("Relu", "Relu6", "Elu", "Tanh", "Sigmoid")


def _weights(draw: random.Random, *shape: int) -> np.ndarray:
    count = int(np.prod(shape))
    return np.array([draw.uniform(-1, 1) for _ in range(count)], np.float32).reshape(shape)


def network_case(draw: random.Random, id_: str) -> Case:
    """Layers on images or on rows, run on two batches of other sizes."""
    program = Program("float32")
    on_images = draw.random() < 0.6
    shape = (5, 6, draw.randint(1, 3)) if on_images else (draw.randint(2, 6),)
    x = program.placeholder((None, *shape))
    node = _images(program, draw, x, shape[-1]) if on_images else x
    width = shape[0] if not on_images else 0
    node = _rows(program, draw, node, width)
    for batch in draw.sample(range(1, 5), 2):
        program.run([node], {x: _weights(draw, batch, *shape)}, _CLOSE, _NETWORK)
    return program.case(id_, "A network gives what its operations give one after another.")


def _images(program: Program, draw: random.Random, x: str, depth: int) -> str:
    """Convolution, normalization or bias, activation, pooling; then the mean of each channel."""
    out = draw.randint(1, 4)
    padding = draw.choice(("SAME", "VALID"))
    if draw.random() < 0.5:
        weights = program.constant(_weights(draw, 3, 3, depth, out))
        node = program.apply("Conv2D", x, weights, strides=[1, 1, 1, 1], padding=padding)
    else:
        weights = program.constant(_weights(draw, 3, 3, depth, 2))
        out = 2 * depth
        node = program.apply(
            "DepthwiseConv2dNative", x, weights, strides=[1, 1, 1, 1], padding=padding
        )
    if draw.random() < 0.5:
        node = program.apply("BiasAdd", node, program.constant(_weights(draw, out)))
    else:
        scale, offset, mean = (program.constant(_weights(draw, out)) for _ in range(3))
        variance = program.constant(abs(_weights(draw, out)) + 0.5)
        node = program.apply(
            "FusedBatchNormV3", node, scale, offset, mean, variance, U="float32", is_training=False
        )
    # TensorFlow 2.21 fails to run Conv2D, FusedBatchNormV3 and Tanh in a row (docs/findings).
    node = program.apply(draw.choice([a for a in _ACTIVATIONS if a != "Tanh"]), node)
    pool = draw.choice(("MaxPool", "AvgPool"))
    node = program.apply(pool, node, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding=padding)
    return program.apply("Mean", node, program.index([1, 2]))


def _rows(program: Program, draw: random.Random, node: str, width: int) -> str:
    """Dense layers with a residual connection, unless `width` is 0, and a softmax at the end."""
    if width:
        hidden = draw.randint(2, 5)
        node = program.apply("MatMul", node, program.constant(_weights(draw, width, hidden)))
        node = program.apply("BiasAdd", node, program.constant(_weights(draw, hidden)))
        inner = program.apply(draw.choice(_ACTIVATIONS), node)
        inner = program.apply("MatMul", inner, program.constant(_weights(draw, hidden, hidden)))
        node = program.apply("AddV2", node, inner)
    return program.apply(draw.choice(("Softmax", "LogSoftmax")), node)
