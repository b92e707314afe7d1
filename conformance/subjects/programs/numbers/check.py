"""Programs of assertions that fail while the graph is built or when it runs: nodes and errors.

For data of other dtypes than string and int32, TensorFlow guards an assertion by a branch; those
graphs are not compared.
"""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action, Plain

__all__ = ["BEHAVIOURS"]


def _nodes(graph) -> list[Plain]:
    return [
        [n.name, n.op, list(n.input), list(n.attr["_class"].list.s)]
        for n in graph.as_graph_def().node
    ]


def _graph_of(tf, build: Action):
    """What building returns or raises, the nodes, and what a run returns or raises."""
    with tf.Graph().as_default() as graph:
        outputs = []
        built = attempt(lambda: outputs.append(build()))
        ran = attempt(lambda: run(tf, outputs)) if outputs and outputs[0] is not None else None
        return [built, _nodes(graph), ran]


def _compared(tf):
    def pair(kind: str, x: int, y: int, **options) -> Action:
        check = getattr(tf.debugging, "assert_" + kind)
        return lambda: check(tf.placeholder_with_default(x, None), y, **options)

    def known(kind: str, x: int, y: int) -> Action:
        return lambda: getattr(tf.debugging, "assert_" + kind)(tf.constant(x), y)

    names = ("equal", "none_equal", "less", "less_equal", "greater", "greater_equal")
    pairs = ((1, 1), (1, 2), (2, 1))
    return [
        [
            _graph_of(tf, make(name, x, y))
            for name in names
            for x, y in pairs
            for make in (pair, known)
        ],
        _graph_of(tf, pair("equal", 1, 2, name="mine", message="unlike")),
        _graph_of(tf, pair("less", 2, 1, data=["shown", 7], summarize=1)),
    ]


def _signs(tf):
    def check(name: str, value: int) -> list[Plain]:
        function = getattr(tf.debugging, "assert_" + name)
        return [
            _graph_of(tf, lambda: function(tf.placeholder_with_default(value, None), message="m")),
            _graph_of(tf, lambda: function(tf.constant(value))),
        ]

    names = ("positive", "negative", "non_negative", "non_positive")
    return [check(name, value) for name in names for value in (-1, 0, 1)]


def _ranks(tf):
    checks = tf.debugging

    def unknown(value):
        return tf.placeholder_with_default(value, None)

    def sparse():
        return tf.SparseTensor([[1]], [1], [3])

    return [
        _graph_of(tf, build)
        for build in (
            lambda: checks.assert_rank(tf.constant(1), 1),
            lambda: checks.assert_rank(tf.constant([1]), 1, message="m"),
            lambda: checks.assert_rank(unknown(1), 1),
            lambda: checks.assert_rank(unknown([1]), unknown(1)),
            lambda: checks.assert_rank(unknown([1]), unknown([1])),
            lambda: checks.assert_rank(tf.constant(1), tf.placeholder_with_default(1, [])),
            lambda: checks.assert_rank(sparse(), 1),
            lambda: checks.assert_rank(sparse(), 2),
            lambda: checks.assert_rank(sparse(), unknown(2)),
            lambda: checks.assert_rank(tf.constant(1), [1]),
            lambda: checks.assert_rank(tf.constant(1), 0.5),
            lambda: checks.assert_rank_at_least(tf.constant(1), 1),
            lambda: checks.assert_rank_at_least(unknown(1), 1),
            lambda: checks.assert_rank_at_least(unknown([[1]]), 1, data=[3], summarize=2),
            lambda: checks.assert_rank_in(tf.constant(1), (1, 2), message="m"),
            lambda: checks.assert_rank_in(unknown(1), (unknown(1), 2), message="m"),
            lambda: checks.assert_rank_in(unknown([1]), (0, 2), data=["x"]),
            lambda: checks.assert_rank_in(unknown([1]), (0, 1)),
        )
    ]


def _kinds(tf):
    checks = tf.debugging
    return [
        _graph_of(tf, build)
        for build in (
            lambda: checks.assert_type(tf.constant(1), tf.float32, message="m"),
            lambda: checks.assert_type(1.0, tf.float32),
            lambda: checks.assert_integer(1.0, message="m"),
            lambda: checks.assert_integer(1),
            lambda: checks.assert_scalar([1], message="m"),
            lambda: checks.assert_scalar(1),
            lambda: checks.assert_scalar(1, name="mine"),
            lambda: checks.assert_proper_iterable(1234),
            lambda: checks.assert_proper_iterable(tf.constant(1)),
            lambda: checks.assert_proper_iterable("abc"),
            lambda: checks.assert_proper_iterable([1]),
        )
    ]


def _near(tf):
    def check(x: float, y: float, **options):
        return attempt(lambda: run(tf, tf.debugging.assert_near(x, y, **options)))

    return [
        check(10.0, 10.2, atol=0.1),
        check(10.0, 10.2, atol=0.3),
        check(0.1, 0.0),
        check(1.0, 1.1, rtol=0.2, atol=0.0),
        check(1.0, 1.0 + 1e-7),
        check(2.0, 1.0, data=["m"], message="n"),
    ]


def _reduced_scalars(tf):
    """A reduction of a scalar over all axes adds a `Range` as any other does."""

    def of_scalar(name: str, value):
        return _graph_of(tf, lambda: getattr(tf, "reduce_" + name)(tf.constant(value)))

    of_numbers = ("sum", "prod", "max", "min", "mean", "logsumexp")
    return [
        *(of_scalar(name, 2.0) for name in of_numbers),
        *(of_scalar(name, True) for name in ("all", "any")),
        _graph_of(tf, lambda: tf.reduce_sum(tf.placeholder_with_default(2.0, []), keepdims=True)),
        _graph_of(tf, lambda: tf.count_nonzero(tf.constant(3))),
    ]


BEHAVIOURS = {
    "compared": _compared,
    "signs": _signs,
    "ranks": _ranks,
    "kinds": _kinds,
    "near": _near,
    "reduced_scalars": _reduced_scalars,
}
