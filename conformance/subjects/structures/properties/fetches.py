"""Structures of fetches and feeds: each case has one theme, and names the clause that it is about.

All runs of a case are those of one session, so that an engine that remembers anything of a run by
its leaves, by the identity of a structure or by its equality gives the wrong structure here.
"""

from __future__ import annotations

import collections
import functools
import random
from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable, form
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    Symbol,
    as_array,
    keep,
    same_as,
)
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.structures.arranging import (
    FACTORIES,
    Leaf,
    Part,
    arranged,
    constant_leaves,
    instance_of,
    joined,
    mapping_of,
)
from sessrun.conformance.subjects.structures.properties import feeds as feed_properties
from sessrun.spec.cases.model import Case

__all__ = ["feed_properties"]

#: The clause and the title of each theme.
_THEMES: Final = {
    "reuse": ("FETCH-055", "Each run gives the structure of its own fetches."),
    "mutation": ("FETCH-042", "A structure that was changed is fetched as it is then."),
    "order": ("FETCH-036", "The keys of a dict come back in the order they had."),
    "operations": ("FETCH-040", "An Operation in a structure has None at its place."),
    "factories": ("FETCH-051", "A defaultdict comes back with its default factory."),
    "lists": ("FETCH-052", "An object of a class derived from list comes back as a list."),
    "mappings": ("FETCH-053", "A mapping of another class comes back as one of that class."),
    "dataclasses": ("FETCH-054", "An object of a dataclass is no fetch."),
    "repetition": ("FETCH-056", "A stateful tensor has one value at all its places."),
    "sparse": ("SPARSE-002", "A SparseTensor in a structure has its value at its place."),
    "slices": ("FETCH-045", "IndexedSlices in a structure have their value at their place."),
    "callables": ("CALLABLES-007", "A callable keeps the list that it was made for."),
}


def _fed_leaf(c: ApiAuthor) -> tuple[Symbol, Symbol]:
    """A placeholder, and a tensor that is twice what is fed."""
    p = c.tf.placeholder(c.tf.float32, [2], name="p")
    return p, p * 2.0


def _reuse(c: ApiAuthor, draw: random.Random) -> None:
    """Structures of the same leaves in the same order, run in turns; one leaf changes its value."""
    leaves = constant_leaves(c, draw, draw.randint(1, 4))
    p, doubled = _fed_leaf(c)
    position = draw.randint(0, len(leaves))
    sess = c.tf.Session()
    seed = draw.random()
    seeds = [seed, *(draw.random() for _ in range(3))]
    for index in range(draw.randint(5, 7)):
        fed = np.array([index, -index], np.float32)
        now = [*leaves[:position], Leaf(doubled, fed * 2), *leaves[position:]]
        part = arranged(random.Random(draw.choice(seeds)), now)
        c.check(sess.run(part.fetch, {p: fed}), part.want)
    sess.close()


def _mutation(c: ApiAuthor, draw: random.Random) -> None:
    """A list inside of another container, which grows, shrinks and turns round between runs."""
    leaves = constant_leaves(c, draw, 4)
    sess = c.tf.Session()
    chosen = draw.choices(leaves, k=2)
    inner = c.expr("$list", [leaf.fetch for leaf in chosen])
    outer = draw.choice(("list", "tuple", "dict", "none"))
    for _ in range(draw.randint(3, 6)):
        want = [leaf.value for leaf in chosen]
        part = Part(inner, want)
        if outer != "none":
            part = joined(draw, outer, [part])
        c.check(sess.run(part.fetch), part.want)
        leaf, at = draw.choice(leaves), draw.randint(0, len(chosen))
        match draw.randrange(4):
            case 0:
                inner.insert(at, leaf.fetch)
                chosen.insert(at, leaf)
            case 1 if chosen:
                inner.pop()
                chosen.pop()
            case 2:
                inner.reverse()
                chosen.reverse()
            case _:
                inner.append(leaf.fetch)
                chosen.append(leaf)
    sess.close()


def _order(c: ApiAuthor, draw: random.Random) -> None:
    """Dicts of the same keys and leaves, the keys in another order each time."""
    leaves = constant_leaves(c, draw, 3)
    keys = draw.sample(("z", "a", "m", "aa", "B", "0"), 3)
    held = dict(zip(keys, leaves, strict=True))
    sess = c.tf.Session()
    for _ in range(draw.randint(3, 5)):
        order = draw.sample(keys, 3)
        fetches = {key: held[key].fetch for key in order}
        want = {key: held[key].value for key in order}
        part = Part(fetches, want)
        if draw.random() < 0.5:
            part = joined(draw, draw.choice(("list", "tuple", "named")), [part])
        c.check(sess.run(part.fetch), part.want)
    sess.close()


def _operations(c: ApiAuthor, draw: random.Random) -> None:
    """Operations by object and by name beside tensors, some of the same operation."""
    constants = [c.tf.constant(np.int32(number), name=f"n{number}") for number in range(2)]
    nothing = c.tf.no_op(name="nothing")
    leaves = [
        Leaf(nothing, None),
        Leaf("nothing", None),
        Leaf(constants[0].op, None),
        Leaf("n1", None),
        Leaf("n1:0", as_array(np.int32(1))),
        Leaf(constants[0], as_array(np.int32(0))),
    ]
    sess = c.tf.Session()
    for _ in range(draw.randint(3, 5)):
        part = arranged(draw, draw.choices(leaves, k=draw.randint(2, 5)))
        c.check(sess.run(part.fetch), part.want)
    sess.close()


def _factories(c: ApiAuthor, draw: random.Random) -> None:
    """Defaultdicts of several factories, alone and inside of other containers."""
    leaves = constant_leaves(c, draw, 3)
    sess = c.tf.Session()
    for factory in draw.sample(FACTORIES, draw.randint(2, 4)):
        parts = {key: arranged(draw, [leaf], 3) for key, leaf in zip("zab", leaves, strict=True)}
        some = dict(draw.sample(list(parts.items()), draw.randint(0, 3)))
        part = mapping_of("defaultdict", some, factory)
        given = c.do({"$list": [form(part.fetch)]})
        got = sess.run(given)
        c.check(got[0], part.want)
        c.check(c.expr("$type", got[0]), "defaultdict")
        c.check_same(got[0].default_factory, given[0].default_factory)
        if factory is not None:
            c.check(got[0]["missing"], {"list": [], "int": 0, "dict": {}, "str": ""}[factory])
    sess.close()


def _lists(c: ApiAuthor, draw: random.Random) -> None:
    """Objects of a class derived from list, alone and inside of other containers."""
    leaves = constant_leaves(c, draw, 3)
    sess = c.tf.Session()
    for _ in range(3):
        some = draw.choices(leaves, k=draw.randint(0, 3))
        derived = instance_of("list_subclass", [leaf.fetch for leaf in some])
        part = Part(derived, [leaf.value for leaf in some])
        if draw.random() < 0.6:
            part = joined(draw, draw.choice(("list", "tuple", "dict")), [part])
        c.check(sess.run(part.fetch), part.want)
    sess.close()


def _mappings(c: ApiAuthor, draw: random.Random) -> None:
    """Mappings of derived and of other classes, whose class shows in the value."""
    leaves = constant_leaves(c, draw, 3)
    sess = c.tf.Session()
    for _ in range(3):
        name = draw.choice(("dict_subclass", "user_dict"))
        some = draw.sample(list(zip("zab", leaves, strict=True)), draw.randint(0, 3))
        part = mapping_of(name, {key: Part(leaf.fetch, leaf.value) for key, leaf in some})
        cls = {"dict_subclass": "DerivedDict", "user_dict": "UserDict"}[name]
        got = sess.run(part.fetch) if draw.random() < 0.5 else sess.run([part.fetch])[0]
        c.check(got, part.want)
        c.check(c.expr("$type", got), cls)
    sess.close()


def _dataclasses(c: ApiAuthor, draw: random.Random) -> None:
    """An object of a dataclass, alone or inside, is refused, and other runs go on."""
    leaves = constant_leaves(c, draw, 2)
    record = instance_of("dataclass", leaves[0].fetch, leaves[1].fetch)
    sess = c.tf.Session()
    for _ in range(2):
        part = Part(record, None)
        for _ in range(draw.randint(0, 2)):
            part = joined(draw, draw.choice(("list", "tuple", "dict")), [part])
        c.raises("TypeError", functools.partial(sess.run, part.fetch))
        part = arranged(draw, leaves)
        c.check(sess.run(part.fetch), part.want)
    sess.close()


def _repetition(c: ApiAuthor, draw: random.Random) -> None:
    """A random tensor, and one that counts, at several places by object and by name."""
    drawn = c.tf.identity(c.tf.random_uniform([2]), name="drawn")
    variable = c.tf.Variable(np.int32(0), name="count", use_resource=draw.random() < 0.5)
    count = c.tf.assign_add(variable, np.int32(1), name="counted")
    sess = c.tf.Session()
    sess.run(variable.initializer)
    for turn in range(1, draw.randint(3, 4)):
        places = draw.randint(2, 4)
        ways: list[Recordable] = [drawn, "drawn:0"]
        leaves = [Leaf(draw.choice(ways), keep(f"drawn{turn}"))]
        leaves += [Leaf(draw.choice(ways), same_as(f"drawn{turn}")) for _ in range(places)]
        for _ in range(places):
            leaves.insert(draw.randint(0, len(leaves)), Leaf(count, as_array(np.int32(turn))))
        part = arranged(draw, leaves)
        c.check(sess.run(part.fetch), part.want)
    sess.close()


def _parts_of(c: ApiAuthor, theme: str) -> tuple[list[Leaf], list[Leaf]]:
    """A composite tensor as a leaf, and its components as others."""
    indices, shape = np.array([[0, 1], [1, 2]], np.int64), np.array([2, 3], np.int64)
    values = np.array([1.5, -2], np.float32)
    components = {"values": c.tf.constant(values), "indices": c.tf.constant(indices)}
    if theme == "sparse":
        whole = c.tf.SparseTensor(components["indices"], components["values"], shape)
        fields = {"indices": indices, "values": values, "dense_shape": shape}
        cls = "SparseTensorValue"
    else:
        rows = c.tf.constant(np.array([4, 0], np.int32))
        whole = c.tf.IndexedSlices(components["values"], rows)
        fields = {"values": values, "indices": np.array([4, 0], np.int32), "dense_shape": None}
        cls = "IndexedSlicesValue"
    make = collections.namedtuple(cls, list(fields))  # type: ignore[misc]  # noqa: PYI024 - TensorFlow's own names
    return [Leaf(whole, make(*fields.values()))], [
        Leaf(components["values"], values),
        Leaf(components["indices"].op, None),
    ]


def _composite(theme: str) -> Callable[[ApiAuthor, random.Random], None]:
    def record(c: ApiAuthor, draw: random.Random) -> None:
        whole, parts = _parts_of(c, theme)
        sess = c.tf.Session()
        for _ in range(draw.randint(2, 4)):
            some = [*whole, *draw.choices([*whole, *parts], k=draw.randint(0, 3))]
            draw.shuffle(some)
            part = arranged(draw, some)
            c.check(sess.run(part.fetch), part.want)
        sess.close()

    return record


def _callables(c: ApiAuthor, draw: random.Random) -> None:
    """A callable made of a list which is changed afterwards, beside one made of it then."""
    leaves = constant_leaves(c, draw, 3)
    sess = c.tf.Session()
    chosen = draw.choices(leaves, k=draw.randint(1, 3))
    fetches = c.expr("$list", [leaf.fetch for leaf in chosen])
    first, before = sess.make_callable(fetches), [leaf.value for leaf in chosen]
    added = draw.choice(leaves)
    fetches.append(added.fetch)
    second = sess.make_callable(fetches)
    fetches.reverse()
    for _ in range(2):
        c.check(first(), before)
        c.check(second(), [*before, added.value])
    sess.close()


_RECORDERS: Final[dict[str, Callable[[ApiAuthor, random.Random], None]]] = {
    "reuse": _reuse,
    "mutation": _mutation,
    "order": _order,
    "operations": _operations,
    "factories": _factories,
    "lists": _lists,
    "mappings": _mappings,
    "dataclasses": _dataclasses,
    "repetition": _repetition,
    "sparse": _composite("sparse"),
    "slices": _composite("slices"),
    "callables": _callables,
}


@prop("structures", *(clause for clause, _ in _THEMES.values()), weight=2)
def structures(draw: random.Random, id_: str) -> Case:
    """Structures of the same leaves in one session come back each as it was passed."""
    theme = draw.choice(("reuse", "reuse", "reuse", *_THEMES))
    clause, title = _THEMES[theme]
    c = ApiAuthor()
    _RECORDERS[theme](c, draw)
    return c.case(id_, title, (clause,))
