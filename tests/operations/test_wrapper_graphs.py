"""The graphs that the functions of the namespace make are node by node TensorFlow's own."""

# ruff: noqa: ARG005 - every call takes the same arguments

import numpy as np
import pytest

from sessrun import reference

pytestmark = pytest.mark.tensorflow

#: What is called, as a function of the namespace and of placeholders made in it.
CALLS = {
    "add": lambda tf, x, y, i: tf.add(x, y),
    "add of numbers": lambda tf, x, y, i: tf.add(x, 2.0),
    "add named": lambda tf, x, y, i: tf.add(1.0, x, name="plus"),
    "add of strings": lambda tf, x, y, i: tf.add(tf.placeholder(tf.string), "b"),
    "operator +": lambda tf, x, y, i: x + y,
    "operator + number": lambda tf, x, y, i: 3.0 + x,
    "operator -": lambda tf, x, y, i: x - 1.0,
    "operator *": lambda tf, x, y, i: 2.0 * x,
    "operator /": lambda tf, x, y, i: x / y,
    "operator / of integers": lambda tf, x, y, i: i / 2,
    "operator //": lambda tf, x, y, i: i // 2,
    "operator %": lambda tf, x, y, i: i % 3,
    "operator **": lambda tf, x, y, i: x**2.0,
    "operator @": lambda tf, x, y, i: x @ tf.transpose(y),
    "operator <": lambda tf, x, y, i: x < y,
    "operator neg": lambda tf, x, y, i: -x,
    "operator abs": lambda tf, x, y, i: abs(x),
    "operator and": lambda tf, x, y, i: (x < y) & (x > 1.0),
    "item": lambda tf, x, y, i: x[0],
    "item of slices": lambda tf, x, y, i: x[..., 1:2],
    "item of newaxis": lambda tf, x, y, i: x[:, None, ::-1],
    "subtract": lambda tf, x, y, i: tf.subtract(x, y),
    "multiply": lambda tf, x, y, i: tf.multiply(x, y, name="times"),
    "divide": lambda tf, x, y, i: tf.divide(x, y),
    "divide integers": lambda tf, x, y, i: tf.divide(i, 2),
    "truediv": lambda tf, x, y, i: tf.truediv(i, i),
    "div": lambda tf, x, y, i: tf.div(i, 2),
    "div of floats": lambda tf, x, y, i: tf.div(x, y),
    "floordiv": lambda tf, x, y, i: tf.floordiv(i, 2),
    "div_no_nan": lambda tf, x, y, i: tf.div_no_nan(x, y),
    "mod": lambda tf, x, y, i: tf.mod(i, 3),
    "pow": lambda tf, x, y, i: tf.pow(x, 2.0),
    "abs": lambda tf, x, y, i: tf.abs(x),
    "abs of complex": lambda tf, x, y, i: tf.abs(tf.complex(x, y)),
    "real": lambda tf, x, y, i: tf.real(tf.complex(x, y)),
    "imag": lambda tf, x, y, i: tf.math.imag(tf.complex(x, y)),
    "conj": lambda tf, x, y, i: tf.conj(tf.complex(x, y)),
    "square": lambda tf, x, y, i: tf.square(x),
    "sqrt": lambda tf, x, y, i: tf.sqrt(x),
    "rsqrt": lambda tf, x, y, i: tf.rsqrt(x),
    "exp": lambda tf, x, y, i: tf.exp(x),
    "log": lambda tf, x, y, i: tf.log(x),
    "sigmoid": lambda tf, x, y, i: tf.sigmoid(x),
    "tanh": lambda tf, x, y, i: tf.tanh(x, name="squash"),
    "log_sigmoid": lambda tf, x, y, i: tf.log_sigmoid(x),
    "sign": lambda tf, x, y, i: tf.sign(x),
    "round": lambda tf, x, y, i: tf.round(x),
    "floor": lambda tf, x, y, i: tf.floor(x),
    "reciprocal": lambda tf, x, y, i: tf.reciprocal(x),
    "maximum": lambda tf, x, y, i: tf.maximum(x, 0.0),
    "squared_difference": lambda tf, x, y, i: tf.squared_difference(x, y),
    "cast": lambda tf, x, y, i: tf.cast(x, tf.int32),
    "cast to itself": lambda tf, x, y, i: tf.cast(x, tf.float32),
    "cast of numbers": lambda tf, x, y, i: tf.cast([1, 2], tf.float32),
    "to_float": lambda tf, x, y, i: tf.to_float(i),
    "range": lambda tf, x, y, i: tf.range(5),
    "range with step": lambda tf, x, y, i: tf.range(1, 10, 2),
    "range of floats": lambda tf, x, y, i: tf.range(0.5, 3.0, 0.5, name="r"),
    "range of a tensor": lambda tf, x, y, i: tf.range(tf.shape(tf.placeholder(tf.float32))[0]),
    "matmul": lambda tf, x, y, i: tf.matmul(x, y, transpose_b=True),
    "matmul adjoint": lambda tf, x, y, i: tf.matmul(x, y, adjoint_a=True),
    "matmul of batches": lambda tf, x, y, i: tf.matmul(tf.zeros([2, 3, 4]), tf.ones([2, 4, 5])),
    "matmul of unknown rank": lambda tf, x, y, i: tf.matmul(tf.placeholder(tf.float32), y),
    "add_n": lambda tf, x, y, i: tf.add_n([x, y]),
    "add_n of one": lambda tf, x, y, i: tf.add_n([x], name="only"),
    "accumulate_n": lambda tf, x, y, i: tf.accumulate_n([x, y]),
    "equal": lambda tf, x, y, i: tf.equal(x, 1.0),
    "not_equal": lambda tf, x, y, i: tf.not_equal(x, y),
    "logical_xor": lambda tf, x, y, i: tf.logical_xor(x < y, x > 0.0),
    "clip_by_value": lambda tf, x, y, i: tf.clip_by_value(x, -1.0, 1.0),
    "reduce_sum": lambda tf, x, y, i: tf.reduce_sum(x),
    "reduce_sum of an axis": lambda tf, x, y, i: tf.reduce_sum(x, axis=1, keepdims=True),
    "reduce_sum of unknown rank": lambda tf, x, y, i: tf.reduce_sum(tf.placeholder(tf.float32)),
    "reduce_sum of a list": lambda tf, x, y, i: tf.reduce_sum([1.0, 2.0]),
    "reduce_mean": lambda tf, x, y, i: tf.reduce_mean(x, reduction_indices=[0], keep_dims=True),
    "reduce_max": lambda tf, x, y, i: tf.reduce_max(x, axis=[0, 1], name="top"),
    "reduce_min": lambda tf, x, y, i: tf.reduce_min(x, 0),
    "reduce_prod": lambda tf, x, y, i: tf.reduce_prod(x),
    "reduce_all": lambda tf, x, y, i: tf.reduce_all(x > y),
    "reduce_any": lambda tf, x, y, i: tf.reduce_any(x > y, axis=-1),
    "reduce_logsumexp": lambda tf, x, y, i: tf.reduce_logsumexp(x, axis=1),
    "reduce_logsumexp of all": lambda tf, x, y, i: tf.reduce_logsumexp(x, keepdims=True),
    "count_nonzero": lambda tf, x, y, i: tf.count_nonzero(x),
    "argmax": lambda tf, x, y, i: tf.argmax(x, 1),
    "argmin": lambda tf, x, y, i: tf.argmin(x, axis=0, output_type=tf.int32),
    "cumsum": lambda tf, x, y, i: tf.cumsum(x, axis=1, exclusive=True),
    "boolean_mask": lambda tf, x, y, i: tf.boolean_mask(x, x[:, 0] > 0.0),
    "boolean_mask axis": lambda tf, x, y, i: tf.boolean_mask(x, [True, False, True], axis=1),
    "assert": lambda tf, x, y, i: tf.Assert(tf.reduce_all(i > 0), ["bad", i]),
    "shape": lambda tf, x, y, i: tf.shape(x),
    "shape of unknown": lambda tf, x, y, i: tf.shape(tf.placeholder(tf.float32), out_type=tf.int64),
    "size": lambda tf, x, y, i: tf.size(x),
    "size of unknown": lambda tf, x, y, i: tf.size(tf.placeholder(tf.float32)),
    "rank": lambda tf, x, y, i: tf.rank(x),
    "rank of unknown": lambda tf, x, y, i: tf.rank(tf.placeholder(tf.float32)),
    "reshape": lambda tf, x, y, i: tf.reshape(x, [-1]),
    "expand_dims": lambda tf, x, y, i: tf.expand_dims(x, 0),
    "squeeze": lambda tf, x, y, i: tf.squeeze(tf.ones([1, 3, 1]), axis=0),
    "squeeze all": lambda tf, x, y, i: tf.squeeze(x),
    "transpose": lambda tf, x, y, i: tf.transpose(x),
    "transpose perm": lambda tf, x, y, i: tf.transpose(x, [1, 0], name="turned"),
    "transpose of unknown rank": lambda tf, x, y, i: tf.transpose(tf.placeholder(tf.float32)),
    "concat": lambda tf, x, y, i: tf.concat([x, y], 0),
    "concat of one": lambda tf, x, y, i: tf.concat([x], 0),
    "stack": lambda tf, x, y, i: tf.stack([x, y]),
    "stack axis": lambda tf, x, y, i: tf.stack([x, y], axis=1, name="pile"),
    "stack of numbers": lambda tf, x, y, i: tf.stack([1, 2]),
    "unstack": lambda tf, x, y, i: tf.unstack(x),
    "split": lambda tf, x, y, i: tf.split(x, 3, axis=1),
    "split sizes": lambda tf, x, y, i: tf.split(x, [1, 2], 1),
    "slice": lambda tf, x, y, i: tf.slice(x, [0, 1], [-1, 2]),
    "strided_slice": lambda tf, x, y, i: tf.strided_slice(x, [0], [1], [1]),
    "gather": lambda tf, x, y, i: tf.gather(x, [1, 0]),
    "gather axis": lambda tf, x, y, i: tf.gather(x, i[0], axis=1),
    "gather_nd": lambda tf, x, y, i: tf.gather_nd(x, [[0, 1]]),
    "fill": lambda tf, x, y, i: tf.fill([2, 3], 7.0),
    "zeros": lambda tf, x, y, i: tf.zeros([2, 3]),
    "zeros large": lambda tf, x, y, i: tf.zeros([100, 100], tf.int32),
    "zeros of a tensor": lambda tf, x, y, i: tf.zeros(tf.shape(tf.placeholder(tf.float32, [None]))),
    "zeros of a list with tensors": lambda tf, x, y, i: tf.zeros([i[0, 0], 2]),
    "ones": lambda tf, x, y, i: tf.ones((2,), tf.bool),
    "ones large": lambda tf, x, y, i: tf.ones([2000]),
    "zeros_like": lambda tf, x, y, i: tf.zeros_like(x),
    "zeros_like of unknown": lambda tf, x, y, i: tf.zeros_like(tf.placeholder(tf.float32)),
    "zeros_like dtype": lambda tf, x, y, i: tf.zeros_like(tf.placeholder(tf.int32), tf.float32),
    "ones_like": lambda tf, x, y, i: tf.ones_like(x),
    "ones_like of unknown": lambda tf, x, y, i: tf.ones_like(tf.placeholder(tf.float32)),
    "one_hot": lambda tf, x, y, i: tf.one_hot(i, 4),
    "one_hot values": lambda tf, x, y, i: tf.one_hot(i, 4, on_value=5.0, off_value=-1.0, axis=0),
    "pad": lambda tf, x, y, i: tf.pad(x, [[1, 1], [0, 2]]),
    "pad value": lambda tf, x, y, i: tf.pad(x, [[1, 1], [0, 2]], constant_values=9.0),
    "pad mirror": lambda tf, x, y, i: tf.pad(x, [[1, 1], [0, 2]], "REFLECT"),
    "tile": lambda tf, x, y, i: tf.tile(x, [2, 1]),
    "reverse": lambda tf, x, y, i: tf.reverse(x, [0]),
    "where": lambda tf, x, y, i: tf.where(x > 1.0),
    "where choice": lambda tf, x, y, i: tf.where(x > 1.0, x, y),
    "unique": lambda tf, x, y, i: tf.unique(i[0]),
    "stop_gradient": lambda tf, x, y, i: tf.stop_gradient(x),
    "broadcast_to": lambda tf, x, y, i: tf.broadcast_to(x, [4, 2, 3]),
    "random_uniform": lambda tf, x, y, i: tf.random_uniform([2, 3], seed=5),
    "random_uniform bounds": lambda tf, x, y, i: tf.random_uniform([2], -1.0, 1.0, seed=5),
    "random_uniform integers": lambda tf, x, y, i: tf.random_uniform([2], 0, 9, tf.int32, seed=5),
    "random_normal": lambda tf, x, y, i: tf.random_normal([2, 3], stddev=0.1, seed=5),
    "truncated_normal": lambda tf, x, y, i: tf.truncated_normal((2,), seed=1, name="init"),
    "random_shuffle": lambda tf, x, y, i: tf.random_shuffle(x, seed=1),
    "multinomial": lambda tf, x, y, i: tf.multinomial(x, 4, seed=1),
    "relu": lambda tf, x, y, i: tf.nn.relu(x),
    "relu6": lambda tf, x, y, i: tf.nn.relu6(x),
    "leaky_relu": lambda tf, x, y, i: tf.nn.leaky_relu(x),
    "elu": lambda tf, x, y, i: tf.nn.elu(x),
    "softplus": lambda tf, x, y, i: tf.nn.softplus(x),
    "softmax": lambda tf, x, y, i: tf.nn.softmax(x),
    "log_softmax": lambda tf, x, y, i: tf.nn.log_softmax(x, name="ls"),
    "bias_add": lambda tf, x, y, i: tf.nn.bias_add(x, [1.0, 2.0, 3.0]),
    "xw_plus_b": lambda tf, x, y, i: tf.nn.xw_plus_b(x, tf.ones([3, 2]), [1.0, 2.0]),
    "l2_loss": lambda tf, x, y, i: tf.nn.l2_loss(x),
    "l2_normalize": lambda tf, x, y, i: tf.nn.l2_normalize(x, 1),
    "top_k": lambda tf, x, y, i: tf.nn.top_k(x, 2),
    "in_top_k": lambda tf, x, y, i: tf.nn.in_top_k(x, [0, 1], 1),
    "sigmoid cross entropy": lambda tf, x, y, i: tf.nn.sigmoid_cross_entropy_with_logits(
        labels=y, logits=x
    ),
    "softmax cross entropy": lambda tf, x, y, i: tf.nn.softmax_cross_entropy_with_logits(
        labels=y, logits=x
    ),
    "sparse cross entropy": lambda tf, x, y, i: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=[0, 1], logits=x
    ),
    "string_join": lambda tf, x, y, i: tf.string_join(["a", tf.placeholder(tf.string)], "-"),
    "as_string": lambda tf, x, y, i: tf.as_string(i),
    "reduce_join": lambda tf, x, y, i: tf.reduce_join([["a", "b"]], 0),
    "string_to_number": lambda tf, x, y, i: tf.string_to_number(tf.placeholder(tf.string)),
    "check_numerics": lambda tf, x, y, i: tf.check_numerics(x, "bad"),
    "segment_sum": lambda tf, x, y, i: tf.segment_sum(x, [0, 0]),
    "dynamic_partition": lambda tf, x, y, i: tf.dynamic_partition(x, [0, 1], 2),
    "invert_permutation": lambda tf, x, y, i: tf.invert_permutation([1, 0]),
    "in a name scope": lambda tf, x, y, i: _scoped(tf, x),
}


def _scoped(tf, x):
    with tf.name_scope("outer"):
        return tf.reduce_mean(tf.square(x - 1.0))


def _nodes(tf, call):
    """name, op type, inputs and attributes of every node that the call adds, in order."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        y = tf.placeholder(tf.float32, [2, 3], name="y")
        i = tf.placeholder(tf.int32, [2, 3], name="i")
        call(tf, x, y, i)
    return graph.as_graph_def()


@pytest.fixture(scope="module")
def tensorflow():
    tf = pytest.importorskip("tensorflow").compat.v1
    tf.disable_v2_behavior()
    return tf


@pytest.mark.parametrize("name", CALLS)
def test_the_graph_is_tensorflows(tensorflow, name):
    want = _nodes(tensorflow, CALLS[name])
    ours = _nodes(reference, CALLS[name])
    got = type(want).FromString(ours.SerializeToString())
    assert [f"{n.name} {n.op} {list(n.input)}" for n in got.node] == [
        f"{n.name} {n.op} {list(n.input)}" for n in want.node
    ]
    for mine, its in zip(got.node, want.node, strict=True):
        for key in set(its.attr) | set(mine.attr):
            _check_attr(tensorflow, f"{its.name}.{key}", mine.attr[key], its.attr[key])


def _check_attr(tf, where, mine, its):
    if its.HasField("tensor"):
        np.testing.assert_array_equal(tf.make_ndarray(mine.tensor), tf.make_ndarray(its.tensor))
    else:
        assert mine == its, where
