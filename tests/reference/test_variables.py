"""Variables: names, values, sharing and errors, with the values that TensorFlow 2.21 gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.reference import errors

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def nodes(graph: Any) -> list[str]:
    return [f"{op.name} {op.type}" for op in graph.get_operations()]


def test_a_reference_variable_is_four_operations(graph: Any) -> None:
    v = tf.Variable([1.0], name="v")
    assert nodes(graph) == [
        "v/initial_value Const",
        "v VariableV2",
        "v/Assign Assign",
        "v/read Identity",
    ]
    assert v.initializer.get_attr("_class") == [b"loc:@v"]
    assert repr(v) == "<tf.Variable 'v:0' shape=(1,) dtype=float32_ref>"


def test_a_resource_variable_is_five_operations(graph: Any) -> None:
    tf.Variable([1.0], name="v", use_resource=True)
    assert nodes(graph) == [
        "v/Initializer/initial_value Const",
        "v VarHandleOp",
        "v/IsInitialized/VarIsInitializedOp VarIsInitializedOp",
        "v/Assign AssignVariableOp",
        "v/Read/ReadVariableOp ReadVariableOp",
    ]


@KINDS
def test_a_variable_must_be_initialized_and_the_error_names_it(use_resource: bool) -> None:
    v = tf.Variable([1.0], name="weights", use_resource=use_resource)
    with tf.Session() as session:
        with pytest.raises(errors.FailedPreconditionError, match="weights"):
            session.run(v)
        assert session.run(tf.report_uninitialized_variables()).tolist() == [b"weights"]
        session.run(tf.global_variables_initializer())
        assert session.run(v).tolist() == [1.0]
        assert session.run(tf.report_uninitialized_variables()).tolist() == []


@KINDS
def test_updates_are_kept_between_runs(use_resource: bool) -> None:
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    add = v.assign_add([1.0, 1.0])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(add).tolist() == [2.0, 3.0]
        assert session.run(add).tolist() == [3.0, 4.0]
        assert session.run(tf.assign_sub(v, v)).tolist() == [0.0, 0.0]
        v.load([7.0, 8.0], session)
        assert v.eval().tolist() == [7.0, 8.0]


@KINDS
def test_sessions_keep_their_own_values(use_resource: bool) -> None:
    v = tf.Variable(1.0, use_resource=use_resource)
    with tf.Session() as first, tf.Session() as second:
        first.run(v.initializer)
        second.run(v.initializer)
        first.run(v.assign(5.0))
        assert (first.run(v), second.run(v)) == (5.0, 1.0)


@KINDS
def test_a_variable_takes_part_in_expressions(use_resource: bool) -> None:
    v = tf.Variable([[1.0, 2.0]], use_resource=use_resource)
    with tf.Session() as session:
        session.run(v.initializer)
        found = session.run([v + 1.0, 2.0 * v, v[0, 1], v @ [[1.0], [1.0]], -v, v > 1.0])
        assert [item.tolist() for item in found] == [
            [[2.0, 3.0]],
            [[2.0, 4.0]],
            2.0,
            [[3.0]],
            [[-1.0, -2.0]],
            [[False, True]],
        ]
        assert session.run(np.float32(2) * v).tolist() == [[2.0, 4.0]]


def test_a_reference_variable_may_be_fed_but_not_set_while_fed() -> None:
    v = tf.Variable([1.0], name="v")
    total, update = v + 1.0, v.assign_add([1.0])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(total, {v: [5.0]}).tolist() == [6.0]
        assert session.run(total, {"v:0": [5.0]}).tolist() == [6.0]
        with pytest.raises(errors.InvalidArgumentError):
            session.run(update, {v: [5.0]})
        assert session.run(v).tolist() == [1.0]


@KINDS
def test_a_value_of_another_shape_is_refused_when_it_is_assigned(use_resource: bool) -> None:
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    for wrong in ([1.0], [[1.0, 2.0]], 1.0):
        with pytest.raises(ValueError, match=r"."):
            v.assign(wrong)
    with pytest.raises(TypeError):
        v.assign(["a", "b"])
    value = tf.placeholder(tf.float32)
    update = v.assign(value)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(errors.InvalidArgumentError):
            session.run(update, {value: [1.0]})


def test_reads_of_an_updated_resource_variable_see_the_update() -> None:
    v = tf.Variable(1.0, use_resource=True)
    last = v.assign(2.0).assign_add(3.0)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(last * 2.0) == 10.0


def test_variables_made_from_others_are_initialized_together() -> None:
    w = tf.Variable([2.0], name="w")
    x = tf.Variable(w * 3.0, name="x")
    y = tf.Variable(w.initialized_value() + x, name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [item.tolist() for item in session.run([w, x, y])] == [[2.0], [6.0], [8.0]]


def test_a_chain_of_variables_is_initialized_together() -> None:
    variables = [tf.Variable(1.0)]
    for _ in range(20):
        variables.append(tf.Variable(variables[-1] + 1.0))
    with tf.Session() as session:
        session.run(variables[-1].initializer)
        assert session.run(variables[-1]) == 21.0


def test_a_long_chain_behind_an_initial_value_is_walked() -> None:
    value = tf.Variable(0.0) + 0.0
    for _ in range(3000):
        value = tf.identity(value)
    x = tf.Variable(value)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(x) == 0.0


def test_get_variable_shares_only_where_the_scope_says_so() -> None:
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [2])
        with pytest.raises(ValueError, match="a/w already exists"):
            tf.get_variable("w", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [2]) is w
        with pytest.raises(ValueError, match="a/x does not exist"):
            tf.get_variable("x", [2])
        with pytest.raises(ValueError, match="shape"):
            tf.get_variable("w", [3])
        with pytest.raises(ValueError, match="dtype"):
            tf.get_variable("w", [2], tf.int32)
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w", [2]) is w
        assert tf.get_variable("x", [2]).name == "a/x:0"


def test_a_second_scope_of_a_name_shares_variables_not_operation_names() -> None:
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [2])
        assert (w + 1.0).name == "a/add:0"
    with tf.variable_scope("a", reuse=True):
        assert (tf.get_variable("w") + 1.0).name == "a_1/add:0"


def test_a_default_scope_name_is_numbered() -> None:
    names = []
    for _ in range(2):
        with tf.variable_scope(None, "layer"):
            names.append(tf.get_variable("w", [1]).name)
    assert names == ["layer/w:0", "layer_1/w:0"]


def test_a_custom_getter_wraps_the_outer_one() -> None:
    calls: list[str] = []

    def outer(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        calls.append("outer")
        return getter(name + "_o", *args, **kwargs)

    def inner(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        calls.append("inner")
        return getter(name + "_i", *args, **kwargs)

    with tf.variable_scope("a", custom_getter=outer), tf.variable_scope("b", custom_getter=inner):
        assert tf.get_variable("w", [1]).name == "a/b/w_i_o:0"
    assert calls == ["inner", "outer"]


def test_a_scope_gives_its_defaults() -> None:
    with tf.variable_scope("a", dtype=tf.float64, initializer=tf.constant_initializer(3.0)):
        w = tf.get_variable("w", [2])
    with tf.Session() as session:
        session.run(w.initializer)
        value = session.run(w)
    assert (value.dtype, value.tolist()) == (np.float64, [3.0, 3.0])


def test_improper_nesting_of_scopes_is_an_error() -> None:
    first, second = tf.variable_scope("a"), tf.variable_scope("b")
    first.__enter__()
    second.__enter__()
    with pytest.raises(RuntimeError, match="Improper nesting"):
        first.__exit__(None, None, None)


def test_resource_variables_can_be_made_the_default() -> None:
    tf.enable_resource_variables()
    try:
        assert tf.resource_variables_enabled()
        assert tf.Variable(1.0).op.type == "VarHandleOp"
        assert tf.get_variable("w", [1]).op.type == "VarHandleOp"
    finally:
        tf.disable_resource_variables()
    assert tf.Variable(1.0).op.type == "VariableV2"


@KINDS
def test_a_variable_is_found_again_from_its_proto(use_resource: bool) -> None:
    v = tf.Variable([1.0], name="v", trainable=False, use_resource=use_resource)
    again = tf.Variable.from_proto(v.to_proto())
    assert (again.name, again.op, again.trainable) == ("v:0", v.op, False)
    assert (again.dtype, again.shape.as_list()) == (v.dtype, [1])
    assert type(again) is type(v)
    with tf.Session() as session:
        session.run(again.initializer)
        assert session.run([v, again.assign_add([1.0])])[1] is not None
        assert session.run(v).tolist() == [2.0]


def test_collections_hold_the_variables() -> None:
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(1.0, name="b", trainable=False)
    c = tf.get_local_variable("c", [1])
    assert tf.global_variables() == [a, b]
    assert tf.trainable_variables() == [a]
    assert tf.local_variables() == [c]
    assert tf.global_variables("b") == [b]


def test_counting_stops_at_the_limit() -> None:
    v = tf.Variable(0)
    count = v.count_up_to(2)
    with tf.Session() as session:
        session.run(v.initializer)
        assert [session.run(count), session.run(count)] == [0, 1]
        with pytest.raises(errors.OutOfRangeError):
            session.run(count)


def test_a_large_random_variable_has_the_scale_of_its_initializer() -> None:
    w = tf.get_variable("w", [200, 300], initializer=tf.initializers.he_normal(seed=1))
    with tf.Session() as session:
        session.run(w.initializer)
        value = session.run(w)
    assert abs(float(value.std()) - (2 / 200) ** 0.5) < 0.002
    assert abs(float(value.mean())) < 0.002
