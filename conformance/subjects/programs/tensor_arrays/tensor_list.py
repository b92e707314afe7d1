"""Programs of tensor lists: nodes, values, gradients."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Program
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

ListProgram = Callable[[Namespace, Namespace, Tensor], Tensor]


def pushed_and_popped(tf, lists, x):
    handle = lists.empty_tensor_list([2], tf.float32, max_num_elements=3)
    for row in (x[0], x[1] * 2.0):
        handle = lists.tensor_list_push_back(handle, row)
    rest, last = lists.tensor_list_pop_back(handle, tf.float32)
    return last * lists.tensor_list_stack(rest, tf.float32)


def only_what_is_left_is_used(tf, lists, x):
    handle = lists.tensor_list_from_tensor(x, element_shape=x.shape[1:])
    return lists.tensor_list_stack(lists.tensor_list_pop_back(handle, tf.float32)[0], tf.float32)


def only_the_popped_is_used(tf, lists, x):
    handle = lists.tensor_list_from_tensor(x, element_shape=[None])
    return lists.tensor_list_pop_back(handle, tf.float32)[1]


def items(tf, lists, x):
    handle = lists.tensor_list_reserve([2], 3, tf.float32)
    handle = lists.tensor_list_set_item(handle, 0, x[0] * 3.0)
    handle = lists.tensor_list_set_item(handle, 2, x[1])
    first = lists.tensor_list_get_item(handle, 0, tf.float32)
    return first * lists.tensor_list_get_item(handle, 2, tf.float32, element_shape=[2])


def grown(tf, lists, x):
    handle = lists.tensor_list_from_tensor(x, element_shape=[2])
    handle = lists.tensor_list_set_item(handle, 4, x[0], resize_if_index_out_of_bounds=True)
    return lists.tensor_list_stack(handle, tf.float32, element_shape=[2])


def resized(tf, lists, x):
    handle = lists.tensor_list_resize(lists.tensor_list_from_tensor(x, element_shape=[2]), 1)
    return lists.tensor_list_stack(handle, tf.float32, num_elements=1)


def gathered(tf, lists, x):
    handle = lists.tensor_list_from_tensor(x * x, element_shape=tf.constant([2]))
    return lists.tensor_list_gather(handle, [1, 1, 0], tf.float32)


def scattered(tf, lists, x):
    handle = lists.tensor_list_scatter(x, [2, 0], element_shape=[2])
    handle = lists.tensor_list_scatter(x * 2.0, [1, 2], input_handle=handle)
    return lists.tensor_list_gather(handle, [2, 1], tf.float32)


def joined_and_split(tf, lists, x):
    handle = lists.tensor_list_split(x * 5.0, element_shape=[None, 2], lengths=[1, 1])
    return lists.tensor_list_concat(handle, tf.float32, element_shape=[None, 2]) * x


_PROGRAMS: list[ListProgram] = [
    pushed_and_popped,
    only_what_is_left_is_used,
    only_the_popped_is_used,
    items,
    grown,
    resized,
    gathered,
    scattered,
    joined_and_split,
]


def _compared(program: ListProgram) -> Program:
    """The list operations of a program and its gradients, and the values."""

    def build_and_run(tf, known: bool):
        with tf.Graph().as_default() as graph:
            shape = [2, 2] if known else [None, 2]
            x = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], shape, name="x")
            y = program(tf, module_of(tf, "ops.list_ops"), x)
            tensors = [y, *tf.gradients(y, x)]
            # Other nodes depend on static shapes, of which backends may infer fewer behind lists.
            nodes = [node.op for node in graph.as_graph_def().node if "TensorList" in node.op]
            with tf.Session() as session:
                return [nodes, session.run(tensors)]

    return lambda tf: attempt(lambda: build_and_run(tf, True), lambda: build_and_run(tf, False))


BEHAVIOURS = {program.__name__: _compared(program) for program in _PROGRAMS}
