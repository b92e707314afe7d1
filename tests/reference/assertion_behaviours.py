"""Programs of `tf.assert_*`: what is refused while the graph is built, and what when it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]

COMPARISONS = ("equal", "none_equal", "less", "less_equal", "greater", "greater_equal")
PAIRS: tuple[tuple[Any, Any], ...] = (
    (1, 2),
    (2, 1),
    (1, 1),
    ([1.0, 2.0], [1.0, 3.0]),
    ([], []),
    ([[1], [2]], [1, 2]),
    ([1, 2], [1, 2, 3]),
    (1, 1.5),
    ("a", "b"),
    (True, True),
)
SIGNS = ("negative", "positive", "non_negative", "non_positive")
RANKS: tuple[tuple[str, Any], ...] = (
    ("rank", 1),
    ("rank", 2),
    ("rank_at_least", 1),
    ("rank_at_least", 3),
    ("rank_in", [0, 1]),
    ("rank_in", [2, 3]),
    ("rank_in", []),
    ("rank", [1]),
    ("rank", 1.0),
)


def _unknown(tf: Any, value: Any) -> Any:
    """A tensor of this value that is not known while the graph is built."""
    array = np.asarray(value)
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    if array.dtype == np.int64:
        array = array.astype(np.int32)
    return tf.placeholder_with_default(array, None)


def _built_and_run(tf: Any, build: Callable[[], Any]) -> list[Any]:
    """How building fails, if it does, and else how running."""
    made: list[Any] = []

    def keep() -> None:
        made.append(build())

    return [*attempt(keep), *(attempt(lambda: run(tf, made[0])) if made else [])]


def _compared(tf: Any) -> Any:
    return [
        _built_and_run(tf, lambda: getattr(tf, f"assert_{name}")(*operands))  # noqa: B023 - run at once
        for name in COMPARISONS
        for one, two in PAIRS
        for operands in ((one, two), (_unknown(tf, one), _unknown(tf, two)))
        if operands[0] is one or type(one) is type(two)
    ]


def _signed(tf: Any) -> Any:
    return [
        _built_and_run(tf, lambda: getattr(tf, f"assert_{name}")(value))  # noqa: B023 - run at once
        for name in SIGNS
        for plain in (1, -1.5, 0, [1.0, -1.0], [], "a")
        for value in (plain, _unknown(tf, plain))
    ]


def _ranked(tf: Any) -> Any:
    return [
        _built_and_run(tf, lambda: getattr(tf, f"assert_{name}")(value, wanted))  # noqa: B023 - as above
        for name, wanted in RANKS
        for plain in (1, [1, 2], [[1.0]])
        for value in (plain, _unknown(tf, plain))
    ]


def _others(tf: Any) -> Any:
    ints = _unknown(tf, [1, 2])
    sparse = tf.SparseTensor([[0]], [1], [2])
    programs: list[Callable[[], Any]] = [
        lambda: tf.assert_near(1.0, 1.0 + 1e-8),
        lambda: tf.assert_near([1.0, 2.0], [1.0, 2.1]),
        lambda: tf.assert_near(1.0, 1.05, rtol=0.1),
        lambda: tf.assert_near(1 + 1j, 1 + 1j),
        lambda: tf.assert_near(1, 1),
        lambda: tf.assert_scalar(_unknown(tf, 3)),
        lambda: tf.assert_scalar([1]),
        lambda: tf.assert_type(1, tf.int32),
        lambda: tf.assert_type(1, tf.float32),
        lambda: tf.assert_type(sparse, tf.int32),
        lambda: tf.assert_integer(ints),
        lambda: tf.assert_integer(1.5),
        lambda: tf.assert_equal(ints, ints),
        lambda: tf.assert_equal(ints, [1, 3], message="no", data=["a", ints], summarize=1),
        lambda: tf.assert_rank(ints, _unknown(tf, 1)),
        lambda: tf.assert_rank(ints, _unknown(tf, [1])),
        lambda: tf.assert_rank(sparse, 1),
        lambda: tf.debugging.assert_less(1, ints),
    ]
    return [
        *(_built_and_run(tf, program) for program in programs),
        *attempt(
            *(
                lambda value=value: tf.assert_proper_iterable(value)
                for value in ([1], (), {}, "a", 3, np.ones(2), ints, sparse)
            )
        ),
        [tf.is_numeric_tensor(value) for value in (ints, tf.constant("a"), 1)],
    ]


def _named(tf: Any) -> Any:
    with tf.name_scope("outer"):
        tf.assert_less(_unknown(tf, 1), 2)
        tf.assert_positive(_unknown(tf, 1), name="positive")
        tf.assert_rank([1], 1)
        tf.assert_type(1, tf.int32)
    return [
        name for op in tf.get_default_graph().get_operations() if "Assert" not in (name := op.name)
    ]


def _used(tf: Any) -> Any:
    value = tf.placeholder(tf.float32, [None])
    with tf.control_dependencies([tf.assert_positive(value, message="all")]):
        root = tf.sqrt(value)
    return attempt(
        lambda: run(tf, root, {value: [4.0, 9.0]}), lambda: run(tf, root, {value: [4.0, -9.0]})
    )


BEHAVIOURS: dict[str, Callable[[Any], Any]] = {
    "compared": _compared,
    "signed": _signed,
    "ranked": _ranked,
    "others": _others,
    "named": _named,
    "used": _used,
}
