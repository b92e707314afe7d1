"""Programs about values that import from `python.framework...`: dtypes, constants, shapes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]


def _framework(tf: Any, name: str, package: str = "framework") -> Any:
    """A module of `python.framework` of a namespace, or of another folder of `python`."""
    return module_of(tf, f"{package}.{name}")


def _constants_of_the_second_version(tf: Any) -> Any:
    module = _framework(tf, "constant_op")
    pairs = (
        (3, [2]),
        ([3], [2]),
        ([[3]], [2]),
        ([1, 2], [2, 1]),
        ([1, 2], [3]),
        ([1, 2], [1]),
        ([], [0]),
        ([], [2]),
        (np.array([1.5]), [2, 2]),
        ("a", [1]),
    )
    return [
        attempt(
            lambda v=value, s=sizes: run(tf, module.constant(v, shape=s)),
            lambda v=value, s=sizes: run(tf, module.constant_v1(v, shape=s)),
        )
        for value, sizes in pairs
    ], attempt(
        lambda: module.constant([1, 2], tf.float64, [2], "mine"),
        lambda: module.constant(None),
        lambda: module.constant(1, verify_shape=True),
        lambda: module.constant([1], name=None),
    )


def _dtypes_by_every_name(tf: Any) -> Any:
    module = _framework(tf, "dtypes")
    names = (
        "float32_ref",
        "half",
        "half_ref",
        "double_ref",
        "bool",
        "int2",
        "float4_e2m1fn_ref",
        "resource_ref",
        "qint8_ref",
        "int",
        "nothing",
    )
    values = sorted(dtype.name for dtype in module.TF_VALUE_DTYPES)
    return (
        [getattr(module, name, None) for name in names],
        values,
        attempt(
            lambda: module.QUANTIZED_DTYPES == tf.QUANTIZED_DTYPES,
            lambda: module.as_dtype("int2"),
            lambda: module.as_dtype(module.int2.as_numpy_dtype),
            lambda: module.DType(33),
            lambda: module.DType(0),
        ),
    )


def _values_told(tf: Any) -> Any:
    module, fed = _framework(tf, "tensor_util"), tf.placeholder(tf.int32, [])
    proto = module.make_tensor_proto([[1, 2]])
    shapes = ([1, 2], (1, 2), [2, 1], [2], proto.tensor_shape, tf.TensorShape([1, 2]), 3)
    return attempt(
        lambda: module.constant_value(tf.constant([1])),
        lambda: module.constant_value("hi"),
        lambda: module.constant_value(tf.stack([1, fed]), partial=True).tolist(),
        lambda: module.constant_value_as_shape(tf.stack([1, fed, -1])),
        lambda: module.constant_value_as_shape(fed),
        lambda: module.MakeNdarray(proto),
        lambda: module.is_tf_type(fed),
        lambda: module.is_tf_type(3),
        lambda: module.is_tensor(fed),
        lambda: module.ShapeEquals(3, [2]),
        *(lambda shape=shape: module.ShapeEquals(proto, shape) for shape in shapes),
    )


def _shapes(tf: Any) -> Any:
    common, shapes = _framework(tf, "common_shapes"), _framework(tf, "tensor_shape")
    util, arrays = _framework(tf, "shape_util", "ops"), _framework(tf, "array_ops", "ops")
    known = [tf.TensorShape(sizes) for sizes in (None, [], [1], [3], [None], [2, 3], [2, None])]
    x = tf.placeholder(tf.float32, [2, 3])
    return [
        attempt(
            lambda a=one, b=other: common.is_broadcast_compatible(a, b),
            lambda a=one, b=other: common.broadcast_shape(a, b),
        )
        for one in known
        for other in known
    ], attempt(
        shapes.unknown_shape,
        lambda: shapes.unknown_shape(2),
        lambda: shapes.unknown_shape(ndims=1),
        lambda: shapes.as_shape([1]),
        lambda: shapes.as_dimension(3),
        lambda: util.shape_tensor([tf.Dimension(2), 3]),
        lambda: util.shape_tensor([]),
        lambda: util.shape_tensor(tf.TensorShape([2**33])),
        lambda: util.shape_tensor([1, x]),
        lambda: arrays.rank_internal(x, optimize=False),
        lambda: arrays.rank_internal(x, "r"),
        lambda: arrays.shape_internal(x, optimize=False, out_type=tf.int64),
        lambda: arrays.size_internal(x, optimize=False),
        lambda: arrays.size_internal(x),
    )


def _errors_by_code(tf: Any) -> Any:
    module = _framework(tf, "errors_impl")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = [module._make_specific_exception(None, None, "m", code) for code in (1, 5, 16, 37)]
    return [(type(error).__name__, error.error_code, error.message) for error in made], [
        str(warning.message) for warning in caught
    ]


def _sparse_values(tf: Any) -> Any:
    module, context = _framework(tf, "sparse_tensor"), _framework(tf, "context", "eager")
    with context.graph_mode():
        sparse = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 3.0], [3, 4])
    dense, values = tf.sparse_tensor_to_dense(sparse), tf.identity(sparse.values)
    things = (sparse, tf.SparseTensorValue([[0]], [0], [1]), 3, np.array(3), dense)
    return (
        [module.is_sparse(thing) for thing in things],
        [
            set(sparse.consumers()) == {dense.op, values.op},
            len(sparse.consumers()),
        ],
        attempt(
            lambda: run(tf, sparse.with_values([5, 6])),
            lambda: sparse.with_values([1.0]),
            lambda: sparse.with_values([[1.0, 2.0]]),
            lambda: sparse.with_values(2.0),
            lambda: sparse.with_values(tf.placeholder(tf.string)).indices is sparse.indices,
        ),
    )


def _components_of_specs(tf: Any) -> Any:
    module = _framework(tf, "type_spec")
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 3.0], [3, 4])
    hole, value = tf.sparse_placeholder(tf.float32), tf.SparseTensorValue([[0]], [1], [2])
    parts = [hole.indices, hole.values, hole.dense_shape]
    arrays = [np.array([[0]]), np.array([1]), np.array([3])]
    of, spec = tf.SparseTensorSpec, tf.TensorSpec
    specs = (
        of(),
        of([3, None]),
        of([], tf.string),
        of([2], tf.int32),
        spec([2, None], tf.int32, "n"),
        spec(None),
        spec([]),
    )
    return [
        attempt(
            lambda s=one: repr(s._serialize()),
            lambda s=one: repr(s._component_specs),
            lambda s=one: repr(s._batch(3)),
            lambda s=one: repr(s._batch(None)),
            lambda s=one: repr(s._unbatch()),
            lambda s=one: s._to_components(sparse),
            lambda s=one: s._to_components(value),
            lambda s=one: s._from_components(arrays),
            lambda s=one: s._to_components(hole.values),
            lambda s=one: isinstance(s, module.BatchableTypeSpec),
        )
        for one in specs
    ], attempt(
        *(lambda s=one: s._from_components(parts).shape for one in specs[:4]),
        lambda: repr(tf.IndexedSlicesSpec([2, 3])._serialize()),
        lambda: isinstance(tf.IndexedSlicesSpec(), module.BatchableTypeSpec),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _constants_of_the_second_version,
        _dtypes_by_every_name,
        _values_told,
        _shapes,
        _errors_by_code,
        _sparse_values,
        _components_of_specs,
    )
}
