"""Programs of `tf.TensorSpec` and similar classes, of equal float dtypes, and of broadcasting."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

# ruff: noqa: B023 - functions that a loop defines are called in the same iteration

__all__ = ["BEHAVIOURS"]


def _shown(spec):
    return repr(spec) if hasattr(spec, "value_type") else spec


def _tensor_specs(tf):
    spec, x = tf.TensorSpec, tf.placeholder(tf.float32, [None, 3], name="x")
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    outcomes = attempt(
        lambda: repr(spec([None, 3])),
        lambda: str(spec([2], tf.int32, "a")),
        lambda: repr(spec(None)),
        lambda: spec([1], "float64", 3).name,
        lambda: spec([2]).shape,
        lambda: spec([2]).dtype,
        lambda: spec("a"),
        lambda: spec([2], "nope"),
        lambda: spec([2], None),
        lambda: repr(spec(tf.TensorShape([2]), np.int8)),
        lambda: repr(spec.from_tensor(x)),
        lambda: repr(spec.from_tensor(x, "n")),
        lambda: spec.from_tensor(3),
        lambda: spec.from_tensor(tf.Variable(1)),
        lambda: repr(spec.from_spec(spec([2], name="q"))),
        lambda: repr(spec.from_spec(spec([2]), "z")),
        lambda: spec.from_spec(tf.SparseTensorSpec([2])),
        lambda: spec([2]).value_type is tf.Tensor,
        tf.TypeSpec,
        lambda: isinstance(spec([1]), tf.TypeSpec),
    )
    specs = [
        spec([1]),
        spec([1], name="a"),
        spec([None]),
        spec(None),
        spec([1], tf.int32),
        tf.SparseTensorSpec([1]),
        3,
    ]
    return (
        outcomes,
        [
            [
                _shown(part)
                for part in attempt(
                    lambda: one == other,
                    lambda: one != other,
                    lambda: hash(one) == hash(other),
                    lambda: one.is_compatible_with(other),
                    lambda: one.is_subtype_of(other),
                    lambda: repr(one.most_specific_compatible_type(other)),
                    lambda: repr(one.most_specific_common_supertype([other])),
                )
            ]
            for one in specs[:-1]
            for other in specs[:-1]
        ],
        attempt(
            *(
                lambda value=value, one=one: one.is_compatible_with(value)
                for value in (
                    x,
                    np.ones([1], np.float32),
                    [1.0],
                    3,
                    None,
                    sparse,
                    tf.TensorShape([1]),
                    tf.constant([1.0]),
                )
                for one in specs[:-1]
            )
        ),
    )


def _specs_of_several(tf):
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    value = tf.SparseTensorValue(np.array([[0]]), np.array([1.0]), np.array([2]))
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1]))
    spec, rows = tf.SparseTensorSpec, tf.IndexedSlicesSpec
    return attempt(
        lambda: repr(spec([None, 3])),
        lambda: repr(spec()),
        lambda: spec([2]).shape,
        lambda: spec([2]).dtype,
        lambda: spec([2]) == spec([2]),
        lambda: spec([2]) == spec([3]),
        lambda: repr(spec.from_value(sparse)),
        lambda: repr(spec.from_value(value)),
        lambda: spec.from_value(3),
        lambda: spec([2]).is_compatible_with(sparse),
        lambda: spec([3]).is_compatible_with(sparse),
        lambda: spec([2]).is_compatible_with(value),
        lambda: spec([2], tf.int32).is_compatible_with(sparse),
        lambda: spec([2]).is_compatible_with(spec([None])),
        lambda: spec([2]).is_compatible_with(3),
        lambda: repr(spec([2]).most_specific_compatible_type(spec([3]))),
        lambda: spec([2]).most_specific_compatible_type(spec([2], tf.int32)),
        lambda: hash(spec([2])) == hash(spec([2])),
        lambda: spec().value_type is tf.SparseTensor,
        lambda: repr(rows([2])),
        lambda: rows() == rows(),
        lambda: rows() == rows([2]),
        lambda: repr(rows([2], tf.int32, tf.int32, tf.int32, [3])),
        lambda: rows().value_type is tf.IndexedSlices,
        lambda: rows().is_compatible_with(slices),
        lambda: tf.type_spec_from_value(slices).is_compatible_with(slices),
    )


def _specs_of_values(tf):
    values = (
        tf.placeholder(tf.int32, [None]),
        tf.SparseTensor([[0]], [1.0], [2]),
        tf.Variable([1.0]),
        tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0])),
        np.ones([2]),
        3,
        [1, 2],
        "a",
        [[1.5]],
        [],
        object(),
        {"a": 1},
        1j,
        True,
        b"b",
        [1, [2]],
        tf.SparseTensorValue(np.array([[0]]), np.array([1.0]), np.array([2])),
        (1, 2),
        {1},
    )
    return attempt(*(lambda value=value: repr(tf.type_spec_from_value(value)) for value in values))


def _float_dtypes(tf):
    x, wide = tf.placeholder(tf.float32, [2]), tf.constant(1.0, tf.float64)
    same, integer = tf.debugging.assert_same_float_dtype, tf.constant(1)
    return attempt(
        lambda: same is tf.assert_same_float_dtype,
        same,
        lambda: same([x]),
        lambda: same([x, None], tf.float32),
        lambda: same([x], tf.float64),
        lambda: same([integer]),
        lambda: same(dtype=tf.int32),
        lambda: same([x, wide]),
        lambda: same(dtype=tf.float64),
        lambda: same([tf.SparseTensor([[0]], [1.0], [2]), x]),
        lambda: same([3.0]),
        lambda: same([]),
        lambda: same([None]),
        lambda: same([tf.Variable(1.0), x]),
        lambda: same([tf.zeros([], tf.bfloat16)]),
        lambda: same([wide, wide]),
    )


def _static_broadcasting(tf):
    shapes = [
        tf.TensorShape(sizes)
        for sizes in (None, [], [1], [2], [None], [2, 1], [None, 3], [1, None], [2, 3], [3, 2])
    ]
    return [
        attempt(lambda: tf.broadcast_static_shape(one, other)) for one in shapes for other in shapes
    ]


def _enumerations(tf):
    method, missing = tf.AggregationMethod, tf.UnconnectedGradients
    return attempt(
        lambda: {name: getattr(method, name) for name in dir(method) if name[0] != "_"},
        lambda: repr(list(missing)),
        lambda: missing("zero").name,
        lambda: missing.NONE.value,
        lambda: missing("nope"),
    )


def _finite(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    check, older = tf.debugging.assert_all_finite, tf.verify_tensor_all_finite
    outcomes = attempt(
        lambda: older(x, "all of it"),
        lambda: check(x, "m", name="n"),
        lambda: check(x=x, message="m"),
        lambda: check(x=x),
        lambda: check(tf.constant(1), "m"),
        lambda: check([1.0, 2.0], "m"),
        lambda: check(x, "m", x=x),
        lambda: check(),
    )
    nodes = [
        [n.name, n.op, *n.input, str(n.attr["_class"])]
        for n in tf.get_default_graph().as_graph_def().node
    ]
    checked = older(x, "all of it")
    return (
        outcomes,
        nodes,
        [
            attempt(lambda: tf.Session().run(checked, {x: value}))
            for value in ([1, 2], [1, np.inf], [np.nan, 1])
        ],
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _tensor_specs,
        _specs_of_several,
        _specs_of_values,
        _float_dtypes,
        _static_broadcasting,
        _enumerations,
        _finite,
    )
}
