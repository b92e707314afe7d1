"""Vectors of FETCH, FEED and RUN: values of megabytes, long strings, hundreds of fetches."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import f32, i32
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    api_case,
    engine_case,
)

_FETCHED = "FETCH-049"
_FED = "FEED-064"
_MANY = "RUN-054"
#: More than a million bytes of four each, and no multiple of a block's size.
_COUNT = 300_007


@api_case(_FETCHED, title="Fetched tensors of more than a million bytes are whole.")
def megabytes_are_fetched_whole(c: ApiAuthor) -> None:
    c.named_check("large.fetched", [True, True, True], count=_COUNT)


@api_case(
    _FED, title="Fed arrays of more than a million bytes are whole, read, added up or stored."
)
def megabytes_are_fed_whole(c: ApiAuthor) -> None:
    c.named_check("large.fed", [True, True, True], count=_COUNT)


@api_case(_FETCHED, title="A string of eighty thousand bytes, and twenty thousand, are whole.")
def long_strings_are_whole(c: ApiAuthor) -> None:
    c.named_check("large.strings", [True, True, True], length=80_000, count=20_000)


@api_case(_MANY, title="A run has a thousand fetches, each with its own value.")
def a_thousand_fetches_have_their_values(c: ApiAuthor) -> None:
    c.named_check("large.many_fetches", True, count=1000)


@engine_case(_FED, title="A tensor of some seventy thousand bytes is fed and fetched whole.")
def seventy_thousand_bytes_go_in_and_out(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.uint8, name="x")
        tf.reverse(x, [0], name="reversed")
    value = (np.arange(70_001) % 251).astype(np.uint8)
    s = c.open()
    s.run(["reversed:0"], {"x:0": value}, values=[value[::-1].copy()])
    s.close()


@engine_case(_FETCHED, title="Operations on a million bytes give every element, to the last.")
def operations_reach_the_last_element(c: EngineAuthor) -> None:
    with c.graph() as tf:
        n = tf.placeholder(tf.int32, [], name="n")
        ramp = tf.range(n)
        floats = tf.cast(ramp, tf.float32)
        tf.reduce_all(tf.equal(ramp + ramp, tf.range(0, 2 * n, 2)), name="added")
        tf.reduce_all(
            tf.equal(floats * 2.0, tf.cast(tf.range(0, 2 * n, 2), tf.float32)), name="doubled"
        )
        tf.reduce_all(tf.equal(tf.reverse(ramp, [0]), tf.range(n - 1, -1, -1)), name="reversed")
        tf.reduce_all(tf.equal(tf.gather(ramp, ramp), ramp), name="gathered")
        tf.reduce_all(tf.equal(tf.concat([ramp, ramp], 0)[n:], ramp), name="joined")
        tf.reduce_sum(tf.ones(tf.stack([n]), tf.int32), name="counted")
        tf.reduce_max(floats, name="last")
        tf.argmax(floats, 0, name="place")
        tf.strided_slice(ramp + 1, [-3], [_COUNT], name="end")
    s = c.open()
    names = [
        "added",
        "doubled",
        "reversed",
        "gathered",
        "joined",
        "counted",
        "last",
        "place",
        "end",
    ]
    s.run(
        [f"{name}:0" for name in names],
        {"n:0": i32(_COUNT)},
        values=[
            *(np.True_ for _ in range(5)),
            i32(_COUNT),
            f32(_COUNT - 1),
            np.int64(_COUNT - 1),
            i32([_COUNT - 2, _COUNT - 1, _COUNT]),
        ],
    )
    s.close()


@engine_case(_FETCHED, title="A product of matrices of hundreds of rows is right in every element.")
def products_of_large_matrices_are_right(c: EngineAuthor) -> None:
    with c.graph() as tf:
        n = tf.placeholder(tf.int32, [], name="n")
        ramp = tf.cast(tf.range(n) % 7, tf.float32)
        left = tf.expand_dims(ramp, 1) * tf.ones(tf.stack([1, n]))
        product = tf.matmul(left, left, transpose_b=True)
        want = tf.expand_dims(ramp, 1) * tf.expand_dims(ramp, 0) * tf.cast(n, tf.float32)
        tf.reduce_all(tf.equal(product, want), name="right")
    s = c.open()
    for size in (257, 300):
        s.run(["right:0"], {"n:0": i32(size)}, values=[np.True_])
    s.close()


@engine_case(
    _FED,
    title="Strings of a thousand and of five thousand bytes are fed and fetched whole.",
)
def strings_of_thousands_of_bytes_are_whole(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.string, name="x")
        tf.identity(x, name="same")
        tf.strings.length(x, name="length")
    value = np.array([b"a\0" * 500, b"", bytes(range(256)) * 20], dtype=object)
    s = c.open()
    s.run(["same:0", "length:0"], {"x:0": value}, values=[value, i32([1000, 0, 5120])])
    s.close()


@engine_case(_MANY, title="A run has four hundred fetches, each with its own value.")
def hundreds_of_fetches_have_their_values(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = tf.placeholder(tf.int32, [400], name="x")
        tf.unstack(x, name="part")
    s = c.open()
    value = np.arange(400, dtype=np.int32) ** 2
    s.run([f"part:{i}" for i in reversed(range(400))], {"x:0": value}, values=list(value[::-1]))
    s.close()


@engine_case(_MANY, title="A run has a hundred feeds, each at its own place.")
def a_hundred_feeds_have_their_places(c: EngineAuthor) -> None:
    with c.graph() as tf:
        fed = [tf.placeholder(tf.int32, [], name=f"p{i}") for i in range(100)]
        tf.stack(fed, name="all")
    s = c.open()
    feeds = {f"p{i}:0": i32(i * i) for i in range(100)}
    s.run(["all:0"], feeds, values=[np.arange(100, dtype=np.int32) ** 2])
    s.close()
