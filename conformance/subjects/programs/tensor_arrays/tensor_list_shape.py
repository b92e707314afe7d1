"""Programs of the static shapes of tensor lists, of gradients, and of errors."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Plain

__all__ = ["BEHAVIOURS"]


def _lists(tf):
    return module_of(tf, "ops.list_ops")


def _nodes(tf) -> list[Plain]:
    graph = tf.get_default_graph()
    return [
        [
            n.name,
            n.op,
            list(n.input),
            [str(t.shape) for t in graph.get_operation_by_name(n.name).outputs],
        ]
        for n in graph.as_graph_def().node
    ]


def _changed_list(tf, shape):
    """A tensor list after several changes, the tensor that was popped, and results of reads."""
    lists = _lists(tf)
    given = lists.tensor_list_from_tensor(tf.ones([3, 2]), shape)
    longer = lists.tensor_list_push_back(given, [5.0, 6.0])
    shorter, last = lists.tensor_list_pop_back(longer, tf.float32)
    other = lists.tensor_list_set_item(shorter, 1, 2.0 * last)
    spread = lists.tensor_list_scatter(tf.ones([1, 2]), [2], input_handle=other)
    return (
        spread,
        last,
        [
            lists.tensor_list_stack(spread, tf.float32),
            lists.tensor_list_length(longer),
            lists.tensor_list_stack(spread, tf.float32, num_elements=3),
            lists.tensor_list_gather(spread, [1, 0], tf.float32),
            lists.tensor_list_get_item(spread, 1, tf.float32),
            lists.tensor_list_concat(spread, tf.float32),
            last,
        ],
    )


def _shapes(tf):
    shapes = []
    for shape in ([2], [None], None, tf.TensorShape([2]), tf.constant([2])):
        _, _, given = _changed_list(tf, shape)
        shapes.append([str(tensor.shape) for tensor in given])
    return shapes, run(tf, given)


def _gradients(tf):
    lists, x = _lists(tf), tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = lists.tensor_list_from_tensor(x, [2])
    rows = lists.tensor_list_set_item(rows, 0, x[1] * x[2])
    rows, last = lists.tensor_list_pop_back(rows, tf.float32)
    rows = lists.tensor_list_resize(lists.tensor_list_push_back(rows, last * last), 4)
    pieces = lists.tensor_list_split(x, [None, 2], [1, 2])
    spread = lists.tensor_list_scatter(x, [2, 0, 1], [2])
    ends = [
        lists.tensor_list_gather(rows, [2, 0], tf.float32),
        lists.tensor_list_get_item(rows, 1, tf.float32),
        tf.square(lists.tensor_list_concat(pieces, tf.float32, [None, 2])),
        tf.square(lists.tensor_list_stack(spread, tf.float32))[:2],
    ]
    gradients = [tf.gradients(end, x)[0] for end in ends]
    return run(tf, gradients), [str(gradient.shape) for gradient in gradients], _nodes(tf)


def _in_loops(tf):
    """A list that grows in a loop, and the gradient through it."""
    lists, x = _lists(tf), tf.constant(3.0)
    _, rows = tf.while_loop(
        lambda i, _: i < 4,
        lambda i, rows: (i + 1, lists.tensor_list_push_back(rows, x * tf.cast(i, tf.float32))),
        [0, lists.empty_tensor_list([], tf.float32)],
    )
    stacked = lists.tensor_list_stack(rows, tf.float32, element_shape=[])
    return run(tf, [stacked, tf.gradients(stacked, x)[0]]), str(stacked.shape)


def _refused(tf):
    lists, raw = _lists(tf), tf.raw_ops
    empty = lists.empty_tensor_list([2], tf.float32, 1)
    one = lists.tensor_list_push_back(empty, [1.0, 2.0])
    absent = lists.tensor_list_reserve([None], 2, tf.float32)
    length = lists.tensor_list_length
    outcomes = attempt(
        lambda: lists.tensor_list_push_back(empty, 1.0),
        lambda: lists.tensor_list_set_item(one, 0, [1.0]),
        lambda: lists.tensor_list_from_tensor(3.0, []),
        lambda: lists.tensor_list_from_tensor([3.0], [1]),
        lambda: lists.tensor_list_scatter([[3.0]], [0], [2]),
        lambda: lists.tensor_list_split([[3.0]], [None, 2], [1]),
        lambda: lists.tensor_list_push_back(empty, [1, 2]),
        lambda: lists.tensor_list_stack(one, tf.int32),
        lambda: lists.tensor_list_gather(tf.identity(one), [0], tf.int32),
        lambda: lists.tensor_list_get_item(one, 0, tf.float32, [3]),
        lambda: lists.tensor_list_stack(one, tf.float32, element_shape=[[2]]),
    )
    fails = [
        lists.tensor_list_stack(absent, tf.float32),
        lists.tensor_list_gather(one, [1], tf.float32),
        lists.tensor_list_get_item(one, -1, tf.float32),
        length(lists.tensor_list_push_back(one, [1.0, 2.0])),
        length(lists.tensor_list_set_item(one, 1, [1.0, 2.0])),
        length(lists.tensor_list_resize(one, -1)),
        lists.tensor_list_pop_back(empty, tf.float32)[1],
        length(lists.tensor_list_scatter([1.0], [-1], [])),
        length(
            raw.TensorListScatterV2(tensor=[1.0], indices=[3], element_shape=-1, num_elements=2)
        ),
        raw.TensorListConcat(input_handle=one, element_dtype=tf.float32, element_shape=[2])[0],
        lists.tensor_list_stack(
            raw.TensorListConcatLists(input_a=one, input_b=one, element_dtype=tf.float32),
            tf.float32,
        ),
    ]
    return outcomes, attempt(*(lambda fetch=fetch: run(tf, fetch) for fetch in fails))


BEHAVIOURS = {
    "shapes": _shapes,
    "gradients": _gradients,
    "in loops": _in_loops,
    "refused": _refused,
}
