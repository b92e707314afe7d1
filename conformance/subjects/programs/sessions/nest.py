"""Programs of `tf.nest`, and of the module of nested structures that it comes from."""

from __future__ import annotations

import collections
import importlib
import types
from typing import NamedTuple

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, described
from sessrun.conformance.subjects.programs.program import Plain

# ruff: noqa: B023 - functions that a loop defines are called in the same iteration

__all__ = ["BEHAVIOURS"]


class Pair(NamedTuple):
    x: Plain
    y: Plain


class Other(NamedTuple):
    x: Plain
    y: Plain


class Attributed:
    """A class with the attribute by which attrs classes are recognized."""

    class _Field:
        def __init__(self, name: str) -> None:
            self.name = name

    __attrs_attrs__ = (_Field("b"), _Field("a"))

    def __init__(self, b, a) -> None:
        self.b, self.a = b, a


Twin = collections.namedtuple("Pair", "x y")  # noqa: PYI024 - the same name and fields as Pair
ORDERED = collections.OrderedDict([("b", 1), ("a", [2])])
NESTS = (
    {"b": 1, "a": 2},
    ORDERED,
    collections.defaultdict(int, {"q": 1}),
    Pair(1, (2,)),
    [1, [2, (3,)]],
    [1, "ab", b"c"],
    (),
    [],
    {},
    3,
    None,
    "text",
    [[], ()],
    collections.deque([1, [2]]),
    {1: 1, "a": 2},
    types.MappingProxyType({"b": 1, "a": 2}),
    collections.UserList([1]),
    np.ones(2),
    {1, 2},
    [None, [None]],
)


def _module(tf):
    if tf.__name__.startswith("sessrun"):
        return importlib.import_module("sessrun.reference.python.util.nest")
    return importlib.import_module("tensorflow.python.util.nest")


def _shown(structure):
    """A structure as plain data with the names of its classes."""
    if isinstance(structure, Attributed):
        return ["Attributed", _shown(structure.b), _shown(structure.a)]
    if isinstance(structure, collections.abc.Mapping):
        pairs = [[key, _shown(part)] for key, part in structure.items()]
        return [type(structure).__name__, *pairs]
    if isinstance(structure, list | tuple | collections.deque):
        return [type(structure).__name__, *map(_shown, structure)]
    return described(structure)


def _kinds(tf):
    nest = _module(tf)
    values = (
        *NESTS,
        Attributed(1, 2),
        {}.values(),
        {}.items(),
        range(2),
        tf.TensorShape([1]),
        tf.constant([1]),
        bytearray(b"a"),
        set(),
        tf.float32,
        iter([1]),
        tf.SparseTensor([[0]], [1.0], [2]),
    )
    return [
        attempt(*(lambda value=value, ask=ask: ask(value) for value in values))
        for ask in (
            tf.nest.is_nested,
            nest.is_nested_or_composite,
            nest.is_mapping,
            nest.is_attrs,
            nest.is_namedtuple,
        )
    ], attempt(
        lambda: nest.same_namedtuples(Pair(1, 2), Twin(1, 2)),
        lambda: nest.same_namedtuples(Pair(1, 2), Other(1, 2)),
    )


def _leaves(tf):
    nest = tf.nest
    values = (*NESTS, Attributed([1], 2), {"b": 2, "a": [1]}.values(), range(2))
    return [
        attempt(
            lambda: _shown(nest.flatten(value)),
            lambda: _shown(nest.map_structure(lambda leaf: [leaf], value)),
            lambda: _shown(nest.pack_sequence_as(value, ["x"])),
            lambda: _shown(nest.pack_sequence_as(value, ["x", "y"])),
            lambda: _shown(nest.pack_sequence_as(value, ("x", "y", "z"))),
            lambda: _shown(nest.pack_sequence_as(value, [])),
        )
        for value in values
    ], attempt(
        lambda: nest.pack_sequence_as([1, 2], 3),
        lambda: nest.pack_sequence_as([1, 2], "ab"),
        lambda: nest.pack_sequence_as([1, 2], iter([1, 2])),
        lambda: nest.pack_sequence_as([1, 2], np.arange(2)),
        lambda: nest.flatten(),
        lambda: nest.map_structure(lambda x: x),
        lambda: nest.map_structure(3, [1]),
        lambda: nest.map_structure(lambda x: x, [1], nope=2),
        lambda: nest.map_structure(lambda *x: sum(x), [1, (2,)], [3, (4,)], [5, (6,)]),
        lambda: nest.map_structure(lambda *x: sum(x), {"a": 1}, ORDERED),
        lambda: nest.map_structure(lambda *x: sum(x), [1], (2,), check_types=False),
        lambda: nest.map_structure(lambda *x: sum(x), [1], (2,)),
        lambda: nest.map_structure(lambda *x: sum(x), [1], [2, 3]),
    )


def _same(tf):
    pairs = (
        ([1, 2], [1]),
        ([1], [1, 2]),
        ([1, 2], (1, 2)),
        (Pair(1, 2), Other(1, 2)),
        (Pair(1, 2), Twin(1, 2)),
        (Pair(1, 2), (1, 2)),
        ({"a": 1}, {"b": 1}),
        ({"a": 1, "b": 2}, {"a": 1}),
        ([1, [2]], [[1], 2]),
        (1, [1]),
        ([], 1),
        ({"a": 1}, collections.OrderedDict(a=2)),
        ([1], {0: 1}),
        (1, 2),
        ("ab", [1, 2]),
        ([[1], 2], [[1, 2], 2]),
        ({"a": [1]}, {"a": (1,)}),
        (Attributed(1, 2), Attributed(3, 4)),
        (Attributed(1, 2), Attributed([3], 4)),
        (collections.deque([1]), [1]),
        ((), []),
        ({"a": 1}, collections.defaultdict(int, a=1)),
        ([None], [1]),
        ({"a": 1}, [1]),
    )
    return [
        attempt(
            lambda: tf.nest.assert_same_structure(one, other),
            lambda: tf.nest.assert_same_structure(one, other, check_types=False),
        )
        for one, other in pairs
    ]


def _composites(tf):
    nest = _module(tf)
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    other = tf.SparseTensor([[1]], [2.0], [3])
    integers = tf.SparseTensor([[0]], [1], [2])
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
    shaped = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1]))
    both = {"s": sparse, "i": [slices, shaped]}

    def same(one, two):
        return tf.nest.assert_same_structure(one, two, expand_composites=True)

    return attempt(
        lambda: tf.nest.flatten(both),
        lambda: tf.nest.flatten(both, expand_composites=True),
        lambda: tf.nest.pack_sequence_as(both, tf.nest.flatten(both, True), True),
        lambda: tf.nest.pack_sequence_as(both, tf.nest.flatten(both)),
        lambda: tf.nest.map_structure(tf.identity, both, expand_composites=True),
        lambda: tf.nest.map_structure(lambda leaf: leaf, sparse),
        lambda: same(sparse, other),
        lambda: same(sparse, integers),
        lambda: same(sparse, slices),
        lambda: same(sparse, 1),
        lambda: same([slices], [slices]),
        lambda: tf.nest.assert_same_structure(sparse, 1),
        lambda: nest.flatten_with_tuple_paths(both, expand_composites=True),
        lambda: nest.flatten_with_joined_string_paths(both),
        lambda: nest.assert_shallow_structure(sparse, other, expand_composites=True),
        lambda: nest.assert_shallow_structure(sparse, integers, expand_composites=True),
        lambda: nest.flatten_up_to([1], [sparse]),
        lambda: nest.flatten_up_to([1], sparse),
        lambda: nest.flatten_up_to([1], [sparse], expand_composites=True),
    )


def _up_to(tf):
    nest = _module(tf)
    pairs = (
        ([1, [2]], [[1, 2], [[3]]]),
        ([1, [2]], [[1, 2]]),
        ([1, [2]], [[1, 2], 3]),
        ([1], (1,)),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"b": 1, "a": 2}),
        (1, [2]),
        ([1], 2),
        ([1], "a"),
        ({"b": 1, "a": 2}, {"a": [1], "b": [3]}),
        ({"a": 1}, collections.OrderedDict(a=[5])),
        (Pair(1, 2), Other(1, 2)),
        (Pair(1, 2), Twin([1], 2)),
        (Pair(1, 2), (1, 2)),
        ((1, 2), Pair(1, [2])),
        ([[1], 2], [[[1]], 3]),
        (Attributed(1, 2), Attributed([3], 4)),
        ({"a": [1]}, {"a": (1,)}),
        ([], []),
        ([], [1]),
        ({"a": 1}, [1]),
    )
    return [
        attempt(
            lambda: _shown(nest.flatten_up_to(shallow, deep)),
            lambda: _shown(nest.flatten_up_to(shallow, deep, check_types=False)),
            lambda: nest.assert_shallow_structure(shallow, deep),
            lambda: _shown(nest.flatten_with_tuple_paths_up_to(shallow, deep)),
            lambda: _shown(nest.map_structure_up_to(shallow, lambda *x: x, deep, deep)),
        )
        for shallow, deep in pairs
    ], attempt(
        lambda: nest.map_structure_up_to([1], len),
        lambda: nest.map_structure_up_to([1], 3, [1]),
        lambda: nest.map_structure_up_to([1], len, [1], nope=3),
        lambda: _shown(nest.map_structure_up_to([1, [2]], lambda *x: x, [[1], ["c"]], [5, ["b"]])),
        lambda: nest.map_structure_up_to([1], lambda *x: x, ([1],), check_types=False),
        lambda: nest.map_structure_with_tuple_paths_up_to([1], lambda *x: x, [[1]]),
    )


def _paths(tf):
    nest = _module(tf)
    deep = {"b": [1, {"c": 2}], "a": Pair(3, (4,)), "e": []}

    def traversed(wanted, structure):
        return _shown(nest.get_traverse_shallow_structure(wanted, structure))

    return attempt(
        lambda: nest.flatten_with_joined_string_paths(deep),
        lambda: nest.flatten_with_joined_string_paths(deep, "."),
        lambda: nest.flatten_with_joined_string_paths(3),
        lambda: list(nest.yield_flat_paths(deep)),
        lambda: nest.flatten_with_tuple_paths(Attributed(1, [2])),
        lambda: _shown(nest.map_structure_with_paths(lambda *x: x, deep, deep)),
        lambda: _shown(nest.map_structure_with_tuple_paths(lambda *x: x, [1, [2]], [3, [4]])),
        lambda: nest.map_structure_with_paths(lambda *x: x),
        lambda: nest.map_structure_with_paths(lambda *x: x, [1], [1, 2]),
        lambda: nest.map_structure_with_paths(3, [1]),
        lambda: nest.map_structure_with_paths(lambda *x: x, [1], (1,)),
        lambda: nest.map_structure_with_paths(lambda *x: x, [1], (1,), check_types=False),
        lambda: traversed(lambda part: isinstance(part, list), [1, (2, 3), [4]]),
        lambda: traversed(lambda _: False, [1]),
        lambda: traversed(lambda _: True, 3),
        lambda: traversed(lambda _: True, {"a": (1, [2])}),
        lambda: traversed(lambda _: 3, [1]),
        lambda: traversed(lambda _: [3], [1]),
        lambda: traversed(lambda _: [True], [1, 2]),
        lambda: traversed(lambda _: {}, (1,)),
        lambda: traversed(lambda _: 3, 1),
        lambda: traversed(lambda part: [True, False] if part else False, [(), (2,)]),
        lambda: _shown(nest.list_to_tuple([1, [2, (3, [])], {"a": [4]}])),
        lambda: nest.flatten_dict_items({(4, 5, (6, 8)): ("a", "b", ("c", "d")), 1: (1, 2)}),
        lambda: nest.flatten_dict_items({(1, 2): (1,)}),
        lambda: nest.flatten_dict_items([1]),
        lambda: nest.flatten_dict_items({(1, 1): (1, 2)}),
        lambda: nest.flatten_dict_items({(1, 2): (3, 4), 2: 5}),
        lambda: nest.flatten_dict_items(collections.OrderedDict({(2, 1): (3, 4)})),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_kinds, _leaves, _same, _composites, _up_to, _paths)
}
