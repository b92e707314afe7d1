"""Vectors of PARSING: features of Examples and SequenceExamples, as tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.parsing.example_bytes import example, sequence_example
from sessrun.conformance.subjects.readers.cases.readers import words
from sessrun.spec.cases.arguments import Argument, DType
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

#: The features that an Example is parsed for, by name.
Features = Callable[[Namespace], dict[str, Argument]]

_Element = bytes | float | int

#: An Example of each feature, another that lacks s, one with too few values of n, and one of none.
ONE: Final = example({"n": [1, 2], "x": [1.5], "s": [b"one", b""]})
TWO: Final = example({"n": [-3, 2**62], "x": [-0.0]})
SHORT: Final = example({"n": [7]})
NONE: Final = example({})


def _parsing(c: EngineAuthor, features: Features, *, single: bool = False) -> SessionAuthor:
    """Parse the strings `in`: dense features by their names, sparse ones in three parts."""
    with c.graph() as tf:
        shape = [] if single else [None]
        given = tf.placeholder(tf.string, shape, name="in")
        parse = tf.io.parse_single_example if single else tf.io.parse_example
        for name, value in parse(given, features(tf)).items():
            parts = {"": value}
            if hasattr(value, "indices"):
                parts = {
                    "_indices": value.indices,
                    "_values": value.values,
                    "_shape": value.dense_shape,
                }
            elif hasattr(value, "row_splits"):
                parts = {"_values": value.values, "_splits": value.row_splits}
            for part, tensor in parts.items():
                tf.identity(tensor, name=f"{name}{part}")
    return c.open()


def _gives(
    s: SessionAuthor, given: np.ndarray | bytes, /, **values: np.ndarray | np.generic
) -> None:
    s.run([f"{name}:0" for name in values], {"in:0": given}, values=list(values.values()))


def _fails(s: SessionAuthor, given: np.ndarray | bytes, name: str) -> None:
    s.run([f"{name}:0"], {"in:0": given}, error=[3])


def _sparse(
    name: str, rows: Sequence[Sequence[_Element]], dtype: npt.DTypeLike
) -> dict[str, np.ndarray]:
    """The three parts of a sparse feature with these values in each example."""
    places = [[row, column] for row, values in enumerate(rows) for column in range(len(values))]
    return {
        f"{name}_indices": np.array(places, np.int64).reshape(-1, 2),
        f"{name}_values": np.array([value for values in rows for value in values], dtype),
        f"{name}_shape": np.array([len(rows), max(map(len, rows), default=0)]),
    }


@engine_case("PARSING-018", title="Dense features of every dtype.")
def dense_features(c: EngineAuthor) -> None:
    s = _parsing(
        c,
        lambda tf: {
            "n": tf.FixedLenFeature([2], tf.int64),
            "x": tf.FixedLenFeature([], tf.float32),
            "s": tf.FixedLenFeature([1, 2], tf.string, [["d", "e"]]),
        },
    )
    _gives(
        s,
        words(ONE, TWO),
        n=np.array([[1, 2], [-3, 2**62]]),
        x=np.array([1.5, -0.0], np.float32),
        s=words("one", "", "d", "e").reshape(2, 1, 2),
    )
    none = np.zeros(0, object)
    _gives(
        s,
        none,
        n=np.zeros((0, 2), np.int64),
        x=np.zeros(0, np.float32),
        s=np.zeros((0, 1, 2), object),
    )


@engine_case("PARSING-018", title="Defaults of features that examples lack.")
def defaults_of_features(c: EngineAuthor) -> None:
    s = _parsing(
        c,
        lambda tf: {
            "n": tf.FixedLenFeature([2], tf.int64, [8, 9]),
            "m": tf.FixedLenFeature([], tf.int64, 4),
            "x": tf.FixedLenFeature([1], tf.float32, 0.5),
        },
    )
    _gives(
        s,
        words(NONE, ONE),
        n=np.array([[8, 9], [1, 2]]),
        m=np.array([4, 4]),
        x=np.array([[0.5], [1.5]], np.float32),
    )
    _gives(s, words(example({"n": None})), n=np.array([[8, 9]]))


@engine_case("PARSING-019", title="Features that must be there.")
def required_features(c: EngineAuthor) -> None:
    s = _parsing(
        c,
        lambda tf: {
            "x": tf.FixedLenFeature([], tf.float32),
            "n": tf.FixedLenFeature([2], tf.int64, [0, 0]),
        },
    )
    _fails(s, words(ONE, SHORT), "x")
    _fails(s, words(NONE), "x")
    _gives(s, words(ONE), x=np.array([1.5], np.float32))


@engine_case("PARSING-020", title="Features of another dtype.")
def features_of_another_dtype(c: EngineAuthor) -> None:
    s = _parsing(
        c,
        lambda tf: {
            "n": tf.FixedLenFeature([2], tf.int64, [0, 0]),
            "x": tf.VarLenFeature(tf.float32),
        },
    )
    _fails(s, words(ONE, example({"n": [1.0, 2.0]})), "n")
    _fails(s, words(example({"x": [b"text"]})), "x_values")
    _fails(s, words(example({"x": [3]})), "x_values")


@engine_case("PARSING-020", title="Dense features of another number of values.")
def features_of_another_size(c: EngineAuthor) -> None:
    s = _parsing(c, lambda tf: {"n": tf.FixedLenFeature([2], tf.int64, [0, 0])})
    _fails(s, words(ONE, SHORT), "n")
    _fails(s, words(example({"n": [1, 2, 3]})), "n")
    _fails(s, words(example({"n": []})), "n")


@engine_case("PARSING-021", title="Features of variable length.")
def sparse_features(c: EngineAuthor) -> None:
    s = _parsing(
        c,
        lambda tf: {
            "n": tf.VarLenFeature(tf.int64),
            "x": tf.VarLenFeature(tf.float32),
            "s": tf.VarLenFeature(tf.string),
        },
    )
    _gives(
        s,
        words(SHORT, ONE, NONE, TWO),
        **_sparse("n", [[7], [1, 2], [], [-3, 2**62]], np.int64),
        **_sparse("x", [[], [1.5], [], [-0.0]], np.float32),
        **_sparse("s", [[], [b"one", b""], [], []], object),
    )


@engine_case("PARSING-021", title="Features that no example has.")
def sparse_features_of_none(c: EngineAuthor) -> None:
    s = _parsing(c, lambda tf: {"m": tf.VarLenFeature(tf.int64)})
    _gives(s, words(ONE, TWO, NONE), **_sparse("m", [[], [], []], np.int64))
    _gives(s, np.zeros(0, object), **_sparse("m", [], np.int64))


@engine_case("PARSING-022", title="Features as wide as the longest.")
def padded_features(c: EngineAuthor) -> None:
    def sequence(tf: Namespace, dtype: DType, default: _Element | None = None) -> Tensor:
        return tf.FixedLenSequenceFeature([], dtype, allow_missing=True, default_value=default)

    s = _parsing(
        c,
        lambda tf: {
            "n": sequence(tf, tf.int64, -1),
            "x": sequence(tf, tf.float32),
            "s": sequence(tf, tf.string),
        },
    )
    _gives(
        s,
        words(SHORT, ONE, NONE),
        n=np.array([[7, -1], [1, 2], [-1, -1]]),
        x=np.array([[0], [1.5], [0]], np.float32),
        s=words("", "", "one", "", "", "").reshape(3, 2),
    )
    _gives(s, words(NONE, NONE), n=np.zeros((2, 0), np.int64))


@engine_case("PARSING-022", title="Rows of features, as many as the longest has.")
def padded_rows(c: EngineAuthor) -> None:
    s = _parsing(
        c,
        lambda tf: {
            "n": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        },
    )
    four = example({"n": [1, 2, 3, 4]})
    _gives(s, words(four, ONE), n=np.array([[[1, 2], [3, 4]], [[1, 2], [0, 0]]]))
    _fails(s, words(four, SHORT), "n")


@engine_case("PARSING-023", title="Ragged features.")
def ragged_features(c: EngineAuthor) -> None:
    with c.graph() as tf:
        parsed = tf.raw_ops.ParseExampleV2(
            serialized=tf.placeholder(tf.string, [None], name="in"),
            names=[],
            sparse_keys=[],
            dense_keys=[],
            ragged_keys=["n", "s"],
            dense_defaults=[],
            num_sparse=0,
            sparse_types=[],
            ragged_value_types=[tf.int64, tf.string],
            ragged_split_types=[tf.int32, tf.int64],
            dense_shapes=[],
        )
        for name, number in (("n", 0), ("s", 1)):
            tf.identity(parsed.ragged_values[number], name=f"{name}_values")
            tf.identity(parsed.ragged_row_splits[number], name=f"{name}_splits")
    s = c.open()
    _gives(
        s,
        words(SHORT, NONE, ONE),
        n_values=np.array([7, 1, 2]),
        n_splits=np.array([0, 1, 1, 3], np.int32),
        s_values=words("one", ""),
        s_splits=np.array([0, 0, 0, 2]),
    )
    _gives(s, np.zeros(0, object), n_values=np.zeros(0, np.int64), n_splits=np.zeros(1, np.int32))


@engine_case("PARSING-024", title="A single Example.")
def single_examples(c: EngineAuthor) -> None:
    s = _parsing(
        c,
        lambda tf: {
            "n": tf.FixedLenFeature([2], tf.int64),
            "x": tf.FixedLenFeature([], tf.float32, 4.0),
            "s": tf.VarLenFeature(tf.string),
        },
        single=True,
    )
    _gives(
        s,
        ONE,
        n=np.array([1, 2]),
        x=np.float32(1.5),
        s_indices=np.array([[0], [1]]),
        s_values=words("one", ""),
        s_shape=np.array([2]),
    )
    _gives(
        s,
        TWO,
        x=np.float32(-0.0),
        s_indices=np.zeros((0, 1), np.int64),
        s_values=np.zeros(0, object),
        s_shape=np.array([0]),
    )
    _fails(s, SHORT, "n")


@engine_case("PARSING-025", title="Bytes that are no Example.")
def no_examples(c: EngineAuthor) -> None:
    s = _parsing(c, lambda tf: {"n": tf.FixedLenFeature([], tf.int64, 1)})
    for wrong in (ONE[:-1], ONE[:5], b"\0", b"\n", b"aaaaaaaaaa", b"\n\x02\n\0"):
        _fails(s, words(SHORT, wrong), "n")
    _gives(s, words(SHORT, b""), n=np.array([7, 1]))


@engine_case("PARSING-025", title="Bytes that are no single Example.")
def no_single_examples(c: EngineAuthor) -> None:
    s = _parsing(c, lambda tf: {"s": tf.VarLenFeature(tf.string)}, single=True)
    for wrong in (ONE[:-1], b"\0", b"a"):
        _fails(s, wrong, "s_values")


@engine_case("PARSING-026", title="Examples that follow one another.")
def examples_in_a_row(c: EngineAuthor) -> None:
    s = _parsing(
        c,
        lambda tf: {
            "n": tf.FixedLenFeature([2], tf.int64),
            "x": tf.VarLenFeature(tf.float32),
            "s": tf.VarLenFeature(tf.string),
        },
    )
    _gives(
        s,
        words(ONE + TWO, TWO + ONE),
        n=np.array([[-3, 2**62], [1, 2]]),
        **_sparse("x", [[-0.0], [1.5]], np.float32),
        **_sparse("s", [[b"one", b""], [b"one", b""]], object),
    )


# --- SequenceExamples ---------------------------------------------------------------------

#: A SequenceExample of three steps, and one of a single step without tags.
STORY: Final = sequence_example(
    {"id": [5], "tags": [b"a", b"b"]},
    {"words": [[b"x"], [b"y", b"z"], []], "marks": [[1], [2], [3]]},
)
BRIEF: Final = sequence_example({"id": [6]}, {"words": [[b"w"]], "marks": [[4]]})


@engine_case("PARSING-027", title="Context and feature lists of several SequenceExamples.")
def sequences(c: EngineAuthor) -> None:
    with c.graph() as tf:
        context, lists, lengths = tf.io.parse_sequence_example(
            tf.placeholder(tf.string, [None], name="in"),
            {"id": tf.FixedLenFeature([], tf.int64), "tags": tf.VarLenFeature(tf.string)},
            {
                "words": tf.VarLenFeature(tf.string),
                "marks": tf.FixedLenSequenceFeature([], tf.int64),
            },
        )
        for name, value in (
            ("id", context["id"]),
            ("tags_values", context["tags"].values),
            ("tags_indices", context["tags"].indices),
            ("tags_shape", context["tags"].dense_shape),
            ("marks", lists["marks"]),
            ("lengths", lengths["marks"]),
            ("words_values", lists["words"].values),
            ("words_indices", lists["words"].indices),
            ("words_shape", lists["words"].dense_shape),
        ):
            tf.identity(value, name=name)
    s = c.open()
    _gives(
        s,
        words(STORY, BRIEF),
        id=np.array([5, 6]),
        tags_values=words("a", "b"),
        tags_indices=np.array([[0, 0], [0, 1]]),
        tags_shape=np.array([2, 2]),
        marks=np.array([[1, 2, 3], [4, 0, 0]]),
        lengths=np.array([3, 1]),
        words_values=words("x", "y", "z", "w"),
        words_indices=np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]]),
        words_shape=np.array([2, 3, 2]),
    )


@engine_case("PARSING-027", title="Context and feature lists of one SequenceExample.")
def single_sequences(c: EngineAuthor) -> None:
    with c.graph() as tf:
        context, lists = tf.io.parse_single_sequence_example(
            tf.placeholder(tf.string, [], name="in"),
            {"id": tf.FixedLenFeature([1], tf.int64)},
            {
                "words": tf.VarLenFeature(tf.string),
                "marks": tf.FixedLenSequenceFeature([], tf.int64),
            },
        )
        for name, value in (
            ("id", context["id"]),
            ("marks", lists["marks"]),
            ("words_values", lists["words"].values),
            ("words_indices", lists["words"].indices),
            ("words_shape", lists["words"].dense_shape),
        ):
            tf.identity(value, name=name)
    s = c.open()
    _gives(
        s,
        STORY,
        id=np.array([5]),
        marks=np.array([1, 2, 3]),
        words_values=words("x", "y", "z"),
        words_indices=np.array([[0, 0], [1, 0], [1, 1]]),
        words_shape=np.array([3, 2]),
    )


@engine_case("PARSING-028", title="Feature lists that must be there, and one that need not.")
def required_lists(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _, lists = tf.io.parse_single_sequence_example(
            tf.placeholder(tf.string, [], name="in"),
            {},
            {
                "marks": tf.FixedLenSequenceFeature([], tf.int64),
                "more": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
            },
        )
        for name, value in lists.items():
            tf.identity(value, name=name)
    s = c.open()
    _fails(s, sequence_example({}, {"words": [[b"x"]]}), "marks")
    _gives(s, BRIEF, marks=np.array([4]), more=np.zeros((0, 2), np.float32))


# --- JSON ---------------------------------------------------------------------------------


@engine_case("PARSING-029", title="Examples of JSON have the features that it says.")
def examples_of_json(c: EngineAuthor) -> None:
    with c.graph() as tf:
        given = tf.placeholder(tf.string, [None], name="in")
        parsed = tf.io.parse_example(
            tf.io.decode_json_example(given),
            {
                "n": tf.FixedLenFeature([2], tf.int64),
                "x": tf.FixedLenFeature([], tf.float32, 9.0),
                "s": tf.FixedLenFeature([], tf.string, "none"),
            },
        )
        for name, value in parsed.items():
            tf.identity(value, name=name)
    s = c.open()
    one = (
        '{"features": {"feature": {"n": {"int64List": {"value": ["1", 2]}}, "x": {"floatList": '
        '{"value": [1.5]}}}}}'
    )
    two = (
        '{"features": {"feature": {"s": {"bytesList": {"value": ["aGk="]}}, '
        '"n": {"int64_list": {"value": [3, -4]}}}}}'
    )
    _gives(
        s,
        words(one, two),
        n=np.array([[1, 2], [3, -4]]),
        x=np.array([1.5, 9.0], np.float32),
        s=words("none", "hi"),
    )


@engine_case("PARSING-030", title="Text that is no JSON, or says no Example.")
def no_json(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.io.decode_json_example(tf.placeholder(tf.string, None, name="in"), name="out")
    s = c.open()
    for wrong in ("{", "text", '{"no": "field"}', '{"features": 3}'):
        _fails(s, words("{}", wrong), "out")
    s.run(["out:0"], {"in:0": words("{}")}, values=[words("")])


@engine_case("PARSING-031", title="Seven lines and seven Examples, each for itself.")
def batches_of_seven(c: EngineAuthor) -> None:
    with c.graph() as tf:
        lines = tf.placeholder(tf.string, [None], name="lines")
        tf.raw_ops.DecodeCSV(
            records=lines, record_defaults=[np.zeros(0, np.int32), np.zeros(0, object)], name="csv"
        )
        given = tf.placeholder(tf.string, [None], name="in")
        parsed = tf.io.parse_example(given, {"n": tf.FixedLenFeature([2], tf.int64)})
        tf.identity(parsed["n"], name="n")
    s = c.open()
    numbers = [3, 1, 4, 1, 5, 9, 2]
    s.run(
        ["csv:0", "csv:1"],
        {"lines:0": words(*(f"{n},w{n}" for n in numbers))},
        values=[np.array(numbers, np.int32), words(*(f"w{n}" for n in numbers))],
    )
    _gives(
        s,
        words(*(example({"n": [n, -n]}) for n in numbers)),
        n=np.array([[n, -n] for n in numbers]),
    )
