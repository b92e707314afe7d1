"""Jobs that compute functions of resident arrays and gradients, checked by finite differences.

What is timed computes the outputs and the gradients, and fetches an element of each: TensorFlow
leaves out what only a group of operations needs. What is checked are the sum of the outputs times
their cotangents, and its slope along a drawn direction of each array: both follow from the function
in float64.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.conformance.benchmarks.jobs import Job, Prepared, equals
from sessrun.conformance.benchmarks.resident import feed_variable
from sessrun.spec.cases.namespace import Namespace

__all__ = ["Differentiated", "job"]

#: The step of the finite differences, times directions of about 1.
_STEP: Final = 1e-5
#: The tolerance of sums and slopes in float32, relative and absolute.
_TOLERANCE: Final = (2e-3, 2e-3)


@dataclass(frozen=True, slots=True)
class Differentiated:
    """A function of arrays, as a graph and in float64.

    Attributes:
      shapes: the shapes of the arrays that gradients are computed of.
      scale: the standard deviation of the numbers in the arrays.
      graph: from the namespace and the arrays as tensors to the outputs.
      outputs: from the arrays in float64 to the outputs.

    """

    shapes: tuple[tuple[int, ...], ...]
    scale: float
    graph: Callable[[Namespace, Sequence[Any]], Sequence[Any]]
    outputs: Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]

    def arrays(self) -> list[np.ndarray]:
        """The values of the arrays, float32."""
        draw = np.random.default_rng(1)
        return [
            draw.standard_normal(shape, np.float32) * np.float32(self.scale)
            for shape in self.shapes
        ]

    def directions(self) -> list[np.ndarray]:
        """A direction for each array, float32."""
        draw = np.random.default_rng(2)
        return [draw.standard_normal(shape, np.float32) for shape in self.shapes]

    def cotangents(self) -> list[np.ndarray]:
        """The gradients of a loss with respect to each output, float32."""
        draw = np.random.default_rng(3)
        outputs = self.outputs([array.astype(np.float64) for array in self.arrays()])
        return [draw.standard_normal(output.shape, np.float32) for output in outputs]

    def expected(self) -> np.ndarray:
        """The sum of outputs times cotangents, and its slope along each direction."""
        arrays = [array.astype(np.float64) for array in self.arrays()]
        cotangents = self.cotangents()

        def total(number: int, step: float) -> float:
            moved = list(arrays)
            moved[number] = arrays[number] + step * self.directions()[number]
            return sum(
                float(np.sum(output * cotangent))
                for output, cotangent in zip(self.outputs(moved), cotangents, strict=True)
            )

        slopes = [
            (total(number, _STEP) - total(number, -_STEP)) / (2 * _STEP)
            for number in range(len(arrays))
        ]
        return np.array([total(0, 0.0), *slopes])


def job(name: str, summary: str, function: Differentiated) -> Job:
    """The job that computes the outputs of a function and its gradients."""
    return Job(name, summary, functools.partial(_prepare, function), dtype="float32")


def _prepare(function: Differentiated, tf: Namespace, device: str) -> Prepared:
    graph = tf.Graph()
    feeds: dict[Any, Any] = {}
    with graph.as_default(), tf.device(device):
        arrays, directions, cotangents = (
            [
                feed_variable(tf, f"{kind}{number}", value, "float32", feeds)
                for number, value in enumerate(values)
            ]
            for kind, values in (
                ("array", function.arrays()),
                ("direction", function.directions()),
                ("cotangent", function.cotangents()),
            )
        )
        outputs = function.graph(tf, arrays)
        gradients = tf.gradients(outputs, arrays, grad_ys=cotangents)
        computed = tf.stack([tf.reshape(tensor, [-1])[0] for tensor in (*outputs, *gradients)])
        total = tf.add_n([tf.reduce_sum(y * dy) for y, dy in zip(outputs, cotangents, strict=True)])
        slopes = [
            tf.reduce_sum(gradient * direction)
            for gradient, direction in zip(gradients, directions, strict=True)
        ]
        checked = tf.stack([total, *slopes])
        initializer = tf.global_variables_initializer()
    session = tf.Session(graph=graph)
    session.run(initializer, feeds)
    run = session.run
    return Prepared(
        lambda: run(computed),
        equals(function.expected(), *_TOLERANCE),
        session.close,
        lambda: run(checked),
    )
