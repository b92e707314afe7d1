"""Programs of sparse tensors: nodes, values, gradients, serialization, errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import SparseTensor, Structure
from sessrun.conformance.subjects.programs.queues.pipeline import built

__all__ = ["BEHAVIOURS"]

_PLACES = np.array([[0, 0], [0, 2], [2, 1]], np.int64)


def _tensor(tf, values=(1.0, 2.0, 3.0), dtype=np.float32):
    return tf.SparseTensor(_PLACES, np.array(values, dtype), [3, 4])


def _other(tf):
    return tf.SparseTensor([[0, 0], [1, 3]], [-1.0, 5.0], [3, 4])


def _hidden(tf, dtype=None):
    return tf.sparse_placeholder(dtype or tf.float32)


def _half(tf):
    return tf.sparse_placeholder(tf.float32, [None, 4])


def _calls(tf) -> list[Callable[[SparseTensor], Structure]]:
    """Functions of a sparse matrix of float32."""
    s = tf.sparse
    other, dense = _other(tf), np.arange(12, dtype=np.float32).reshape(3, 4)
    return [
        lambda x: s.add(x, other),
        lambda x: s.add(x, other, 2.5),
        lambda x: s.add(x, dense),
        lambda x: s.add(dense, x),
        lambda x: tf.sparse_add(other, x, thresh=0.5),
        lambda x: s.expand_dims(x),
        lambda x: s.expand_dims(x, 0),
        lambda x: s.expand_dims(x, -2),
        lambda x: s.concat(0, [x, other]),
        lambda x: s.concat(-1, [other, x], name="c"),
        lambda x: tf.sparse_concat(sp_inputs=[x, other, x], concat_dim=1, axis=None),
        lambda x: s.concat(1, [x]),
        lambda x: s.concat(1, [x, s.reset_shape(other, [5, 4])], expand_nonconcat_dim=True),
        lambda x: s.fill_empty_rows(x, -1.0),
        lambda x: s.maximum(x, other),
        lambda x: s.minimum(x, other, name="m"),
        lambda x: s.reduce_max(x),
        lambda x: s.reduce_max(x, 1, keepdims=True),
        lambda x: s.reduce_max_sparse(x, [0]),
        lambda x: s.reduce_sum(x, [0, 1]),
        lambda x: tf.sparse_reduce_sum(x, reduction_axes=-1),
        lambda x: s.reduce_sum_sparse(x, 0, keep_dims=True),
        lambda x: s.reorder(x, name="r"),
        lambda x: s.reset_shape(x),
        lambda x: s.reset_shape(x, [4, 9]),
        lambda x: s.reshape(x, [4, 3]),
        lambda x: s.reshape(x, [2, -1], name="again"),
        lambda x: s.reshape(x, tf.constant([12])),
        lambda x: s.slice(x, [0, 1], [2, 9]),
        lambda x: s.softmax(x),
        lambda x: s.split(sp_input=x, num_split=3, axis=1),
        lambda x: s.matmul(x, np.ones([4, 2], np.float32)),
        lambda x: s.sparse_dense_matmul(x, np.ones([5, 3], np.float32), True, True, name="p"),
        lambda x: s.sparse_dense_matmul(np.ones([2, 3], np.float32), x),
        lambda x: s.transpose(x),
        lambda x: s.transpose(x, [1, 0], name="t"),
        lambda x: s.to_indicator(tf.cast(x, tf.int64), 5),
        lambda x: s.merge(tf.cast(x, tf.int32), x, 7),
        lambda x: tf.sparse_merge([tf.cast(x, tf.int64)] * 2, x, [7, 8], already_sorted=True),
        lambda x: s.to_dense(x),
        lambda x: s.retain(x, [True, False, True]),
    ]


def _values(tf):
    return [run(tf, call(_tensor(tf))) for call in _calls(tf)]


#: The calls of `expand_dims`, which fails in TensorFlow for an unknown rank.
_NEED_RANK = (5, 6, 7)


def _graphs(tf):
    calls = range(len(_calls(tf)))
    return built(
        tf,
        *(
            lambda i=i, make=make: _calls(tf)[i](make(tf))
            for i in calls
            for make in (_tensor, _hidden, _half)
            if make is not _hidden or i not in _NEED_RANK
        ),
    )


def _constructed(tf):
    s = tf.sparse
    masked = s.mask(_slices(tf), [7])
    return [
        run(tf, s.from_dense([[0, 3], [4, 0]])),
        run(tf, s.from_dense([b"", b"a"])),
        run(tf, s.eye(2, 3)),
        run(tf, s.eye(tf.constant(2), dtype=tf.int32)),
        run(tf, [masked.values, masked.indices]),
        built(
            tf,
            lambda: s.from_dense([[0, 3]]),
            lambda: s.eye(4),
            lambda: s.eye(2, 3, name="e"),
            lambda: s.mask(_slices(tf), [7]),
        ),
    ]


def _slices(tf):
    return tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([4, 7, 9]))


def _segments(tf):
    data = np.arange(12, dtype=np.float32).reshape(4, 3)
    names = ("segment_sum", "segment_mean", "segment_sqrt_n")
    results = []
    for name in names:
        for options in ({}, {"num_segments": 5}, {"sparse_gradient": True}):
            x = tf.constant(data)
            combine = getattr(tf.sparse, name)
            y = combine(x, [0, 2, 2, 1], [0, 0, 1, 3], **options)
            (gradient,) = tf.gradients(y, x)
            results.append([y, run(tf, y), gradient, run(tf, gradient)])
    return results


def _gradients(tf):
    values = tf.constant([1.0, 2.0, 3.0])
    x = tf.SparseTensor(_PLACES, values, [3, 4])
    dense = tf.constant(np.arange(1, 13, dtype=np.float32).reshape(3, 4))
    raw = tf.raw_ops
    parts = {"sp_indices": x.indices, "sp_values": values, "sp_shape": x.dense_shape}
    targets = [
        tf.sparse.add(x, _other(tf)).values,
        tf.sparse.add(x, dense),
        tf.sparse.reduce_sum(x, 1),
        tf.sparse.slice(x, [0, 0], [1, 9]).values,
        tf.sparse.softmax(x).values,
        tf.sparse.matmul(x, tf.transpose(dense)),
        tf.sparse.fill_empty_rows(x, 2.0)[0].values,
        raw.SparseDenseCwiseMul(**parts, dense=dense[0]),
        raw.SparseDenseCwiseDiv(**parts, dense=dense),
        tf.sparse.to_dense(x),
        tf.sparse.transpose(x).values,
    ]
    results = []
    for target in targets:
        grads = [
            grad for grad in tf.gradients(target * target, [values, dense]) if grad is not None
        ]
        results.append([grads, run(tf, grads)])
    return results


def _product_gradients(tf):
    """Gradients of products of sparse and dense complex matrices, each as it is or adjoint."""
    results = []
    for adjoint_a in (False, True):
        for adjoint_b in (False, True):
            values = tf.constant([1 + 1j, 2 - 1j, 3j])
            x = tf.SparseTensor(_PLACES, values, [3, 4])
            sizes = (3 if adjoint_a else 4, 2)
            dense = tf.constant(
                (np.arange(sizes[0] * 2) * (1 - 2j)).reshape(sizes[::-1] if adjoint_b else sizes)
            )
            y = tf.sparse.matmul(x, dense, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
            grads = tf.gradients(tf.real(y * y), [values, dense])
            results.append([grads, run(tf, grads)])
    return results


def _refusals(tf):
    s, x = tf.sparse, _tensor(tf)
    longer = tf.SparseTensor(_PLACES, [1.0, 2.0, 3.0], [5, 4])
    out = tf.SparseTensor([[7, 0]], [1.0], [3, 4])
    many = tf.SparseTensor([[2**62 - 1, 1]], [1.0], [2**62, 2])  # 2**63 elements
    dense = np.ones([3, 4], np.float32)
    return attempt(
        lambda: s.add(dense, dense),
        lambda: s.add(x, longer),
        lambda: run(tf, s.add(x, _hidden(tf)), {}),
        lambda: s.add(x, dense[:2]),
        lambda: s.concat(0, x),
        lambda: s.concat(0, [dense, x]),
        lambda: s.concat(5, [x, x]),
        lambda: run(tf, s.concat(1, [x, longer])),
        lambda: s.concat(concat_dim=1, axis=1, sp_inputs=[x, x]),
        lambda: s.split(x, 2, 1),
        lambda: s.split(num_split=2, axis=1),
        lambda: s.split(sp_input=x, axis=1),
        lambda: s.split(sp_input=x, num_split=2),
        lambda: run(tf, s.split(sp_input=x, num_split=9, axis=1)),
        lambda: run(tf, s.split(sp_input=x, num_split=1, axis=7)),
        lambda: s.reshape(x, [5]),
        lambda: s.reshape(x, [-1, -1]),
        lambda: s.reshape(dense, [3]),
        lambda: run(tf, s.reshape(x, tf.placeholder_with_default([5], None))),
        lambda: run(tf, s.reshape(x, tf.placeholder_with_default([-1, 5], None))),
        lambda: s.reset_shape(x, [1, 4]),
        lambda: s.reset_shape(x, [3, 4, 5]),
        lambda: s.expand_dims(x, 1.5),
        lambda: s.eye(1.5),
        lambda: s.merge(x, x, [3]),
        lambda: s.merge([x], x, 3),
        lambda: s.merge([x], x, [3, 4]),
        lambda: s.merge(x, x, 1.5),
        lambda: run(tf, s.matmul(out, np.ones([4, 2], np.float32))),
        lambda: s.matmul(x, np.ones([3, 2], np.float32)),
        lambda: s.matmul(dense, dense),
        lambda: run(tf, s.fill_empty_rows(out, 1.0)),
        lambda: run(tf, s.reduce_sum(x, 5)),
        lambda: s.reduce_sum(x, 1, reduction_axes=1),
        lambda: run(tf, s.maximum(x, longer)),
        lambda: run(tf, s.slice(x, [0], [1])),
        lambda: run(tf, s.slice(x, [0, 0], [-1, 2])),
        lambda: run(tf, s.softmax(tf.SparseTensor([[0]], [1.0], [2]))),
        lambda: run(tf, s.segment_sum(dense, [0, 9], [0, 0])),
        lambda: run(tf, s.segment_sum(dense, [0, 1], [1, 0])),
        lambda: s.segment_sum(dense, [0, 1], [1]),
        lambda: run(tf, s.segment_sum(dense, [0, 1], [0, 3], num_segments=2)),
        lambda: s.segment_sum(dense, [0, 1], [0, 3], num_segments=-2),
        lambda: tf.gradients(s.maximum(x, x).values, x.values),
        *(
            lambda k=options: tf.sparse_concat(0, [x, longer], **k).shape
            for options in (
                {"expand_nonconcat_dim": True, "expand_nonconcat_dims": True},
                {"expand_nonconcat_dims": True},
                {"expand_nonconcat_dims": False},
                {"expand_nonconcat_dim": None, "expand_nonconcat_dims": True},
            )
        ),
        lambda: run(
            tf,
            tf.raw_ops.SparseAddGrad(
                backprop_val_grad=[5.0], a_indices=[[1]], b_indices=[[0]], sum_indices=[[0]]
            ),
        ),
        lambda: run(tf, s.add(many, many)),
        lambda: run(
            tf,
            s.reshape(
                tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [0, 3]), [3, 0]
            ),
        ),
        *(
            lambda n=n, sizes=sizes: run(
                tf,
                tf.raw_ops.SparseCountSparseOutput(
                    indices=np.zeros((0, n), np.int64),
                    values=np.zeros(0, np.int32),
                    dense_shape=sizes,
                    weights=np.zeros(0, np.float32),
                    binary_output=False,
                ),
            )
            for n, sizes in ((2, [0, 3]), (1, [0]))
        ),
        lambda: run(
            tf,
            tf.raw_ops.SparseDenseCwiseDiv(
                sp_indices=[[0], [1], [2]], sp_values=[-6, -7, 7], sp_shape=[3], dense=[2, 2, -2]
            ),
        ),
    )


def _held(tf):
    """Serialization to variants and back, alone and stacked; invalid indices and shapes."""
    raw, x = tf.raw_ops, _tensor(tf)
    parts = {"sparse_indices": x.indices, "sparse_values": x.values, "sparse_shape": x.dense_shape}
    one = raw.SerializeSparse(**parts, out_type=tf.variant)
    rows = raw.SerializeManySparse(**parts, out_type=tf.variant)
    back = [
        tuple(raw.DeserializeSparse(serialized_sparse=serialized, dtype=tf.float32))
        for serialized in (one, rows, tf.stack([one, one]))
    ]
    given = {"indices": x.indices, "values": x.values, "shape": x.dense_shape}
    numbers = {"sparse_indices": [1, 3], "output_shape": [5], "default_value": 0}
    return [
        run(tf, back),
        attempt(
            lambda: run(tf, raw.DeserializeSparse(serialized_sparse=one, dtype=tf.int32)[0]),
            lambda: run(tf, raw.SparseSplit(split_dim=[0, 1], num_split=2, **given)[0]),
            lambda: run(
                tf,
                raw.SparseSplit(
                    split_dim=1, num_split=2, indices=[[0, 9]], values=[1], shape=[3, 4]
                )[0],
            ),
            lambda: run(tf, raw.SparseToDense(**numbers, sparse_values=[1, 2, 3])),
            lambda: run(tf, raw.SparseToDense(**numbers | {"default_value": [0]}, sparse_values=1)),
            lambda: run(
                tf, raw.SparseSlice(**given | {"shape": [-1, 4]}, start=[0, 0], size=[1, 1])
            ),
        ),
    ]


BEHAVIOURS = {
    "gradients": _gradients,
    "graphs": _graphs,
    "held": _held,
    "made": _constructed,
    "product-gradients": _product_gradients,
    "refusals": _refusals,
    "segments": _segments,
    "values": _values,
}
