"""Signatures that are kept: what must be seen in every run although nothing is looked up anew."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections import OrderedDict, defaultdict, namedtuple
from types import MappingProxyType
from typing import Any
from unittest import mock

import numpy as np
import pytest
from tier_runs import TIERS, session

import sessrun.reference as tf

pytestmark = pytest.mark.usefixtures("chosen_tiers")


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


Pair = namedtuple("Pair", "a b")  # noqa: PYI024 - an untyped one is meant


@pytest.mark.parametrize("tier", [None, *TIERS])
def test_fetches_that_have_been_changed_in_place_are_fetched_as_they_are(tier: int | None) -> None:
    x = tf.placeholder_with_default(1.0, [], name="x")
    a, b = tf.add(x, 1.0, name="a"), tf.add(x, 2.0, name="b")
    runs = 30
    flat: list[Any] = [a, b]
    by_key: dict[Any, Any] = {1: a, "b": b}
    inner: list[Any] = [a, b]
    nested: list[Any] = [inner, {"a": a}, (b,), Pair(a, b)]
    with session(tier) as sess:
        for _ in range(runs):
            assert sess.run(flat) == [2.0, 3.0]
            assert sess.run(by_key, {x: 2.0}) == {1: 3.0, "b": 4.0}
            assert sess.run(nested, {x: 2.0}) == [[3.0, 4.0], {"a": 3.0}, (4.0,), (3.0, 4.0)]
        flat.reverse()
        assert sess.run(flat) == [3.0, 2.0]
        flat[:] = ["a:0", a.op]
        assert sess.run(flat) == [2.0, None]
        flat[:] = [np.zeros(2), np.zeros(2)]
        with pytest.raises(TypeError):
            sess.run(flat)
        by_key.clear()
        by_key |= {True: a, "b": b}
        result = sess.run(by_key, {x: 2.0})
        assert [*map(type, result)] == [bool, str]
        by_key.clear()
        by_key |= {"b": b, 1: a}
        assert [*sess.run(by_key, {x: 2.0})] == ["b", 1]
        by_key["b"] = by_key[1]
        assert sess.run(by_key, {x: 2.0}) == {"b": 3.0, 1: 3.0}
        inner.append(a)
        assert sess.run(nested, {x: 2.0})[0] == [3.0, 4.0, 3.0]
        nested[3] = (a, b)
        assert type(sess.run(nested, {x: 2.0})[3]) is tuple
        nested[1] = OrderedDict(nested[1])
        assert type(sess.run(nested, {x: 2.0})[1]) is OrderedDict
        nested[2] = [b]
        assert sess.run(nested)[2] == [3.0]


def test_many_fetches_at_one_place_in_memory_are_told_from_one_another() -> None:
    x = tf.placeholder_with_default(1.0, [])
    sums = [x + float(number) for number in range(40)]
    with session(2) as sess:
        for _ in range(3):
            for number, y in enumerate(sums):
                assert sess.run([y]) == [1.0 + number]
                assert sess.run({"y": y}, {x: 2.0}) == {"y": 2.0 + number}
                assert sess.run([y, sums[0]], {x: 3.0}) == [3.0 + number, 3.0]


@pytest.mark.parametrize("tier", [None, *TIERS])
def test_a_tensor_is_fetched_with_the_feeds_of_the_run(tier: int | None) -> None:
    x, z = tf.placeholder_with_default(1.0, [], "x"), tf.placeholder_with_default(2.0, [], "z")
    n = tf.placeholder_with_default(np.zeros([1, 2], np.float32), [None, 2])
    fetches = [x + z, [x + z, x], tf.reduce_sum(n) + z]
    with session(tier) as sess:
        for _ in range(30):
            assert sess.run(fetches[0], {x: np.float32(5), z: np.float32(7)}) == 12.0
        f = np.float32
        counts = defaultdict(lambda: f(9), {z: f(3), fetches[0]: f(8)})
        for _ in range(3):
            assert sess.run(fetches[0], {z: f(7), x: f(5)}) == 12.0
            assert sess.run(fetches[0], {z: f(7)}) == 8.0
            assert sess.run(fetches[0], {z: f(7), fetches[0]: f(5)}) == 5.0
            assert sess.run(fetches[0], {"x:0": f(4), z: f(7)}) == 11.0
            assert sess.run(fetches[0], {"x:0": 4, z: 7}) == 11.0
            assert sess.run(fetches[0], MappingProxyType({x: f(4), z: f(7)})) == 11.0
            assert sess.run(fetches[0], counts) == 8.0
            assert len(counts) == 2
            assert sess.run(fetches[0]) == 3.0
            assert sess.run(fetches[1], {x: f(4), z: f(7)}) == [11.0, 4.0]
            assert sess.run(fetches[1][0], {x: 4, z: f(7)}) == 11.0
            given = sess.run(fetches[1], {x: f(4), z: f(7)})[1]
            assert type(given) is np.ndarray
            assert sess.run(fetches[2], {n: np.ones([3, 2], f)}) == 8.0
            assert sess.run(fetches[2], {n: np.ones([4, 2], f)}) == 10.0
            for wrong in (np.ones([2, 3], f), np.ones(2, f)):
                with pytest.raises(ValueError, match="shape"):
                    sess.run(fetches[2], {n: wrong})
            with pytest.raises(TypeError):
                sess.run(fetches[0], {x: None, z: tf.constant(1.0)})
            with pytest.raises(ValueError, match="sequence"):
                sess.run(fetches[0], {x: [1.0, [2.0]], z: tf.constant(1.0)})
            with pytest.raises(TypeError):
                sess.run(fetches[0], {z: tf.constant(1.0), x: [1.0, [2.0]]})


@pytest.mark.parametrize("tier", TIERS)
def test_structures_of_the_values_of_a_run(tier: int) -> None:
    x = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=np.zeros(3, np.float32))
    many = {f"k{number}": x + float(number) for number in range(70)}
    counts: defaultdict[str, Any] = defaultdict(list, {"a": x + 1.0})
    y = v + 1.0
    with session(tier) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            assert sess.run(many, {x: 1.0}) == {f"k{n}": 1.0 + n for n in range(70)}
            result = sess.run({"a": [y, y], "b": (v, Pair(y, v.op)), 3: ()})
            first, again = result["a"]
            assert first is again is result["b"][1].a
            assert result["b"][1].b is None
            assert result[3] == ()
            for array in (first, result["b"][0]):
                array[:] = 7
            assert sess.run(v).tolist() == [0, 0, 0]
            ordered = sess.run(OrderedDict(b=x + 1.0, a=x + 2.0), {x: 1.0})
            assert ordered == OrderedDict(b=2.0, a=3.0)
            made = sess.make_callable(counts, [x])(1.0)
            assert type(made) is defaultdict
            assert made["missing"] == []


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32"])
def test_numbers_that_are_fed_to_scalars_become_the_same_in_both_tiers(dtype: str) -> None:
    rng = np.random.default_rng(3)
    x = tf.placeholder(dtype, [])
    y = tf.identity(x)
    floats = [0.0, -0.0, 0.1, 1e-320, 65504.0, 65520.0, 3.4028234e38, 1e39, np.inf, -np.inf, np.nan]
    floats += [*rng.standard_normal(20), *map(float, np.exp(rng.standard_normal(20) * 20))]
    ints = [0, 1, -1, 127, 128, -128, 255, 256, 2049, 2**24, 2**24 + 1, 2**31, -(2**31), 2**70]
    values = [*floats, *map(float, floats), *ints, True, np.int64(300), np.array(2, dtype)]
    with session(1) as first, session(2) as second, np.errstate(all="ignore"):
        for value in values:
            outcomes = []
            for sess in (first, second):
                try:
                    result = sess.run(y, {x: value})
                except (TypeError, ValueError, OverflowError) as error:
                    outcomes.append((type(error), str(error)))
                else:
                    outcomes.append((type(result), result.tobytes()))
            assert outcomes[0] == outcomes[1], value
        tf.get_default_graph().prevent_feeding(x)
        with pytest.raises(ValueError, match="may not be fed"):
            second.run(y, {x: 1})


def test_a_run_and_callables_of_one_signature_stay_hot_beside_each_other() -> None:
    x = tf.placeholder_with_default(1.0, [])
    y = x + 1.0
    with session(2) as sess:
        for _ in range(3):
            feeds: tuple[Any, ...]
            for feeds in ((), (x,)):
                calls = [sess.make_callable(fetches, list(feeds)) for fetches in (y, y, [y])]
                for _ in range(3):
                    values = [np.float32(5)] * len(feeds)
                    want = values[0] + 1 if feeds else 2.0
                    assert [run(*values) for run in calls] == [want, want, [want]]
                    assert sess.run(y, dict(zip(feeds, values, strict=True))) == want
                    assert calls[0](*values, 7.0) == want  # one value too many
                marks = {sess._cache.mark(fetches, feeds) for fetches in (y, [y])}
                assert marks <= sess._hot.keys()
            assert y in sess._hot
            tf.no_op()  # the graph changes
            assert not sess._hot
            assert not sess._quick


@pytest.mark.parametrize("make", [list, tuple, lambda pair: dict(enumerate(pair))])
@pytest.mark.parametrize("tier", TIERS)
def test_an_object_that_equals_everything_is_no_fetch(tier: int, make: Any) -> None:
    a, b = tf.constant(1.0), tf.constant(2.0)
    operations = [a.op, b.op]

    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash(a)

    with session(tier) as sess:
        for pair in ([a, b], operations, [a.name, b.name]):
            fetches = make(pair)
            for _ in range(30):
                sess.run(fetches)
            for odd in (mock.ANY, Anything(), np.zeros(3)):
                with pytest.raises(TypeError, match="has invalid type"):
                    sess.run(make([odd, pair[1]]))
