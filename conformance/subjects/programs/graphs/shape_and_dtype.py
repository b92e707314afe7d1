"""Programs of shapes and dtypes: constants, placeholders, conversions, `TensorShape`, `DType`."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS", "TOPIC"]

#: These programs belong to the topic of the module `graph`.
TOPIC = "graph"


def _conversion(tf):
    class Box:
        def __init__(self, value) -> None:
            self.value = value

    tf.register_tensor_conversion_function(
        Box,
        lambda value, dtype=None, name=None, as_ref=False: tf.constant(value.value, name=name),  # noqa: ARG005 - the signature is TensorFlow's
    )
    a = tf.constant(1.0)
    return attempt(
        lambda: tf.convert_to_tensor(Box([1, 2])),
        lambda: Box(1) + a,
        lambda: a + Box(1.0),
        lambda: tf.convert_to_tensor([a, 2.0]),
        lambda: tf.convert_to_tensor([[a], [3.0]]),
        lambda: tf.convert_to_tensor([a, 2], tf.float64),
        lambda: tf.convert_to_tensor(a, tf.int32),
        lambda: tf.convert_to_tensor(None),
        lambda: tf.convert_to_tensor(object()),
        lambda: tf.convert_to_tensor(1, preferred_dtype=tf.float32),
        lambda: tf.convert_to_tensor("a", preferred_dtype=tf.float32),
        lambda: tf.convert_to_tensor([1, "a"]),
        lambda: tf.convert_to_tensor([[1], [2, 3]]),
        lambda: tf.convert_to_tensor(1.5, tf.int32),
        lambda: tf.convert_to_tensor(300, tf.int8),
        lambda: tf.convert_to_tensor(np.float64(2)),
        lambda: tf.convert_to_tensor(2**40),
        lambda: tf.convert_to_tensor(True),
        lambda: tf.convert_to_tensor(1j),
        lambda: tf.convert_to_tensor(tf.TensorShape([2, 3])),
        lambda: tf.convert_to_tensor(tf.TensorShape([2, None])),
        lambda: tf.convert_to_tensor(tf.TensorShape([2])[0]),
        lambda: tf.convert_to_tensor([]),
        lambda: tf.convert_to_tensor(np.zeros([0, 2], np.uint8)),
        lambda: tf.is_tensor(a),
        lambda: tf.is_tensor(1),
        lambda: tf.convert_to_tensor(range(3)),
        lambda: tf.constant(range(3)),
        lambda: tf.convert_to_tensor(range(1, 9, 3), tf.float32),
        lambda: a + range(2),
        lambda: tf.register_tensor_conversion_function(int, lambda: 1),
    )


def _constants(tf):
    return attempt(
        lambda: tf.constant(1),
        lambda: tf.constant([1.5]),
        lambda: tf.constant("a"),
        lambda: tf.constant([b"a", "b"]),
        lambda: tf.constant(2, shape=[2, 2]),
        lambda: tf.constant([1, 2], shape=[3]),
        lambda: tf.constant([1, 2], shape=[4], name="fill"),
        lambda: tf.constant([1, 2, 3], shape=[2]),
        lambda: tf.constant(1, tf.float64),
        lambda: tf.constant([1, 2], shape=[3], verify_shape=True),
        lambda: tf.constant(1.5, "int32"),
        lambda: tf.constant(None),
        lambda: tf.constant(tf.constant(1)),
        lambda: tf.constant(np.array(["x", "yy"])),
        lambda: tf.constant(np.float16(1)),
        lambda: tf.constant([[1, 2], [3]]),
        lambda: tf.constant(1, tf.bfloat16),
        lambda: tf.constant(-1, tf.uint8),
        lambda: tf.constant([1, 2**31]),
        lambda: tf.constant(2**63),
        lambda: tf.constant(1, dtype=tf.string),
        lambda: tf.constant("1", dtype=tf.int32),
        lambda: tf.constant(1.0, tf.bool),
        lambda: run(tf, tf.constant([1, 2], shape=[2, 3])),
        lambda: tf.constant(1, tf.complex64),
        lambda: tf.make_ndarray(tf.make_tensor_proto([1.5, 2.0])),
        lambda: tf.make_tensor_proto([[1, 2]], shape=[1, 2]).tensor_shape,
        lambda: tf.make_tensor_proto([1], verify_shape=True, shape=[2]),
    )


def _placeholders(tf):
    return attempt(
        lambda: tf.placeholder(tf.float32),
        lambda: tf.placeholder("int64", [None, 2]),
        lambda: tf.placeholder(tf.bool, []),
        lambda: tf.placeholder(None),
        lambda: tf.placeholder(np.float32, shape=(2, 3), name="named"),
        lambda: tf.placeholder(tf.float32, [-1, 2]),
        lambda: tf.placeholder(tf.float32, [-2]),
        lambda: tf.placeholder(tf.float32, 3),
        lambda: tf.placeholder(tf.float32, "a"),
        lambda: tf.placeholder("nope"),
        lambda: tf.placeholder_with_default([1.0], [None]),
        lambda: tf.placeholder_with_default([1.0], [2]),
        lambda: tf.placeholder(tf.float32_ref),
        lambda: tf.placeholder(tf.float32, tf.TensorShape([2])),
        lambda: tf.placeholder(),
        lambda: tf.placeholder(tf.float32, [2.5]),
        lambda: tf.placeholder(tf.float32, name="a b"),
    )


def _shapes(tf):
    shape, unknown = tf.TensorShape([None, 3]), tf.TensorShape(None)
    return attempt(
        lambda: shape,
        lambda: unknown,
        lambda: shape[0],
        lambda: shape[1],
        lambda: shape[1:],
        shape.as_list,
        unknown.as_list,
        lambda: shape.ndims,
        lambda: unknown.ndims,
        lambda: len(shape),
        lambda: len(unknown),
        shape.num_elements,
        tf.TensorShape([2, 3]).num_elements,
        shape.is_fully_defined,
        lambda: shape.merge_with([2, None]),
        lambda: shape.merge_with([2, 4]),
        lambda: shape.concatenate([5]),
        lambda: shape.concatenate(unknown),
        lambda: shape.with_rank(2),
        lambda: shape.with_rank(3),
        lambda: unknown.with_rank(2),
        lambda: shape.with_rank_at_least(3),
        lambda: shape.with_rank_at_most(2),
        lambda: shape.is_compatible_with([7, 3]),
        lambda: shape.is_compatible_with([7]),
        lambda: shape == tf.TensorShape([None, 3]),
        lambda: tf.TensorShape([2]) == [2],
        lambda: tf.TensorShape([2]) != [3],
        lambda: shape.assert_has_rank(2),
        lambda: shape.assert_is_compatible_with([1, 2]),
        shape.assert_is_fully_defined,
        lambda: repr(shape),
        lambda: str(unknown),
        lambda: repr(shape[0]),
        lambda: shape[1] + 2,
        lambda: shape[1] // 2,
        lambda: shape[0] * 2,
        lambda: shape[1] - 1,
        lambda: 7 % shape[1],
        lambda: shape[1] < 4,
        lambda: shape[0] < 4,
        lambda: int(shape[1]),
        lambda: shape.as_proto(),
        lambda: unknown.as_proto(),
        lambda: tf.TensorShape(shape.as_proto()),
        shape.dims.__len__,
        lambda: list(shape),
        lambda: list(unknown),
        lambda: tf.TensorShape(5),
        lambda: tf.TensorShape([-2]),
        lambda: tf.TensorShape("ab"),
        lambda: bool(unknown),
        lambda: bool(shape),
        lambda: shape + [1],
        lambda: [1] + tf.TensorShape([2]),
        lambda: tf.dimension_value(shape[1]),
        lambda: tf.Dimension(3).merge_with(4),
        lambda: tf.Dimension(3).is_compatible_with(None),
        lambda: hash(tf.TensorShape([1])) is None,
        lambda: tf.Dimension(-1),
        lambda: tf.Dimension("3"),
        lambda: tf.Dimension(3) == "a",
        lambda: tf.dimension_at_index(shape, 1),
        lambda: shape.rank,
        lambda: shape.most_specific_compatible_shape([4, 3]),
    )


def _dtypes(tf):
    names = ("float32", "bfloat16", "int32", "uint8", "bool", "string", "complex64", "qint8")
    kinds = [tf.as_dtype(name) for name in names]
    facts = [
        [
            str(k),
            repr(k),
            k.size,
            k.is_floating,
            k.is_integer,
            k.is_complex,
            k.is_bool,
            k.is_unsigned,
            k.is_quantized,
            k.is_numpy_compatible,
            k.as_datatype_enum,
            k.real_dtype,
            k.base_dtype,
            k.name,
            str(k.as_numpy_dtype),
        ]
        for k in kinds
    ]
    ref = tf.as_dtype("float32_ref")
    return facts, attempt(
        lambda: tf.float32.min,
        lambda: tf.uint8.max,
        lambda: tf.string.max,
        lambda: tf.bool.max,
        lambda: tf.uint8.limits,
        lambda: tf.as_dtype(np.float64),
        lambda: tf.as_dtype(1),
        lambda: tf.as_dtype("x"),
        lambda: tf.as_dtype(object),
        lambda: tf.as_dtype(float),
        lambda: tf.float32 == "float32",
        lambda: tf.float32 == np.float32,
        lambda: tf.float32 != 1,
        lambda: hash(tf.float32) == hash(tf.as_dtype("float32")),
        lambda: ref,
        lambda: ref.base_dtype,
        lambda: ref.is_compatible_with(tf.float32),
        lambda: tf.float32.is_compatible_with("int32"),
        lambda: tf.bfloat16.max,
        lambda: tf.int64.min,
        lambda: tf.DType(1),
        lambda: tf.float32 is None,
        lambda: tf.as_dtype(np.dtype("S4")),
        lambda: tf.as_dtype(np.str_),
        lambda: tf.qint8.min,
        lambda: ref == tf.float32,
        lambda: tf.half is tf.float16,
        lambda: tf.complex64.limits,
        lambda: int(tf.float32.as_datatype_enum),
        lambda: tf.as_dtype(None),
    )


def _specs(tf):
    spec = tf.DeviceSpec.from_string("/job:ps/replica:1/task:2/device:GPU:3")
    part = tf.DeviceSpec(job="w", device_type="CPU")
    return attempt(
        spec.to_string,
        part.to_string,
        lambda: (spec.job, spec.replica, spec.task),
        lambda: (spec.device_type, spec.device_index),
        lambda: tf.DeviceSpec.from_string("/gpu:1"),
        lambda: tf.DeviceSpec.from_string("bad"),
        lambda: tf.DeviceSpec.from_string("/cpu:0/gpu:0"),
        lambda: part.merge_from(spec),
        part.to_string,
        lambda: spec == spec,
        lambda: tf.DeviceSpec(),
        lambda: tf.DeviceSpec.from_string("/device:CPU:*").to_string(),
        lambda: tf.DeviceSpec(job=1),
    )


def _set_shape(tf):
    x = tf.placeholder(tf.float32)
    x.set_shape([None, 3])
    shapes = [x.shape, x.get_shape()]
    x.set_shape([2, None])
    return (
        shapes,
        x.shape,
        attempt(
            lambda: x.set_shape([3, 3]),
            lambda: x.set_shape([2]),
            lambda: x.shape,
            lambda: tf.reshape(x, [-1]).shape,
        ),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _conversion,
        _constants,
        _placeholders,
        _shapes,
        _dtypes,
        _specs,
        _set_shape,
    )
}
