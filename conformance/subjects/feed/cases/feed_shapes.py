"""Vectors of FEED: the shapes that a placeholder takes and those that it refuses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.run.cases.run import counter, floats
from sessrun.spec.cases.namespace import Namespace

#: The code of a ValueError, which a native engine gives as INVALID_ARGUMENT.
_REFUSED = [3]


def _ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def _echo(tf: Namespace, shape: Sequence[int | None] | None, name: str = "p") -> None:
    """Build a float32 placeholder NAME and its negation minus_NAME."""
    tf.negative(tf.placeholder(tf.float32, shape, name=name), name=f"minus_{name}")


@engine_case("FEED-021", title="A known dimension takes no other size.")
def a_known_dimension_takes_its_size_only(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echo(tf, [4])
        _echo(tf, [3, 2], "q")
    s = c.open()
    for size in (3, 5, 2, 0, 8):
        s.run(["minus_p:0"], {"p:0": _ones(size)}, error=_REFUSED)
    s.run(["minus_p:0"], {"p:0": _ones(4)}, values=[-_ones(4)])
    for shape in ((2, 3), (3, 3), (6, 2), (3, 0), (5, 2)):
        s.run(["minus_q:0"], {"q:0": _ones(*shape)}, error=_REFUSED)
    s.run(["minus_q:0"], {"q:0": _ones(3, 2)}, values=[-_ones(3, 2)])


@engine_case("FEED-021", title="A known dimension beside an unknown one takes no other size.")
def a_known_dimension_beside_an_unknown_one(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echo(tf, [None, 3])
    s = c.open()
    s.run(["minus_p:0"], {"p:0": _ones(2, 3)}, values=[-_ones(2, 3)])
    for shape in ((3, 2), (2, 4), (1, 6), (0, 0), (4, 5)):
        s.run(["minus_p:0"], {"p:0": _ones(*shape)}, error=_REFUSED)


@api_case("FEED-021", title="A value of another size is refused with ValueError.")
def another_size_is_a_value_error(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [3], name="p")
    y = tf.negative(p)
    sess = tf.Session()
    c.raises("ValueError", lambda: sess.run(y, {p: [1, 2]}))
    c.raises("ValueError", lambda: sess.run(y, {"p:0": [1, 2, 3, 4]}))
    c.check(sess.run(y, {p: [1, 2, 3]}), floats(-1, -2, -3))


@engine_case("FEED-022", title="A value of a higher rank is refused, of as many elements too.")
def a_higher_rank_is_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echo(tf, [4])
        _echo(tf, [], "q")
        _echo(tf, [None], "r")
    s = c.open()
    for shape in ((2, 2), (1, 4), (4, 1), (4, 4)):
        s.run(["minus_p:0"], {"p:0": _ones(*shape)}, error=_REFUSED)
    for value in (_ones(1), _ones(1, 1), _ones(3), _ones(0)):
        s.run(["minus_q:0"], {"q:0": value}, error=_REFUSED)
    for value in (_ones(2, 3), _ones(1, 1), _ones(0, 0)):
        s.run(["minus_r:0"], {"r:0": value}, error=_REFUSED)
    s.run(["minus_q:0"], {"q:0": np.float32(2)}, values=[np.float32(-2)])


@engine_case("FEED-022", title="A value of a lower rank is refused, of as many elements too.")
def a_lower_rank_is_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echo(tf, [2, 2])
        _echo(tf, [None, None], "q")
    s = c.open()
    s.run(["minus_p:0"], {"p:0": _ones(4)}, error=_REFUSED)
    s.run(["minus_q:0"], {"q:0": _ones(4)}, error=_REFUSED)
    s.run(["minus_q:0"], {"q:0": np.float32(4)}, error=_REFUSED)
    s.run(["minus_q:0"], {"q:0": _ones(1, 4)}, values=[-_ones(1, 4)])


@api_case("FEED-022", title="A value of another rank is refused with ValueError.")
def another_rank_is_a_value_error(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [None, 2], name="p")
    y = tf.negative(p)
    sess = tf.Session()
    c.raises("ValueError", lambda: sess.run(y, {p: [1, 2]}))
    c.raises("ValueError", lambda: sess.run(y, {p: [[[1, 2]]]}))
    c.check(sess.run(y, {p: [[1, 2]]}), floats(-1, -2).reshape(1, 2))


@engine_case("FEED-023", title="A value is not broadcast to the placeholder's shape.")
def values_are_not_broadcast(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echo(tf, [2])
        _echo(tf, [2, 3], "q")
    s = c.open()
    s.run(["minus_p:0"], {"p:0": np.float32(1)}, error=_REFUSED)
    s.run(["minus_p:0"], {"p:0": _ones(1)}, error=_REFUSED)
    for shape in ((), (1,), (3,), (1, 3), (2, 1), (1, 1)):
        s.run(["minus_q:0"], {"q:0": _ones(*shape)}, error=_REFUSED)
    s.run(["minus_q:0"], {"q:0": _ones(2, 3)}, values=[-_ones(2, 3)])


@api_case("FEED-023", title="A number for a vector is refused with ValueError.")
def a_number_for_a_vector_is_a_value_error(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32, [3], name="p")
    y = tf.negative(p)
    sess = tf.Session()
    c.raises("ValueError", lambda: sess.run(y, {p: 1.0}))
    c.raises("ValueError", lambda: sess.run(y, {p: [1.0]}))
    c.check(sess.run(y, {p: [1.0, 1.0, 1.0]}), floats(-1, -1, -1))


@engine_case("FEED-024", title="An unknown dimension takes every size.")
def an_unknown_dimension_takes_every_size(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echo(tf, [None])
        _echo(tf, [None, 3], "q")
        _echo(tf, [None, None], "r")
    s = c.open()
    for size in (1, 0, 7, 300):
        s.run(["minus_p:0"], {"p:0": _ones(size)}, values=[-_ones(size)])
        s.run(["minus_q:0"], {"q:0": _ones(size, 3)}, values=[-_ones(size, 3)])
    for shape in ((0, 0), (0, 5), (5, 0), (2, 3)):
        s.run(["minus_r:0"], {"r:0": _ones(*shape)}, values=[-_ones(*shape)])


@engine_case("FEED-025", title="A placeholder of unknown rank takes values of every rank.")
def an_unknown_rank_takes_every_rank(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echo(tf, None)
    s = c.open()
    for shape in ((), (2,), (2, 1), (1, 0, 3), (1, 2, 1, 2), (1, 1, 2, 1, 1), (1, 2, 1, 1, 1, 1)):
        s.run(["minus_p:0"], {"p:0": _ones(*shape)}, values=[-_ones(*shape)])


@api_case("FEED-025", title="A placeholder without a shape takes lists of every depth.")
def a_placeholder_without_a_shape_takes_every_depth(c: ApiAuthor) -> None:
    tf = c.tf
    p = tf.placeholder(tf.float32)
    y = tf.negative(p)
    sess = tf.Session()
    value: Recordable = 1.0
    for depth in range(7):
        c.check(sess.run(y, {p: value}), -_ones(*[1] * depth) if depth else np.float32(-1))
        value = [value]


@engine_case("FEED-026", title="A value of a wrong shape leaves the state as it was.")
def a_wrong_shape_changes_nothing(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _echo(tf, [2])
        _echo(tf, [None, 2], "q")
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["bump:0", "minus_p:0"], {"p:0": _ones(5)}, error=_REFUSED)
    s.run(["bump", "minus_p:0"], {"p:0": _ones(2, 2)}, error=_REFUSED)
    feeds = {"p:0": _ones(2), "q:0": _ones(2, 3)}
    s.run(["bump:0", "minus_p:0", "minus_q:0"], feeds, error=_REFUSED)
    s.run(["minus_q:0", "bump"], {"q:0": _ones(2)}, error=_REFUSED)
    s.run(["counter:0"], values=[np.int32(0)])
    s.run(["bump", "minus_p:0"], {"p:0": _ones(2)}, values=[None, -_ones(2)])
    s.run(["counter:0"], values=[np.int32(1)])
