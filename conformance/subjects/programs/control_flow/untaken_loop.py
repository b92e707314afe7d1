"""Programs of loops in branches that are not taken, within other loops."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _loops_in_branches(tf):
    """A loop in a branch in a loop."""

    def summed(turns: int, inner: int, at_a_time: int, every: int):
        def step(i, total):
            def looped():
                return tf.while_loop(
                    lambda j, _: j < inner,
                    lambda j, s: (j + 1, s + j),
                    [tf.constant(0), total],
                    parallel_iterations=at_a_time,
                )[1]

            return i + 1, tf.cond(tf.equal(i % every, 0), looped, lambda: total + 100)

        with tf.Graph().as_default(), tf.Session() as session:
            return session.run(
                tf.while_loop(
                    lambda i, _: i < turns,
                    step,
                    [tf.constant(0), tf.constant(0)],
                    parallel_iterations=at_a_time,
                )
            )

    return attempt(
        *(
            lambda t=turns, n=inner, a=at_a_time, e=every: summed(t, n, a, e)
            for turns in (0, 1, 5)
            for inner in (0, 1, 3)
            for at_a_time in (1, 2, 10)
            for every in (1, 2)
        )
    )


def _branches_in_branches(tf):
    """Loops in both branches of a conditional within a branch."""

    def value(first: bool, second: bool):
        p, q = (tf.placeholder_with_default(which, []) for which in (first, second))

        def looped(start: int, less: int):
            return tf.while_loop(
                lambda i, _: i < less,
                lambda i, s: (i + 1, s * 2),
                [tf.constant(0), start],
                parallel_iterations=1,
            )[1]

        def inner():
            return tf.cond(q, lambda: looped(3, 2), lambda: looped(5, 0))

        chosen = tf.cond(p, inner, lambda: looped(7, 1))
        after = tf.while_loop(lambda i: i < 1000, lambda i: i + chosen, [chosen])
        with tf.Session() as session:
            return session.run([chosen, after])

    return attempt(
        *(
            lambda f=first, s=second: value(f, s)
            for first in (False, True)
            for second in (False, True)
        )
    )


def _dead_loops(tf):
    """Outputs of a loop whose inputs are dead, alone and merged with live tensors."""
    raw = tf.raw_ops
    p = tf.placeholder(tf.bool, [])
    to_no, to_yes = raw.Switch(data=tf.constant(3), pred=p)
    left = []
    for value, frame in ((to_no, "no"), (to_yes, "yes"), (to_yes, "again")):
        enter = raw.Enter(data=value, frame_name=frame, parallel_iterations=1)
        merge = raw.Merge(inputs=[enter, enter])
        pred = raw.LoopCond(
            input=raw.Less(
                x=merge.output,
                y=raw.Enter(data=tf.constant(10), frame_name=frame, is_constant=True),
            )
        )
        stop, go = raw.Switch(data=merge.output, pred=pred)
        with tf.control_dependencies([go]):
            step = tf.constant(4)
        merge.output.op._update_input(1, raw.NextIteration(data=go + step))
        left.append(raw.Exit(data=stop))
    either = raw.Merge(inputs=left[:2])
    twice = raw.Merge(inputs=left[1:]).output  # either input may be forwarded: they are equal
    beside = raw.Merge(inputs=[twice, to_no])
    with tf.control_dependencies([left[1]]):
        waits = tf.constant(1)
    fetches = (left[0], left[1], either, twice, beside, waits, [either, beside], [left[0], waits])
    with tf.Session() as session:
        return attempt(
            *(
                lambda f=fetch, v=value: session.run(f, {p: v})
                for fetch in fetches
                for value in (False, True)
            )
        )


def _loop_over_what_a_branch_left(tf):
    """An inner loop uses a tensor of the branch that the branch does not return."""
    p, left = tf.placeholder(tf.bool, []), []

    def taken(x):
        left.append(x + 1.0)
        return left[0] * 1.0

    def body(i, x):
        y = tf.cond(p, lambda: taken(x), lambda: x)
        inner = tf.while_loop(
            lambda j, *_: j < 2, lambda j, a, b: (j + 1, a + b, b), [0, y, left[0]]
        )
        return i + 1, inner[1]

    outputs = tf.while_loop(lambda i, _: i < 3, body, [0, tf.constant(2.0)])
    with tf.Session() as session:
        return attempt(*(lambda v=value: session.run(outputs, {p: v}) for value in (True, False)))


BEHAVIOURS = {
    "loops in branches": _loops_in_branches,
    "branches in branches": _branches_in_branches,
    "dead loops": _dead_loops,
    "a loop over what a branch left": _loop_over_what_a_branch_left,
}
