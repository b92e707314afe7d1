"""Programs of the graphs of packed lists, slices, batched gathers and sparse factors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _nodes(tf) -> list[list[str]]:
    return [[n.name, n.op, *n.input] for n in tf.get_default_graph().as_graph_def().node]


def _number(tf):
    return tf.placeholder(tf.int32, [])


def _packed_lists(tf):
    number, pair = _number(tf), np.array([3, 4], np.int32)
    outcomes = attempt(
        lambda: tf.convert_to_tensor([1, number, 2]),
        lambda: tf.convert_to_tensor([[1, 2], [number, 3], tf.constant([5, 6])]),
        lambda: tf.convert_to_tensor([[[1, 2], [number, 3]], [[5, 6], pair]], name="deep"),
        lambda: tf.convert_to_tensor([[1], [number]], dtype=tf.float32),
        lambda: tf.convert_to_tensor([number, tf.constant(1.0)]),
        lambda: tf.concat([[number, 1], [2, 3]], 0),
        lambda: tf.reshape(tf.zeros([3, 4]), [number, -1]),
    )
    return [outcomes, _nodes(tf)]


def _slices(tf):
    x, number = tf.zeros([3, 4]), _number(tf)
    outcomes = attempt(
        lambda: tf.strided_slice(x, [0, 1], [2, 3]),
        lambda: tf.strided_slice(x, tf.placeholder(tf.int64, [None]), [2, 3]),
        lambda: tf.strided_slice(number, [0], [1]),
        lambda: number[0],
        lambda: x[number, 1:number],
        lambda: tf.reverse(x, [3]),
        lambda: tf.reverse(x, [0, -2]),
        lambda: tf.boolean_mask(x, [True, False, True]),
        lambda: tf.boolean_mask(x, tf.placeholder(tf.bool, [None]), axis=1),
        lambda: tf.boolean_mask(x, tf.placeholder(tf.bool, [None]), axis=number),
    )
    return [outcomes, _nodes(tf)]


def _gathered_batches(tf):
    places, number = tf.zeros([3, 2, 1], tf.int32), _number(tf)
    output = tf.gather_nd(tf.reshape(tf.range(60), [3, 4, 5]), places, batch_dims=1)
    outcomes = attempt(
        lambda: tf.gather_nd(tf.placeholder(tf.float32, [None, None, 5]), places, batch_dims=1),
        lambda: tf.gather_nd(tf.zeros([3, 4, 5]), places, batch_dims=number),
        lambda: tf.gather_nd(tf.zeros([3, 4, 5]), places, batch_dims=3),
        lambda: tf.gather_nd(tf.zeros([3, 4, 5]), places, batch_dims=-1),
        lambda: tf.searchsorted(tf.zeros([3, 2**33]), tf.zeros([3, 2]), out_type=tf.int64),
    )
    return [run(tf, output), outcomes, _nodes(tf)]


def _replaced_slices(tf):
    x, value = tf.reshape(tf.range(12.0), [3, 4]), tf.constant([[7.0], [8.0]])
    output = tf.raw_ops.TensorStridedSliceUpdate(
        input=x, begin=[0, 1], end=[2, 3], strides=[1, 1], value=value
    )
    slopes = tf.gradients(output, [x, value])
    return [run(tf, [output, slopes]), _nodes(tf)]


def _sparse_factors(tf):
    results = []
    for dtype in (tf.float32, tf.int32):
        sparse = tf.SparseTensor([[0, 0], [1, 2]], tf.cast([6, 8], dtype), [2, 3])
        dense = tf.cast([[2, 4, 2]], dtype)
        results += [sparse * dense, dense * sparse, sparse / dense, sparse * 2]
    wrong = tf.ones([3, 3]) * tf.SparseTensor([[0, 0]], [6.0], [2, 3])
    tried = attempt(lambda: run(tf, wrong))
    return [run(tf, results), [result.dtype.name for result in results], tried, _nodes(tf)]


def _refused_when_run(tf):
    fed, handle = tf.placeholder(tf.int32), tf.get_variable("v", [], use_resource=True).handle
    x = tf.ones([2, 3])
    cases = [
        (tf.reverse(x, fed), [2]),
        (tf.reverse(x, fed), [0, -2]),
        (fed[0], 3),
        (tf.reshape([[1]], fed), np.ones(254, np.int32)),
        (tf.guarantee_const(handle), 0),
        (tf.unravel_index(tf.constant([7]), fed), [2**20, 2**20]),
        (tf.raw_ops.SparseSoftmax(sp_indices=[[1, 1]], sp_values=[2.0], sp_shape=[-1, 1]), 0),
    ]
    return attempt(*(lambda case=case: run(tf, case[0], {fed: case[1]}) for case in cases))


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _packed_lists,
        _slices,
        _gathered_batches,
        _replaced_slices,
        _sparse_factors,
        _refused_when_run,
    )
}
