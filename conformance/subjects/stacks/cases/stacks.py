"""Vectors of STACKS: stacks of tensors, and temporary variables, in one run each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.spec.cases.arguments import TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

_DTYPES: Final = ("float32", "int32", "bool", "string")
_VALUES: Final[dict[str, list[float] | list[int] | list[bool] | list[str]]] = {
    "float32": [0.5, 1.5],
    "int32": [1, 2],
    "bool": [True, False],
    "string": ["left", "right"],
}


def _value(dtype: str, index: int) -> np.ndarray:
    value = _VALUES[dtype][index]
    return np.array(
        value.encode() if isinstance(value, str) else value, object if dtype == "string" else dtype
    )


def _stack(tf: Namespace, dtype: str, size: int = -1, *, name: str = "", op: str = "V2") -> Tensor:
    kind = tf.as_dtype(dtype)
    if not op:
        return tf.raw_ops.Stack(elem_type=kind, stack_name=name)
    return tf.raw_ops.StackV2(max_size=size, elem_type=kind, stack_name=name)


def _push(
    tf: Namespace,
    handle: Tensor,
    value: TensorLike,
    after: Sequence[Tensor] = (),
    *,
    op: str = "V2",
    **more: str,
) -> Tensor:
    with tf.control_dependencies(list(after)):
        return getattr(tf.raw_ops, f"StackPush{op}")(handle=handle, elem=value, **more)


def _pop(
    tf: Namespace,
    handle: Tensor,
    dtype: str,
    after: Sequence[Tensor] = (),
    name: str = "",
    *,
    op: str = "V2",
) -> Tensor:
    with tf.control_dependencies(list(after)):
        make = getattr(tf.raw_ops, f"StackPop{op}")
        return make(handle=handle, elem_type=tf.as_dtype(dtype), name=name or None)


def _pushed_and_popped(c: EngineAuthor, op: str) -> None:
    """Two values go on a stack of each dtype; the second one comes off first."""
    with c.graph() as tf:
        for dtype in _DTYPES:
            handle = _stack(tf, dtype, op=op)
            first = _push(tf, handle, tf.constant(_VALUES[dtype][0]), op=op)
            second = _push(tf, handle, tf.constant(_VALUES[dtype][1]), [first], op=op)
            last = _pop(tf, handle, dtype, [second], f"{dtype}/last", op=op)
            _pop(tf, handle, dtype, [last], f"{dtype}/first", op=op)
    s = c.open()
    for dtype in _DTYPES:
        fetches = [f"{dtype}/last:0", f"{dtype}/first:0"]
        s.run(fetches, values=[_value(dtype, 1), _value(dtype, 0)])


@engine_case("STACKS-001", title="Of two values the second one comes off first.")
def the_last_value_first(c: EngineAuthor) -> None:
    _pushed_and_popped(c, "V2")


@engine_case("STACKS-010", title="Of two values on an older stack the second one comes off first.")
def the_last_value_of_an_older_stack(c: EngineAuthor) -> None:
    _pushed_and_popped(c, "")


@engine_case("STACKS-002", title="A push gives its value, which may have any shape.")
def a_push_gives_its_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _stack(tf, "float32")
        _push(tf, handle, tf.constant([[1.5, 2.5]]), name="push")
        words = _stack(tf, "string")
        _push(tf, words, tf.constant(["a", "b"]), name="words")
    s = c.open()
    s.run(["push:0"], values=[np.array([[1.5, 2.5]], np.float32)])
    s.run(["words:0"], values=[np.array([b"a", b"b"], object)])


@engine_case("STACKS-003", title="Nothing is on a stack that is popped.")
def nothing_is_on_a_stack(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _pop(tf, _stack(tf, "float32"), "float32", name="none")
        handle = _stack(tf, "int32")
        pushed = _push(tf, handle, tf.constant(1))
        _pop(tf, handle, "int32", [_pop(tf, handle, "int32", [pushed])], "second")
    s = c.open()
    s.run(["none:0"], error=[3])
    s.run(["second:0"], error=[3])


@engine_case("STACKS-004", title="A second value on a stack for one.")
def a_second_value_on_a_stack_for_one(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _stack(tf, "float32", 1)
        first = _push(tf, handle, tf.constant(1.5), name="first")
        second = _push(tf, handle, tf.constant(2.5), [first], name="second")
        _pop(tf, handle, "float32", [first], "one")
        _pop(tf, handle, "float32", [second], "two")
    s = c.open()
    s.run(["one:0"], values=[np.float32(1.5)])
    s.run(["two:0"], error=[3])


@engine_case("STACKS-004", title="A first value on a stack for none, a second one beside a pop.")
def values_beyond_a_limit_beside_a_pop(c: EngineAuthor) -> None:
    with c.graph() as tf:
        none = _stack(tf, "float32", 0)
        _pop(tf, none, "float32", [_push(tf, none, tf.constant(1.5), name="none")], "of_none")
        handle = _stack(tf, "int32", 1)
        popped = _pop(tf, handle, "int32", [_push(tf, handle, tf.constant(1))], "pop")
        again = _push(tf, handle, tf.constant(2), [popped], name="again")
        _push(tf, handle, tf.constant(3), [again], name="beyond")
    s = c.open()
    s.run(["of_none:0"], error=[3], node="none")
    s.run(["pop:0", "again:0"], values=[np.int32(1), np.int32(2)])
    s.run(["pop:0", "beyond:0"], error=[3], node="beyond")


def _closed(tf: Namespace) -> tuple[Tensor, Any]:
    """A stack of one value, and its closing."""
    handle = _stack(tf, "float32")
    pushed = _push(tf, handle, tf.constant(1.5))
    with tf.control_dependencies([pushed]):
        return handle, tf.raw_ops.StackCloseV2(handle=handle)


@engine_case("STACKS-012", title="A closed stack is pushed on.")
def a_closed_stack_is_pushed_on(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle, closed = _closed(tf)
        again = _push(tf, handle, tf.constant(2.5), [closed], name="push")
        _pop(tf, handle, "float32", [again], "pushed_again")
    c.open().run(["push:0", "pushed_again:0"], error=[3], node="push")


@engine_case("STACKS-012", title="A stack is pushed on that was popped, then closed.")
def a_closed_stack_is_pushed_on_after_a_pop(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _stack(tf, "float32")
        popped = _pop(tf, handle, "float32", [_push(tf, handle, tf.constant(1.5))], "pop")
        with tf.control_dependencies([popped]):
            closed = tf.raw_ops.StackCloseV2(handle=handle)
        _push(tf, handle, tf.constant(2.5), [closed], name="push")
    c.open().run(["pop:0", "push:0"], error=[3], node="push")


@engine_case("STACKS-013", title="A closed stack is popped.")
def a_closed_stack_is_popped(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle, closed = _closed(tf)
        _pop(tf, handle, "float32", [closed], "pop")
    c.open().run(["pop:0"], error=[3])


@engine_case("STACKS-006", title="What an earlier run pushed is gone.")
def what_an_earlier_run_pushed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _stack(tf, "int32", 1)
        pushed = _push(tf, handle, tf.placeholder(tf.int32, [], name="x"), name="push")
        _pop(tf, handle, "int32", [pushed], "pop")
    s = c.open()
    for value in (3, 4, 5):
        s.run(["push:0"], {"x:0": np.int32(value)}, values=[np.int32(value)])
        s.run(["pop:0"], {"x:0": np.int32(value + 1)}, values=[np.int32(value + 1)])


@engine_case("STACKS-014", title="A value of another dtype than the stack's.")
def a_value_of_another_dtype(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _stack(tf, "float32")
        pushed = _push(tf, handle, tf.constant(1), name="push")
        _pop(tf, handle, "float32", [pushed], "pop")
    s = c.open()
    s.run(["pop:0"], error=[3])


@engine_case("STACKS-014", title="A value of another dtype after a pop of the right one.")
def a_value_of_another_dtype_after_a_pop(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _stack(tf, "float32")
        popped = _pop(tf, handle, "float32", [_push(tf, handle, tf.constant(1.5))], "pop")
        _push(tf, handle, tf.constant(7), [popped], name="push")
    s = c.open()
    s.run(["pop:0"], values=[np.float32(1.5)])
    s.run(["pop:0", "push:0"], error=[3], node="push")


@engine_case("STACKS-015", title="A value is popped as one of another dtype.")
def popped_as_another_dtype(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _stack(tf, "float32")
        _pop(tf, handle, "int32", [_push(tf, handle, tf.constant(1.5))], "pop")
    s = c.open()
    s.run(["pop:0"], error=[13])


@engine_case("STACKS-008", title="Two stacks of one name keep their values apart.")
def two_stacks_of_one_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        left, right = (_stack(tf, "int32", name="same") for _ in range(2))
        first = _push(tf, left, tf.constant(1))
        second = _push(tf, right, tf.constant(2), [first])
        _pop(tf, left, "int32", [second], "left")
        _pop(tf, right, "int32", [second], "right")
    s = c.open()
    s.run(["left:0"], values=[np.int32(1)])
    s.run(["right:0"], values=[np.int32(2)])


@engine_case("STACKS-009", title="Twenty values on a stack without a limit.")
def values_without_a_limit(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = _stack(tf, "int32")
        after: list[Tensor] = []
        for number in range(20):
            after = [_push(tf, handle, tf.constant(number), after, name=f"push{number}")]
    s = c.open()
    s.run(["push19:0"], values=[np.int32(19)])


@engine_case("STACKS-011", title="A temporary variable is assigned, added to, and destroyed.")
def a_temporary_variable(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for dtype in ("float32", "int32"):
            kind = tf.as_dtype(dtype)
            temporary = tf.raw_ops.TemporaryVariable(shape=[2], dtype=kind, var_name=dtype)
            assigned = tf.raw_ops.Assign(ref=temporary, value=tf.constant([1, 2], kind))
            added = tf.raw_ops.AssignAdd(ref=assigned, value=tf.constant([3, 4], kind))
            tf.raw_ops.DestroyTemporaryVariable(ref=added, var_name=dtype, name=f"{dtype}/end")
    s = c.open()
    for dtype in ("float32", "int32"):
        for _ in range(2):
            s.run([f"{dtype}/end:0"], values=[np.array([4, 6], dtype)])
