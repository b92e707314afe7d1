"""Vectors of FETCH, FEED and CALLABLES: structures of the same leaves in one session."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    Matcher,
    Symbol,
    api_case,
    as_array,
    form,
    keep,
    same_as,
)
from sessrun.conformance.subjects.fetch.cases.fetch import floats, ints
from sessrun.conformance.subjects.structures.arranging import instance_of

_A, _B = ints([10, 20]), floats([[0.5, 1.5]])


def _two(c: ApiAuthor) -> tuple[Symbol, Symbol, Symbol]:
    """Two tensors, of the values `_A` and `_B`, and a session."""
    return c.tf.constant(_A, name="a"), c.tf.constant(_B, name="b"), c.tf.Session()


def _pairs(**parts: Recordable) -> Matcher:
    """A mapping of these keys and values that is neither a dict nor an OrderedDict."""
    return Matcher({"$mapping": [[key, form(value)] for key, value in parts.items()]})


@api_case("FETCH-051", title="A defaultdict comes back with its default factory.")
def a_defaultdict_keeps_its_factory(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    for factory, missing in (("list", []), ("int", 0), ("dict", {})):
        given = c.expr("$list", [instance_of("defaultdict", factory, {"z": a, "a": b})])
        got = sess.run(given)[0]
        c.check(got, _pairs(z=_A, a=_B))
        c.check_same(got.default_factory, given[0].default_factory)
        c.check(got["missing"], missing)


@api_case("FETCH-051", title="A defaultdict without a factory has none afterwards.")
def a_defaultdict_without_a_factory(c: ApiAuthor) -> None:
    a, _, sess = _two(c)
    inner = instance_of("defaultdict", None, {"k": a})
    got = sess.run(instance_of("defaultdict", "list", {"x": inner}))
    c.check(got, _pairs(x=_pairs(k=_A)))
    c.check(got["x"].default_factory, None)
    c.raises("KeyError", lambda: got["x"]["missing"])
    c.check(got["missing"], [])


@api_case("FETCH-052", title="A list of a class of its own comes back as a list.")
def a_derived_list_comes_back_as_a_list(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    derived = instance_of("list_subclass", [a, b.op])
    c.check(sess.run(derived), [_A, None])
    c.check(sess.run([derived, {"x": instance_of("list_subclass", [])}]), [[_A, None], {"x": []}])


@api_case("FETCH-053", title="A dict of a class of its own and a UserDict keep their classes.")
def derived_mappings_keep_their_class(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    for name, cls in (("dict_subclass", "DerivedDict"), ("user_dict", "UserDict")):
        got = sess.run(instance_of(name, {"z": a, "a": b}))
        c.check(got, _pairs(z=_A, a=_B))
        c.check(c.expr("$type", got), cls)
        got = sess.run([instance_of(name, {"x": {"y": (a, b.op)}})])[0]
        c.check(got, _pairs(x={"y": (_A, None)}))
        c.check(c.expr("$type", got), cls)


@api_case("FETCH-054", title="An object of a dataclass cannot be fetched.")
def a_dataclass_is_type_error(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    record = instance_of("dataclass", a, b)
    c.raises("TypeError", lambda: sess.run(record))
    c.raises("TypeError", lambda: sess.run([a, record]))
    c.raises("TypeError", lambda: sess.run({"x": (record,)}))
    c.check(sess.run([a, b]), [_A, _B])


@api_case("FETCH-055", title="Two leaves in ten structures, in turns.")
def two_leaves_in_many_structures(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    forms: list[Callable[[Recordable, Recordable], Recordable]] = [
        lambda x, y: [x, [y]],
        lambda x, y: [[x], y],
        lambda x, y: [[x, y]],
        lambda x, y: [x, (y,)],
        lambda x, y: ([x], [y]),
        lambda x, y: ([x, y],),
        lambda x, y: {"p": x, "q": y},
        lambda x, y: {"q": x, "p": y},
        lambda x, y: {"p": {"p": x, "q": y}},
        lambda x, y: {"p": [x, y]},
    ]
    for _ in range(2):
        for make in forms:
            c.check(sess.run(make(a, b)), make(_A, _B))


@api_case("FETCH-055", title="Fed leaves in structures of the same shape, with other keys.")
def fed_leaves_in_like_structures(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2])
    y, z = p * 2.0, p + 1.0
    sess = c.tf.Session()
    for number, keys in enumerate((("u", "v"), ("v", "u"), ("u", "w"), ("u", "v"))):
        fed = floats([number, 1])
        want = {keys[0]: [fed * 2, None], keys[1]: (fed + 1,)}
        c.check(sess.run({keys[0]: [y, y.op], keys[1]: (z,)}, {p: fed}), want)


@api_case("FETCH-056", title="A random tensor at four places has one value.")
def a_random_tensor_at_many_places(c: ApiAuthor) -> None:
    drawn = c.tf.identity(c.tf.random_uniform([3]), name="drawn")
    sess = c.tf.Session()
    for turn in range(2):
        name = f"value{turn}"
        c.check(
            sess.run([drawn, ("drawn:0", {"x": drawn}), ["drawn:0"]]),
            [keep(name), (same_as(name), {"x": same_as(name)}), [same_as(name)]],
        )


@api_case("FETCH-056", title="A count at three places counts once.")
def a_count_at_many_places(c: ApiAuthor) -> None:
    for resource in (False, True):
        variable = c.tf.Variable(np.int32(0), use_resource=resource)
        count = c.tf.identity(c.tf.assign_add(variable, np.int32(1)), name=f"count{resource}")
        sess = c.tf.Session()
        sess.run(variable.initializer)
        for turn in (1, 2):
            want = as_array(np.int32(turn))
            fetches = {"x": count, "y": [f"count{resource}:0", (count, count.op)]}
            c.check(sess.run(fetches), {"x": want, "y": [want, (want, None)]})


@api_case("CALLABLES-007", title="A callable keeps the list that it was made for.")
def a_callable_keeps_its_list(c: ApiAuthor) -> None:
    a, b, sess = _two(c)
    fetches = c.expr("$list", [a])
    first = sess.make_callable(fetches)
    fetches.append(b)
    second = sess.make_callable(fetches)
    fetches.pop()
    fetches.pop()
    for _ in range(2):
        c.check(first(), [_A])
        c.check(second(), [_A, _B])


@api_case("FEED-065", title="Feeds in mappings of five classes.")
def feeds_in_mappings_of_any_class(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [2])
    q = c.tf.placeholder(c.tf.int32, [2])
    y, z = p * 2.0, q + 1
    sess = c.tf.Session()
    for name in ("mapping_proxy", "user_dict", "dict_subclass"):
        feeds = instance_of(name, {p: _B[0], q: _A})
        c.check(sess.run([y, z], feeds), [_B[0] * 2, _A + 1])
    feeds = instance_of("defaultdict", "list", {q: _A, (p,): (_B[0],)})
    c.check(sess.run([y, z], feeds), [_B[0] * 2, _A + 1])


@api_case("FEED-066", title="A tensor that stands twice in a feed_dict is a ValueError.")
def a_tensor_fed_twice_is_value_error(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [2])
    q = c.tf.placeholder(c.tf.int32, [2])
    y, z = p + 0, q + 0
    sess = c.tf.Session()
    c.raises("ValueError", lambda: sess.run(y, {(p, p): (_A, _A)}))
    c.raises("ValueError", lambda: sess.run([y, z], {p: _A, (q, p): (_A, _A)}))
    c.raises("ValueError", lambda: sess.run([y, z], {(p, (q, (p,))): (_A, (_A, (_A,)))}))
    c.check(sess.run([y, z], {(p, q): (_A, _A * 2)}), [_A, _A * 2])
