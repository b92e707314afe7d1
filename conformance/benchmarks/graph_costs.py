"""The costs of graphs: building, first runs, new fetches, export and import, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sessrun.conformance.benchmarks.costs import RUN_COSTS, Cost, Sized, powers
from sessrun.conformance.benchmarks.jobs import equals
from sessrun.spec.cases.namespace import Namespace

__all__ = ["COSTS"]

#: The operations in each of the branches of which a run wants a new one.
_BRANCH: Final = 10


def _once(
    make: Callable[[], Callable[[], Any]],
    check: Callable[[Any], str | None],
    close: Callable[[], None] = lambda: None,
) -> Sized:
    """The cost of calls each of which needs something new, which `make` makes ready."""

    def ready(calls: int) -> Callable[[], Any]:
        several = [make() for _ in range(calls)]

        def run_all() -> Any:
            result = None
            for call in several:
                result = call()
            return result

        return run_all

    return Sized(ready, check, close, 1)


def _chain(tf: Namespace, device: str, size: int, operation: str = "add") -> tuple[Any, Any, Any]:
    """A new graph of a chain of so many operations with `x`, its placeholder `x` and its end."""
    join = getattr(tf, operation)
    graph = tf.Graph()
    with graph.as_default(), tf.device(device):
        x = tf.placeholder(tf.float32, [])
        y = x
        for _ in range(size):
            y = join(y, x)
    return graph, x, y


def _build(tf: Namespace, device: str, size: int) -> Sized:
    def call() -> int:
        graph, _, _ = _chain(tf, device, size)
        return len(graph.get_operations())

    return _once(lambda: call, equals(size + 1))


def _build_variables(tf: Namespace, device: str, size: int) -> Sized:
    def call() -> int:
        graph = tf.Graph()
        with graph.as_default(), tf.device(device):
            for number in range(size):
                tf.get_variable(f"v{number}", [2], initializer=tf.zeros_initializer())
            tf.global_variables_initializer()
            return len(tf.global_variables())

    return _once(lambda: call, equals(size))


def _first_run(tf: Namespace, device: str, size: int) -> Sized:
    def make() -> Callable[[], Any]:
        graph, x, y = _chain(tf, device, size)

        def call() -> Any:
            with tf.Session(graph=graph) as session:
                return session.run(y, {x: np.float32(1)})

        return call

    return _once(make, equals(float(size + 1)))


def _new_fetch(tf: Namespace, device: str, size: int) -> Sized:
    """Each call fetches the end of a branch that was not fetched before in its session."""
    graph = tf.Graph()
    with graph.as_default(), tf.device(device):
        x = tf.placeholder(tf.float32, [])
        ends = []
        for _ in range(max(2, size // _BRANCH)):  # one is run before the others
            y = x
            for _ in range(_BRANCH):
                y = tf.add(y, x)
            ends.append(y)
    sessions: list[Any] = []
    left: list[Any] = []

    def make() -> Callable[[], Any]:
        if not left:
            sessions.append(tf.Session(graph=graph))
            left.extend(ends)
            sessions[-1].run(left.pop(), {x: np.float32(0)})
        session, end = sessions[-1], left.pop()
        return lambda: session.run(end, {x: np.float32(1)})

    def close() -> None:
        for session in sessions:
            session.close()

    return _once(make, equals(_BRANCH + 1.0), close)


def _extended(tf: Namespace, device: str, size: int) -> Sized:
    """A session that runs each operation as soon as it is added to the graph."""

    def call() -> Any:
        graph = tf.Graph()
        with graph.as_default(), tf.device(device), tf.Session(graph=graph) as session:
            x = tf.placeholder(tf.float32, [])
            result = None
            for number in range(size):
                result = session.run(tf.add(x, float(number)), {x: np.float32(1)})
            return result

    return _once(lambda: call, equals(float(size)))


def _export(tf: Namespace, device: str, size: int) -> Sized:
    graph, _, _ = _chain(tf, device, size)
    return _once(lambda: lambda: len(graph.as_graph_def().node), equals(size + 1))


def _import(tf: Namespace, device: str, size: int) -> Sized:
    exported = _chain(tf, device, size)[0].as_graph_def()

    def call() -> int:
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(exported, name="")
        return len(graph.get_operations())

    return _once(lambda: call, equals(size + 1))


def _gradients(tf: Namespace, device: str, size: int) -> Sized:
    """The gradient of a chain of products, which needs each of its values."""

    def make() -> Callable[[], Any]:
        graph, x, y = _chain(tf, device, size, "multiply")

        def call() -> bool:
            with graph.as_default(), tf.device(device):
                return tf.gradients(y, [x])[0] is not None

        return call

    return _once(make, equals(want=True))


def _fan_gradients(tf: Namespace, device: str, size: int) -> Sized:
    """The gradient with respect to a tensor that so many operations take."""

    def make() -> Callable[[], Any]:
        graph = tf.Graph()
        with graph.as_default(), tf.device(device):
            x = tf.placeholder(tf.float32, [])
            total = tf.add_n([tf.negative(x) for _ in range(size)])

        def call() -> bool:
            with graph.as_default(), tf.device(device):
                return tf.gradients(total, [x])[0] is not None

        return call

    return _once(make, equals(want=True))


def _graph_cost(
    name: str,
    about: str,
    prepare: Callable[[Namespace, str, int], Sized],
    sizes: tuple[int, ...] = powers(7, 13),
    quantity: str = "operations",
) -> Cost:
    return Cost(name, about, quantity, "linear", sizes, prepare)


#: All costs, by their names.
COSTS: Final[dict[str, Cost]] = {
    cost.name: cost
    for cost in (
        *RUN_COSTS,
        _graph_cost("build", "a graph of a chain of additions is built", _build),
        _graph_cost(
            "build-variables",
            "variables are made, and an initializer of all",
            _build_variables,
            powers(4, 10),
            "variables",
        ),
        _graph_cost("first-run", "a new session runs a chain for the first time", _first_run),
        Cost(
            "new-fetch",
            "run of ten operations that were not fetched before, in a larger graph",
            "operations",
            "constant",
            powers(8, 14),
            _new_fetch,
        ),
        _graph_cost(
            "extend", "each operation is added to a graph and run at once", _extended, powers(4, 10)
        ),
        _graph_cost("export", "as_graph_def of a chain of additions", _export),
        _graph_cost("import", "import_graph_def of a chain of additions", _import, powers(6, 12)),
        _graph_cost("gradients", "gradients of a chain of products", _gradients, powers(5, 11)),
        _graph_cost(
            "gradients-wide",
            "gradient of a tensor with many consumers",
            _fan_gradients,
            powers(6, 12),
        ),
    )
}
