"""Programs of stacks of tensors: nodes, values, errors.

What is pushed is always popped, where a stack is open: TensorFlow's optimizer takes away a push
whose stack nothing pops from.
"""

from __future__ import annotations

from collections.abc import Callable

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action
from sessrun.spec.cases.objects import Operation, Tensor

__all__ = ["BEHAVIOURS"]


def _stack(tf, limit=-1, dtype=None):
    return tf.raw_ops.StackV2(max_size=limit, elem_type=dtype or tf.float32, stack_name="foo")


def _older(tf):
    return tf.raw_ops.Stack(elem_type=tf.float32, stack_name="foo")


def _push(tf, handle, *values, older: bool = False) -> list[Operation]:
    """Push the values one after the other."""
    push = tf.raw_ops.StackPush if older else tf.raw_ops.StackPushV2
    pushed = []
    for value in values:
        with tf.control_dependencies(pushed[-1:]):
            pushed.append(push(handle=handle, elem=value))
    return pushed


def _pop(tf, handle, after: list[Operation], count: int = 1, *, older: bool = False):
    """Pop one element after the other, after these operations."""
    pop = tf.raw_ops.StackPop if older else tf.raw_ops.StackPopV2
    popped = []
    for _ in range(count):
        with tf.control_dependencies([*after, *popped[-1:]]):
            popped.append(pop(handle=handle, elem_type=tf.float32))
    return popped


def _graph(tf):
    newer, older = _stack(tf), _older(tf)
    value = tf.placeholder(tf.float32, [None, 3])
    elements = [
        newer,
        older,
        _push(tf, newer, value),
        _push(tf, older, value, older=True),
        _pop(tf, newer, []),
        _pop(tf, older, [], older=True),
        tf.raw_ops.StackCloseV2(handle=newer),
        tf.raw_ops.StackClose(handle=older),
    ]
    nodes = [
        [n.name, n.op, list(n.input), sorted(n.attr), list(n.attr["_class"].list.s)]
        for n in tf.get_default_graph().as_graph_def().node
    ]
    return [attempt(lambda: elements), nodes]


def _refused_when_built(tf):
    def closes(shape) -> Action:
        return lambda: tf.raw_ops.StackCloseV2(handle=tf.placeholder(tf.resource, shape))

    return attempt(
        closes([2]),
        closes([3]),
        closes([]),
        closes(None),
        lambda: _push(tf, tf.placeholder(tf.resource, [3]), 1.0),
        lambda: _push(tf, tf.constant(1.0), 1.0),
        lambda: _push(tf, tf.constant(["a", "b"]), 1.0, older=True),
        lambda: _stack(tf, tf.placeholder(tf.int32, [3])),
    )


def _values(tf):
    def in_turn(*, older: bool = False):
        handle = _older(tf) if older else _stack(tf)
        pushed = _push(tf, handle, 1.0, [2.0, 3.0], older=older)
        return [pushed, _pop(tf, handle, pushed, 2, older=older)]

    def of_one_name():
        one, two = _stack(tf), _stack(tf)
        pushed = _push(tf, one, 4.0) + _push(tf, two, 5.0)
        return [_pop(tf, one, pushed), _pop(tf, two, pushed)]

    def strings():
        handle = _stack(tf, dtype=tf.string)
        with tf.control_dependencies(_push(tf, handle, ["a", "b"])):
            return tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.string)

    def handles():
        one, two = (run(tf, _older(tf)) for _ in range(2))
        return [one[0], one.shape, one.dtype.name, one[1].startswith(b"foo_"), one[1] == two[1]]

    return [
        *(run(tf, program()) for program in (in_turn, of_one_name, strings)),
        run(tf, in_turn(older=True)),
        handles(),
    ]


def _refused(tf):
    def too_many(limit):
        handle = _stack(tf, limit)
        return _pop(tf, handle, _push(tf, handle, 1.0, 2.0))

    def of_wrong_dtype():
        handle = _stack(tf)
        with tf.control_dependencies(_push(tf, handle, 1.0)):
            return tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.int32)

    def pushed_of_wrong_dtype():
        handle = _stack(tf)
        return _pop(tf, handle, _push(tf, handle, 1))

    def closed(use: Callable[[Tensor, list[Operation]], object]):
        handle = _stack(tf)
        closed = tf.raw_ops.StackCloseV2(handle=handle)
        return use(handle, [closed])

    def closed_twice(handle, after: list[Operation]):
        with tf.control_dependencies(after):
            return tf.raw_ops.StackCloseV2(handle=handle)

    def of_another_run():
        handle = _stack(tf)
        with tf.Session() as session:
            session.run(_push(tf, handle, 1.0))
            return session.run(_pop(tf, handle, []))

    def fed():
        handle = _older(tf)
        return run(tf, _pop(tf, handle, [], older=True), {handle: [b"_stacks", b"foo_0"]})

    return attempt(
        lambda: run(tf, _pop(tf, _stack(tf), [])),
        lambda: run(tf, too_many(2)),
        lambda: run(tf, too_many(1)),
        lambda: run(tf, too_many(tf.placeholder_with_default([3], None))),
        lambda: run(tf, of_wrong_dtype()),
        lambda: run(tf, pushed_of_wrong_dtype()),
        lambda: run(tf, closed(lambda handle, after: _pop(tf, handle, after))),
        lambda: run(tf, closed(closed_twice)),
        of_another_run,
        fed,
    )


BEHAVIOURS = {
    "graph": _graph,
    "refused_when_built": _refused_when_built,
    "values": _values,
    "refused": _refused,
}
