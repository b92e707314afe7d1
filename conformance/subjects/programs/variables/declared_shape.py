"""Programs of assignments of other shapes to reference variables, validated or not."""

from __future__ import annotations

import itertools

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.refusals import hidden

__all__ = ["BEHAVIOURS"]

_KINDS = ("VariableV2", "Variable")


def _variable(tf, kind: str, shape, name: str, dtype=None):
    return getattr(tf.raw_ops, kind)(
        shape=shape, dtype=dtype or tf.float32, container="", shared_name=name, name=name
    )


def _set(tf):
    """Assignments of several shapes with `validate_shape` and without, and later values."""
    raw, values = tf.raw_ops, (2.5, [1.0, 2.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], np.zeros([0]))
    shapes = ((), (2,), (None,), (None, 2), (0,), None)

    def asked(number: int, kind: str, shape, validate: bool):
        with tf.Graph().as_default(), tf.Session() as session:
            ref = _variable(tf, kind, shape, f"v{number}")
            sets = [
                raw.Assign(ref=ref, value=hidden(tf, value, tf.float32), validate_shape=validate)
                for value in values
            ]
            read, is_set = tf.identity(ref), raw.IsVariableInitialized(ref=ref)
            return [
                ref,
                sets[0],
                attempt(
                    lambda: session.run(read),
                    lambda: session.run(is_set),
                    *(lambda assign=assign: session.run(assign) for assign in sets),
                    lambda: session.run([read, is_set]),
                ),
            ]

    cases = itertools.product(_KINDS, shapes, (True, False))
    return [asked(number, *case) for number, case in enumerate(cases)]


def _shared(tf):
    """Two nodes with a shared name: with equal dtypes they are one variable."""
    raw = tf.raw_ops
    first, again = (_variable(tf, "VariableV2", shape, "shared") for shape in ((2,), (3,)))
    other = _variable(tf, "VariableV2", (2,), "shared", tf.float64)
    away = raw.VariableV2(shape=(2,), dtype=tf.float32, container="c", shared_name="shared")
    own = raw.VariableV2(shape=(2,), dtype=tf.float32, name="own")
    with tf.Session() as session:
        return attempt(
            lambda: session.run(raw.Assign(ref=first, value=[1.0, 2.0])),
            lambda: session.run(tf.identity(again)),
            lambda: session.run(tf.identity(other)),
            lambda: session.run(raw.IsVariableInitialized(ref=away)),
            lambda: session.run(raw.Assign(ref=away, value=[5.0, 7.0])),
            lambda: session.run([tf.identity(first), tf.identity(away)]),
            lambda: session.run(raw.IsVariableInitialized(ref=own)),
        )


def _temporary(tf):
    raw = tf.raw_ops

    def changed(shape, value, name: str = "", **how):
        with tf.Graph().as_default(), tf.Session() as session:
            ref = raw.TemporaryVariable(shape=shape, dtype=tf.float32, var_name=name, name="t")
            last = raw.Assign(ref=ref, value=hidden(tf, value, tf.float32), **how)
            last = raw.AssignAdd(ref=last, value=hidden(tf, value, tf.float32))
            gone = raw.DestroyTemporaryVariable(ref=last, var_name=name or "t")
            return [ref, gone, session.run(gone), session.run(gone)]

    def lost():
        with tf.Graph().as_default(), tf.Session() as session:
            ref = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="a")
            with tf.control_dependencies([raw.Assign(ref=ref, value=[1.0, 2.0])]):
                return session.run(raw.DestroyTemporaryVariable(ref=ref, var_name="b"))

    def twice():
        with tf.Graph().as_default(), tf.Session() as session:
            ref = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="a")
            with tf.control_dependencies([ref]):
                again = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="a")
            return session.run(raw.Assign(ref=again, value=[1.0, 2.0]))

    return attempt(
        lambda: changed([2], [1.0, 2.0]),
        lambda: changed([], 3.0, "named"),
        lambda: changed([2], [1.0, 2.0, 3.0]),
        lambda: changed([2], [1.0, 2.0, 3.0], validate_shape=False),
        lambda: changed([None], [1.0]),
        lost,
        twice,
    )


BEHAVIOURS = {"set": _set, "shared": _shared, "temporary": _temporary}
