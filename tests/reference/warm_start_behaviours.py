"""Programs of `tf.train.warm_start`: which variables, under which names, from which checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from described import attempt
from saved_graphs import in_a_folder

__all__ = ["BEHAVIOURS"]


def _saved(tf: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        for name in ("a", "net/b", "net/c"):
            tf.get_variable(name, initializer=np.full([4, 2], len(name), np.float32))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "d/x")


def _model(tf: Any, *, parts: bool = False) -> list[Any]:
    cut = tf.fixed_size_partitioner(2) if parts else None
    a = tf.get_variable("a", [4, 2], initializer=tf.zeros_initializer(), partitioner=cut)
    b = tf.get_variable("net/b", [4, 2], initializer=tf.zeros_initializer(), use_resource=True)
    c = tf.get_variable("net/c", [4, 2], initializer=tf.zeros_initializer(), trainable=False)
    return [a, b, c]


def _started(wanted: Callable[[list[Any]], Any], *, parts: bool = False, **names: Any) -> Any:
    @in_a_folder
    def program(tf: Any) -> Any:
        _saved(tf)
        found = []
        for path in ("d/x", "d"):
            with tf.Graph().as_default(), tf.Session() as session:
                made = _model(tf, parts=parts)
                refused = attempt(lambda p=path, m=made: tf.train.warm_start(p, wanted(m), **names))
                session.run(tf.global_variables_initializer())
                held = [tf.convert_to_tensor(variable) for variable in made]
                found.append([refused, session.run(held)])
        return found

    return program


@in_a_folder
def _refused(tf: Any) -> Any:
    _saved(tf)
    _model(tf)
    extra = tf.get_variable("extra", [4, 2])
    start = tf.train.warm_start
    return attempt(
        lambda: start("none"), lambda: start("d/x"), lambda: start("d/x", [extra]),
        lambda: start("d/x", 5), lambda: start("d/x", ["a", extra]), lambda: start("d/x", {"a"}),
        lambda: start("d/x", "a", var_name_to_prev_var_name={"nope": "a"}),
        lambda: start("d/x", "a", var_name_to_prev_var_name={"a": "nope"}),
    )  # fmt: skip


BEHAVIOURS = {
    "all-trainable": _started(lambda _: ".*"),
    "by-pattern": _started(lambda _: "net"),
    "by-patterns": _started(lambda _: ["a", "net/c"]),
    "none": _started(lambda _: None),
    "by-variables": _started(lambda made: made[1:]),
    "in-parts": _started(lambda _: ".*", parts=True),
    "renamed": _started(lambda _: ".*", var_name_to_prev_var_name={"a": "net/c"}),
    "two-from-one": _started(lambda _: ".*", var_name_to_prev_var_name={"a": "net/b"}),
    "refused": _refused,
}
