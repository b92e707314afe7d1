"""Nested fetches in later runs: the signature is found again, and the structure is the caller's."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.reference.session.resolve import fetches as resolve_fetches


class Pair(NamedTuple):
    left: Any
    right: Any


@pytest.fixture
def tensors() -> tuple[Any, Any]:
    tf.reset_default_graph()
    return tf.constant(1.0, name="a"), tf.constant(2.0, name="b")


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The fetches that were resolved anew."""
    seen: list[Any] = []
    structure = resolve_fetches.FetchStructure.__init__

    def noted(self: Any, graph: Any, kept: Any, fetches: Any) -> None:
        seen.append(fetches)
        structure(self, graph, kept, fetches)

    monkeypatch.setattr(resolve_fetches.FetchStructure, "__init__", noted)
    return seen


def test_a_structure_is_resolved_once(tensors: tuple[Any, Any], resolved: list[Any]) -> None:
    a, b = tensors
    with tf.Session() as sess:
        for fetches in ({"x": [a, (b,)]}, [a, [b]], Pair([a], "b:0"), OrderedDict(z=a, y=b)):
            resolved.clear()
            first, again = sess.run(fetches), sess.run(fetches)
            assert first == again
            assert type(again) is type(fetches)
            assert resolved == [fetches]


def test_equal_keys_and_types_are_told_from_one_another(tensors: tuple[Any, Any]) -> None:
    a, b = tensors
    with tf.Session() as sess:
        for keys in ((1,), (True,), (1.0,)):
            (key,) = sess.run({keys[0]: [a]})
            assert type(key) is type(keys[0])
        assert list(sess.run({"x": [a], "y": b})) == ["x", "y"]
        assert list(sess.run({"y": b, "x": [a]})) == ["y", "x"]
        assert isinstance(sess.run([Pair(a, b)])[0], Pair)
        assert type(sess.run([(a, b)])[0]) is tuple
        assert type(sess.run([[a, b]])[0]) is list


@pytest.mark.parametrize(
    "keys", [((1, 2), (1, 2.0)), (0.0, -0.0), (frozenset([1]), frozenset([True]))]
)
def test_equal_keys_that_look_different_are_in_the_result_as_given(
    tensors: tuple[Any, Any], keys: tuple[Any, Any]
) -> None:
    with tf.Session() as sess:
        for _ in range(30):
            for key in keys:
                (given,) = sess.run({key: tensors[0]})
                assert repr(given) == repr(key)


def test_a_structure_that_changes_is_fetched_as_it_is(tensors: tuple[Any, Any]) -> None:
    a, b = tensors
    fetches: dict[str, Any] = {"x": [a]}
    with tf.Session() as sess:
        assert sess.run(fetches) == {"x": [1.0]}
        fetches["x"].append(b)
        assert sess.run(fetches) == {"x": [1.0, 2.0]}
        fetches["y"] = a
        assert sess.run(fetches) == {"x": [1.0, 2.0], "y": 1.0}


def test_feeds_of_nested_fetches_are_those_of_the_run(resolved: list[Any]) -> None:
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [2])
    fetches = {"sum": [tf.reduce_sum(x)], "x": x}
    with tf.Session() as sess:
        for value in ([1, 2], [3, 4]):
            got = sess.run(fetches, {x: value})
            assert got["sum"] == [sum(value)]
            assert np.array_equal(got["x"], value)
    assert len(resolved) == 1
