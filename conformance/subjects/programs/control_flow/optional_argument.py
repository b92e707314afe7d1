"""Programs of optionals: with and without values, of several components, and errors."""

from __future__ import annotations

import functools

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.refusals import hidden, outcomes_of

__all__ = ["BEHAVIOURS"]


def _held(tf):
    raw = tf.raw_ops
    pair = raw.OptionalFromValue(components=[tf.constant([1, 2]), tf.constant("a")])
    one, none = raw.OptionalFromValue(components=[tf.constant(2.5)]), raw.OptionalNone()
    inner = raw.OptionalFromValue(components=[pair])
    back = raw.OptionalGetValue(
        optional=raw.OptionalGetValue(
            optional=inner, output_types=[tf.variant], output_shapes=[[]]
        )[0],
        output_types=[tf.int32, tf.string],
        output_shapes=[[None], None],
    )
    has = [raw.OptionalHasValue(optional=optional) for optional in (pair, one, none, inner)]
    taken = raw.OptionalGetValue(optional=one, output_types=[tf.float32], output_shapes=[[]])
    chosen = tf.cond(
        tf.placeholder_with_default(True, []), lambda: tf.identity(none), lambda: tf.identity(pair)
    )
    return [
        pair,
        has,
        back,
        taken,
        run(tf, [has, back, taken]),
        run(tf, raw.OptionalHasValue(optional=chosen)),
    ]


def _refused(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)

    def got(types, shapes, optional=None):
        if optional is None:
            optional = raw.OptionalFromValue(components=[of([1, 2]), of("a")])
        return raw.OptionalGetValue(optional=optional, output_types=types, output_shapes=shapes)

    two, scalars = [tf.int32, tf.string], [[], []]
    return outcomes_of(
        tf,
        lambda: got(two, [[2], []]),
        lambda: got(two, [None, None]),
        lambda: got(two, [[None], []]),
        lambda: got(two, [[3], []]),
        lambda: got(two, scalars),
        lambda: got(two, [[2], [1]]),
        lambda: got([tf.int64, tf.string], [[2], []]),
        lambda: got([tf.string, tf.int32], [[], [2]]),
        lambda: got([tf.int32], [[2]]),
        lambda: got([*two, tf.int32], [[2], [], []]),
        lambda: got(two, scalars, raw.OptionalNone()),
        lambda: got([tf.int32], [[]], raw.OptionalNone()),
        lambda: got(two, [[2]]),
        lambda: raw.OptionalHasValue(optional=_a_list(tf)),
        lambda: got([tf.int32], [[]], _a_list(tf)),
        lambda: got([], []),
        lambda: raw.OptionalFromValue(components=[]),
        lambda: got([tf.float32], [[]], raw.OptionalFromValue(components=[of(1)])),
    )


def _a_list(tf):
    """A tensor of dtype variant that holds a list instead of an optional."""
    return tf.raw_ops.EmptyTensorList(
        element_shape=tf.constant(-1), max_num_elements=tf.constant(1), element_dtype=tf.float32
    )


def _computed(tf):
    """Sums, zeros and copies of optionals."""
    raw = tf.raw_ops
    some = raw.OptionalFromValue(components=[tf.constant([1.0, 2.0]), tf.constant(3)])
    other = raw.OptionalFromValue(components=[tf.constant([5.0, 7.0]), tf.constant(-9)])
    none = raw.OptionalNone()

    def both(optional):
        has = raw.OptionalHasValue(optional=optional)
        values = raw.OptionalGetValue(
            optional=optional, output_types=[tf.float32, tf.int32], output_shapes=[[2], []]
        )
        return attempt(lambda: run(tf, has), lambda: run(tf, values))

    return [
        both(tf.identity(some)),
        both(tf.zeros_like(some)),
        both(tf.zeros_like(none)),
        both(tf.add_n([some, other])),
        both(tf.add_n([some, other, other])),
        both(tf.add_n([none, none])),
        both(tf.add_n([some, none])),
        both(tf.add_n([none, other])),
    ]


def _never_read(tf):
    raw = tf.raw_ops
    dtypes = (tf.float32, tf.int64, tf.bool, tf.string, tf.complex64, tf.bfloat16)
    tensors = [
        raw.FakeParam(dtype=dtype, shape=shape)
        for dtype in dtypes
        for shape in ([], [2, 3], [0, 2])
    ]
    loose = [raw.FakeParam(dtype=tf.float32, shape=shape) for shape in ([None, 2], [3, None], None)]
    return [
        tensors,
        loose,
        [np.shape(value) for value in run(tf, tensors)],
        attempt(*(lambda fetch=fetch: np.shape(run(tf, fetch)) for fetch in loose)),
    ]


BEHAVIOURS = {
    "held": _held,
    "refused": _refused,
    "computed": _computed,
    "never read": _never_read,
}
