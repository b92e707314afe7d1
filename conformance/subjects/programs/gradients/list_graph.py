"""Programs of gradients through tensor lists and TensorArrays: their nodes and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Structure, TensorArray
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

#: From `raw_ops`, a list of three rows of two, an index and a row to the targets.
Make = Callable[[Namespace, Tensor, Tensor, Tensor], Structure]
_ROW: Final = {"element_shape": [2], "element_dtype": "float32"}


def _stacked(raw, handle):
    return raw.TensorListStack(input_handle=handle, **_ROW)


def _of_lists(tf, *makes: Make):
    """The gradients by the list, the tensor behind it, the index and the row; nodes and values."""

    def differentiated(make: Make):
        with tf.Graph().as_default() as graph:
            x = tf.constant([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])
            index, row = tf.constant(1), tf.constant([13.0, 17.0])
            handle = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=[2])
            outputs = tf.nest.flatten(make(tf.raw_ops, handle, index, row))
            before = len(nodes(graph))
            gradients = tf.gradients(
                [tf.square(output) for output in outputs], [handle, x, index, row]
            )
            shown = nodes(graph)[before:]
            with tf.Session() as session:
                values = [
                    None
                    if gradient is None or gradient.dtype == tf.variant
                    else session.run(gradient)
                    for gradient in gradients
                ]
            return gradients, shown, values

    return attempt(*(lambda make=make: differentiated(make) for make in makes))


def _one_element(tf):
    def set_beyond(raw, handle, index, row):
        longer = raw.TensorListSetItem(
            input_handle=handle, index=index + 3, item=row, resize_if_index_out_of_bounds=True
        )
        return raw.TensorListGetItem(input_handle=longer, index=4, **_ROW)

    return _of_lists(
        tf,
        lambda raw, handle, index, _: raw.TensorListGetItem(
            input_handle=handle, index=index, **_ROW
        ),
        lambda raw, handle, index, row: _stacked(
            raw, raw.TensorListSetItem(input_handle=handle, index=index, item=row)
        ),
        set_beyond,
        lambda raw, handle, _, row: _stacked(
            raw, raw.TensorListPushBack(input_handle=handle, tensor=row)
        ),
        lambda raw, handle, _, row: raw.TensorListPopBack(input_handle=handle, **_ROW).tensor * row,
        lambda raw, handle, *_: _stacked(
            raw, raw.TensorListPopBack(input_handle=handle, **_ROW).output_handle
        ),
    )


def _many_elements(tf):
    def resized(raw, handle, index, row):
        short = raw.TensorListResize(input_handle=handle, size=index + 1)
        return _stacked(raw, short) * row

    def scattered(raw, handle, index, row):
        new_handle = raw.TensorListScatter(
            tensor=_stacked(raw, handle) * row, element_shape=[2], indices=[2, 0, 1]
        )
        return raw.TensorListGather(input_handle=new_handle, indices=[index, 2], **_ROW)

    def scattered_again(raw, handle, _, row):
        scattered = raw.TensorListScatterV2(
            tensor=_stacked(raw, handle) * row, element_shape=[2], indices=[2, 0, 1], num_elements=4
        )
        return raw.TensorListGather(input_handle=scattered, indices=[1, 2, 2], **_ROW)

    def scattered_into(raw, handle, _, row):
        scattered = raw.TensorListScatterIntoExistingList(
            input_handle=handle, tensor=tf.stack([row, row * 2.0]), indices=[2, 0]
        )
        return _stacked(raw, scattered)

    def joined(raw, handle, _, row):
        return raw.TensorListConcatV2(
            input_handle=handle, element_shape=[-1], element_dtype="float32", leading_dims=[]
        ).tensor * tf.tile(row, [3])

    def split(raw, handle, index, row):
        new_handle = raw.TensorListSplit(
            tensor=_stacked(raw, handle) * row, element_shape=[-1, 2], lengths=[1, 2]
        )
        return raw.TensorListGetItem(
            input_handle=new_handle, index=index, element_shape=[2, 2], element_dtype="float32"
        )

    def both(raw, handle, _, row):
        pair = raw.TensorListConcatLists(input_a=handle, input_b=handle, element_dtype="float32")
        length = tf.cast(raw.TensorListLength(input_handle=pair), "float32")
        return _stacked(raw, pair) * row, length

    return _of_lists(
        tf,
        lambda raw, handle, _, row: _stacked(raw, handle) * row,
        lambda raw, handle, index, _: raw.TensorListGather(
            input_handle=handle, indices=[2, index, 2], **_ROW
        ),
        resized,
        scattered,
        scattered_again,
        scattered_into,
        joined,
        split,
        both,
    )


def _of_arrays(tf, *makes: Callable[[TensorArray, Tensor], Structure]):
    """The gradients by a matrix through a TensorArray that holds its rows; nodes and values."""

    def differentiated(make: Callable[[TensorArray, Tensor], Structure]):
        with tf.Graph().as_default() as graph:
            x = tf.constant([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])
            outputs = tf.nest.flatten(
                make(tf.TensorArray(tf.float32, 3, dynamic_size=True, infer_shape=False), x)
            )
            before = len(nodes(graph))
            gradients = tf.gradients([tf.square(output) for output in outputs], [x])
            shown = nodes(graph)[before:]
            with tf.Session() as session:
                return (
                    gradients,
                    shown,
                    session.run([gradient for gradient in gradients if gradient is not None]),
                )

    return attempt(*(lambda make=make: differentiated(make) for make in makes))


def _arrays(tf):
    return _of_arrays(
        tf,
        lambda array, x: array.unstack(x).stack(),
        lambda array, x: array.unstack(x).read(2) * 3.0,
        lambda array, x: array.unstack(x).gather([2, 0]),
        lambda array, x: array.scatter([2, 0, 1], x).read(0),
        lambda array, x: array.scatter([2, 4, 1], x).gather([4, 2, 1]),
        lambda array, x: array.split(x, np.array([1, 0, 2])).concat(),
        lambda array, x: array.split(x, np.array([1, 0, 2])).read(2),
        lambda array, x: array.write(1, x[0]).write(0, x[2] * x[1]).gather([0, 1]),
        lambda array, x: array.write(1, x).write(0, x[:1]).write(2, x * x).concat(),
        lambda array, x: (array.unstack(x).read(0), array.unstack(x * 2.0).size()),
    )


BEHAVIOURS = {"arrays": _arrays, "many elements": _many_elements, "one element": _one_element}
