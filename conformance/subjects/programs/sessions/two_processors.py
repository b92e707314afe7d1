"""Programs of sessions with two CPUs: devices of variables, their users, colocated operations."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, without_gpus

__all__ = ["BEHAVIOURS"]


def _session(tf, **options):
    return without_gpus(tf, 2, **options)


def _devices(tf, session, fetches, *names: str, feeds=None) -> list[tuple[str, str]]:
    """The devices of these nodes in the trace of a run."""
    metadata, full = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    session.run(fetches, feeds, options=full, run_metadata=metadata)
    return sorted(
        {
            (node.node_name, stats.device[-6:])
            for stats in metadata.step_stats.dev_stats
            for node in stats.node_stats
            if node.node_name in names
        }
    )


def _users_of_a_variable(tf):
    def placed(use_resource: bool, device: str | None, *, soft: bool):
        with tf.Graph().as_default():
            with tf.device("/cpu:1"):
                variable = tf.Variable([1.0, 2.0], use_resource=use_resource, name="v")
            with tf.device(device):
                added = tf.assign_add(variable, [1.0, 1.0], name="added")
                doubled = tf.multiply(variable, 2.0, name="doubled")
            with _session(tf, allow_soft_placement=soft) as session:
                session.run(variable.initializer)
                names = ("v", "added", "v/Read", "v/Read/ReadVariableOp", "doubled", "v/read")
                return _devices(tf, session, [added, doubled], *names), session.run(variable)

    return attempt(
        *(
            lambda use=use, device=device, soft=soft: placed(use, device, soft=soft)
            for use in (False, True)
            for device in (None, "/cpu:0", "/cpu:1")
            for soft in (False, True)
        )
    )


def _users_of_a_queue(tf):
    with tf.device("/cpu:1"):
        queue = tf.FIFOQueue(3, tf.int32, [[]], name="q")
    put = queue.enqueue([7], name="put")
    with tf.device("/cpu:0"):
        size = queue.size(name="size")
    taken = queue.dequeue(name="taken")
    with _session(tf) as session:
        return attempt(
            lambda: _devices(tf, session, put, "put", "q"),
            lambda: _devices(tf, session, [size, taken], "size", "taken"),
            lambda: session.run(size),
        )


def _colocated(tf):
    x = tf.placeholder(tf.int32, [1])
    with tf.device("/cpu:1"):
        first = tf.add(x, x, name="first")
    with tf.colocate_with(first):
        second = tf.negative(x, name="second")
    with tf.device("/cpu:0"), tf.colocate_with(second, ignore_existing=True):
        third = tf.square(second, name="third")
    apart = tf.square(second, name="apart")
    fetched, names = [first, second, third, apart], ("first", "second", "third", "apart")
    with _session(tf) as session:
        return attempt(
            lambda: _devices(tf, session, fetched, *names, feeds={x: [3]}),
            lambda: [node.op.device for node in fetched],
            lambda: [node.op.colocation_groups() for node in fetched],
            lambda: session.run(fetched, {x: [3]}),
        )


def _members_that_contradict(tf):
    x = tf.placeholder(tf.int32, [1])
    with tf.device("/cpu:0"):
        first = tf.negative(x, name="first")
    second = tf.square(first, name="second")
    second.op._set_attr("_class", tf.AttrValue(list=tf.AttrValue.ListValue(s=[b"loc:@first"])))
    second.op._set_device("/cpu:1")

    def asked(**options):
        with _session(tf, **options) as session:
            names = ("first", "second")
            return _devices(tf, session, [first, second], *names, feeds={x: [3]})

    return attempt(lambda: asked(), lambda: asked(allow_soft_placement=True))


def _branches_and_loops(tf):
    x = tf.placeholder_with_default(3.0, [])
    with tf.device("/cpu:1"):
        chosen = tf.cond(x > 2, lambda: tf.add(x, 1, name="more"), lambda: tf.subtract(x, 1))
        looped = tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name="next"), [0])
    gradient = tf.gradients(chosen * 2, x)
    with _session(tf) as session:
        return attempt(
            lambda: _devices(tf, session, [chosen, looped], "cond/more", "while/next"),
            lambda: session.run([chosen, looped, gradient]),
        )


BEHAVIOURS = {
    function.__name__.strip("_").replace("_", " "): function
    for function in (
        _users_of_a_variable,
        _users_of_a_queue,
        _colocated,
        _members_that_contradict,
        _branches_and_loops,
    )
}
