"""Programs that parse CSV lines, examples, serialized tensors, and compressed strings."""

from __future__ import annotations

import gzip
import zlib

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]

# ruff: noqa: B023 - functions that a loop defines are called in the same iteration


def _tried(tf, *makers: Action):
    """What each function returns in a graph of its own, and the values."""

    def build_and_run(make: Action):
        with tf.Graph().as_default():
            outputs = make()
            with tf.Session() as session:
                return [outputs, attempt(lambda: session.run(outputs))]

    return attempt(*(lambda make=make: build_and_run(make) for make in makers))


def _said(tf, make: Action):
    """The value of what a function builds, or the operation's own message of its error."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            return session.run(make())
        except tf.errors.OpError as error:
            message = error.message.partition("\n\t [[{{node")[0]
            return [type(error).__name__, message.rstrip().rpartition("\n")[2]]


def _lines(tf):
    defaults = [[1], ["d"], [2.5]]
    lines = [
        "3,x,1.5",
        ",,",
        "3,x",
        " 3,x,1.5",
        "3 ,x, 1.5 ",
        '3,"x",1.5',
        '3,"a,b",1.5',
        '3,"a""b",1.5',
        '3,"a"b,1.5',
        '3,a"b,1.5',
        '3,"ab,1.5',
        "3,x,1.5\n",
        "3,x,1.5\r\n",
        "3,x,1,9",
        '3, "x",1',
        "a,x,1",
        "3,x,zz",
        '3,"",1',
        '"3",x,"1.5"',
        "99999999999,x,1",
        "+3,x,1e3",
        "0x10,x,inf",
        "",
        "3,x\ny,1",
        '3,"x\ny",1',
        "3,x,nan",
        "3.0,x,1",
        "3,x,.5",
        "\n3,x,1",
        '3,"x"\n,1',
        '3,"x" ,1',
        '3,x,"1"2',
        ",",
        '"',
        "3,x,1,",
        '3,x,"',
        "3,é,1",
    ]
    return [
        _tried(tf, lambda: tf.decode_csv([line], defaults, use_quote_delim=quotes))
        for line in lines
        for quotes in (True, False)
    ]


def _columns(tf):
    csv = tf.decode_csv
    none = lambda dtype: np.zeros(0, dtype)  # noqa: E731
    three = [[1], ["d"], [2.5]]
    return _tried(
        tf,
        lambda: csv(["3,,"], [[1], none(object), none(np.float32)]),
        lambda: csv(["NA,,NA"], three, na_value="NA"),
        lambda: csv(["1,2,3,4,5", "6,7,8,9,0"], [[1], [0.0]], select_cols=[1, 3]),
        lambda: csv(["1,2"], [[1], [0.0]], select_cols=[1, 3]),
        lambda: csv(["1,2"], [[1], [0.0]], select_cols=[-1, 3]),
        lambda: csv(["1,2"], [[1], [0.0]], select_cols=[1, 0]),
        lambda: csv(["1,2"], [[1]], select_cols=[0, 1]),
        lambda: csv(["3\tx\t1.5"], three, field_delim="\t"),
        lambda: csv(["3;;x"], [[1], ["d"]], field_delim=";;"),
        lambda: csv(["3"], [[1]], field_delim=""),
        lambda: csv("3,x,1.5", three),
        lambda: csv([["3,x,1.5"], ["4,y,2"]], three),
        lambda: csv(none(object), three),
        lambda: csv(["9223372036854775807,1e300"], [np.ones(1, np.int64), np.ones(1)]),
        lambda: csv(["9223372036854775808,1"], [np.ones(1, np.int64), np.ones(1)]),
        lambda: csv(["1e39"], [[1.0]]),
        lambda: csv([","], [1, 2.5]),
        lambda: csv(['1"2'], [1, 2.5], field_delim='"'),
        lambda: csv("a", [[True]]),
        lambda: csv("1", [[1, 2]]),
        lambda: csv("1", [[[1]]]),
    )


def _example(tf, **features) -> bytes:
    example = tf.train.Example()
    for key, values in features.items():
        feature = example.features.feature[key]
        kind = {float: "float_list", int: "int64_list", bytes: "bytes_list"}[type(values[0])]
        getattr(feature, kind).value.extend(values)
    data: bytes = example.SerializeToString()
    return data


def _features(tf):
    one = _example(tf, a=[1.5, 2.5], b=[3], c=[b"x", b"y"])
    other = _example(tf, b=[7, 8, 9], c=[b"q"])
    both = [one, other]
    fixed, any_length = tf.FixedLenFeature, tf.VarLenFeature
    rows = tf.FixedLenSequenceFeature
    wishes = [
        {"a": fixed([2], tf.float32)},
        {"a": fixed([2], tf.float32, [8.0, 9.0])},
        {"a": fixed([1, 2], tf.float32, [[8.0, 9.0]])},
        {"a": fixed([3], tf.float32)},
        {"a": fixed([2], tf.float32, 8.0)},
        {"a": fixed([2], tf.int64)},
        {"b": any_length(tf.int64), "c": any_length(tf.string), "z": any_length(tf.float32)},
        {"a": any_length(tf.string)},
        {"z": fixed([], tf.string, "none")},
        {"b": fixed([], tf.int64)},
        {"c": rows([], tf.string, True), "b": rows([], tf.int64, True, -1)},
        {"a": rows([2], tf.float32, True)},
        {"b": rows([2], tf.int64, True)},
        {"b": rows([], tf.float32, True)},
        {"b": rows([], tf.int64)},
        {},
        {"b": 3},
        {"b": fixed([None], tf.int64)},
        {"b": fixed(None, tf.int64)},
        {"b": fixed([2, None], tf.int64)},
        {"b": any_length(None)},
        {"b": fixed([], tf.int32)},
        {"a b/c": fixed([], tf.int64, 5)},
    ]
    return [
        *(
            _tried(
                tf, lambda: tf.parse_example(data, wish), lambda: tf.parse_single_example(one, wish)
            )
            for wish in wishes
            for data in ([one], both, np.zeros(0, object))
        ),
        _tried(
            tf,
            lambda: tf.parse_example(both, wishes[0], example_names=["n", "m"]),
            lambda: tf.parse_example(both, wishes[0], example_names=["n"], name="named"),
            lambda: tf.parse_single_example(one, wishes[0], example_names="n", name="named"),
            lambda: tf.parse_example([[one]], wishes[0]),
            lambda: tf.parse_example(one, wishes[0]),
            lambda: tf.parse_example([one + other, b""], wishes[6]),
            lambda: tf.parse_single_example([one], wishes[0]),
            lambda: tf.io.parse_single_example(tf.placeholder_with_default(one, None), wishes[0]),
        ),
        [tuple(wish) for wish in wishes[1]],
        repr(wishes[10]["c"]),
    ]


def _sparse_features(tf):
    one, other = _example(tf, i=[3, 1], j=[0, 1], v=[1.5, 2.5]), _example(tf, i=[0], v=[9.5])
    sparse = tf.SparseFeature
    f32 = tf.float32

    def parts(parsed):
        return [parsed["s"].indices, parsed["s"].values, parsed["s"].dense_shape]

    wishes = [
        sparse("i", "v", f32, 10),
        sparse("i", "v", f32, 10, True),
        sparse(["i", "j"], "v", f32, [10, 4]),
        sparse("i", "v", f32, None),
        sparse("j", "v", f32, 10),
        sparse("", "v", f32, 10),
    ]
    return [
        _tried(
            tf,
            lambda: parts(tf.parse_example([one, other], {"s": wish})),
            lambda: parts(tf.parse_example([one], {"s": wish, "i": tf.VarLenFeature(tf.int64)})),
            lambda: parts(tf.parse_single_example(one, {"s": wish})),
        )
        for wish in wishes
    ]


def _reason(tf, make: Action) -> str:
    """The message of the error that building or running raises."""
    with tf.Graph().as_default():
        try:
            outputs = make()
        except ValueError as error:
            return str(error).split(" for '{{node")[0]
        with tf.Session() as session:
            try:
                return f"no error: {session.run(outputs)}"
            except tf.errors.OpError as error:
                return str(error).split("\n\t [[")[0].split("\n")[-1]


def _reasons(tf):
    padded = getattr(tf, "raw_ops", tf).DecodePaddedRaw
    fed = lambda value: tf.placeholder_with_default(np.int32(value), None)  # noqa: E731
    pair = [b"123", b"12"]
    makers = [
        *(
            lambda: tf.decode_raw(texts, dtype)
            for dtype in (
                tf.int16,
                tf.uint16,
                tf.float16,
                tf.float32,
                tf.float64,
                tf.complex64,
                tf.bfloat16,
            )
            for texts in ([b"123"], b"12345", [b"", b"12"], [b"12", b"34", b"1"])
        ),
        *(
            lambda: padded(input_bytes=pair, fixed_length=length, out_type=tf.int16)
            for length in (3, -2)
        ),
        *(
            lambda: padded(input_bytes=pair, fixed_length=fed(length), out_type=tf.int16)
            for length in (5, 0, -2)
        ),
        lambda: tf.decode_csv(["1"], [[[1]]]),
        lambda: tf.decode_csv(["1"], [[""]]),
        lambda: tf.strings.join(["a", "b"], separator=b"\xff"),
        lambda: tf.raw_ops.UnicodeEncode(
            input_values=[0, 65], input_splits=[0, 2], output_encoding="UTF-8"
        ),
        lambda: tf.matching_files([["a"]]),
        lambda: tf.roll([1], [[1]], [0]),
        lambda: tf.reduce_sum([1], [[0]]),
    ]
    return [_reason(tf, make) for make in makers]


def _feature_reasons(tf):
    examples = [
        _example(tf, a=values)
        for values in (
            [1],
            [1, 2, 3],
            [1.5],
            [1.5, 2.5, 3.5],
            [b"x"],
            [b"x", b"y", b"z"],
        )
    ]
    features = [
        make(dtype)
        for dtype in (tf.int64, tf.float32, tf.string)
        for make in (
            tf.VarLenFeature,
            lambda dtype: tf.FixedLenFeature([2], dtype),
            lambda dtype: tf.FixedLenSequenceFeature([2], dtype, True),
        )
    ]
    one, many = tf.parse_single_example, tf.parse_example
    return [
        [
            _reason(tf, lambda: list(one(data, {"a": feature}).values())),
            _reason(tf, lambda: list(many([data], {"a": feature}).values())),
        ]
        for data in examples
        for feature in features
    ]


def _sequences_that_do_not_fit(tf):
    train = tf.train
    integers = lambda values: train.Feature(int64_list=train.Int64List(value=values))  # noqa: E731
    real = lambda values: train.Feature(float_list=train.FloatList(value=values))  # noqa: E731

    def lists(steps) -> bytes:
        feature_list = {} if steps is None else {"a": train.FeatureList(feature=steps)}
        example = train.SequenceExample(feature_lists=train.FeatureLists(feature_list=feature_list))
        return bytes(example.SerializeToString())

    def context(feature) -> bytes:
        features = train.Features(feature={} if feature is None else {"a": feature})
        return bytes(train.SequenceExample(context=features).SerializeToString())

    def parsed(data: list[bytes], kind: str, feature, names):
        if len(data) > 1:
            return tf.io.parse_sequence_example(data, example_names=names, **{kind: {"a": feature}})
        name = names and names[0]
        return tf.io.parse_single_sequence_example(
            data[0], example_name=name, **{kind: {"a": feature}}
        )

    in_lists = [
        [[integers([1, 0]), real([2, 3])]],
        [[real([2, 3])]],
        [[integers([2, 3]), integers([2, 3, 4])]],
        [[integers([2]), integers([2, 3, 4])]],
        [None],
        [[integers([1, 2]), train.Feature()]],
        [[integers([1] * 3)], [integers([1])]],
        [[integers([1, 2])], None],
        [[integers([1] * 3)], None],
        [[integers([1, 2])] * 2, [integers([1])]],
        [[], [integers([1])]],
    ]
    in_context = [
        [None],
        [real([1.0])],
        [train.Feature()],
        [integers([1, 2]), integers([1])],
        [integers([1, 2]), None],
        [integers([1, 2]), integers([1] * 3)],
        [integers([1])] * 2,
        [None, None],
        [integers([]), integers([1, 2])],
    ]
    return [
        _said(tf, lambda: parsed(data, kind, feature, names))
        for kind, cases, features in (
            (
                "sequence_features",
                [[lists(rows) for rows in case] for case in in_lists],
                [
                    tf.FixedLenSequenceFeature([2], tf.int64),
                    tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
                    tf.VarLenFeature(tf.int64),
                ],
            ),
            (
                "context_features",
                [[context(values) for values in case] for case in in_context],
                [
                    tf.FixedLenFeature([2], tf.int64),
                    tf.FixedLenFeature([2], tf.int64, [7, 8]),
                    tf.VarLenFeature(tf.int64),
                ],
            ),
        )
        for data in cases
        for feature in features
        for names in (None, [f"in{i}" for i in range(len(data))])
    ]


def _tensors(tf):
    values = [
        np.float32([[1, 2], [3, 4]]),
        np.int8(7),
        np.array([True, False]),
        np.complex64(1j),
        np.float16([1]),
        np.zeros((0, 2), np.int64),
        np.array([b"a", b""], object),
    ]
    loose = lambda value: tf.placeholder_with_default(value, None)  # noqa: E731
    return _tried(
        tf,
        *(lambda value=value: tf.serialize_tensor(tf.constant(value)) for value in values),
        *(
            lambda value=value: tf.parse_tensor(
                tf.io.serialize_tensor(tf.constant(value)), tf.constant(value).dtype
            )
            for value in values
        ),
        lambda: tf.parse_tensor("junkjunk", tf.float32),
        lambda: tf.io.parse_tensor("", tf.float32),
        lambda: tf.parse_tensor(tf.serialize_tensor(tf.constant(1)), tf.float32),
        lambda: tf.parse_tensor(loose(["a"]), tf.float32),
    )


def _compressed(tf):
    packed, zipped = zlib.compress(b"hello" * 10), gzip.compress(b"hello" * 10, mtime=0)
    decode = tf.io.decode_compressed
    return _tried(
        tf,
        lambda: decode([packed, packed], "ZLIB"),
        lambda: decode(zipped, "GZIP"),
        lambda: decode([b"abc"]),
        lambda: decode([b"abc"], "ZLIB"),
        lambda: decode([packed[:-6]], "ZLIB"),
        lambda: decode([packed], "GZIP"),
        lambda: decode([packed], "LZ"),
        lambda: decode([b""], "ZLIB"),
        lambda: decode([zipped * 2], "GZIP"),
        lambda: decode([packed * 2], "ZLIB"),
        lambda: decode([zipped + b"junkjunk"], "GZIP"),
        lambda: tf.decode_compressed("x"),
    )


BEHAVIOURS = {
    f"parsing_{function.__name__.strip('_')}": function
    for function in (
        _lines,
        _columns,
        _features,
        _sparse_features,
        _reasons,
        _feature_reasons,
        _sequences_that_do_not_fit,
        _tensors,
        _compressed,
    )
}
