"""Small programs that together launch every kind of kernel, to be run on a GPU and on a CPU.

A program builds its graph in the default graph and returns what is fetched; variables are
initialized before. Both devices must give the same: it draws nothing but what a seed decides, and
its numbers are well inside of what rounding may move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Fetches, Tensor

__all__ = ["PROGRAMS"]

#: Optimizers by the names that their programs have, each with its arguments.
_OPTIMIZERS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "descent": ("GradientDescentOptimizer", {}),
    "momentum": ("MomentumOptimizer", {"momentum": 0.9}),
    "nesterov": ("MomentumOptimizer", {"momentum": 0.9, "use_nesterov": True}),
    "adam": ("AdamOptimizer", {}),
    "adagrad": ("AdagradOptimizer", {}),
    "adadelta": ("AdadeltaOptimizer", {}),
    "rms-prop": ("RMSPropOptimizer", {"momentum": 0.5}),
    "rms-prop-centered": ("RMSPropOptimizer", {"centered": True}),
    "ftrl": ("FtrlOptimizer", {"l1_regularization_strength": 0.01}),
    "proximal-descent": (
        "ProximalGradientDescentOptimizer",
        {"l1_regularization_strength": 0.01},
    ),
    "proximal-adagrad": ("ProximalAdagradOptimizer", {"l2_regularization_strength": 0.01}),
}


def _floats(*shape: int, seed: int = 1, dtype: type = np.float32) -> np.ndarray:
    """Numbers between 0.1 and 1.1, of the seed."""
    return (np.random.default_rng(seed).random(shape) + 0.1).astype(dtype)


def _elementwise(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(64, 33))
    parts = [tf.exp(x), tf.log(x), tf.sqrt(x), tf.tanh(x), tf.sigmoid(x), tf.rsqrt(x), tf.erf(x)]
    return tf.add_n(parts) * x - tf.pow(x, 1.5) / (x + 1), tf.nn.relu(x - 0.5), tf.sin(x)


def _integers(tf: Namespace) -> Fetches:
    x = tf.constant(np.arange(-40, 41, dtype=np.int32))
    return x // 7, x % 7, tf.truncatemod(x, 7), tf.bitwise.bitwise_xor(x, 21), x * x - 3


def _comparisons(tf: Namespace) -> Fetches:
    x, y = tf.constant(_floats(9, 9)), tf.constant(_floats(9, 9, seed=2))
    both = tf.logical_and(x < y, tf.logical_not(tf.equal(x, 1.0)))
    return tf.where(both, x, -y), both, tf.maximum(x, y), tf.reduce_any(both, 0)


def _casts(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(5, 7) * 20)
    dtypes = (tf.float16, tf.bfloat16, tf.float64, tf.int8, tf.uint8, tf.int64, tf.bool)
    return [tf.cast(tf.cast(x, dtype), tf.float32) for dtype in dtypes]


def _broadcasts(tf: Namespace) -> Fetches:
    x, y = tf.constant(_floats(7, 1, 5)), tf.constant(_floats(4, 1, seed=2))
    return x + y, tf.broadcast_to(y, [3, 4, 2]), tf.reduce_sum(x * y, [0, 2])


def _reductions(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(6, 50, 3))
    of = (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod)
    return [f(x, 1) for f in of] + [tf.argmax(x, 1), tf.reduce_logsumexp(x), tf.cumsum(x, 1)]


def _products(tf: Namespace) -> Fetches:
    a, b = tf.constant(_floats(4, 31, 17)), tf.constant(_floats(4, 17, 9, seed=2))
    return tf.matmul(a, b), tf.matmul(a[0], b[0]), tf.einsum("bij,bjk->ik", a, b)


def _half_products(tf: Namespace) -> Fetches:
    a, b = tf.constant(_floats(33, 16)), tf.constant(_floats(16, 8, seed=2))
    pairs = [(tf.cast(a, dtype), tf.cast(b, dtype)) for dtype in (tf.float16, tf.bfloat16)]
    return [tf.cast(tf.matmul(x, y), tf.float32) for x, y in pairs]


def _decompositions(tf: Namespace) -> Fetches:
    x = _floats(5, 5, dtype=np.float64)
    a = tf.constant(x @ x.T + 5 * np.eye(5))
    solved = tf.matrix_solve(a, tf.constant(_floats(5, 2, dtype=np.float64)))
    return tf.cholesky(a), solved, tf.matrix_determinant(a), tf.svd(a, compute_uv=False)


def _spectra(tf: Namespace) -> Fetches:
    x = tf.cast(tf.constant(_floats(3, 16)), tf.complex64)
    return tf.real(tf.fft(x)), tf.abs(tf.ifft(x)), tf.imag(tf.fft2d(x))


def _convolutions(tf: Namespace) -> Fetches:
    x, w = tf.constant(_floats(2, 9, 9, 3)), tf.constant(_floats(3, 3, 3, 4, seed=2))
    y = tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME")
    depthwise = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")
    return [y, depthwise, *tf.gradients(y, [x, w]), *tf.gradients(depthwise, [x, w])]


def _pooling(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(2, 8, 8, 3))
    pools = [f(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME") for f in (tf.nn.max_pool, tf.nn.avg_pool)]
    return [*pools, *(tf.gradients(pool, [x])[0] for pool in pools)]


def _normalizations(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(4, 5, 5, 3))
    ones, zeros = tf.ones([3]), tf.zeros([3])
    normal, mean, variance = tf.nn.fused_batch_norm(x, ones, zeros)
    labels = tf.constant([0, 2, 1, 1])
    logits = x[:, 0, 0]
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return normal, mean, variance, tf.nn.softmax(x), loss, tf.gradients(loss, logits)[0]


def _rearranged(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(6, 5, 4))
    moved = tf.transpose(tf.reverse(x, [0]), [2, 0, 1])
    parts = tf.split(x, [2, 4], axis=0)
    return (
        moved,
        tf.concat(parts[::-1], 0),
        tf.pad(x[::2, 1:, None], [[1, 0]] * 4),
        tf.tile(x, [2, 1, 1]),
    )


def _indexing(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(8, 3))
    picked = tf.gather(x, [7, 0, 0, 3])
    spread = tf.scatter_nd([[1], [1], [4]], tf.constant(_floats(3, 3)), [6, 3])
    masked = tf.boolean_mask(x, x[:, 0] > 0.5)
    return (
        picked,
        spread,
        masked,
        tf.gather_nd(x, [[2, 1], [5, 0]]),
        tf.gradients(picked, x)[0].values,
    )


def _segments(tf: Namespace) -> Fetches:
    x, ids = tf.constant(_floats(7, 4)), tf.constant([0, 0, 1, 1, 1, 3, 3])
    sums = [f(x, ids) for f in (tf.segment_sum, tf.segment_max, tf.segment_mean)]
    return [*sums, tf.unsorted_segment_sum(x, ids[::-1], 5), tf.unsorted_segment_max(x, ids, 4)]


def _sorting(tf: Namespace) -> Fetches:
    x = tf.constant(np.random.default_rng(3).permutation(60).reshape(5, 12).astype(np.float32))
    values, places = tf.nn.top_k(x, 4)
    return values, places, tf.sort(x), tf.argsort(x), tf.unique(tf.cast(x[0], tf.int32) // 9).y


def _scatters(tf: Namespace) -> Fetches:
    variable = tf.get_variable("v", initializer=_floats(6, 2), use_resource=False)
    add = tf.scatter_add(variable, [1, 1, 5], tf.constant(_floats(3, 2)))
    with tf.control_dependencies([add]):
        maxima: Tensor = tf.scatter_max(variable, [0, 5], tf.constant(_floats(2, 2, seed=2) + 1))
    return maxima


def _variables(tf: Namespace) -> Fetches:
    variable = tf.get_variable("v", initializer=_floats(64, 3), use_resource=True)
    with tf.control_dependencies([variable.assign_add(tf.ones([64, 3]))]):
        changed = variable.assign_sub(variable * 0.5)
    return changed, tf.is_variable_initialized(variable)


def _loops(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(4, 3))
    _, powered = tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, y * x), [0, x])
    mapped = tf.map_fn(lambda row: row * tf.reduce_sum(row), x)
    chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x)
    return powered, mapped, chosen, tf.gradients(powered, x)[0], tf.scan(lambda a, b: a + b, x)


def _recurrent(tf: Namespace) -> Fetches:
    cell = tf.nn.rnn_cell.LSTMCell(5, initializer=tf.constant_initializer(0.1))
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(_floats(3, 6, 4)), dtype=tf.float32)
    return outputs, state.c, tf.gradients(outputs, tf.trainable_variables()[0])[0]


def _pictures(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(1, 6, 6, 2))
    crops = tf.image.crop_and_resize(x, [[0.1, 0.1, 0.9, 0.8]], [0], [3, 3])
    return tf.image.resize_bilinear(x, [9, 4]), tf.image.resize_nearest_neighbor(x, [3, 3]), crops


def _random(tf: Namespace) -> Fetches:
    kinds = (tf.random.stateless_uniform, tf.random.stateless_normal)
    return [f([50], seed=[1, 2]) for f in kinds]


def _host_beside(tf: Namespace) -> Fetches:
    x = tf.constant(_floats(4))
    words = tf.as_string(tf.cast(x * 100, tf.int32))
    doubled = tf.py_func(lambda array: array * 2, [x], tf.float32)
    queue = tf.FIFOQueue(4, tf.float32, [[4]])
    with tf.control_dependencies([queue.enqueue(x)]):
        taken = queue.dequeue()
    return words, doubled, tf.strings.length(words), taken + 1


def _network_step(tf: Namespace) -> Fetches:
    """A convolution, a pooling and a dense layer, three steps of Adam."""
    images, labels = tf.constant(_floats(8, 12, 12, 1)), tf.constant([0, 1, 2, 3] * 2)
    start = tf.constant_initializer(_floats(3, 3, 1, 4) / 9)
    hidden = tf.layers.conv2d(images, 4, 3, activation=tf.nn.relu, kernel_initializer=start)
    flat = tf.layers.flatten(tf.layers.max_pooling2d(hidden, 2, 2))
    dense = tf.constant_initializer(_floats(100, 4) / 100)
    logits = tf.layers.dense(flat, 4, kernel_initializer=dense)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return _steps(tf, tf.train.AdamOptimizer(0.01), loss)


def _optimizer(name: str) -> Callable[[Namespace], Fetches]:
    kind, options = _OPTIMIZERS[name]

    def build(tf: Namespace) -> Fetches:
        dense = tf.get_variable("dense", initializer=_floats(33, 4))
        rows = tf.get_variable("rows", initializer=_floats(6, 4, seed=2))
        picked = tf.gather(rows, [1, 1, 4])
        loss = tf.reduce_sum(tf.square(dense)) + tf.reduce_sum(tf.square(picked))
        return _steps(tf, getattr(tf.train, kind)(0.05, **options), loss)

    return build


def _steps(tf: Namespace, optimizer: Any, loss: Tensor) -> Fetches:
    """Two steps in one run, then every variable."""
    first = optimizer.minimize(loss)
    with tf.control_dependencies([first]):
        again = tf.identity(loss)
    with tf.control_dependencies([again]):
        return [tf.identity(variable) for variable in tf.trainable_variables()]


#: Name to the function that builds it, from a namespace to what is fetched.
PROGRAMS: Final[dict[str, Callable[[Namespace], Fetches]]] = {
    "elementwise": _elementwise,
    "integers": _integers,
    "comparisons": _comparisons,
    "casts": _casts,
    "broadcasts": _broadcasts,
    "reductions": _reductions,
    "products": _products,
    "half-products": _half_products,
    "decompositions": _decompositions,
    "spectra": _spectra,
    "convolutions": _convolutions,
    "pooling": _pooling,
    "normalizations": _normalizations,
    "rearranged": _rearranged,
    "indexing": _indexing,
    "segments": _segments,
    "sorting": _sorting,
    "scatters": _scatters,
    "variables": _variables,
    "loops": _loops,
    "recurrent": _recurrent,
    "pictures": _pictures,
    "random": _random,
    "host-beside": _host_beside,
    "network-step": _network_step,
    **{f"optimizer-{name}": _optimizer(name) for name in _OPTIMIZERS},
}
