"""Signatures that are kept: what must be seen in every run although nothing is looked up anew."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sessrun.reference as tf

TIERS = (1, 2)


@pytest.fixture(autouse=True)
def chosen_tiers() -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    tf.experimental.set_execution_tier(None)


def session(tier: int | None) -> Any:
    tf.experimental.set_execution_tier(tier)
    return tf.Session()


@pytest.mark.parametrize("tier", TIERS)
def test_two_keys_of_one_tensor_feed_the_last_value_in_every_run(tier: int) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = x + 1.0
    with session(tier) as sess:
        assert {float(sess.run(y, {x: 1.0, "x:0": 2.0})) for _ in range(30)} == {3.0}
        assert {float(sess.run(y, {"x:0": 2.0, x: 1.0})) for _ in range(30)} == {2.0}


@pytest.mark.parametrize("tier", TIERS)
def test_a_failed_run_keeps_no_array(tier: int) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.check_numerics(x, "bad") + 1.0
    kept = []
    with session(tier) as sess:
        gc.disable()
        try:
            for _ in range(3):
                array = np.full(4, np.nan, np.float32)
                kept.append(weakref.ref(array))
                with contextlib.suppress(tf.errors.InvalidArgumentError):
                    sess.run(y, {x: array})
                del array
            assert [reference() for reference in kept] == [None, None, None]
        finally:
            gc.enable()


def test_what_has_no_hash_and_what_is_no_mapping_are_told_of_in_every_run() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = x + 1.0

    class Own:
        __hash__ = None  # type: ignore[assignment]

        def _as_graph_element(self) -> Any:
            return y

    with tf.Session() as sess:
        for _ in range(30):
            assert sess.run(Own(), {x: 1.0}) == 2.0
            assert sess.run(y, {x: 1.0}) == 2.0
            with pytest.raises(TypeError, match="feed_dict"):
                sess.run(y, [x])


def test_a_callable_of_a_class_with_a_run_of_its_own_calls_it() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = x + 1.0
    runs = []

    class Counting(tf.Session):
        def run(self, *args: Any, **kwargs: Any) -> Any:
            runs.append(args)
            return super().run(*args, **kwargs)

    with Counting() as sess:
        call = sess.make_callable(y, [x])
        assert [float(call(1.0)) for _ in range(10)] == [2.0] * 10
    assert len(runs) == 10
