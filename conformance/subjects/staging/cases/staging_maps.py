"""Vectors of STAGING: maps, whose elements stand under keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.tables.graphs import Items, array
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace

#: Time for a run to begin to wait; the right answer does not depend on it.
_GRACE_S: Final = 0.2
#: A staging area holds on to a thread of TensorFlow's while it waits: the session needs others.
_THREADS: Final = {"usePerSessionThreads": True, "interOpParallelismThreads": 4}
_PAIR: Final = ("int32", "float32")
_ORDERS: Final = ("Map", "OrderedMap")


def _build(
    tf: Namespace, name: str, order: str, dtypes: Sequence[str], **options: int | str
) -> None:
    """Build every operation on a map under a name: all components, or the one of an index."""
    raw, kinds = tf.raw_ops, [tf.as_dtype(dtype) for dtype in dtypes]
    attrs = {"shared_name": name, "dtypes": kinds, **options}
    key = tf.placeholder(tf.int64, [], name=f"{name}/key")
    where = tf.placeholder(tf.int32, [None], name=f"{name}/where")
    fed = [tf.placeholder(kind, None, name=f"{name}/v{n}") for n, kind in enumerate(kinds)]

    def build(what: str, **inputs: Argument) -> Argument:
        return getattr(raw, f"{order}{what}")(**inputs, **attrs)

    build("Stage", key=key, indices=where, values=fed, name=f"{name}/put")
    build("Unstage", key=key, indices=where, name=f"{name}/get")
    build("Peek", key=key, indices=where, name=f"{name}/peek")
    build("UnstageNoKey", indices=where, name=f"{name}/any")
    for what, word in (("Size", "size"), ("IncompleteSize", "incomplete"), ("Clear", "clear")):
        build(what, name=f"{name}/{word}")
    for number, kind in enumerate(kinds):
        getattr(raw, f"{order}Stage")(
            key=key, indices=where, values=[fed[number]], name=f"{name}/put{number}", **attrs
        )
        getattr(raw, f"{order}Unstage")(
            key=key, indices=where, name=f"{name}/get{number}", **(attrs | {"dtypes": [kind]})
        )


@dataclass(frozen=True, slots=True)
class _Map:
    """A staged map in a session, with a method for each run on it."""

    s: SessionAuthor
    name: str = "m"
    dtypes: Sequence[str] = _PAIR

    @classmethod
    def only(
        cls,
        c: EngineAuthor,
        order: str = "Map",
        dtypes: Sequence[str] = _PAIR,
        **options: int | str,
    ) -> _Map:
        """The map of a graph that has no other, in a new session."""
        with c.graph() as tf:
            _build(tf, "m", order, dtypes, **options)
        return cls(c.open(config=_THREADS), "m", dtypes)

    def fed(
        self, key: int | None, where: Sequence[int] | None, *values: Items | None
    ) -> dict[str, np.ndarray | np.generic]:
        """The feeds of a run; `where` None stands for the indices of all components."""
        indices = range(len(self.dtypes)) if where is None else where
        feeds: dict[str, np.ndarray | np.generic] = {
            f"{self.name}/where:0": np.array(indices, np.int32)
        }
        if key is not None:
            feeds[f"{self.name}/key:0"] = np.int64(key)
        for number, value in enumerate(values):
            if value is not None:
                feeds[f"{self.name}/v{number}:0"] = array(value, self.dtypes[number])
        return feeds

    def put(self, key: int, *values: Items, error: Sequence[int] | None = None) -> None:
        """Put a whole element in."""
        done = None if error else [None]
        self.s.run([f"{self.name}/put"], self.fed(key, None, *values), values=done, error=error)

    def put_part(
        self,
        key: int,
        number: int,
        value: Items,
        where: Sequence[int] | None = None,
        error: Sequence[int] | None = None,
    ) -> None:
        """Put one component in."""
        values = [None] * number + [value]
        feeds = self.fed(key, [number] if where is None else where, *values)
        done = None if error else [None]
        self.s.run([f"{self.name}/put{number}"], feeds, values=done, error=error)

    def _want(self, values: Sequence[Items]) -> list[np.ndarray]:
        return [array(value, dtype) for value, dtype in zip(values, self.dtypes, strict=True)]

    def get(self, key: int, *want: Items, op: str = "get") -> None:
        """Take the element of a key, or look at it."""
        fetches = [f"{self.name}/{op}:{n}" for n in range(len(want))]
        self.s.run(fetches, self.fed(key, None), values=self._want(want))

    def get_part(
        self,
        key: int,
        number: int,
        want: Items = (),
        where: Sequence[int] | None = None,
        error: Sequence[int] | None = None,
    ) -> None:
        """Take one component of a key."""
        values = None if error else [array(want, self.dtypes[number])]
        feeds = self.fed(key, [number] if where is None else where)
        self.s.run([f"{self.name}/get{number}:0"], feeds, values=values, error=error)

    def get_any(self, key: int, *want: Items) -> None:
        """Take an element, whichever it is."""
        fetches = [f"{self.name}/any:{n}" for n in range(1 + len(want))]
        wanted = [np.int64(key), *self._want(want)]
        self.s.run(fetches, self.fed(None, None), values=wanted)

    def size(self, want: int) -> None:
        """The number of complete elements."""
        self.s.run([f"{self.name}/size:0"], values=[np.int32(want)])

    def incomplete(self, want: int) -> None:
        """The number of the others."""
        self.s.run([f"{self.name}/incomplete:0"], values=[np.int32(want)])

    def clear(self) -> None:
        """Clear it."""
        self.s.run([f"{self.name}/clear"], values=[None])


def _both(c: EngineAuthor, **options: int | str) -> list[_Map]:
    """A map, and an ordered one."""
    with c.graph() as tf:
        for order in _ORDERS:
            _build(tf, order, order, _PAIR, **options)
    s = c.open(config=_THREADS)
    return [_Map(s, order) for order in _ORDERS]


@engine_case("STAGING-012", title="Elements are taken by their keys, in any order.")
def elements_by_their_keys(c: EngineAuthor) -> None:
    for staged in _both(c):
        for key in (4, 4 + 2**32, -1):
            staged.put(key, key % 100, key / 2)
        for key in (-1, 4 + 2**32):
            staged.get(key, key % 100, key / 2)
        staged.size(1)


@engine_case("STAGING-013", title="An element is looked at, and stays.")
def an_element_is_looked_at(c: EngineAuthor) -> None:
    for staged in _both(c):
        staged.put(3, 1, 0.5)
        staged.get(3, 1, 0.5, op="peek")
        staged.size(1)


@engine_case("STAGING-014", title="The element of the smallest key comes first.")
def the_smallest_key_comes_first(c: EngineAuthor) -> None:
    staged = _Map.only(c, "OrderedMap")
    for key in (9, -3, 5):
        staged.put(key, key, 0.5)
    for key in (-3, 5, 9):
        staged.get_any(key, key, 0.5)


@engine_case("STAGING-015", title="The one element comes with its key.")
def one_element_with_its_key(c: EngineAuthor) -> None:
    staged = _Map.only(c)
    for key in (9, -3, 2**40):
        staged.put(key, 7, 0.5)
        staged.get_any(key, 7, 0.5)


@engine_case("STAGING-016", title="Only what is complete is counted.")
def complete_elements_are_counted(c: EngineAuthor) -> None:
    for staged in _both(c):
        staged.size(0)
        staged.put_part(1, 0, 5)
        staged.size(0)
        staged.put(2, 6, 1.5)
        staged.size(1)
        staged.put_part(1, 1, 2.5)
        staged.size(2)


@engine_case("STAGING-017", title="What lacks a component is counted apart.")
def incomplete_elements_are_counted(c: EngineAuthor) -> None:
    for staged in _both(c):
        staged.incomplete(0)
        staged.put_part(1, 0, 5)
        staged.put_part(2, 1, 1.5)
        staged.incomplete(2)
        staged.put_part(1, 1, 2.5)
        staged.incomplete(1)


@engine_case("STAGING-018", title="An element comes in parts, the last one first.")
def an_element_comes_in_parts(c: EngineAuthor) -> None:
    staged = _Map.only(c, "OrderedMap", ("int32", "int32"))
    staged.put_part(1, 1, 5)
    staged.put_part(2, 0, 6)
    staged.put_part(1, 0, 7)
    staged.put_part(2, 1, 8)
    staged.get(1, 7, 5)
    staged.get(2, 6, 8)


@engine_case("STAGING-018", title="An element of a map without order comes in parts.")
def an_element_of_a_map_comes_in_parts(c: EngineAuthor) -> None:
    staged = _Map.only(c, "Map", ("string", "string"))
    staged.put_part(1, 0, "left")
    staged.put_part(1, 1, "right")
    staged.get(1, "left", "right")


@engine_case("STAGING-019", title="A component comes twice.")
def a_component_comes_twice(c: EngineAuthor) -> None:
    for staged in _both(c):
        staged.put_part(1, 0, 5)
        staged.put_part(1, 0, 6, error=[3])
        staged.incomplete(1)


@engine_case("STAGING-026", title="An element is put under a key that has one, whole and in parts.")
def an_element_under_a_key_that_has_one(c: EngineAuthor) -> None:
    for staged in _both(c):
        staged.put(4, 1, 0.5)
        staged.put(4, 2, 1.5)
        staged.size(1)
        staged.get(4, 1, 0.5, op="peek")
        staged.put_part(4, 1, 2.5)
        staged.put_part(4, 0, 3)
        staged.incomplete(0)
        staged.get(4, 1, 0.5)
        staged.size(0)


@engine_case("STAGING-020", title="One component is taken, and the other stays.")
def one_component_is_taken(c: EngineAuthor) -> None:
    for staged in _both(c):
        staged.put(4, 1, 0.5)
        staged.get_part(4, 0, 1)
        staged.size(1)


@engine_case("STAGING-021", title="A component that is gone.")
def a_component_that_is_gone(c: EngineAuthor) -> None:
    for staged in _both(c):
        staged.put(4, 1, 0.5)
        staged.get_part(4, 1, 0.5)
        staged.get_part(4, 1, error=[3])


@engine_case("STAGING-022", title="Indices that no element has.")
def indices_that_no_element_has(c: EngineAuthor) -> None:
    for staged in _both(c):
        for where in ([2], [-1], []):
            staged.put_part(1, 0, 5, where, error=[3])
        staged.put(4, 1, 0.5)
        for where in ([2], [-1], []):
            staged.get_part(4, 0, where=where, error=[3])


@engine_case("STAGING-022", title="Indices that do not rise.")
def indices_that_do_not_rise(c: EngineAuthor) -> None:
    for staged in _both(c):
        for where in ([1, 0], [0, 0]):
            feeds = staged.fed(1, where, 5, 0.5)
            staged.s.run([f"{staged.name}/put"], feeds, error=[3])
        staged.size(0)


@engine_case("STAGING-022", title="A look at indices that no element has, or that do not rise.")
def looks_at_odd_indices(c: EngineAuthor) -> None:
    for staged in _both(c):
        staged.put(4, 1, 0.5)
        for where in ([0, 2], [-1, 0], [], [1, 0], [0, 0]):
            staged.s.run([f"{staged.name}/peek:0"], staged.fed(4, where), error=[3])
        staged.size(1)


@engine_case("STAGING-023", title="A map is cleared, what lacks a component, too.")
def a_map_is_cleared(c: EngineAuthor) -> None:
    for staged in _both(c):
        staged.put(1, 1, 0.5)
        staged.put_part(2, 0, 2)
        staged.clear()
        staged.size(0)
        staged.incomplete(0)


@engine_case("STAGING-024", title="A second element waits for room.")
def a_second_element_waits(c: EngineAuthor) -> None:
    for staged in _both(c, capacity=1):
        staged.put(1, 1, 0.5)
        feeds = staged.fed(2, None, 2, 1.5)
        staged.s.start(staged.name, [f"{staged.name}/put"], feeds, grace_s=_GRACE_S)
        staged.size(1)
        staged.get(1, 1, 0.5)
        c.join(staged.name, values=[None])
        staged.get(2, 2, 1.5)


@engine_case("STAGING-025", title="A run waits until the element of its key is complete.")
def a_get_waits_for_its_key(c: EngineAuthor) -> None:
    for staged in _both(c):
        fetches = [f"{staged.name}/get:{n}" for n in range(2)]
        staged.s.start(staged.name, fetches, staged.fed(7, None), grace_s=_GRACE_S)
        staged.put(6, 1, 0.5)
        staged.put_part(7, 0, 3)
        staged.put_part(7, 1, 1.5)
        c.join(staged.name, values=[np.int32(3), np.float32(1.5)])
        staged.size(1)
