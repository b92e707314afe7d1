"""Programs of quotients, products with other dtypes, signs, counts, functions of sparse values."""

from __future__ import annotations

import importlib

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.graphs_and_values import fed, shown

__all__ = ["BEHAVIOURS"]

_BYTES = np.arange(1, 7, dtype="int8").reshape(2, 3)
_Z = np.array([3.0 + 4.0j, 0.0, -2.0j], "complex64")


def _python(tf, module: str):
    root = "sessrun.reference" if tf.__name__.startswith("sessrun") else "tensorflow"
    return importlib.import_module(f"{root}.python.{module}")


def _quotients(tf):
    return shown(
        tf,
        lambda tf: tf.divide(5, 2),
        lambda tf: tf.divide(5, tf.constant(2.0)),
        lambda tf: tf.divide(tf.constant([6, 3]), 4),
        lambda tf: tf.divide(5, 2, name="mine"),
        lambda tf: tf.divide(5, tf.constant(2.0), name="mine"),
        lambda tf: tf.math.divide_no_nan(fed(tf, np.int32([1, 2])), [0, 4]),
        lambda tf: tf.math.divide_no_nan(2, fed(tf, np.int16([0, 4]))),
        lambda tf: tf.math.divide_no_nan([1.0], tf.constant([1], tf.int64)),
        lambda tf: tf.math.divide_no_nan(_Z, _Z, name="mine"),
    )


def _mixed_products(tf):
    return shown(
        tf,
        lambda tf: tf.matmul(_BYTES, _BYTES.T, output_type=tf.int32),
        lambda tf: tf.matmul(_BYTES, _BYTES, transpose_a=True, output_type=tf.int32, name="mine"),
        lambda tf: tf.matmul(
            [_BYTES], _BYTES.astype("uint8"), adjoint_b=True, output_type=tf.int32
        ),
        lambda tf: tf.matmul(tf.cast([_BYTES], tf.bfloat16), [_BYTES.T], output_type=tf.bfloat16),
        lambda tf: tf.matmul(np.ones((2, 2), "f"), np.ones((2, 2), "f"), output_type=tf.float32),
        lambda tf: tf.matmul(_BYTES, _BYTES.T, output_type=tf.float32),
        lambda tf: tf.matmul(_BYTES, _BYTES.T),
    )


def _signs(tf):
    z = tf.constant(_Z)
    with tf.GradientTape() as tape:
        tape.watch(z)
        signs = tf.sign(z)
    return (
        np.round(run(tf, [tape.gradient(signs, z)])[0], 4).tolist(),
        shown(
            tf,
            lambda tf: tf.sign(_Z),
            lambda tf: tf.sign([2, -3], name="mine"),
            lambda tf: tf.sign(tf.constant([0j, 3 + 4j], tf.complex64)),
            lambda tf: tf.math.real([2, -3]),
            lambda tf: tf.math.real(["a"]),
        ),
    )


def _sums_and_counts(tf):
    shape = _python(tf, "ops.math_ops").reduced_shape
    return shown(
        tf,
        lambda tf: tf.add_n(x for x in (1, 2)),
        lambda tf: tf.add_n({"a": 1, "b": 3}.values()),
        lambda tf: tf.add_n([]),
        lambda tf: tf.add_n(3),
        lambda tf: tf.math.count_nonzero([[True, False], [True, True]], axis=0),
        lambda tf: tf.math.count_nonzero(fed(tf, [b"", b"a"]), dtype=tf.int32),
        lambda tf: tf.constant(shape([4, 5], [-1])),
        lambda tf: shape(fed(tf, np.int32([4, 5])), [-1, 0]),
    )


def _sparse_values(tf):
    names = (
        "abs",
        "negative",
        "sign",
        "math.square",
        "sqrt",
        "tanh",
        "erf",
        "nn.tanh",
        "math.bessel_i0e",
        "exp",
        "floor",
        "math.reciprocal",
    )

    def changed(tf, name: str, **options):
        sparse = tf.SparseTensor([[0, 1], [1, 0]], [2.25, 4.0], [2, 2])
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        result = function(sparse, **options)
        return [result.indices, result.values, result.dense_shape]

    return shown(
        tf,
        *(lambda tf, name=name: changed(tf, name) for name in names),
        lambda tf: changed(tf, "abs", name="mine"),
    )


def _several_at_once(tf):
    ops = _python(tf, "framework.ops")
    rows = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    tensors = ops.convert_n_to_tensor([1, 2.5], name="n")
    mixed = ops.convert_n_to_tensor_or_composite([None, rows, [3]], name="m")
    return (
        [(tensor.name, tensor.dtype.name) for tensor in tensors],
        [mixed[0], mixed[1] is rows, mixed[2].name],
        attempt(
            lambda: ops.convert_n_to_tensor(3),
            lambda: ops.convert_to_tensor_or_composite(rows, tf.int32),
            lambda: ops.convert_to_tensor_or_composite(rows, tf.float32) is rows,
        ),
    )


def _bins(tf):
    bins = tf.histogram_fixed_width_bins
    return shown(
        tf,
        lambda _: bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5),
        lambda tf: bins(fed(tf, np.float64([[0.5], [7.0]])), [0.0, 4.0], nbins=2, name="mine"),
        lambda _: bins([1.0], [0.0, 1.0], 0),
        lambda _: bins([1], [0, 2], 4),
        lambda tf: tf.histogram_fixed_width([1.0], [0.0, 1.0, 2.0]),
    )


def _checked_numbers(tf):
    x = tf.placeholder_with_default([1.0, 0.0], [2])
    with tf.name_scope("scope"):
        quotient = 1.0 / x
    _ = tf.cast(quotient, tf.int32)
    check = tf.add_check_numerics_ops()
    nodes = [(node.name, node.op, list(node.input)) for node in check.graph.as_graph_def().node]
    outcomes = attempt(lambda: run(tf, [check]), lambda: tf.Session().run(check, {x: [1.0, 2.0]}))
    with tf.Graph().as_default():
        tf.cond(tf.placeholder(tf.bool, []), lambda: 1.0, lambda: 2.0)
        return nodes, outcomes, attempt(tf.add_check_numerics_ops)


BEHAVIOURS = {
    "bins": _bins,
    "checked-numbers": _checked_numbers,
    "quotients": _quotients,
    "mixed-products": _mixed_products,
    "signs": _signs,
    "sums-and-counts": _sums_and_counts,
    "sparse-values": _sparse_values,
    "several-at-once": _several_at_once,
}
