"""Runs with branches and loops: as steps, as generated code, and as nodes that fire, all alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flow_programs import drawn_program
from tier_runs import hot, session

import sessrun.reference as tf
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
