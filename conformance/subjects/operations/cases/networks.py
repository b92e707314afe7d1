"""Vectors of OPERATIONS: the operations of neural networks, and their gradients."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import (
    FLOATS,
    axes,
    c64,
    c128,
    f32,
    f64,
    floats,
    i8,
    i32,
    i64,
    u8,
)
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows
from sessrun.conformance.generators.graphdef import CPU

_X = (-7.5, -1, -0.5, -0.0, 0.0, 0.25, 1, 5.5, 6, 6.5, 30)


@engine_case(
    "OPERATIONS-141", title="The activations below zero, at zero, at their bounds and above."
)
def activations_bend_where_they_should(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = floats(dtype, _X)
        for op in ("Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "Sigmoid", "Tanh"):
            rows.add(op, x)
        rows.add("LeakyRelu", x)
        for alpha in (0.5, 0.0, 2.0):
            rows.add("LeakyRelu", x, alpha=alpha)
    for kind in (i32, i8, u8):
        rows.add("Relu", np.array([-3, 0, 9]).astype(kind))
        rows.add("Relu6", np.array([-3, 0, 5, 9]).astype(kind))
    rows.run()


@engine_case(
    "OPERATIONS-142",
    title="A bias is added along the last dimension, or for NCHW along the second; its gradient "
    "sums all others.",
)
def biases_lie_along_the_channels(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = np.arange(36, dtype=f32).reshape(2, 3, 2, 3)
    bias = f32([100, 200, 300])
    for data_format in ("NHWC", "NCHW"):
        rows.add("BiasAdd", x, bias, data_format=data_format)
        rows.add("BiasAddGrad", x, data_format=data_format)
    rows.add("BiasAdd", x[0, 0, :, :], bias)
    rows.add("BiasAddV1", x, bias)
    rows.add("BiasAdd", i32([[1, 2]]), i32([5, -5]))
    rows.refuse("BiasAdd", x, bias[:2], codes=[3])
    rows.run()


@engine_case("OPERATIONS-164", title="L2Loss is half the sum of the squares, of any shape.")
def losses_are_half_the_squares(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        rows.add("L2Loss", floats(dtype, [1, -2, 0.5, 0, 3, -1.5]).reshape(1, 2, 3))
        rows.add("L2Loss", floats(dtype, [-3])[0])
        rows.add("L2Loss", floats(dtype, []))
    rows.run()


@engine_case(
    "OPERATIONS-143",
    title="Softmax and LogSoftmax work along the last dimension and bear large and infinite "
    "logits.",
)
def softmax_bears_large_logits(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        for logits in (
            [1.0, 2, 3, -1, 0, 0.5],
            [1000.0, 999, -1000, -1000, -1000, -1001],
            [30000.0, 30000, 0, 0, 0, 0],
        ):
            x = floats(dtype, logits).reshape(2, 3)
            for op in ("Softmax", "LogSoftmax"):
                rows.add(op, x)
    x = f32([[0, -np.inf, 1], [3, 3, -np.inf]])
    rows.add("Softmax", x)
    deep = np.arange(12, dtype=f32).reshape(2, 2, 3)
    for op in ("Softmax", "LogSoftmax"):
        rows.add(op, deep)
        rows.add(op, np.zeros((0, 3), f32))
    rows.run()


@engine_case(
    "OPERATIONS-144",
    title="Cross entropies of large logits are finite, and their gradients are softmax minus "
    "label.",
)
def cross_entropies_of_large_logits_are_finite(c: EngineAuthor) -> None:
    rows = Rows(c)
    labels = f32([[1, 0, 0], [0.2, 0.3, 0.5]])
    for logits in ([[1, 2, 3], [-1, 0, 0.5]], [[1000, 0, -1000], [-800, -801, -802]]):
        for kind in (f32, f64):
            rows.add("SoftmaxCrossEntropyWithLogits", kind(logits), kind(labels))
            for numbers in (axes(2, 0), i64([1, 1])):
                rows.add("SparseSoftmaxCrossEntropyWithLogits", kind(logits), numbers)
    rows.add("SoftmaxCrossEntropyWithLogits", f32([[1, 2, 3]]), labels)
    rows.run()


@engine_case("OPERATIONS-145", title="A label that is no class is refused, on a CPU.")
def labels_outside_are_refused(c: EngineAuthor) -> None:
    rows = Rows(c)
    logits = f32([[1, 2, 3], [3, 2, 1]])
    for label in (-1, 3):
        rows.refuse(
            "SparseSoftmaxCrossEntropyWithLogits", logits, axes(0, label), codes=[3], device=CPU
        )
    rows.run()


@engine_case("OPERATIONS-147", title="Gradients of rectifiers are zero at zero and at the cap.")
def rectifiers_have_no_gradient_at_their_bends(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        features = floats(dtype, [-1, -0.0, 0.0, 0.5, 6, 6.5, 5.5])
        gradients = floats(dtype, [1, 2, 3, 4, 5, 6, 7])
        for op in ("ReluGrad", "Relu6Grad", "EluGrad"):
            rows.add(op, gradients, features)
    rows.add("ReluGrad", i32([4, 5, 6]), i32([-1, 0, 1]))
    rows.run()


@engine_case(
    "OPERATIONS-146",
    title="Gradients of functions are taken by the function's output, or by its input, as each "
    "is declared.",
)
def gradients_are_taken_by_input_or_output(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (f32, f64):
        first, second = kind([0.5, -0.25, 2, 0.75]), kind([1, 3, -2, 0.5])
        for op in (
            "SigmoidGrad",
            "TanhGrad",
            "InvGrad",
            "ReciprocalGrad",
            "RsqrtGrad",
            "SoftplusGrad",
            "SoftsignGrad",
            "EluGrad",
        ):
            rows.add(op, first, second)
        rows.add("SqrtGrad", np.abs(first), second)
    for kind in (c64, c128):
        first, second = kind([0.5 + 1j, -0.25j]), kind([1 - 2j, 3 + 0.5j])
        for op in ("SigmoidGrad", "TanhGrad", "ReciprocalGrad"):
            rows.add(op, first, second)
    rows.run()
