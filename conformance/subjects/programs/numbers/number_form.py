"""Programs of approximate equality, sparse products, generators, and functions of NumPy arrays."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, caught, run
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]


def _products(tf):
    """Products of dense matrices that are marked as sparse."""
    a, b = tf.constant([[0.0, 2.0], [0.0, 0.0]]), tf.constant([[1.0, 0.0], [3.0, 4.0]])
    product = tf.sparse_matmul
    products = [
        product(a, b),
        product(a, b, transpose_a=True, a_is_sparse=True),
        product(tf.cast(a, tf.bfloat16), b, transpose_b=True, b_is_sparse=True, name="p"),
    ]
    return [products, run(tf, products), attempt(lambda: product(a, tf.zeros([3, 2])))]


def _nearly_equal(tf):
    near = module_of(tf, "ops.math_ops").approximate_equal
    shapes = module_of(tf, "framework.common_shapes")
    x, y = tf.constant([1.0, 2.0]), tf.constant([1.000001, 2.5])
    as_shape = tf.TensorShape
    pairs = [([2, 3], [3]), ([2, 3], [2]), ([None], [4]), (None, [1]), ([], [5, 1])]
    return [
        run(tf, [near(x, y), near(x, y, 1.0), near(x, y, tolerance=1e-9, name="n")]),
        attempt(lambda: near(x, tf.zeros([3]))),
        [shapes.is_broadcast_compatible(as_shape(one), as_shape(other)) for one, other in pairs],
        [
            tf.debugging.is_numeric_tensor(value)
            for value in (x, 3.0, tf.constant("a"), tf.constant(True), tf.constant(1j))
        ],
        tf.is_numeric_tensor(y),
    ]


def _generators(tf):
    """Generators that are copied, set as the global one, and split."""
    kind = tf.random.Generator
    one = kind.from_seed(7)
    split = caught(lambda: len(one.split(2)))
    drawn = kind.from_non_deterministic_state()
    before = tf.random.get_global_generator()
    tf.random.set_global_generator(one)
    shared = tf.random.get_global_generator()
    tf.random.set_global_generator(before)
    copied = kind(copy_from=one)
    values = [one.normal([2]), copied.uniform([2])]
    with tf.Session() as session:
        for generator in (one, copied):  # the copy is initialized from the first one
            session.run(generator.state.initializer)
        numbers = session.run(values)
        session.run(drawn.state.initializer)
        state = session.run(drawn.state)
    return [
        split,
        [np.round(value, 4) for value in numbers],
        one.algorithm,
        shared is one,
        drawn.algorithm,
        state.shape,
        attempt(
            lambda: kind(copy_from=one, alg=1),
            lambda: kind.from_seed(1, alg="none"),
            lambda: kind(),
        ),
    ]


def _drawn(tf):
    ints = module_of(tf, "ops.stateful_random_ops").non_deterministic_ints
    poisson = module_of(tf, "ops.random_ops").random_poisson_v2
    tensors = [ints([2, 3]), ints([2], dtype=tf.uint32)]
    drawn = poisson([2], [1.0, 2.0], seed=3)
    return [tensors, drawn, [value.shape for value in run(tf, tensors)], run(tf, drawn).shape]


def _replaced(tf):
    """Empty tensors of the functions for in-place updates."""
    inplace = module_of(tf, "ops.inplace_ops")
    tensors = [inplace.empty([2], tf.float32, init=True), inplace.empty([3], tf.string, init=True)]
    like = inplace.empty_like(tf.zeros([2, 2]), init=True)
    return [tensors, like, run(tf, [*tensors, like]), inplace.empty_like(tf.zeros([1])).shape]


def _scripts(tf):
    """`numpy_function` as a call and as a decorator."""
    function = tf.numpy_function
    doubled = function(lambda x: x * 2, [tf.constant([1.0])], tf.float32, name="doubled")
    pure = function(lambda x: x, [1], tf.int32, stateful=False)
    return [
        doubled,
        pure,
        run(tf, [doubled, pure]),
        attempt(
            lambda: function(3, [1], tf.int32),
            lambda: function(lambda: 1, None, tf.int32),
            lambda: function(None, [1], tf.int32),
            lambda: function(lambda x: x, [1]),
            lambda: run(tf, function(Tout=tf.int32)(np.negative)(3)),
            lambda: function(Tout=tf.int32)(np.negative)(3).op.type,
        ),
    ]


BEHAVIOURS = {
    "products": _products,
    "nearly equal": _nearly_equal,
    "generators": _generators,
    "drawn": _drawn,
    "replaced": _replaced,
    "scripts": _scripts,
}
