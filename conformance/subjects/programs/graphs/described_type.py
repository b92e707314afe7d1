"""Programs of dtypes, shapes, device specs and errors as objects: members, copies, comparisons."""

from __future__ import annotations

import copy

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS", "TOPIC"]

#: These programs belong to the topic of the module `value`.
TOPIC = "value"


def _casts_of_narrow_dtypes(tf):
    narrow = [name for name in dir(tf.dtypes.experimental) if not name.startswith("_")]
    names = (
        "float32",
        "int32",
        "uint8",
        "bool",
        "complex64",
        "bfloat16",
        "float64",
        "int64",
        "string",
        *sorted(narrow),
    )
    session, outcomes = tf.Session(), []
    for source in sorted(narrow):
        dtype = tf.as_dtype(source)
        one = np.array([-1 if dtype.min else 1]).astype(dtype.as_numpy_dtype)
        fed = tf.placeholder(dtype, [1])
        back = tf.placeholder(tf.float32, [1])
        for name in names:
            cast = tf.cast(fed, name)
            outcomes.append(
                attempt(lambda m=cast, f=fed, v=one: session.run(m, {f: v}).astype(int))
            )
        outcomes.append(
            attempt(lambda d=dtype, b=back: session.run(tf.cast(b, d), {b: [1.5]}).astype(float))
        )
        outcomes.append(attempt(lambda d=dtype: session.run(tf.identity(tf.constant([1, 0], d)))))
    return sorted(narrow), outcomes


def _more_of_dtypes(tf):
    class Named:
        dtype = "f4"

    narrow = tf.dtypes.experimental
    named = [tf.dtypes.bool, tf.dtypes.qint8, tf.dtypes.double, tf.as_dtype(Named)]
    named += [narrow.int2, narrow.uint4, narrow.float8_e4m3fn, narrow.float4_e2m1fn]
    named += [hasattr(tf, "int4"), hasattr(tf.dtypes, "float8_e5m2")]
    limits = [(d.min, d.max, d.is_integer, d.size) for d in (narrow.uint2, narrow.float4_e2m1fn)]
    same = tf.dtypes.QUANTIZED_DTYPES == tf.QUANTIZED_DTYPES
    return (
        named,
        limits,
        same,
        attempt(
            lambda: tf.int32.is_subtype_of(tf.int32),
            lambda: tf.int32.is_subtype_of(tf.int64),
            lambda: tf.int32.most_specific_common_supertype([tf.int32]),
            lambda: tf.int32.most_specific_common_supertype([tf.int64]),
            lambda: tf.as_dtype(1),
            lambda: tf.as_dtype(True),
            lambda: sorted(d.name for d in tf.QUANTIZED_DTYPES),
        ),
    )


def _more_of_shapes(tf):
    shape, unknown = tf.TensorShape([2, None]), tf.TensorShape(None)
    return (
        [bool(tf.Dimension(n)) for n in (0, 1, None)],
        shape.__reduce__()[1],
        attempt(
            lambda: unknown[::2],
            lambda: unknown[1:3],
            lambda: unknown[-2:],
            lambda: shape[::-1],
            lambda: shape.most_specific_common_supertype([tf.TensorShape([2, 3])]),
            lambda: shape.most_specific_common_supertype([unknown]),
            lambda: tf.TensorShape.experimental_from_proto(shape.experimental_as_proto()),
            lambda: isinstance(shape.as_proto(), tf.TensorShape.experimental_type_proto()),
            lambda: copy.deepcopy(shape),
            lambda: copy.deepcopy(tf.Dimension(3)),
        ),
    )


def _more_of_device_specs(tf):
    spec = tf.DeviceSpec(job="a", task=1, device_type="cpu", device_index=0)
    other = tf.DeviceSpec.from_string("/job:b/replica:3")
    merged, changed = spec.make_merged_spec(other), spec.replace(task=None, device_type="GPU")
    return [merged, changed, spec], attempt(
        lambda: spec.replace(nope=1),
        lambda: tf.DeviceSpec.from_string("/job:j/task:x"),
    )


def _changed_device_specs(tf):
    spec = tf.DeviceSpec(job=3, device_type="cpu")
    before = hash(spec)
    seen = []
    for part, value in (
        ("task", "3"),
        ("replica", 1.5),
        ("job", 5),
        ("device_type", "gpu"),
        ("device_index", "7"),
        ("task", None),
        ("device_type", "Gpu"),
    ):
        setattr(spec, part, value)
        seen.append([getattr(spec, part), spec.to_string()])
    return (
        seen,
        hash(spec) == before,
        attempt(
            lambda: setattr(spec, "task", "x"),
            lambda: spec.merge_from("/cpu:0"),
            lambda: spec.parse_from_string("/task:1/cpu:*").to_string(),
            spec.to_string,
            lambda: spec == spec.to_string(),
        ),
    )


def _errors(tf):
    errors, op = tf.errors, tf.constant(1, name="where").op
    wrong = errors.InvalidArgumentError(op.node_def, op, "bad")
    bare = errors.NotFoundError(None, None, "bare", {"key": "value"})
    again = copy.deepcopy(bare)
    names = ("AbortedError", "InvalidArgumentError", "NotFoundError", "UnknownError")
    return (
        [errors.OpError in getattr(errors, name).__bases__ for name in names],
        [
            str(wrong).splitlines()[:3],
            wrong.message,
            str(bare),
            bare.experimental_payloads,
            again.message,
            again.error_code,
            errors.OpError(None, None, "m", 3).error_code,
            type(errors.exception_type_from_error_code(5)(None, None, "x")).__name__,
        ],
        attempt(
            lambda: errors.NotFoundError("x"),
            lambda: errors.exception_type_from_error_code(0),
            lambda: errors.error_code_from_exception_type(errors.AbortedError),
            lambda: type(errors.error_code_from_exception_type("?")).__name__,
        ),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _casts_of_narrow_dtypes,
        _more_of_dtypes,
        _more_of_shapes,
        _more_of_device_specs,
        _changed_device_specs,
        _errors,
    )
}
