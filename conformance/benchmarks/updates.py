"""Jobs of optimizers: updates of many small variables, of a large one, and of rows of a table.

The gradients are the same in every step, so that the variables after any number of steps follow
from formulas.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from sessrun.conformance.benchmarks.jobs import Job, Prepared
from sessrun.conformance.benchmarks.resident import feed_variable
from sessrun.spec.cases.namespace import Namespace

__all__ = ["UPDATE_JOBS"]

_RATE: Final = 1e-3
_MOMENTUM: Final = 0.9
#: The sizes of a hundred variables: 64, 128, ..., 4096 and again.
_MANY: Final = tuple(64 * 2 ** (number % 7) for number in range(100))
_LARGE: Final = (2**22,)
#: Rows and columns of an embedding, and how many rows a batch looks up.
_ROWS, _COLUMNS, _LOOKUPS = 10_000, 64, 2048

#: From the number of steps and the gradient to how far a variable has gone, divided by the rate.
_Way = Callable[[int, np.ndarray], np.ndarray]


def _descent(steps: int, gradient: np.ndarray) -> np.ndarray:
    return steps * gradient


def _momentum(steps: int, gradient: np.ndarray) -> np.ndarray:
    """The sum of the decaying sums of equal gradients."""
    kept = _MOMENTUM
    return gradient * (steps - kept * (1 - kept**steps) / (1 - kept)) / (1 - kept)


def _adam(steps: int, gradient: np.ndarray) -> np.ndarray:
    """Adam divides the mean of equal gradients by their size: each step has the length 1."""
    signs: np.ndarray = np.sign(gradient)
    return steps * signs


#: By name what makes the optimizer, and its way.
_OPTIMIZERS: Final[dict[str, tuple[Callable[[Namespace], Any], _Way]]] = {
    "sgd": (lambda tf: tf.train.GradientDescentOptimizer(_RATE), _descent),
    "momentum": (lambda tf: tf.train.MomentumOptimizer(_RATE, _MOMENTUM), _momentum),
    "adam": (lambda tf: tf.train.AdamOptimizer(_RATE), _adam),
}


def _check(
    calls: Sequence[int], values: Sequence[np.ndarray], gradients: Sequence[np.ndarray], way: _Way
) -> Callable[[Any], str | None]:
    """A check of variables that had these values, after `calls[0]` steps."""

    def check(got: Any) -> str | None:
        for number, (value, gradient) in enumerate(zip(values, gradients, strict=True)):
            moved = way(calls[0], gradient.astype(np.float64)) * _RATE
            tolerance = 1e-5 + 1e-3 * np.abs(moved).max()
            if not np.allclose(got[number], value - moved, 0, tolerance):
                return f"after {calls[0]} steps variable {number} is not what it should be"
        return None

    return check


def _prepared(
    tf: Namespace,
    device: str,
    build: Callable[[dict[Any, Any]], tuple[Any, Sequence[Any]]],
    check: Callable[[Sequence[int]], Callable[[Any], str | None]],
) -> Prepared:
    """The job of a training operation, which is run after an initializer with feeds.

    Args:
      tf: the namespace.
      device: where the graph is placed.
      build: builds the graph; from the feeds, to which it adds, to the operation and the variables.
      check: from how many steps there were, in a list, to the check of the variables.

    """
    graph = tf.Graph()
    feeds: dict[Any, Any] = {}
    with graph.as_default(), tf.device(device):
        train, variables = build(feeds)
        initializer = tf.global_variables_initializer()
    session = tf.Session(graph=graph)
    session.run(initializer, feeds)
    run, calls = session.run, [0]

    def call() -> None:
        calls[0] += 1
        run(train)

    return Prepared(call, check(calls), session.close, lambda: run(list(variables)))


def _dense(name: str, sizes: Sequence[int]) -> Callable[[Namespace, str], Prepared]:
    """A step of an optimizer for variables of these sizes, whose gradients are resident."""
    optimizer, way = _OPTIMIZERS[name]

    def prepare(tf: Namespace, device: str) -> Prepared:
        draw = np.random.default_rng(1)
        values, drawn = (
            [draw.standard_normal(size, np.float32) for size in sizes] for _ in range(2)
        )
        # No gradient is so small that Adam's epsilon counts.
        gradients = [gradient + np.copysign(np.float32(0.1), gradient) for gradient in drawn]

        def build(feeds: dict[Any, Any]) -> tuple[Any, Sequence[Any]]:
            variables, slopes = (
                [
                    feed_variable(tf, f"{kind}{number}", value, "float32", feeds)
                    for number, value in enumerate(arrays)
                ]
                for kind, arrays in (("variable", values), ("gradient", gradients))
            )
            pairs = [(slope.read_value(), v) for slope, v in zip(slopes, variables, strict=True)]
            return optimizer(tf).apply_gradients(pairs), variables

        return _prepared(tf, device, build, lambda calls: _check(calls, values, gradients, way))

    return prepare


def _embedding(name: str, tf: Namespace, device: str) -> Prepared:
    """A step of an optimizer for the rows of a table that a batch looks up."""
    optimizer, way = _OPTIMIZERS[name]
    draw = np.random.default_rng(1)
    table = draw.standard_normal((_ROWS, _COLUMNS), np.float32)
    weights = np.abs(draw.standard_normal((_LOOKUPS, _COLUMNS), np.float32)) + np.float32(0.1)
    rows = draw.integers(0, _ROWS, _LOOKUPS)
    gradient = np.zeros_like(table)
    np.add.at(gradient, rows, weights)

    def build(feeds: dict[Any, Any]) -> tuple[Any, Sequence[Any]]:
        variable = feed_variable(tf, "table", table, "float32", feeds)
        factors = feed_variable(tf, "weights", weights, "float32", feeds)
        loss = tf.reduce_sum(tf.nn.embedding_lookup(variable, tf.constant(rows)) * factors)
        return optimizer(tf).minimize(loss, var_list=[variable]), [variable]

    return _prepared(tf, device, build, lambda calls: _check(calls, [table], [gradient], way))


UPDATE_JOBS: Final = (
    *(
        Job(
            f"{name}-100",
            f"a step of {name} for 100 variables of 64 to 4,096 numbers",
            _dense(name, _MANY),
            dtype="float32",
        )
        for name in _OPTIMIZERS
    ),
    *(
        Job(
            f"{name}-large",
            f"a step of {name} for a variable of {_LARGE[0]:,} numbers",
            _dense(name, _LARGE),
            dtype="float32",
        )
        for name in ("momentum", "adam")
    ),
    *(
        Job(
            f"embedding-{name}",
            f"look-up of {_LOOKUPS:,} rows of {_ROWS:,} by {_COLUMNS}, and a step of {name} for "
            "them",
            functools.partial(_embedding, name),
            dtype="float32",
        )
        for name in ("sgd", "adam")
    ),
)
