"""Programs of constants, TensorProtos, static values, and static shapes from vectors."""

from __future__ import annotations

import fractions

import ml_dtypes
import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


class _Array:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.5, 2.5])


class _Interface:
    __array_interface__ = np.array([1, 2]).__array_interface__


#: A value of every type that `tf.constant` may be called with.
THINGS = {
    "int": 1,
    "large": 2**40,
    "huge": 2**70,
    "float": 1.5,
    "complex": 1j,
    "bool": True,
    "text": "a",
    "bytes": b"a\0",
    "ints": [1, 2],
    "mixed": [1, 2.5],
    "bools": [True, False],
    "texts": ["a", b"b"],
    "odd": ["a", 1],
    "uneven": [[1], [2, 3]],
    "empty": [],
    "none": None,
    "holes": [1, None],
    "range": range(3),
    "set": {1},
    "array": _Array(),
    "interface": _Interface(),
    "buffer": bytearray(b"x"),
    "view": memoryview(b"xy"),
    "fraction": fractions.Fraction(1, 2),
    "float32": np.float32(1.5),
    "int8": np.int8(3),
    "bool_": np.bool_(True),
    "str_": np.str_("q"),
    "numpy list": [np.float64(1.5)],
    "numpy bools": [np.bool_(True)],
    "nested": [1.0, np.array(2.0)],
    "arrays": [np.array([1, 2]), np.array([3, 4])],
    "objects": np.array([1, "a"], object),
    "numbers": np.array([1, 2], object),
    "fixed": np.array([b"ab", b"c"]),
    "swapped": np.array([1], ">i4"),
    "half": np.array([1], np.float16),
    "bfloat16": np.array([1], ml_dtypes.bfloat16),
    "dates": np.array(["2020-01-01"], "M8[D]"),
    "long": np.array([1.0], np.longdouble),
    "tuple": (21,),
    "tuples": [(21,), (22,)],
    "pair": (1, 2),
    "unsigned": 2**63,
}
#: Values that TensorFlow reads as other bytes, or refuses with an unspecific class.
_SKIPPED = {("range", name) for name in ("float32", "int32", "uint8", "complex64")} | {
    ("swapped", None)
}
DTYPES = (None, "float32", "int32", "uint8", "bool", "string", "complex64", "qint8")


def _constants_of_things(tf):
    pairs = [(name, thing, dtype) for name, thing in THINGS.items() for dtype in DTYPES]
    return [
        [f"{name} {dtype}", *attempt(lambda t=thing, d=dtype: _facts_of(tf, tf.constant(t, d)))]
        for name, thing, dtype in pairs
        if (name, dtype) not in _SKIPPED
    ]


def _facts_of(tf, tensor):
    return tensor.dtype, tensor.shape, repr(np.asarray(tf.get_static_value(tensor)).tolist())


def _protos(tf):
    def proto(*args, **options) -> str:
        return " ".join(str(tf.make_tensor_proto(*args, **options)).split())

    names = (
        "float32",
        "float16",
        "bfloat16",
        "int8",
        "uint16",
        "int64",
        "uint64",
        "bool",
        "complex64",
        "float8_e5m2",
        "float4_e2m1fn",
        "int4",
        "uint2",
        "string",
        "qint8",
        "quint16",
    )
    outcomes = []
    for name in names:
        dtype = tf.as_dtype(name)
        one = {"string": "x", "bool": True}.get(name, (3,) if dtype.is_quantized else 1)
        for value, options in (
            (one, {}),
            ([one], {}),
            ([one, one], {}),
            ([], {}),
            (one, {"shape": [2, 2]}),
            ([one, one], {"shape": [2, 2]}),
            ([one], {"shape": []}),
        ):
            outcomes.append(attempt(lambda v=value, d=dtype, o=options: proto(v, d, **o)))
        back = tf.make_ndarray(tf.make_tensor_proto([one, one], dtype, shape=[3]))
        outcomes.append((str(back.dtype), back.tolist().__repr__(), back.flags.writeable))
    return outcomes, attempt(
        lambda: proto([1, 2], shape=tf.TensorShape([2])),
        lambda: proto(1, shape=[0]),
        lambda: proto([1], shape=[tf.Dimension(3)]),
        lambda: proto([1, 2, 3], shape=[2]),
        lambda: proto([1, 2], shape=[3], verify_shape=True),
        lambda: proto(1, shape=[-1]),
        lambda: proto([10, tf.Dimension(20)], tf.int32),
        lambda: proto([tf.Dimension(1)]),
    )


def _constants_of_protos(tf):
    message = type(tf.make_tensor_proto(1))
    shape = tf.TensorShape([2]).as_proto()
    short = message(dtype=1, tensor_shape=shape, float_val=[2.5])
    pairs = (
        (3, [2]),
        ([3], [2]),
        ([[3]], [2]),
        ([1, 2], [2, 1]),
        ([1, 2], [3]),
        ([1, 2], [1]),
        ([], [0]),
        ([], [2]),
    )
    return attempt(
        lambda: tf.constant(short, name="mine").op.node_def,
        lambda: tf.constant(short, tf.int32),
        lambda: tf.constant(short, shape=[3]),
        lambda: tf.convert_to_tensor(short),
        lambda: tf.get_static_value(tf.constant(short) + 1),
        lambda: tf.constant([short]),
        lambda: tf.Session().run(tf.constant(short) * 2),
        lambda: tf.add(short, 1.0),
        lambda: tf.constant(message(dtype=21)),
        lambda: tf.constant(message(dtype=1)),
        lambda: tf.constant(message()),
        lambda: tf.constant(message(dtype=101)),
        lambda: tf.make_tensor_proto(short, tf.int32) is short,
        lambda: tf.make_tensor_proto(1, shape=[1], verify_shape=True, allow_broadcast=True),
    ), attempt(
        *(
            lambda v=value, s=sizes: tf.make_tensor_proto(v, shape=s, allow_broadcast=True)
            for value, sizes in pairs
        ),
    )


def _negative_sizes(tf):
    one = tf.placeholder(tf.int32, [])
    return [
        attempt(
            lambda s=sizes: tf.fill(s, 7),
            lambda s=sizes: tf.zeros(s),
            lambda s=sizes: tf.ones(tf.constant(s)),
        )
        for sizes in ([-1], [2, -1], [-2], [2, -3], -1, -3, [], 0)
    ], attempt(
        lambda: tf.fill(tf.stack([one, -1]), 2),
        lambda: tf.fill(tf.stack([one, -2]), 2),
        lambda: tf.fill(tf.constant([2], tf.int64) - 3, 2),
        lambda: tf.Session().run(tf.fill(tf.stack([one, 2]), 2), {one: -1}),
    )


def _known_without_a_run(tf):
    fed = tf.placeholder(tf.int32, [])
    part = tf.placeholder(tf.int32, [2, None])
    tensors = (
        tf.constant(["a"]),
        tf.shape(part),
        tf.shape(tf.ones([2, 3]), out_type=tf.int64),
        tf.size(tf.ones([2, 3])),
        tf.rank(part),
        tf.range(1, 9, 2),
        tf.range(fed),
        tf.cast(tf.constant([1, 2]), tf.float64),
        tf.concat([[1], [2]], 0),
        tf.stack([1, fed]),
        tf.concat([[1], [fed]], 0),
        tf.stack([[1], [2]], axis=1),
        tf.unstack([1, 2])[1],
        tf.split(tf.constant([1, 2]), 2)[1],
        tf.fill([2], 3),
        tf.fill([fed], 3),
        fed,
        tf.equal([1, 2], 1),
        tf.not_equal([1, 2], 1),
        tf.identity(1),
        tf.stop_gradient(1.5),
        tf.add(1, 2),
        tf.less(1, 2),
        tf.reshape([1, 2], [2, 1]),
        tf.placeholder_with_default(1, []),
    )
    complete = [(tf.get_static_value(tensor), fed.graph.is_feedable(tensor)) for tensor in tensors]
    parts = [repr(tf.get_static_value(tensor, partial=True)) for tensor in tensors]
    rest = ["hi", 3, None, fed.op, tf.Variable(1), tf.SparseTensor([[0]], [1], [2]), tf.float32]
    return complete, parts, [tf.get_static_value(item) for item in rest]


def _shapes_from_vectors(tf):
    fed, some = tf.placeholder(tf.int64, [2]), tf.placeholder(tf.int64, [None])
    five = tf.constant([1, 2, 3, 4, 5], tf.int64)
    joined = tf.concat([[7], fed, [9, -1]], 0)
    scalar = tf.placeholder(tf.int64, [])
    vectors = (
        [3, -1],
        fed,
        some,
        joined,
        joined[1:],
        joined[::-2],
        joined[:-3:1],
        joined[-2:1:-1],
        five[...],
        five[1:3],
        five * 1,
        five[scalar:],
        tf.stack([2, scalar]),
        tf.stack([-1, 2]),
        tf.shape(tf.zeros([2, 3]), out_type=tf.int64),
        tf.cast([4, -1], tf.int64),
        tf.cast(tf.constant([300, 2]), tf.uint8),
        tf.identity(five),
        tf.fill([2], tf.cast(4, tf.int64)),
        tf.concat([[1], some], 0),
        tf.reshape(five, [5]),
        tf.zeros([0], tf.int64),
        tf.range(five[4]),
    )
    rows = tf.zeros([1, 2])
    return (
        [
            attempt(
                lambda d=vector: tf.SparseTensor(
                    tf.placeholder(tf.int64, [None, None]),
                    tf.placeholder(tf.float32, [None]),
                    tf.cast(d, tf.int64),
                ).shape.as_list(),
                lambda d=vector: tf.IndexedSlices(rows, [0], tf.convert_to_tensor(d)).shape,
            )
            for vector in vectors
        ],
        attempt(
            lambda: tf.IndexedSlices(rows, [0], tf.constant(-1)).shape,
            lambda: tf.IndexedSlices(rows, [0], tf.constant(2)).shape,
            lambda: tf.IndexedSlices(rows, [0], scalar).shape,
            lambda: tf.IndexedSlices(rows, [0], tf.constant([[1]])).shape,
        ),
        [fed.graph.is_feedable(tensor) for tensor in (five, joined, fed)],
    )


def _stacked_along_another_axis(tf):
    pair, single = np.ones(2), tf.placeholder(tf.float32, [2])
    outcomes = attempt(
        lambda: tf.stack([pair, single], axis=1),
        lambda: tf.stack([single, pair], axis=1),
        lambda: tf.stack([pair, np.ones(2, np.int32)], axis=1),
        lambda: tf.stack([pair], 2),
        lambda: tf.stack([[1, 2], [3, 4]], axis=-1),
        lambda: tf.stack([], axis=1),
        lambda: tf.stack([pair, tf.placeholder(tf.int32)], axis=1, name="named"),
    )
    return outcomes, [(op.name, op.type) for op in tf.get_default_graph().get_operations()]


def _indices_of_many_kinds(tf):
    wide, plain = tf.placeholder(tf.int64, []), tf.placeholder(tf.int32, [])
    narrow, odd = tf.placeholder(tf.int16, []), tf.placeholder(tf.uint8, [])
    x, size = tf.placeholder(tf.float32, [5, None, None]), tf.Dimension
    outcomes = attempt(
        lambda: x[wide:],
        lambda: x[:plain],
        lambda: x[wide],
        lambda: x[plain:wide],
        lambda: x[1:2:wide],
        lambda: x[..., narrow],
        lambda: x[narrow::2],
        lambda: x[:narrow],
        lambda: x[narrow, wide],
        lambda: x[np.int64(1) : plain],
        lambda: x[np.int16(1)],
        lambda: x[odd],
        lambda: x[np.uint8(3)],
        lambda: x[np.bool_(True)],
        lambda: x[()],
        lambda: x[True:],
        lambda: x[np.array(1)],
        lambda: x[np.array([1])],
        lambda: x[size(2) :],
        lambda: x[size(None) : size(3)],
        lambda: x[2**33 :],
        lambda: x["a":],
        lambda: x[[1]],
        lambda: x[wide, None, 1],
        lambda: x[tf.constant(True)],
        lambda: x[tf.placeholder("bool")],
    )
    return outcomes, [(op.name, op.type) for op in x.graph.get_operations()]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _constants_of_things,
        _constants_of_protos,
        _negative_sizes,
        _protos,
        _stacked_along_another_axis,
        _indices_of_many_kinds,
    )
} | {
    "told_without_a_run": _known_without_a_run,
    "shapes_told_by_vectors": _shapes_from_vectors,
}
