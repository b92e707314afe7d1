"""Programs that use members of operations, tensors, dtypes, shapes and dimensions."""

from __future__ import annotations

import copy

from sessrun.conformance.subjects.programs.described import caught, run

__all__ = ["BEHAVIOURS"]


def _operations(tf):
    a = tf.constant([1.0, 2.0], name="a")
    with tf.control_dependencies([tf.no_op(name="first")]):
        parts = tf.split(a, 2, name="parts")
    total = tf.add(parts[0], parts[1], name="total")
    with tf.control_dependencies([total]):
        tf.no_op(name="last")
    op = parts[0].op
    return [
        op.values(),
        [consumer.name for consumer in a.consumers()],
        [tensor.name for tensor in op.outputs],
        [waiting.name for waiting in op.control_inputs],
        op.get_attr("num_split"),
        caught(lambda: op.get_attr("no such attribute")),
        op.colocation_groups(),
        total.op.node_def.input,
        [tf.is_tensor(total), total.value_index, total.op is parts[0].consumers()[0]],
    ]


def _tensors(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    again = x.ref()
    return [
        [again.deref() is x, again == x.ref(), hash(again) == hash(x.ref()), again != x.ref()],
        x.get_shape().as_list(),
        caught(lambda: x.set_shape([2, 4])),
        caught(lambda: len(x)),
        caught(lambda: list(x)),
        caught(lambda: bool(x)),
        caught(lambda: copy.copy(x).name),
        {x.ref(): 1}[x.ref()],
        x.shape[1:].as_list(),
        caught(lambda: x.shape[0] + 1),
    ]


def _operators(tf):
    x = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], [2, 2])
    b = tf.placeholder_with_default([True, False], [2])
    i = tf.placeholder_with_default([7, -7], [2])
    calls = [
        lambda: [[1.0, 2.0]] @ x,
        lambda: x @ [[1.0], [2.0]],
        lambda: True & b,
        lambda: [True, True] | b,
        lambda: True ^ b,
        lambda: ~b,
        lambda: 2**x,
        lambda: 3 // i,
        lambda: 3 % i,
        lambda: 3.0 / x,
        lambda: 3 - i,
        lambda: -i,
        lambda: abs(i),
        lambda: i > 0,
        lambda: i <= [7, 8],
        lambda: i / 2,
        lambda: i // 2,
        lambda: i % 4,
        lambda: x[0, ::-1],
        lambda: x[..., 1],
        lambda: x[b],
        lambda: i & 3,
        lambda: i | 8,
        lambda: i ^ 1,
        lambda: i + 1.5,
        lambda: x + "a",
        lambda: x and b,
        lambda: i << 1,
    ]
    return [caught(lambda make=make: run(tf, make())) for make in calls]


def _equality(tf):
    """`==` of tensors is identity until `enable_tensor_equality` makes it element-wise."""
    x, y = tf.constant([1, 2]), tf.constant([1, 3])
    before = [x == y, x != y, x == x, hash(x) == hash(x)]
    tf.enable_tensor_equality()
    try:
        values = [x == y, x != y]
        odd = [caught(lambda: hash(x) == hash(y)), caught(lambda: x == [1, 2]), x == None]  # noqa: E711
    finally:
        tf.disable_tensor_equality()
    return [before, values, odd, x == y]


def _dimensions(tf):
    three, unknown = tf.Dimension(3), tf.Dimension(None)
    calls = [
        lambda: three + 2,
        lambda: 2 + three,
        lambda: three + unknown,
        lambda: 5 - three,
        lambda: three - 1,
        lambda: 2 * three,
        lambda: three * unknown,
        lambda: three // 2,
        lambda: 7 // three,
        lambda: three % 2,
        lambda: 7 % three,
        lambda: three > 2,
        lambda: three >= unknown,
        lambda: three < 2,
        lambda: unknown <= 3,
        lambda: three == 3,
        lambda: three == unknown,
        lambda: three != 3,
        lambda: int(three),
        lambda: three / 2,
        lambda: 6 / three,
        lambda: three.merge_with(3),
        lambda: three.merge_with(4),
        lambda: unknown.merge_with(three),
        lambda: three.is_compatible_with(unknown),
        lambda: three.assert_is_compatible_with(4),
        lambda: tf.Dimension(-1),
        lambda: tf.Dimension("a"),
        lambda: tf.Dimension(2.5),
        lambda: [0, 1, 2, 3][three],
    ]
    return [caught(make) for make in calls]


def _shapes(tf):
    known, part, unknown = tf.TensorShape([2, 3]), tf.TensorShape([None, 3]), tf.TensorShape(None)
    calls = [
        lambda: known.merge_with(part),
        lambda: part.merge_with([4, 3]),
        lambda: known.merge_with([2]),
        lambda: unknown.merge_with(known),
        lambda: known.concatenate([4]),
        lambda: known.concatenate(unknown),
        lambda: part.most_specific_compatible_shape(known),
        lambda: known.most_specific_compatible_shape([5, 3]),
        lambda: known.with_rank(2),
        lambda: known.with_rank(3),
        lambda: known.with_rank_at_least(1),
        lambda: known.with_rank_at_most(1),
        lambda: unknown.with_rank(2),
        lambda: known.ndims,
        lambda: unknown.ndims,
        lambda: known.num_elements(),
        lambda: part.num_elements(),
        lambda: part.is_fully_defined(),
        lambda: part.as_list(),
        lambda: unknown.as_list(),
        lambda: known.assert_same_rank([1, 1]),
        lambda: known.assert_same_rank([1]),
        lambda: known.assert_has_rank(2),
        lambda: part.assert_is_fully_defined(),
        lambda: known.assert_is_compatible_with([2, None]),
        lambda: known.assert_is_compatible_with([3]),
        lambda: known[0],
        lambda: known[5],
        lambda: known[-1],
        lambda: unknown[1],
        lambda: unknown[1:],
        lambda: unknown[:2],
        lambda: known + [4],
        lambda: [4] + known,
        lambda: list(part),
        lambda: list(unknown),
        lambda: len(known),
        lambda: len(unknown),
        lambda: bool(unknown),
        lambda: known == [2, 3],
        lambda: unknown == known,
        lambda: unknown != known,
        lambda: part == part,
        lambda: known.as_proto(),
        lambda: unknown.as_proto(),
        lambda: str(part),
        lambda: str(unknown),
        lambda: tf.TensorShape([-1]),
        lambda: tf.TensorShape(["a"]),
        lambda: tf.TensorShape(3),
        lambda: tf.TensorShape(known),
        lambda: tf.TensorShape(part.as_proto()),
        lambda: known.is_compatible_with(unknown),
        lambda: known.rank,
        lambda: hash(known) is None,
    ]
    return [caught(make) for make in calls]


def _dtypes(tf):
    names = (
        "float32",
        "bfloat16",
        "int8",
        "uint64",
        "bool",
        "string",
        "complex64",
        "qint8",
        "resource",
        "variant",
        "half",
    )
    kinds = [tf.as_dtype(name) for name in names]
    facts = [
        [
            kind.name,
            kind.size,
            kind.is_floating,
            kind.is_integer,
            kind.is_complex,
            kind.is_unsigned,
            kind.is_bool,
            kind.is_quantized,
            kind.is_numpy_compatible,
            kind.as_datatype_enum,
            kind.real_dtype.name if not kind.is_quantized else None,
            kind.base_dtype.name,
        ]
        for kind in kinds
    ]
    ranges = [caught(lambda kind=kind: [kind.min, kind.max, kind.limits]) for kind in kinds[:5]]
    return [
        facts,
        ranges,
        [
            caught(lambda given=given: tf.as_dtype(given).name)
            for given in (
                int,
                float,
                bool,
                str,
                "float",
                "double",
                1,
                101,
                "no such dtype",
                None,
                3.5,
                [1],
            )
        ],
        [tf.float32 == "float32", tf.float32 == 1, tf.float32 != tf.int32, tf.float32 == "nothing"],
        [tf.float32.is_compatible_with(tf.float32), tf.int32.is_compatible_with("float32")],
        [int(tf.int32), hash(tf.int32) == hash(tf.int32), str(tf.int32)],
    ]


def _older_names(tf):
    """`op_scope` and `variable_op_scope`, the scopes of the first releases."""
    x = tf.constant(1.0, name="x")
    with tf.op_scope([x], "given", "default") as scope:
        inner = tf.constant(2.0, name="y")
    with tf.op_scope([x], None, "default") as other:
        tf.no_op(name="z")
    with tf.variable_op_scope([x], None, "default"):
        v = tf.get_variable("v", [])
    with tf.name_scope("n", values=[x]) as named:
        pass
    return [
        scope,
        inner.name,
        other,
        v.name,
        named,
        caught(lambda: tf.op_scope([x], None, None).__enter__()),
        caught(lambda: tf.name_scope(3).__enter__()),
        tf.get_default_graph().unique_name("n"),
    ]


BEHAVIOURS = {
    "operations": _operations,
    "tensors": _tensors,
    "operators": _operators,
    "equality": _equality,
    "dimensions": _dimensions,
    "shapes": _shapes,
    "dtypes": _dtypes,
    "older names": _older_names,
}
