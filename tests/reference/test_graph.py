"""Graphs: names, scopes, what an operation is given by them; checked against TensorFlow 2.21."""

from __future__ import annotations

import sys
import threading

import pytest

import sessrun.reference as tf


@pytest.fixture(autouse=True)
def graph():
    graph = tf.Graph()
    with graph.as_default():
        yield graph


def test_names_are_made_unique_whatever_their_case(graph) -> None:
    names = [graph.unique_name(name) for name in ("a", "a", "A", "a_1", "a")]
    assert names == ["a", "a_1", "A_2", "a_1_1", "a_3"]


def test_a_name_that_is_only_asked_for_is_not_taken(graph) -> None:
    assert [graph.unique_name("b", False), graph.unique_name("b")] == ["b", "b"]


def test_a_constant_made_from_an_operand_is_named_after_it() -> None:
    total = tf.placeholder(tf.float32, [2]) + 1.0
    assert total.op.type == "AddV2"
    assert [tensor.op.name for tensor in total.op.inputs] == ["Placeholder", "add/y"]


def test_a_scope_entered_by_its_full_name_is_the_same_scope() -> None:
    with tf.name_scope("s") as first:
        one = tf.constant(1, name="q")
    with tf.name_scope("s") as second:
        two = tf.constant(1, name="q")
    with tf.name_scope(first):
        three = tf.constant(1, name="q")
    assert (first, second) == ("s/", "s_1/")
    assert [one.op.name, two.op.name, three.op.name] == ["s/q", "s_1/q", "s/q_1"]


@pytest.mark.parametrize("name", ["_bad", "sp ace", ""])
def test_an_operation_needs_a_valid_name(graph, name) -> None:
    with pytest.raises(ValueError, match="not a valid node name"):
        graph.name_of_new(name)


def test_an_input_made_inside_the_scope_carries_the_control_edge() -> None:
    gate = tf.no_op(name="gate")
    with tf.control_dependencies([gate]):
        inside = tf.constant(1.0)
        follower = tf.identity(inside)
        with tf.control_dependencies(None):
            free = tf.constant(1.0)
    assert inside.op.control_inputs == [gate]
    assert follower.op.control_inputs == []
    assert free.op.control_inputs == []


@pytest.mark.parametrize(
    ("outer", "inner", "device"),
    [
        ("/job:a/cpu:0", "/gpu:1", "/job:a/device:GPU:1"),
        ("/job:a/gpu:3", "/cpu", "/job:a/device:CPU:3"),
        ("/cpu:0", None, ""),
        ("/cpu:0", "", "/device:CPU:0"),
        ("/job:z", lambda op: op.device, "/job:z"),
        (lambda op: op.device + "/task:1", "/cpu:0", "/device:CPU:0/task:1"),
    ],
)
def test_an_inner_device_overrides_part_by_part(outer, inner, device) -> None:
    with tf.device(outer), tf.device(inner):
        assert tf.constant(1).device == device


def test_colocation_takes_the_device_and_the_group() -> None:
    with tf.device("/cpu:0"):
        anchor = tf.constant(2.0, name="anchor")
    with tf.device("/gpu:0"), tf.colocate_with(anchor):
        follower = tf.constant(3.0)
    assert follower.device == "/device:CPU:0"
    assert follower.op.colocation_groups() == [b"loc:@anchor"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("nope:0", KeyError),
        ("nope", ValueError),
        ("x", ValueError),
        ("x:1", KeyError),
        ("x:y", ValueError),
        (3, TypeError),
    ],
)
def test_a_tensor_is_found_by_a_full_name_only(graph, name, error) -> None:
    tensor = tf.constant(1, name="x")
    assert graph.get_tensor_by_name("x:0") is tensor
    with pytest.raises(error):
        graph.get_tensor_by_name(name)


def test_a_finalized_graph_takes_nothing(graph) -> None:
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1)


@pytest.mark.parametrize(
    "scope", [lambda graph: graph.device("/cpu:0"), lambda graph: graph.container("box")]
)
def test_a_scope_entered_by_hand_ends_when_nobody_can_leave_it(graph, scope) -> None:
    scope(graph).__enter__()
    op = tf.get_variable("v", [1], use_resource=False).op
    assert (op.device, op.get_attr("container")) == ("", b"")


def test_a_scope_decorates_a_function_and_may_be_inside_itself(graph) -> None:
    @graph.device("/cpu:0")
    def constants(count):
        return [*constants(count - 1), tf.constant(1)] if count else []

    assert [x.device for x in constants(2)] == ["/device:CPU:0"] * 2
    assert tf.constant(1).device == ""


def test_an_operation_knows_the_line_of_the_call_that_created_it() -> None:
    line = sys._getframe().f_lineno
    first = tf.constant(1.0)
    second = tf.add(
        first,
        2.0,
    )
    assert [op.traceback[-1].lineno - line for op in (first.op, second.op)] == [1, 2]
    assert {frame.filename for frame in second.op.inputs[1].op.traceback[-1:]} == {__file__}


def test_what_arrays_have_a_tensor_has_not_until_a_program_sets_it() -> None:
    x = tf.constant(1.0)
    assert not hasattr(x, "T")
    assert not hasattr(tf.Tensor, "size")
    with pytest.raises(AttributeError, match="numpy-related"):
        x.reshape(1)
    x.size = 3
    assert x.size == 3


def test_the_default_graph_belongs_to_the_thread(graph) -> None:
    seen = []
    thread = threading.Thread(target=lambda: seen.append(tf.get_default_graph()))
    thread.start()
    thread.join()
    assert seen[0] is not graph


def test_operations_made_by_many_threads_have_different_names(graph) -> None:
    def make() -> None:
        with graph.as_default():
            for _ in range(50):
                tf.constant(1, name="same")

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(graph.get_operations()) == 200
    assert {op.id for op in graph.get_operations()} == set(range(1, 201))


def test_tensors_of_two_graphs_do_not_meet() -> None:
    here = tf.constant(1)
    with tf.Graph().as_default():
        there = tf.constant(1)
    with pytest.raises(ValueError, match="same graph"):
        _ = here + there
