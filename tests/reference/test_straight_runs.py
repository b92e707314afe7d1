"""Runs with branches and loops: as steps, as generated code, and as nodes that fire, all alike."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest
from flow_programs import drawn_program
from tier_runs import TIERS, hot, session

import sessrun.reference as tf
from sessrun.reference.session.execute.body_calls import BodyCall
from sessrun.reference.session.execute.generated import RUNS_BEFORE
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.straight_flow import Branch, Steps
from sessrun.reference.session.plan import dataflow_compiler

pytestmark = pytest.mark.usefixtures("chosen_tiers")


def outcome(sess: Any, fetches: Any, feeds: dict[Any, Any]) -> Any:
    """Values bit for bit; of an error its class, code and operation."""
    try:
        return [(v.dtype, v.shape, v.tobytes()) for v in sess.run(fetches, feeds)]
    except tf.errors.OpError as error:
        return type(error), error.error_code, None if error.op is None else error.op.name


@pytest.mark.parametrize("seed", range(60))
def test_drawn_programs_have_the_same_outcomes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    placeholders, fetches = drawn_program(tf, seed)
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(6, len(placeholders))).astype(np.float32)
    feeds = [dict(zip(placeholders, values, strict=True)) for values in drawn]
    outcomes = []
    for tier, is_straight in ((1, False), (1, True), (2, True)):
        with session(tier) as sess, monkeypatch.context() as patch:
            if not is_straight:
                patch.setattr(dataflow_compiler, "straight_plan", lambda *_: None)
            sess.run(tf.global_variables_initializer())
            outcomes.append([outcome(sess, fetches, feed) for feed in feeds])
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_most_drawn_programs_are_generated(texts: list[str]) -> None:
    count = 20
    for seed in range(count):
        with tf.Graph().as_default(), session(2) as sess:
            placeholders, fetches = drawn_program(tf, seed)
            outcome(sess, fetches, dict.fromkeys(placeholders, 0.1))
    assert count // 2 < len(texts) < count  # some have gradients of loops within branches
    assert any("while" in text for text in texts)


def test_a_run_with_a_branch_is_generated(texts: list[str]) -> None:
    x = tf.placeholder(tf.float32, [])
    branch = tf.cond(x > 0, lambda: x + 1.0, lambda: x * 2.0)
    with session(2) as sess:
        assert hot(lambda: sess.run(branch, {x: 3.0})) == 4.0
        assert hot(lambda: sess.run(branch, {x: -3.0})) == -6.0
    assert len(texts) == 1
    assert "if " in texts[0]
    assert "else:" in texts[0]


def test_an_endless_generated_loop_ends_with_its_session(texts: list[str]) -> None:
    started = threading.Event()
    first = tf.placeholder(tf.float32, [])
    count = tf.while_loop(lambda i: i >= first, lambda i: i + 1.0, [first])
    sess = session(2)
    outcomes: list[Any] = []

    def run() -> None:
        started.set()
        outcomes.append(outcome(sess, [count], {first: 0.0}))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(20)
    while not texts:
        time.sleep(0.01)
    time.sleep(0.05)
    sess.close()
    thread.join(20)
    assert not thread.is_alive()
    assert outcomes[0][0] is tf.errors.CancelledError


@pytest.mark.parametrize("tier", TIERS)
def test_a_failure_names_the_operation_of_the_side_or_the_iteration(tier: int) -> None:
    x = tf.placeholder(tf.int32, [])
    one = tf.placeholder(tf.int32, [])
    side = tf.cond(x > 0, lambda: tf.floordiv(one, x - 1, name="divide"), lambda: x)
    last = tf.while_loop(lambda i: i > -3, lambda i: i - 1 + tf.floordiv(one, i, name="again"), [x])
    odd = tf.cond(tf.placeholder_with_default(True, None, name="pred"), lambda: x, lambda: one)
    pred = tf.get_default_graph().get_tensor_by_name("pred:0")
    with session(tier) as sess:
        assert sess.run([side, odd], {x: 2, one: 7}) == [7, 2]
        assert outcome(sess, [side], {x: 1, one: 7})[2] == "cond/divide"
        assert outcome(sess, [side], {x: 0, one: 7}) == [(np.dtype("int32"), (), bytes(4))]
        assert outcome(sess, [last], {x: 2, one: 0})[2] == "while/again"
        with pytest.raises(tf.errors.InvalidArgumentError, match="pred must be a scalar") as caught:
            sess.run(odd, {x: 2, one: 7, pred: [True, False]})
        assert caught.value.op.type == "Switch"


@pytest.mark.parametrize("tier", TIERS)
def test_memory_is_let_go_after_the_last_step_that_looks_at_it(tier: int) -> None:
    size = 2**18
    x = tf.placeholder(tf.float32, [None])

    def body(i: Any, y: Any) -> Any:
        for _ in range(6):
            y = tf.cond(y[0] > 0, lambda y=y: y * 2.0 + 1.0, lambda y=y: y - 1.0)
        return i + 1, y

    y = x
    for _ in range(6):
        y = tf.cond(y[0] > 0, lambda y=y: y + 1.0, lambda y=y: y - 1.0)
    total = tf.reduce_sum(tf.while_loop(lambda i, _: i < 3, body, [0, y])[1])
    with session(tier) as sess:
        fed = np.ones(size, np.float32)
        sess.run(total, {x: fed})
        tracemalloc.start()
        try:
            sess.run(total, {x: fed})
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 7 * fed.nbytes  # of more than 40 arrays of this size


def test_optimizer_steps_beside_a_branch_are_batched() -> None:
    training = tf.placeholder_with_default(True, [])
    weights = [tf.get_variable(f"w{n}", initializer=np.ones(3, np.float32)) for n in range(6)]
    loss = tf.add_n([tf.reduce_sum(weight * weight) for weight in weights])
    loss = tf.cond(training, lambda: loss * 0.5, lambda: loss)
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    outcomes = []
    for tier in TIERS:
        with session(tier) as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(step)
            (*_, plan) = sess._planner._plans.values()
            assert sum("Adam" in op.type for op in plan.ops) == 1
            outcomes.append(sess.run(weights))
    np.testing.assert_array_equal(*outcomes)


@pytest.fixture
def functional() -> Any:
    """Branches and loops are functions."""
    tf.enable_control_flow_v2()
    yield
    tf.disable_control_flow_v2()


@pytest.mark.usefixtures("functional")
@pytest.mark.parametrize("seed", range(24))
def test_drawn_programs_of_functions_have_the_same_outcomes(seed: int) -> None:
    placeholders, fetches = drawn_program(tf, seed)
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(6, len(placeholders))).astype(np.float32)
    feeds = [dict(zip(placeholders, values, strict=True)) for values in drawn]
    outcomes = []
    for tier in TIERS:
        with session(tier) as sess:
            sess.run(tf.global_variables_initializer())
            outcomes.append([outcome(sess, fetches, feed) for feed in feeds])
    assert outcomes[0] == outcomes[1]


@pytest.mark.usefixtures("functional")
def test_a_body_is_generated_once_it_is_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    generated: list[str] = []
    real = BodyCall._generate

    def generate(self: BodyCall) -> Any:
        generated.append(self._name)
        return real(self)

    monkeypatch.setattr(BodyCall, "_generate", generate)
    x = tf.placeholder(tf.float32, [])
    count = tf.placeholder(tf.int32, [])
    total = tf.while_loop(lambda i, _: i < count, lambda i, y: (i + 1, y + x), [0, x], name="loop")
    with session(None) as sess:
        assert sess.run(total[1], {x: 2.0, count: RUNS_BEFORE - 1}) == 2.0 * RUNS_BEFORE
        assert generated == []
        assert sess.run(total[1], {x: 2.0, count: 3}) == 8.0
        assert generated == ["loop", "loop"]
        assert sess.run(total[1], {x: 3.0, count: 3}) == 12.0
        assert len(generated) == 2


@pytest.mark.usefixtures("functional")
@pytest.mark.parametrize("tier", TIERS)
def test_a_failure_in_a_body_names_the_call(tier: int) -> None:
    x, y = (tf.placeholder(tf.int32, []) for _ in range(2))
    quotient = tf.cond(x > 0, lambda: tf.floordiv(x, y), lambda: x, name="choice")
    with session(tier) as sess:
        assert sess.run(quotient, {x: 6, y: 2}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(quotient, {x: 6, y: 0})
        assert "[[choice]]" in caught.value.message
        assert sess.run(quotient, {x: -6, y: 0}) == -6


@pytest.mark.usefixtures("functional")
def test_an_endless_loop_of_functions_ends_with_its_session() -> None:
    x = tf.placeholder(tf.float32, [])
    count = tf.while_loop(lambda i: i >= x, lambda i: i + 1.0, [x])
    sess = session(2)
    outcomes: list[Any] = []
    thread = threading.Thread(
        target=lambda: outcomes.append(outcome(sess, [count], {x: 0.0})), daemon=True
    )
    thread.start()
    time.sleep(0.5)
    sess.close()
    thread.join(20)
    assert not thread.is_alive()
    assert outcomes[0][0] is tf.errors.CancelledError


@pytest.mark.parametrize("depth", [20, 50])
def test_deep_nests_are_executed_in_either_way(depth: int, texts: list[str]) -> None:
    x = tf.placeholder(tf.float32, [])

    def nested(level: int) -> Any:
        if not level:
            return x + 1.0
        if level % 10 == 0:
            return tf.while_loop(
                lambda i, _: i < 1, lambda i, _: (i + 1, nested(level - 1)), [0, x]
            )[1]
        return tf.cond(x > float(level), lambda: x * 2.0, lambda: nested(level - 1))

    y = nested(depth)
    with session(2) as sess:
        assert sess.run(y, {x: 0.0}) == 1.0
        assert sess.run(y, {x: depth - 1.5}) == 2.0 * depth - 3.0
    assert len(texts) == 1
    with tf.Graph().as_default(), session(2) as sess:
        x = tf.placeholder(tf.float32, [])
        y = x
        for level in range(depth):
            y = tf.cond(x > float(level), lambda y=y: y, lambda: x)
        assert sess.run(y, {x: 3.0}) == 3.0


@pytest.mark.parametrize("tier", TIERS)
def test_a_loop_that_takes_a_dead_value_is_not_executed(tier: int) -> None:
    pred, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    other, side = tf.raw_ops.Switch(data=x * 2.0, pred=pred)
    variable = tf.get_variable("v", initializer=0.0, use_resource=True)

    def counted(i: Any) -> Any:
        with tf.control_dependencies([variable.assign_add(side)]):
            return i + 1.0

    updates = tf.while_loop(lambda i: i < 3.0, counted, [0.0])
    sums = tf.while_loop(lambda i: i < 3.0, lambda i: i + side * 5.0, [0.0])
    unused = tf.while_loop(
        lambda i: i < 2.0, lambda i: tf.cond(i > 9.0, lambda: i + side, lambda: i + 1.0), [0.0]
    )
    merged = tf.raw_ops.Merge(inputs=[other, sums])[0]
    with session(tier) as sess:
        sess.run(variable.initializer)
        dead = {pred: False, x: 1.0}
        sess.run([updates.op, sums.op], dead)
        assert sess.run([variable, merged, unused], dead) == [0.0, 2.0, 2.0]
        for fetch in (updates, sums):
            assert outcome(sess, [fetch], dead)[0] is tf.errors.InvalidArgumentError
        assert sess.run([updates, unused, merged], {pred: True, x: 0.5}) == [3.0, 2.0, 5.0]
        assert sess.run(variable) == 3.0


@pytest.mark.parametrize("tier", TIERS)
def test_a_condition_that_is_no_scalar_is_refused_wherever_it_is(tier: int) -> None:
    pred = tf.placeholder(tf.bool, None)
    x, limits = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [None])
    choice = tf.cond(pred, lambda: x + 1.0, lambda: x - 1.0)
    other, side = tf.raw_ops.Switch(data=tf.constant(1.0), pred=pred, name="alone")
    with tf.control_dependencies([side]):
        after = tf.no_op()
    count = tf.while_loop(
        lambda i: tf.less(i, limits),
        lambda i: i + 1.0,
        [tf.constant(0.0)],
        shape_invariants=[tf.TensorShape(None)],
    )
    said = tf.identity(pred)
    said.set_shape([])
    wrongly = tf.cond(said, lambda: x, lambda: -x, name="wrongly")
    with session(tier) as sess:
        for odd in ([True], [True, False], [[False]]):
            feeds = {pred: odd, x: 1.0}
            for fetch, name in (
                (choice, "cond/Switch"),
                (after, "alone"),
                (other.op, "alone"),
                (wrongly, "wrongly/Switch_1"),
            ):
                failure = outcome(sess, [fetch], feeds)
                assert failure[::2] == (tf.errors.InvalidArgumentError, name)
        assert outcome(sess, [count], {limits: [1.0]})[2] == "while/Switch"
        assert sess.run(choice, {pred: True, x: 1.0}) == 2.0


@pytest.mark.parametrize("tier", TIERS)
def test_what_waits_for_a_next_iteration_is_executed_in_it(tier: int) -> None:
    variable = tf.get_variable("v", initializer=0.0, use_resource=True)
    updates: list[Any] = []

    def body(i: Any) -> Any:
        add = tf.raw_ops.AssignAddVariableOp(resource=variable.handle, value=i * 0.0 + 1.0)
        updates.append(add)
        return i + 1.0

    loop = tf.while_loop(lambda i: i < 4.0, body, [0.0])
    graph = tf.get_default_graph()
    (following,) = [op for op in graph.get_operations() if op.type == "NextIteration"]
    updates[0]._add_control_input(following)
    graph._unfetchable.clear()  # operations of loops are, by their names alone
    with session(tier) as sess:
        sess.run(variable.initializer)
        assert sess.run([loop, updates[0]])[0] == 4.0
        assert sess.run(variable) == 3.0  # as TensorFlow: in the first iteration none has come


@pytest.mark.usefixtures("functional")
def test_a_generated_body_is_freed_without_the_collector() -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0.0, lambda: x + 1.0, lambda: x - 1.0)
    gc.collect()
    gc.disable()
    try:
        sess = session(2)
        assert sess.run(y, {x: 1.0}) == 2.0
        calls = [o for o in gc.get_objects() if isinstance(o, BodyCall) and o._generated]
        alive = [weakref.ref(call._generated) for call in calls]
        calls[0]._generated = None
        del calls
        assert alive[0]() is None
    finally:
        gc.enable()
        sess.close()


def test_a_plan_with_a_branch_on_a_gpu_is_no_text() -> None:
    op = tf.no_op()
    for device, is_text in (("/device:CPU:0", True), ("/device:GPU:0", False)):
        side = Steps(((abs, 1, -1, 1, 0),), (op,), (device,))
        branch = Branch(2, (op, "/device:CPU:0"), (Steps(), side))
        plan = Plan(
            steps=((branch, -1, -1, -1, 0),),
            ops=(op,),
            devices=("/device:CPU:0",),
            template=[None] * 3,
            feeds=(),
            fetches=(),
            cancellable=False,
        )
        assert plan.can_be_text is is_text
