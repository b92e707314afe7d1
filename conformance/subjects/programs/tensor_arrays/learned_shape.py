"""Programs of the element shapes that TensorArrays and tensor lists infer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sessrun.conformance.subjects.programs.control_flow.functional_flow import functional
from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Plain, TensorArray
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _learned(tf):
    """Element shapes after each way of filling a TensorArray, and static shapes of reads."""
    zeros = np.zeros((3, 2, 4), "f4")

    def of_shape(shape):
        return tf.placeholder_with_default(zeros, shape)

    def filled(way: Callable[..., TensorArray], options: Mapping[str, Plain]):
        with tf.Graph().as_default():
            known, partly, unknown = tf.zeros([3, 2, 4]), of_shape([3, None, 4]), of_shape(None)
            array = way(tf.TensorArray(tf.float32, 3, **options), known, partly, unknown)
            read, stacked = array.read(0), array.stack()
            rest = attempt(lambda: array.gather([0, 2]), array.concat)
            return array.element_shape, read, stacked, rest, run(tf, [read, tf.shape(stacked)])

    ways = (
        lambda a, known, *_: a.unstack(known),
        lambda a, _, partly, __: a.unstack(partly),
        lambda a, _, __, unknown: a.unstack(unknown),
        lambda a, known, *_: a.scatter([2, 1, 0], known),
        lambda a, _, partly, __: a.scatter([0, 1, 2], partly),
        lambda a, *_: a.split(tf.zeros([6, 4]), [2, 2, 2]),
        lambda a, _, __, unknown: a.split(unknown[0], [1, 0, 1]),
        lambda a, known, *_: a.write(0, known[0]).write(1, known[1]).write(2, known[2]),
        lambda a, *of: a.write(0, of[1][0]).write(1, of[0][1]).write(2, of[2][2]),
        lambda a, known, *_: a.write(0, known[0]).write(1, tf.zeros([5])),
        lambda a, known, *_: a.unstack(known).write(0, known[1]),
        lambda a, *_: a.identity(),
    )
    options = (
        {},
        {"infer_shape": False},
        {"element_shape": [2, 4]},
        {"element_shape": [None, 4]},
        {"element_shape": [7]},
        {"dynamic_size": True},
        {"clear_after_read": False},
    )
    return attempt(*(lambda w=way, o=option: filled(w, o) for way in ways for option in options))


def _popped(tf):
    """Tensor lists with known, partly known and invalid element shapes."""
    raw, lists, kind = tf.raw_ops, tf.zeros([3, 2]), tf.float32

    def outputs_of(shape) -> list[Tensor]:
        handle = raw.TensorListFromTensor(tensor=lists, element_shape=np.array([2], np.int32))
        empty = raw.EmptyTensorList(element_shape=shape, max_num_elements=5, element_dtype=kind)
        pushed = raw.TensorListPushBack(input_handle=empty, tensor=tf.ones([2]))
        return [
            raw.TensorListPopBack(input_handle=pushed, element_shape=shape, element_dtype=kind)[1],
            raw.TensorListStack(input_handle=pushed, element_shape=shape, element_dtype=kind),
            raw.TensorListGetItem(
                input_handle=handle, index=1, element_shape=shape, element_dtype=kind
            ),
            raw.TensorListElementShape(input_handle=pushed, shape_type=tf.int32),
            raw.TensorListLength(input_handle=pushed),
            raw.TensorListGather(
                input_handle=handle, indices=[2, 0], element_shape=shape, element_dtype=kind
            ),
        ]

    def shapes_and_values(shape):
        tensors = outputs_of(shape)
        return tensors, attempt(*(lambda t=tensor: run(tf, t) for tensor in tensors))

    shapes = (-1, [2], [-1], [3], [], [2, 1], 1, -2, [[2]])
    inner = raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=kind)
    return attempt(
        *(lambda s=shape: shapes_and_values(np.array(s, np.int32)) for shape in shapes),
        lambda: run(
            tf,
            raw.TensorListLength(
                input_handle=raw.TensorListFromTensor(tensor=inner, element_shape=-1)
            ),
        ),
    )


BEHAVIOURS = {
    "learned": _learned,
    "learned by functions": functional(_learned),
    "popped": _popped,
}
