"""Programs of failing assertions: the tensors in the error's message."""

from __future__ import annotations

import functools

import numpy as np

from sessrun.conformance.subjects.programs.refusals import hidden, shown

__all__ = ["BEHAVIOURS"]

_SHOWN = r"assertion failed: .*"


def _shown(tf):
    of = functools.partial(hidden, tf)
    x = np.arange(24)
    data = [
        3,
        [],
        [7],
        [1, 2, 3],
        [1, 2, 3, 4],
        x.reshape(2, 12),
        x.reshape(2, 3, 4),
        x.reshape(24, 1),
        np.zeros((2, 0)),
        np.zeros((0, 2)),
        [True, False],
        True,
        "text",
        ["a", "b", "c", "d"],
        [["a\n", "\t\\"], ['q"', "é"]],
        2.5,
        [0.1, 1 / 3, 1e10, 1e-10, -0.0],
        np.float32([0.1, 1 / 3, 16777216.0, float("inf"), float("-inf"), float("nan")]),
        np.float64([np.pi, 1e300]),
        np.uint8([200, 3]),
        np.int64([-(2**60)]),
        [1 + 2j],
        np.float16([0.1, 2048.0]),
    ]
    return [
        shown(
            tf,
            _SHOWN,
            *(
                lambda value=value, count=count: tf.raw_ops.Assert(
                    condition=of(False), data=[of(value), of("end")], summarize=count
                )
                for value in data
            ),
        )
        for count in (3, 1, 0, -1, 100)
    ]


def _conditions(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    return shown(
        tf,
        _SHOWN,
        lambda: raw.Assert(condition=of(True), data=[of(1)]),
        lambda: raw.Assert(condition=of([True]), data=[of(1)]),
        lambda: raw.Assert(condition=of([True, False]), data=[of(1)]),
        lambda: raw.Assert(condition=of(False), data=[of(1), of([2, 3]), of("x"), of(0.5)]),
        lambda: tf.Assert(of(False), [of([1, 2, 3, 4, 5])], summarize=2, name="named"),
        lambda: tf.Assert(of([False, True]), [of(4)]),
        lambda: tf.Assert(of(False), []),
        lambda: raw.Assert(condition=of(False), data=[]),
    )


BEHAVIOURS = {"shown": _shown, "conditions": _conditions}
