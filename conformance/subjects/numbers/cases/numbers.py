"""Vectors of NUMBERS: sums, products and ranges of thousands of elements."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.engine_author import TensorValue
from sessrun.conformance.authoring.forms import Matcher
from sessrun.conformance.authoring.record import EngineAuthor, engine_case, near
from sessrun.spec.cases.arguments import DTypeLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

#: Sixteen units in the last place of float16, four of bfloat16, 64 of float32.
_HALF: Final = "close(0.0157, 0)"
_BRAIN: Final = "close(0.032, 0)"
_SINGLE: Final = "close(8e-6, 0)"


def _filled(tf: Namespace, value: float, dtype: DTypeLike, *shape: int) -> Tensor:
    """A tensor of one value; its size is fed, so that it cannot be folded."""
    count = tf.placeholder(tf.int32, [], name="count")
    return tf.reshape(tf.fill([count], tf.constant(value, dtype)), shape)


def _run(c: EngineAuthor, count: int, *wanted: TensorValue | Matcher) -> None:
    session = c.open()
    fetches = [f"out{index}:0" for index in range(len(wanted))]
    session.run(fetches, feeds={"count:0": np.int32(count)}, values=list(wanted))


@engine_case("NUMBERS-001", title="Ones and zeros along both axes of a transpose of 20,000.")
def sums_along_a_transposed_axis(c: EngineAuthor) -> None:
    with c.graph() as tf:
        count = tf.placeholder(tf.int32, [], name="count")
        odd = tf.reshape(tf.floormod(tf.range(count), 2), [-1, 4])
        turned = tf.transpose(tf.cast(odd, tf.float32))
        tf.reduce_sum(turned, 1, name="out0")
        tf.reduce_sum(turned[:, ::-2], 1, name="out1")
        tf.gather(tf.cumsum(turned, 1), [0, 2499, 4999], axis=1, name="out2")
        tf.argmax(turned, 0, name="indices")
        tf.reduce_sum(tf.argmax(turned, 0), name="out3")
    half = np.array([[0, 0, 0], [1, 2500, 5000]] * 2, np.float32)
    _run(
        c,
        20000,
        np.array([0, 5000, 0, 5000], np.float32),
        np.array([0, 2500, 0, 2500], np.float32),
        half,
        np.int64(5000),
    )


@engine_case("NUMBERS-002", title="Ten thousand tenths of halves and of bfloat16.")
def ten_thousand_tenths(c: EngineAuthor) -> None:
    with c.graph() as tf:
        halves = _filled(tf, 0.1, tf.float16, 1, -1)
        tf.reduce_sum(halves, 1, name="out0")
        tf.reduce_mean(halves, 1, name="out1")
        tf.matmul(halves, tf.ones_like(halves), transpose_b=True, name="out2")
        brains = tf.cast(halves, tf.bfloat16)
        tf.reduce_sum(brains, [0, 1], name="out3")
        tf.reduce_sum(tf.transpose(brains), 0, name="out4")
    tenth = np.float16(0.1)
    _run(
        c,
        10000,
        near(np.array([1000], np.float16), _HALF),
        near(np.array([tenth]), _HALF),
        near(np.array([[1000]], np.float16), _HALF),
        near(_brain(1000), _BRAIN),
        near(_brain([1000]), _BRAIN),
    )


def _brain(values: npt.ArrayLike) -> np.ndarray:
    """Numbers in bfloat16."""
    import ml_dtypes  # noqa: PLC0415 - for these two numbers

    return np.array(values, ml_dtypes.bfloat16)


@engine_case("NUMBERS-003", title="A hundred thousand tenths of float32.")
def a_hundred_thousand_tenths(c: EngineAuthor) -> None:
    with c.graph() as tf:
        columns = _filled(tf, 0.1, tf.float32, -1, 2)
        tf.reduce_sum(columns, name="out0")
        tf.reduce_sum(tf.transpose(columns), 1, name="out1")
        tf.reduce_mean(columns, name="out2")
    tenth = float(np.float32(0.1))
    rows = np.array([tenth * 50000] * 2, np.float32)
    _run(
        c,
        100000,
        near(np.array(tenth * 100000, np.float32), _SINGLE),
        near(rows, _SINGLE),
        near(np.array(0.1, np.float32), _SINGLE),
    )


@engine_case("NUMBERS-004", title="The last of a hundred thousand steps of a tenth.")
def the_last_of_many_steps(c: EngineAuthor) -> None:
    with c.graph() as tf:
        count = tf.placeholder(tf.int32, [], name="count")
        stop = tf.cast(count, tf.float32) * 0.1 - 0.05
        steps = tf.range(tf.cast(count, tf.float32) * 0.0, stop, 0.1)
        tf.gather(steps, [1, count - 1], name="out0")
        tf.size(steps, name="out1")
    tenth = float(np.float32(0.1))
    _run(
        c,
        100000,
        near(np.array([tenth, 99999 * tenth], np.float32), "close(3e-7, 0)"),
        np.int32(100000),
    )
