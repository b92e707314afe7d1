"""The two tiers of the executor: what one gives, refuses and leaves behind, the other does, too."""

from __future__ import annotations

import gc
import itertools
import json
import re
import threading
import tracemalloc
import weakref
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tier_runs import TIERS, hot, session

import sessrun.reference as tf
from sessrun.adapters.registry import load
from sessrun.conformance.observe import observe
from sessrun.conformance.properties import PROPERTIES, generate
from sessrun.reference.session.execute import generated as second_tier

pytestmark = pytest.mark.usefixtures("chosen_tiers")


# -- generated cases


@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_generated_cases_have_the_same_outcomes(name: str) -> None:
    backend = load("reference")
    for index in range(12):
        case = generate(name, 20261130, index)
        outcomes = {}
        for tier in TIERS:
            tf.experimental.set_execution_tier(tier)
            outcomes[tier] = observe(backend, case, 60)
        if outcomes[1] != outcomes[2]:
            tf.experimental.set_execution_tier(1)
            again = observe(backend, case, 60)  # a case with threads need not give the same twice
            assert outcomes[1] != again, json.dumps([case.id, outcomes], default=str)[:4000]


UNARY = {
    "f": (tf.negative, tf.square, tf.abs, tf.sqrt, tf.floor, tf.identity, tf.reciprocal),
    "i": (tf.negative, tf.square, tf.abs, tf.identity, tf.bitwise.invert),
}
BINARY = {
    "f": (tf.add, tf.subtract, tf.multiply, tf.realdiv, tf.maximum, tf.floormod, tf.pow),
    "i": (tf.add, tf.subtract, tf.multiply, tf.floordiv, tf.truncatediv, tf.bitwise.bitwise_xor),
}
COMPARISONS = (tf.less, tf.less_equal, tf.greater, tf.greater_equal, tf.equal, tf.not_equal)
VALUES = {
    "f": (0.0, -0.0, 1.0, -1.5, 3e38, -3e38, 1e-45, np.inf, -np.inf, np.nan, 0.1, 7.0),
    "i": (0, 1, -1, 2, 100, -128, 127, 5),
}


def drawn_program(rng: np.random.Generator, dtype: str) -> tuple[list[Any], list[Any]]:
    """Placeholders and fetches of a program of scalars and vectors that updates a variable."""
    kind = np.dtype(dtype).kind
    shapes = [[], [], [None] if rng.random() < 0.5 else []]
    placeholders = [tf.placeholder(dtype, shape) for shape in shapes]
    variable = tf.get_variable("v", initializer=tf.constant(VALUES[kind][2], dtype))
    tensors = [*placeholders, variable, tf.constant(VALUES[kind][7], dtype)]
    fetches: list[Any] = []
    for _ in range(int(rng.integers(3, 25))):
        left, right = (tensors[i] for i in rng.integers(0, len(tensors), 2))
        choice = rng.random()
        if choice < 0.3:
            tensors.append(UNARY[kind][rng.integers(len(UNARY[kind]))](left))
        elif choice < 0.8:
            tensors.append(BINARY[kind][rng.integers(len(BINARY[kind]))](left, right))
        elif choice < 0.9:
            condition = COMPARISONS[rng.integers(len(COMPARISONS))](left, right)
            fetches.append(tf.logical_not(tf.logical_or(condition, tf.equal(right, left))))
            tensors.append(tf.cast(condition, dtype))
        else:
            with tf.control_dependencies([tf.identity(left)]):
                fetches.append(variable.assign_add(tensors[4]))
    fetches += [tensors[i] for i in rng.integers(0, len(tensors), 3)]
    return placeholders, fetches


def outcome(sess: Any, fetches: list[Any], feeds: dict[Any, Any]) -> Any:
    """Values bit for bit; of an error its class, code, operation and message."""
    try:
        return [(type(v), v.dtype, v.shape, v.tobytes()) for v in sess.run(fetches, feeds)]
    except tf.errors.OpError as error:
        op = None if error.op is None else error.op.name
        return type(error), error.error_code, op, error.message
    except (TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("seed", range(60))
def test_programs_of_scalars_have_the_same_outcomes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = ("float32", "float64", "float16", "int32", "int8", "int64")[seed % 6]
    values = VALUES[np.dtype(dtype).kind]
    placeholders, fetches = drawn_program(rng, dtype)
    sessions = [session(tier) for tier in TIERS]
    for one in sessions:
        one.run(tf.global_variables_initializer())
    with np.errstate(all="ignore"):
        drawable = [np.array(value).astype(dtype) for value in values]
    for _ in range(12):
        a, b, c = (drawable[i] for i in rng.integers(0, len(values), 3))
        first = "no number" if rng.random() < 0.1 else a
        fed = (first, b[()], np.stack([a, c]) if placeholders[2].shape.rank else c)
        feeds = dict(zip(placeholders, fed, strict=True))
        outcomes = [outcome(one, fetches, feeds) for one in sessions]
        assert outcomes[0] == outcomes[1], fed
    for one in sessions:
        one.close()


# -- the hot path


def test_the_text_has_numbers_and_no_names(texts: list[str]) -> None:
    x = tf.placeholder(tf.float32, [], name="x_from_outside")
    text = tf.placeholder(tf.string, [None], name="string_from_outside")
    v = tf.get_variable("variable_from_outside", initializer=[1.5, 12345.5])
    y = tf.multiply(x + 98765.0, v, name="y_from_outside")
    with session(2) as sess:
        sess.run(tf.global_variables_initializer())
        fetches = [y, tf.strings.length(text), v.assign_add([1.0, 2.0]), x]
        sess.run(fetches, {x: 4.0, text: ["secret"]})
        sess.run({"key from outside": [y, v.op]}, {"x_from_outside:0": 4.0})
        sess.make_callable([v, v.op])()
    own = {
        "steps",
        "run",
        "link",
        "proceed",
        "fed",
        "fetches",
        "missed",
        "keys",
        "values",
        "shape",
        "ndim",
        "failure_of",
        "error",
        "quiet",
        "quietly_within",
        "zip",
        "generic",
        "build",
        "over",
    }
    own |= {"fetched_value", "unshared", "unfeedable", "sources", "check_open", "value", "read"}
    python = {
        "def",
        "try",
        "except",
        "raise",
        "Exception",
        "RuntimeError",
        "as",
        "return",
        "isinstance",
        "dict",
        "KeyError",
        "len",
        "type",
        "tuple",
    }
    python |= {"None", "ndarray", "if", "is", "else", "and", "not", "abs", "or", "elif"}
    assert len(texts) == 4
    for word in re.findall(r"\w+|'|\"", " ".join(texts)):
        assert re.fullmatch(r"[acdfgkmrstuvwxy]\d+|q|d|\d", word) or word in own | python, word


def test_a_signature_is_generated_once_it_is_hot_and_a_callable_at_once(texts: list[str]) -> None:
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    with session(None) as sess:
        for count in range(2 * second_tier.RUNS_BEFORE):
            assert sess.run(y, {x: 1.0}) == 2.0
            assert len(texts) == (count >= second_tier.RUNS_BEFORE)
        assert sess.make_callable(y.op.inputs[1])() == 1.0
        assert len(texts) == 2
        add = sess.make_callable([y], [x])
        assert [add(1.0), add(2.0), add(3.0)] == [[2.0], [3.0], [4.0]]
        assert len(texts) == 3
    with session(1) as sess:
        hot(lambda: sess.run(y, {x: 1.0}))
        assert sess.make_callable(y.op.inputs[1])() == 1.0
        assert len(texts) == 3


@pytest.mark.parametrize("tier", [None, 2])
def test_the_graph_is_looked_at_after_a_change(tier: int | None) -> None:
    x = tf.placeholder(tf.float32, [])
    y, nothing = x + 1.0, tf.no_op()
    sess = session(tier)
    add, free = sess.make_callable(y, [x]), sess.make_callable(nothing)
    hot(lambda: (sess.run(y, {x: 1.0}), sess.run(nothing), add(1.0), sess.run([y], {x: 1.0})))
    z = y * 2.0
    assert sess.run(y, {x: 1.0}) == 2.0
    assert sess.run(z, {x: 1.0}) == 4.0
    with tf.device("/gpu:7"):
        tf.add(y, 1.0)  # cannot be placed
    for run in (
        lambda: sess.run(y, {x: 1.0}),
        lambda: sess.run(nothing),
        lambda: add(1.0),
        lambda: sess.run([y], {x: 1.0}),
    ):
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                run()
    assert free() is None  # what was added later is nothing to it


def test_a_session_that_has_ended_runs_nothing() -> None:
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    for end, run_error in ((tf.Session.close, RuntimeError), (None, tf.errors.CancelledError)):
        sess = session(2)
        add, one = sess.make_callable(y, [x]), sess.make_callable(y.op.inputs[1])
        hot(lambda: (sess.run(y, {x: 1.0}), add(1.0), one()))  # noqa: B023 - run at once
        tf.Session.reset("") if end is None else end(sess)
        with pytest.raises(run_error):
            sess.run(y, {x: 1.0})
        with pytest.raises(run_error):
            add(1.0)
        with pytest.raises(tf.errors.CancelledError):
            one()


def assert_same_refusal(fetches: list[Any], feeds: dict[Any, Any]) -> None:
    """Both tiers give the same, or refuse with the same error, in the first run and in others."""
    outcomes = []
    for tier in TIERS:
        with session(tier) as sess:
            outcomes += [outcome(sess, fetches, feeds) for _ in range(3)]
    assert outcomes == outcomes[:1] * 6


def test_every_feed_is_checked_in_every_run() -> None:
    x, v = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [None])
    s = tf.placeholder(tf.string, [1])
    fetches = [x + 1.0, v, tf.strings.length(s)]
    with session(2) as sess:
        fed = {x: np.float32(1), v: [1, 2], s: ["a"]}
        for _ in range(2):
            value, _, lengths = sess.run(fetches, fed)
            assert (value, lengths.tolist()) == (2.0, [1])
            for key, wrong, error in (
                (x, [1.0], ValueError),
                (x, "text", ValueError),
                (x, tf.constant(1.0), TypeError),
                (v, 2**40, TypeError),
                (v, [[1]], ValueError),
                (s, ["a", "b"], ValueError),
                (s, [1], tf.errors.InternalError),
            ):
                with pytest.raises(error):
                    sess.run(fetches, {**fed, key: wrong})
        three = np.array([1, 2, 3], np.int32)
        given = sess.run(fetches, {**fed, v: three})[1]
        assert given is three
        assert sess.run(v + 1, {v: three}).tolist() == [2, 3, 4]
        for wrong in (three[:2].astype(np.int64), three[None], np.float32(1)):
            assert_same_refusal(fetches, {**fed, v: wrong})
        v.set_shape([2])
        with pytest.raises(ValueError, match="shape"):
            sess.run(fetches, {**fed, v: three})
        assert sess.run(fetches[0], {x: np.float32(1)}) == 2.0
        tf.get_default_graph().prevent_feeding(x)
        for what in (fetches[0], fetches):
            with pytest.raises(ValueError, match="may not be fed"):
                sess.run(what, {x: np.float32(1), v: [1, 2], s: ["a"]})


def test_a_tuple_of_fetches_is_no_fetch_with_a_feed() -> None:
    x = tf.placeholder_with_default(1.0, [])
    y = x + 1.0
    pair = namedtuple("pair", "a b")  # noqa: PYI024 - an untyped one is meant
    with session(2) as sess:
        for _ in range(3):
            assert sess.run(y, {x: 5.0}) == 6.0
            assert sess.run((y, x)) == (2.0, 1.0)
            assert sess.run([y, x], {x: 5.0}) == [6.0, 5.0]
            result = sess.run(pair(y, x))
            assert type(result) is pair
            assert type(sess.run((y, x))) is tuple
            assert sess.run({"y": y, "x": x}) == {"y": 2.0, "x": 1.0}
            assert sess.run([[y, x], [x, (y,)]]) == [[2.0, 1.0], [1.0, (2.0,)]]
            with pytest.raises(TypeError):
                sess.run((list, y, x))


def test_arrays_that_are_fetched_are_the_callers_own() -> None:
    v = tf.get_variable("v", initializer=np.zeros(3, np.float32))
    x = tf.placeholder(tf.float32, [3])
    same = tf.reshape(tf.identity(x * 1.0), [3])
    with session(2) as sess:
        sess.run(tf.global_variables_initializer())
        fed = np.ones(3, np.float32)
        for _ in range(3):
            value, first, second, given = sess.run([v, same, same.op.inputs[0], x], {x: fed})
            assert given is fed
            for array in (value, first, second):
                array[:] = 7
                assert not any(np.shares_memory(array, other) for other in (fed, given))
            assert not np.shares_memory(first, second)
            assert sess.run(v).tolist() == [0, 0, 0]
            single = sess.run(tf.get_default_graph().get_tensor_by_name("v:0"))
            single += 1
            assert sess.run(v).tolist() == [0, 0, 0]


@pytest.mark.parametrize("inner", ["chain", "pairs", "splits"])
def test_values_are_freed_after_their_last_reader(inner: str) -> None:
    size = 1 << 20
    x = tf.placeholder(tf.float32, [size])
    total: Any = tf.constant(0.0)
    for _ in range(6):
        with tf.control_dependencies([total]):
            if inner == "chain":
                value = tf.sqrt(tf.exp(tf.abs(x) * 2.0) + 1.0)
            elif inner == "pairs":  # the sum takes the register of one operand alone
                value = tf.reduce_sum(x + 1.0) + tf.reduce_sum(tf.exp(x) * tf.exp(-x))
            else:
                value = tf.concat(tf.split(tf.exp(x), 4)[:1], 0)
        with tf.control_dependencies([value]):
            total = total + 1.0
    peaks = []
    for tier in TIERS:
        with session(tier) as sess:
            fed = {x: np.zeros(size, np.float32)}
            sess.run(total, fed)
            tracemalloc.start()
            assert sess.run(total, fed) == 6.0
            peaks.append(tracemalloc.get_traced_memory()[1] / 4 / size)
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + 0.1
    assert peaks[0] < 5


def test_a_run_within_a_run_and_runs_of_many_threads() -> None:
    x = tf.placeholder(tf.float32, [])
    inner = x / 0.0
    with session(2) as sess, np.errstate(all="raise"):
        outer = tf.py_func(lambda v: sess.run(inner, {x: v}), [x + 1.0], tf.float32)
        assert [sess.run(outer, {x: -3.0}) for _ in range(3)] == [-np.inf] * 3
        y = (x + 1.0) * 2.0 - x
        wrong: list[float] = []

        def work(number: int) -> None:
            for i in range(400):
                value = float(number * 1000 + i)
                if sess.run(y, {x: np.float32(value)}) != np.float32(value + 2):
                    wrong.append(value)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


def test_the_operation_that_failed_is_named_wherever_it_stands() -> None:
    x = tf.placeholder(tf.int32, [])
    v = tf.get_variable("v", shape=[2], dtype=tf.int32)
    for position in range(6):
        y = x + 1
        for number in range(6):
            y = tf.floordiv(y, x, name=f"bad{position}") if number == position else y * 3 - 1
        count = tf.identity(y)
        with session(2) as sess:
            assert sess.run(count, {x: 1}) is not None
            for _ in range(3):
                with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                    sess.run(count, {x: 0})
                assert caught.value.op.name == f"bad{position}"
                with pytest.raises(tf.errors.FailedPreconditionError) as unset:
                    sess.run([y, v + 1], {x: 1})
                assert unset.value.op is not None


def test_sums_that_nobody_reads_are_left_out_and_what_can_fail_is_not(texts: list[str]) -> None:
    x = tf.placeholder(tf.int32, [])
    v = tf.get_variable("v", initializer=2)
    sums = [x + 1, tf.negative(x + 2) * 3, tf.less(x, 4)]
    quotient = tf.floordiv(6, x, name="quotient")
    unread, read, quotients = tf.group(sums), tf.group(v + x), tf.group([x + 1, quotient, x * 2])
    with session(2) as sess:
        for _ in range(2):
            assert sess.run(unread, {x: 1}) is None
            assert sess.run(quotients, {x: 1}) is None
            assert sess.run([sums[0].op, sums[1]], {x: 1}) == [None, -9]
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                sess.run(quotients, {x: 0})
            assert caught.value.op is quotient.op
            with pytest.raises(tf.errors.FailedPreconditionError):
                sess.run(read, {x: 1})
        sess.run(v.initializer)
        assert sess.run(read, {x: 1}) is None
    assert "steps(" not in texts[0]
    assert len(re.findall(r"r\d+ = ", texts[2].split("def link")[0])) == 3


def test_a_callable_keeps_its_session_and_a_closed_session_nothing() -> None:
    v = tf.get_variable("v", initializer=np.zeros(1000, np.float32))
    add = v.assign_add(np.ones(1000, np.float32)).op

    def callable_of_a_session() -> tuple[Callable[[], Any], weakref.ref[Any], weakref.ref[Any]]:
        sess = session(2)
        sess.run(tf.global_variables_initializer())
        hot(lambda: sess.run(v))
        return sess.make_callable(add), weakref.ref(sess), weakref.ref(sess._resources)

    run, *alive = callable_of_a_session()
    gc.collect()
    assert all(ref() is not None for ref in alive)
    run()
    del run
    gc.collect()
    assert all(ref() is None for ref in alive)
    assert not tf.get_default_graph().hot_runs


def test_a_wrong_tier_is_refused() -> None:
    with pytest.raises(ValueError, match="tiers 1 and 2"):
        tf.experimental.set_execution_tier(3)


def test_long_plans_are_generated() -> None:
    x = tf.placeholder(tf.float32, [])
    y = x
    for number, _ in enumerate(itertools.repeat(None, 3000)):
        y = tf.add(y, x) if number % 2 else tf.subtract(y, 1.0)
    with session(1) as first:
        want = first.run(y, {x: 3.0})
    with session(2) as second:
        assert second.run(y, {x: 3.0}) == want
        assert second.run(y, {x: 3.0}) == want
