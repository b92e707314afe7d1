"""Programs of operators and functions: values, dtypes, static shapes, names and errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, on_a_cpu, run
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _built_and_run(tf, *makes: Action, feed_dict=None):
    """The tensor that each function returns, and its value."""
    return attempt(*(lambda make=make: _pair(tf, make(), feed_dict) for make in makes))


def _pair(tf, output, feed_dict):
    return output, run(tf, output, feed_dict)


def _arithmetic(tf):
    x, n = tf.constant([7.0, -7.0], name="x"), tf.constant([7, -7], name="n")
    small, b = tf.constant([1, 2], tf.int8), tf.constant([True, False])
    return _built_and_run(
        tf,
        lambda: x + 1,
        lambda: 1 + x,
        lambda: x - 2,
        lambda: 2 - x,
        lambda: x * x,
        lambda: 3 * x,
        lambda: x / 2,
        lambda: 2 / x,
        lambda: n / 2,
        lambda: 2 / n,
        lambda: small / 3,
        lambda: n // 2,
        lambda: x // 2,
        lambda: 20 // n,
        lambda: n % 3,
        lambda: x % 3,
        lambda: 3 % n,
        lambda: -x,
        lambda: -n,
        lambda: abs(n),
        lambda: x**2,
        lambda: 2**x,
        lambda: n**2,
        lambda: +x,
        lambda: x + n,
        lambda: n + 1.5,
        lambda: x + "a",
        lambda: b + b,
        lambda: x @ x,
        lambda: ~b,
        lambda: b & [True, True],
        lambda: b | False,
        lambda: True ^ b,
        lambda: n & 3,
        lambda: n | 8,
        lambda: n ^ 1,
        lambda: ~n,
        lambda: ~x,
        lambda: x & x,
        lambda: x + np.float32(2),
        lambda: np.array([1.0, 2.0], np.float32) + x,
        lambda: np.float64(1) * x,
        lambda: x + None,
        lambda: x + [1, 2],
        lambda: [1, 2] * x,
        lambda: x + tf.constant([1.0, 2.0, 3.0]),
        lambda: n + 2**40,
        lambda: small + 200,
        lambda: divmod(n, 2),
    )


def _comparisons(tf):
    x = tf.constant([1.0, 2.0])
    return _built_and_run(
        tf,
        lambda: x < 2,
        lambda: x <= 1.0,
        lambda: x > [0, 3],
        lambda: x <= 2,
        lambda: tf.equal(x, 2),
        lambda: tf.not_equal(x, [1, 1]),
        lambda: tf.less(x, tf.constant(1)),
        lambda: tf.equal(x, tf.constant([1.0, 2.0, 3.0])),
        lambda: tf.equal("a", ["a", "b"]),
        lambda: tf.less("a", "b"),
        lambda: tf.greater(1, 2),
        lambda: tf.logical_and(x > 1, True),
        lambda: tf.logical_xor([True, False], [True, True]),
        lambda: tf.logical_not(x),
        lambda: tf.equal(x, 2, name="mine"),
        lambda: x < "a",
    ), attempt(
        lambda: x == x,
        lambda: x != x,
        lambda: x == 1,
        lambda: bool(x),
        lambda: list(x),
        lambda: x in [x],
        lambda: len(x),
        lambda: {x: 1}[x],
        lambda: float(x),
        lambda: x[0] > 1 and 1,
        lambda: np.array(x),
        lambda: [i for i in x],
        lambda: x.nope,
        lambda: hash(x) == hash(x),
    )


def _slicing(tf):
    x = tf.reshape(tf.range(24), [2, 3, 4])
    p = tf.placeholder(tf.int32, [None, 3], name="p")
    i = tf.constant(1)
    return _built_and_run(
        tf,
        lambda: x[0],
        lambda: x[0, 1],
        lambda: x[:, 1:],
        lambda: x[..., 0],
        lambda: x[1, ..., -1],
        lambda: x[::-1],
        lambda: x[:, ::2, 1:3],
        lambda: x[tf.newaxis, 0],
        lambda: x[0, None, :, 2],
        lambda: x[i],
        lambda: x[i:, :i],
        lambda: x[-1, -1, -1],
        lambda: x[5],
        lambda: x[0, 0, 0, 0],
        lambda: x[..., ...],
        lambda: x["a"],
        lambda: x[1.5],
        lambda: x[[0, 1]],
        lambda: x[None],
        lambda: p[0],
        lambda: p[:, 1],
        lambda: p[1:],
        lambda: p[:, 5],
        lambda: x[np.int64(1)],
        lambda: x[0:0],
        lambda: x[10:],
        lambda: x[tf.constant(1.0)],
        lambda: x[x > 3],
        lambda: tf.constant("abc")[0],
        lambda: tf.slice(x, [0, 1, 0], [1, -1, 2]),
        lambda: tf.strided_slice(x, [0], [2]),
        lambda: x[True],
        feed_dict={p: [[1, 2, 3], [4, 5, 6]]},
    )


def _reductions(tf):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    p, q = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, 2])
    axis = tf.placeholder(tf.int32, [])
    rows = np.array([[1, 2], [3, 4]])
    return _built_and_run(
        tf,
        lambda: tf.reduce_sum(x),
        lambda: tf.reduce_sum(x, 0),
        lambda: tf.reduce_mean(x, [0, 1]),
        lambda: tf.reduce_max(x, -1),
        lambda: tf.reduce_min(x, axis=1, keepdims=True),
        lambda: tf.reduce_prod(x, reduction_indices=[1]),
        lambda: tf.reduce_sum(x, 1, keep_dims=True),
        lambda: tf.reduce_sum(x, 2),
        lambda: tf.reduce_sum(x, [0, 0]),
        lambda: tf.reduce_sum(p),
        lambda: tf.reduce_sum(p, 1),
        lambda: tf.reduce_sum(q, axis),
        lambda: tf.reduce_mean(q, 0),
        lambda: tf.reduce_all([[True, False]], 0),
        lambda: tf.reduce_any([[True, False]]),
        lambda: tf.reduce_all([1, 0]),
        lambda: tf.reduce_mean([1, 2, 4]),
        lambda: tf.reduce_sum([]),
        lambda: tf.reduce_max(tf.constant([], tf.float32)),
        lambda: run(tf, tf.reduce_max(tf.zeros([0, 3]), 0, keepdims=True)),
        lambda: tf.reduce_logsumexp(x, 0),
        lambda: tf.argmax(x, 1),
        lambda: tf.argmin(x),
        lambda: tf.argmax(x, 1, output_type=tf.int32),
        lambda: tf.cumsum(x, 1),
        lambda: tf.cumsum(x, reverse=True, exclusive=True),
        lambda: tf.cumprod(x),
        lambda: tf.reduce_sum(x, []),
        lambda: tf.reduce_sum("a"),
        lambda: tf.count_nonzero(x - 1.0),
        lambda: tf.reduce_sum(x, axis=1, reduction_indices=0),
        lambda: tf.reduce_sum(x, np.int64(1)),
        lambda: tf.reduce_join([["a", "b"], ["c", "d"]], 0),
        lambda: tf.add_n([x, x]),
        lambda: tf.add_n([]),
        feed_dict={p: rows, q: rows, axis: 1},
    )


def _shapes_of_arrays(tf):
    x, p = tf.constant([[1, 2], [3, 4]]), tf.placeholder(tf.float32, [None, 2])
    u = tf.placeholder(tf.float32)
    size = tf.placeholder(tf.int32, [])
    return _built_and_run(
        tf,
        lambda: tf.shape(x),
        lambda: tf.shape(p),
        lambda: tf.size(p),
        lambda: tf.rank(u),
        lambda: tf.shape(x, out_type=tf.int64),
        lambda: tf.reshape(p, [-1]),
        lambda: tf.reshape(p, [2, -1, 1]),
        lambda: tf.reshape(x, [3]),
        lambda: tf.reshape(u, [size, 2]),
        lambda: tf.reshape(p, tf.shape(p)[0:1]),
        lambda: tf.expand_dims(x, 0),
        lambda: tf.expand_dims(x, -1),
        lambda: tf.expand_dims(x, 5),
        lambda: tf.squeeze([[1], [2]]),
        lambda: tf.squeeze([[1]], [0]),
        lambda: tf.squeeze(x, [0]),
        lambda: tf.transpose(x),
        lambda: tf.transpose(p, [1, 0]),
        lambda: tf.transpose(x, [0]),
        lambda: tf.transpose(u),
        lambda: tf.tile(x, [1, 2]),
        lambda: tf.concat([x, x], 0),
        lambda: tf.concat([x, [[5, 6]]], 0),
        lambda: tf.concat([x, [5]], 0),
        lambda: tf.concat([p, p], 1),
        lambda: tf.concat([x], 0),
        lambda: tf.concat(x, 0),
        lambda: tf.stack([1, 2]),
        lambda: tf.stack([x, x], axis=1),
        lambda: tf.stack([x, 1]),
        lambda: tf.unstack(x),
        lambda: tf.unstack(x, axis=1),
        lambda: tf.unstack(u),
        lambda: tf.split(x, 2, 1),
        lambda: tf.split(x, [1, 1]),
        lambda: tf.split(x, 3),
        lambda: tf.pad(x, [[1, 0], [0, 1]]),
        lambda: tf.pad(x, [[1, 1], [1, 1]], "REFLECT"),
        lambda: tf.pad(x, [[1, 1], [1, 1]], constant_values=9),
        lambda: tf.reverse(x, [0]),
        lambda: tf.zeros([2, 3]),
        lambda: tf.ones([2], tf.int32),
        lambda: tf.zeros_like(x),
        lambda: tf.ones_like(p),
        lambda: tf.fill([2], 7),
        lambda: tf.fill([size], "a"),
        lambda: tf.zeros([size, 2]),
        lambda: tf.zeros([]),
        lambda: tf.zeros([2], tf.string),
        lambda: tf.one_hot([0, 2], 3),
        lambda: tf.one_hot([1], 2, on_value=5, off_value=1),
        lambda: tf.range(3),
        lambda: tf.range(1, 7, 2),
        lambda: tf.range(0.0, 1.0, 0.25),
        lambda: tf.range(size),
        lambda: tf.broadcast_to([1, 2], [2, 2]),
        lambda: tf.where([True, False]),
        lambda: tf.where([True, False], [1, 2], [3, 4]),
        lambda: tf.gather(x, [1, 0]),
        lambda: tf.gather(x, 1, axis=1),
        lambda: on_a_cpu(tf, lambda: tf.gather(x, [2])),
        lambda: tf.gather_nd(x, [[0, 1], [1, 0]]),
        lambda: tf.boolean_mask(x, [True, False]),
        lambda: tf.identity(p),
        lambda: tf.unique([1, 1, 2]),
        lambda: tf.invert_permutation([1, 0]),
        lambda: tf.ensure_shape(p, [2, 2]),
        lambda: tf.ensure_shape(p, [2, 3]),
        lambda: tf.dynamic_partition([1, 2], [0, 1], 2),
        lambda: tf.scatter_nd([[1]], [5], [3]),
        lambda: tf.reverse_sequence(x, [1, 2], seq_axis=1, batch_axis=0),
        feed_dict={p: [[1.0, 2.0], [3.0, 4.0]], u: [[1.0, 2.0]], size: 1},
    )


def _casts(tf):
    x = tf.constant([1.7, -1.7, 300.0])
    return _built_and_run(
        tf,
        lambda: tf.cast(x, tf.int32),
        lambda: tf.cast(x, tf.float32),
        lambda: tf.cast(x, "float64"),
        lambda: tf.cast([1, 0], tf.bool),
        lambda: tf.cast([True, False], tf.float32),
        lambda: tf.to_float(1),
        lambda: tf.cast(x, tf.complex64),
        lambda: tf.cast(1j, tf.complex64),
        lambda: tf.to_int64(x),
        lambda: tf.saturate_cast(x, tf.uint8),
        lambda: tf.cast(x, tf.string),
        lambda: tf.cast("1", tf.int32),
        lambda: tf.cast(x, None),
        lambda: tf.cast(x, tf.bfloat16),
        lambda: tf.bitcast(x, tf.int32),
        lambda: tf.complex(1.0, 2.0),
        lambda: tf.real(1 + 2j, name="re"),
        lambda: tf.cast(x, tf.half, name="h"),
        lambda: tf.cast(np.float64(1.5), tf.int64),
        lambda: tf.as_string([1, 2]),
        lambda: tf.as_string(1.5),
    )


def _functions(tf):
    x, n = tf.constant([0.25, 4.0]), tf.constant([3, -4])
    m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    unary = (
        tf.abs,
        tf.exp,
        tf.log,
        tf.sqrt,
        tf.square,
        tf.sin,
        tf.tanh,
        tf.sigmoid,
        tf.floor,
        tf.ceil,
        tf.round,
        tf.sign,
        tf.negative,
        tf.reciprocal,
        tf.rsqrt,
        tf.log1p,
        tf.is_nan,
        tf.is_inf,
        tf.rint,
    )
    first = _built_and_run(tf, *(lambda function=function: function(x) for function in unary))
    return first, _built_and_run(
        tf,
        lambda: tf.add(1, 2),
        lambda: tf.subtract(x, 1),
        lambda: tf.multiply(n, 2),
        lambda: tf.divide(n, 2),
        lambda: tf.truediv(n, 2),
        lambda: tf.floordiv(n, 2),
        lambda: tf.div(n, 2),
        lambda: tf.mod(n, 3),
        lambda: tf.truncatediv(n, 3),
        lambda: tf.floormod(n, 3),
        lambda: tf.pow(x, 2.0),
        lambda: tf.maximum(n, 0),
        lambda: tf.minimum(x, 1),
        lambda: tf.squared_difference(x, 1.0),
        lambda: tf.div_no_nan(x, 0.0),
        lambda: tf.clip_by_value(n, -1, 1),
        lambda: tf.matmul(m, m, transpose_a=True),
        lambda: tf.matmul(m, x),
        lambda: tf.matmul(m, [[1, 2]]),
        lambda: tf.matmul(m, [[1], [2]]),
        lambda: tf.matmul(n, n),
        lambda: tf.scalar_mul(2.0, x),
        lambda: tf.nn.softmax(m),
        lambda: tf.nn.relu(n),
        lambda: tf.nn.relu([-1.0, 1.0]),
        lambda: tf.nn.bias_add(m, x),
        lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=m, logits=m),
        lambda: tf.nn.l2_loss(m),
        lambda: tf.nn.elu(x),
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=m),
        lambda: tf.nn.top_k(m, 1),
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=m),
        lambda: tf.nn.in_top_k(m, [0, 1], 1),
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x),
        lambda: tf.nn.l2_normalize(m, 0),
        lambda: tf.diag([1, 2]),
        lambda: tf.exp(n),
        lambda: tf.sqrt("a"),
        lambda: tf.add(x, n),
        lambda: tf.add("a", "b"),
        lambda: tf.log(-1.0),
        lambda: tf.segment_sum([1, 2, 3], [0, 0, 1]),
        lambda: tf.unsorted_segment_sum([1, 2], [1, 0], 2),
        lambda: tf.add(x, 1, "mine"),
        lambda: tf.accumulate_n([x, x]),
        lambda: tf.bitwise.bitwise_and(n, 1),
        lambda: tf.stop_gradient(x),
        lambda: tf.math.add(1, 1),
    )


def _strings(tf):
    s = tf.constant(["ab", "cde", ""])
    p = tf.placeholder(tf.string, [None])
    return _built_and_run(
        tf,
        lambda: s,
        lambda: s + "x",
        lambda: tf.string_join([s, "z"], "-"),
        lambda: tf.strings.length(s),
        lambda: tf.substr(["hello"], 1, 3),
        lambda: tf.string_to_number(["1.5", "2"]),
        lambda: tf.strings.upper(s),
        lambda: tf.string_to_number("7", tf.int32),
        lambda: tf.decode_raw(["abcd"], tf.int16),
        lambda: tf.strings.lower("AÉ"),
        lambda: tf.encode_base64("hi"),
        lambda: tf.decode_base64("aGk"),
        lambda: tf.reduce_join(s),
        lambda: tf.equal(p, "a"),
        lambda: tf.strings.strip([" a "]),
        lambda: tf.concat([s, p], 0),
        lambda: tf.identity(p),
        lambda: tf.strings.length("é", unit="UTF8_CHAR"),
        lambda: tf.constant("é"),
        lambda: tf.constant(b"\xff\x00"),
        lambda: tf.reshape(s, [3, 1]),
        lambda: tf.gather(s, [1]),
        lambda: s * 2,
        lambda: tf.strings.join(["a", ["b", "c"]]),
        lambda: tf.substr(["a"], 5, 1),
        feed_dict={p: ["a", b"b"]},
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _arithmetic,
        _comparisons,
        _slicing,
        _reductions,
        _shapes_of_arrays,
        _casts,
        _functions,
        _strings,
    )
}
