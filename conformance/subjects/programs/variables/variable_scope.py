"""Programs of variable scopes: reuse, getters, errors."""

from __future__ import annotations

import threading

from sessrun.conformance.subjects.programs.described import caught
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def reuse_errors(tf):
    w = tf.get_variable("w", [2])
    tf.get_variable("r", [2], use_resource=True)
    tf.Variable(1.0, name="plain")

    def within(reuse, function: Action):
        with tf.variable_scope(tf.get_variable_scope(), reuse=reuse):
            return function()

    get = tf.get_variable
    return [
        caught(lambda: get("w", [2])),
        caught(lambda: get("r", [2])),
        caught(lambda: within(True, lambda: get("x", [2]))),
        caught(lambda: within(True, lambda: get("plain"))),
        caught(lambda: within(True, lambda: get("w", [3]))),
        caught(lambda: within(True, lambda: get("w", [2], tf.int32))),
        caught(lambda: within(tf.AUTO_REUSE, lambda: get("w", [3]))),
        caught(lambda: within(True, lambda: get("w", [None]) is w)),
        caught(lambda: within(True, lambda: get("w") is w)),
        caught(lambda: within("yes", lambda: get("w") is w)),
        caught(lambda: get("new", [2])),
        caught(lambda: get("plain", [2])),
    ]


def get_variable_errors(tf):
    get = tf.get_variable
    return [
        caught(lambda: get("a")),
        caught(lambda: get("b", [None])),
        caught(lambda: get("c", [2], initializer=tf.constant([1.0, 2.0]))),
        caught(lambda: get("d", [2], initializer=[1.0, 2.0])),
        caught(lambda: get("e", [2], tf.string)),
        caught(lambda: get("f", [2], tf.complex64)),
        caught(lambda: get("g", [2], tf.int32, initializer=tf.glorot_uniform_initializer())),
        caught(lambda: get("h", dtype=tf.int32, initializer=tf.constant(1.0))),
        caught(lambda: get("i", [2], initializer=tf.constant_initializer([1.0, 2.0, 3.0]))),
        caught(lambda: get("j", [3], initializer=tf.constant_initializer([1.0, 2.0]))),
        caught(lambda: get("k", [2], initializer=3)),
        caught(lambda: get(3, [2])),
        caught(lambda: get("l", [2], initializer=tf.zeros([3]))),
        caught(lambda: get("m", [2], initializer=lambda: tf.zeros([2]))),
        caught(lambda: get("n", [2], initializer=lambda shape: shape)),
        caught(lambda: get("o", [-2])),
        caught(lambda: get("p", "shape")),
        caught(lambda: get("a b", [2])),
        caught(lambda: get("", [2])),
        caught(lambda: get("q", [2], partitioner=3)),
        get("s", 3).shape.as_list(),
        caught(
            lambda: get(
                "t", [2], trainable=True, synchronization=tf.VariableSynchronization.ON_READ
            )
        ),
        caught(lambda: get("u", [2], collections="mine")),
        caught(lambda: get("v", [2], tf.bool).dtype.name),
        caught(lambda: get("w", initializer=tf.zeros_initializer())),
        caught(lambda: get("x", [2], initializer=tf.constant_initializer("a"))),
        caught(lambda: get("y", [2, 0])),
    ]


def scope_errors(tf):
    def enter(*args, **kwargs):
        with tf.variable_scope(*args, **kwargs) as scope:
            names = tf.get_default_graph().get_name_scope()
            return scope.name, scope.original_name_scope, scope.reuse, names

    return [
        caught(lambda: enter(None)),
        caught(lambda: enter(3)),
        caught(lambda: enter("a")),
        caught(lambda: enter("a", reuse=False)),
        caught(lambda: enter("a", reuse=3)),
        caught(lambda: enter(None, "b", reuse=True)),
        caught(lambda: enter("a", "b")),
        caught(lambda: enter("", "b")),
        caught(lambda: enter("a b")),
        caught(lambda: enter("a/b")),
        caught(lambda: enter("a", auxiliary_name_scope=3)),
        caught(lambda: enter("a", auxiliary_name_scope=False)),
        caught(lambda: enter(None, "b", auxiliary_name_scope=False)),
        caught(lambda: enter("a", custom_getter=3)),
        caught(lambda: enter("a", values=[3])),
        caught(lambda: enter(tf.get_variable_scope())),
        caught(lambda: enter("a", dtype="float")),
        caught(lambda: enter("a/")),
        caught(lambda: enter("_a")),
        caught(lambda: enter("a", reuse=True)),
    ]


def threads_see_their_own_scope(tf):
    graph = tf.get_default_graph()
    names: list[str] = []

    def work() -> None:
        with graph.as_default():
            names.append(tf.get_variable_scope().name)
            names.append(tf.get_variable("w", [2]).name)

    with tf.variable_scope("a"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        names.append(tf.get_variable("w", [2]).name)
    return names


def creators(tf):
    seen = []

    def outer(next_creator, **kwargs):
        seen.append(["outer", kwargs["name"], kwargs["trainable"], kwargs["use_resource"]])
        return next_creator(**kwargs)

    def inner(next_creator, **kwargs):
        seen.append("inner")
        kwargs["name"] = "renamed"
        return next_creator(**kwargs)

    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        v = tf.Variable(1.0, name="v")
        w = tf.get_variable("w", [2])
    return [seen, v.name, w.name]


BEHAVIOURS = {
    program.__name__: program
    for program in (
        reuse_errors,
        get_variable_errors,
        scope_errors,
        threads_see_their_own_scope,
        creators,
    )
}
