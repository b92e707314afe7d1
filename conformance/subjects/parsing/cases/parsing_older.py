"""Vectors of PARSING: the older operations that parse Examples and SequenceExamples."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.parsing.cases.examples import (
    BRIEF,
    NONE,
    ONE,
    SHORT,
    STORY,
    TWO,
)
from sessrun.conformance.subjects.parsing.example_bytes import example, sequence_example
from sessrun.conformance.subjects.readers.cases.readers import words


def _examples(c: EngineAuthor) -> SessionAuthor:
    """ParseExample of the strings `in`: dense n and x, which has no default; sparse s and m.

    And `padded`, a ParseExample of n as a feature of any number of values.
    """
    with c.graph() as tf:
        given = tf.placeholder(tf.string, [None], name="in")
        tf.raw_ops.ParseExample(
            serialized=given,
            names=[],
            sparse_keys=["s", "m"],
            dense_keys=["n", "x"],
            dense_defaults=[np.array([8, 9]), np.zeros(0, np.float32)],
            sparse_types=[tf.string, tf.int64],
            dense_shapes=[[2], []],
            name="parse",
        )
        tf.raw_ops.ParseExample(
            serialized=given,
            names=[],
            sparse_keys=[],
            dense_keys=["n"],
            dense_defaults=[np.array(-1)],
            sparse_types=[],
            dense_shapes=[[None]],
            name="padded",
        )
    return c.open()


@engine_case("PARSING-018", title="ParseExample gives rows and defaults of dense features.")
def older_dense_features(c: EngineAuthor) -> None:
    s = _examples(c)
    s.run(
        ["parse:6", "parse:7"],
        {"in:0": words(ONE, example({"x": [4.0]}), TWO)},
        values=[
            np.array([[1, 2], [8, 9], [-3, 2**62]]),
            np.array([1.5, 4.0, -0.0], np.float32),
        ],
    )
    s.run(["parse:6"], {"in:0": np.zeros(0, object)}, values=[np.zeros((0, 2), np.int64)])


@engine_case("PARSING-019", title="ParseExample asks for a feature without a default.")
def older_required_features(c: EngineAuthor) -> None:
    s = _examples(c)
    s.run(["parse:7"], {"in:0": words(ONE, NONE)}, error=[3])


@engine_case("PARSING-020", title="ParseExample of features of another dtype or size.")
def older_odd_features(c: EngineAuthor) -> None:
    s = _examples(c)
    for wrong in (
        example({"n": [1.0, 2.0], "x": [1.5]}),
        example({"n": [7], "x": [1.5]}),
        example({"n": [1, 2, 3], "x": [1.5]}),
        example({"x": [1.5], "s": [1]}),
    ):
        s.run(["parse:6"], {"in:0": words(ONE, wrong)}, error=[3])


@engine_case("PARSING-021", title="ParseExample gives three parts of each sparse feature.")
def older_sparse_features(c: EngineAuthor) -> None:
    s = _examples(c)
    s.run(
        [f"parse:{number}" for number in range(6)],
        {"in:0": words(TWO, ONE)},
        values=[
            np.array([[1, 0], [1, 1]]),
            np.zeros((0, 2), np.int64),
            words("one", ""),
            np.zeros(0, np.int64),
            np.array([2, 2]),
            np.array([2, 0]),
        ],
    )


@engine_case("PARSING-022", title="ParseExample fills features up to the longest.")
def older_padded_features(c: EngineAuthor) -> None:
    s = _examples(c)
    s.run(
        ["padded:0"],
        {"in:0": words(SHORT, ONE, NONE)},
        values=[np.array([[7, -1], [1, 2], [-1, -1]])],
    )


#: Outputs of `_single`: indices, values and shape of s, then n and x.
_OUTPUTS: Final = ("parse:0", "parse:2", "parse:4", "parse:6", "parse:7")


def _single(c: EngineAuthor) -> SessionAuthor:
    """ParseSingleExample of the string `in`."""
    with c.graph() as tf:
        tf.raw_ops.ParseSingleExample(
            serialized=tf.placeholder(tf.string, [], name="in"),
            dense_defaults=[np.array([8, 9]), np.zeros(0, np.float32)],
            num_sparse=2,
            sparse_keys=["s", "m"],
            dense_keys=["n", "x"],
            sparse_types=[tf.string, tf.int64],
            dense_shapes=[[2], []],
            name="parse",
        )
    return c.open()


@engine_case("PARSING-024", title="ParseSingleExample has no dimension of examples.")
def older_single_examples(c: EngineAuthor) -> None:
    s = _single(c)
    s.run(
        list(_OUTPUTS),
        {"in:0": ONE},
        values=[
            np.array([[0], [1]]),
            words("one", ""),
            np.array([2]),
            np.array([1, 2]),
            np.float32(1.5),
        ],
    )
    s.run(
        list(_OUTPUTS),
        {"in:0": example({"x": [4.0]})},
        values=[
            np.zeros((0, 1), np.int64),
            np.zeros(0, object),
            np.array([0]),
            np.array([8, 9]),
            np.float32(4),
        ],
    )
    for wrong in (NONE, example({"x": [1.0, 2.0]}), example({"x": [1]})):
        s.run(["parse:7"], {"in:0": wrong}, error=[3])


@engine_case("PARSING-025", title="ParseExample of bytes that are no Example.")
def older_bytes_of_no_example(c: EngineAuthor) -> None:
    s = _examples(c)
    for wrong in (ONE[:-1], b"\0", b"aaaaaaaaaa"):
        s.run(["parse:7"], {"in:0": words(ONE, wrong)}, error=[3])


@engine_case("PARSING-025", title="ParseSingleExample of bytes that are no Example.")
def older_bytes_of_no_single_example(c: EngineAuthor) -> None:
    s = _single(c)
    for wrong in (ONE[:-1], b"\0", b"aaaaaaaaaa"):
        s.run(["parse:7"], {"in:0": wrong}, error=[3])


@engine_case("PARSING-026", title="ParseExample of Examples that follow one another.")
def older_examples_in_a_row(c: EngineAuthor) -> None:
    s = _examples(c)
    s.run(
        ["parse:2", "parse:6", "parse:7"],
        {"in:0": words(ONE + TWO)},
        values=[words("one", ""), np.array([[-3, 2**62]]), np.array([-0.0], np.float32)],
    )


@engine_case("PARSING-026", title="ParseSingleExample of Examples that follow one another.")
def older_single_examples_in_a_row(c: EngineAuthor) -> None:
    s = _single(c)
    s.run(
        ["parse:2", "parse:6", "parse:7"],
        {"in:0": ONE + TWO},
        values=[words("one", ""), np.array([-3, 2**62]), np.float32(-0.0)],
    )


# --- SequenceExamples ---------------------------------------------------------------------


def _sequences(c: EngineAuthor) -> SessionAuthor:
    """ParseSequenceExample of the strings `in`; the list `more` may be missing."""
    with c.graph() as tf:
        tf.raw_ops.ParseSequenceExample(
            serialized=tf.placeholder(tf.string, [None], name="in"),
            debug_name=np.zeros(0, object),
            context_dense_defaults=[np.zeros(0, np.int64)],
            feature_list_dense_missing_assumed_empty=["more"],
            context_sparse_keys=["tags"],
            context_dense_keys=["id"],
            feature_list_sparse_keys=["words"],
            feature_list_dense_keys=["marks", "more"],
            Ncontext_sparse=1,
            Ncontext_dense=1,
            Nfeature_list_sparse=1,
            Nfeature_list_dense=2,
            context_sparse_types=[tf.string],
            context_dense_shapes=[[]],
            feature_list_dense_types=[tf.int64, tf.float32],
            feature_list_sparse_types=[tf.string],
            feature_list_dense_shapes=[[], [2]],
            name="parse",
        )
    return c.open()


@engine_case("PARSING-027", title="ParseSequenceExample gives context, lists and their lengths.")
def older_sequences(c: EngineAuthor) -> None:
    s = _sequences(c)
    s.run(
        [*(f"parse:{number}" for number in range(8)), "parse:9"],
        {"in:0": words(STORY, BRIEF)},
        values=[
            np.array([[0, 0], [0, 1]]),
            words("a", "b"),
            np.array([2, 2]),
            np.array([5, 6]),
            np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]]),
            words("x", "y", "z", "w"),
            np.array([2, 3, 2]),
            np.array([[1, 2, 3], [4, 0, 0]]),
            np.array([3, 1]),
        ],
    )


@engine_case("PARSING-028", title="ParseSequenceExample asks for a list that may not be missing.")
def older_required_lists(c: EngineAuthor) -> None:
    s = _sequences(c)
    bare = sequence_example({"id": [1]}, {"words": [[b"x"]]})
    s.run(["parse:7"], {"in:0": words(STORY, bare)}, error=[3])
    s.run(
        ["parse:8", "parse:10"],
        {"in:0": words(STORY)},
        values=[np.zeros((1, 0, 2), np.float32), np.array([0])],
    )
