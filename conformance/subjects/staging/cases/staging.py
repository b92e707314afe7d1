"""Vectors of STAGING: areas whose elements stand in a line."""

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
_KINDS: Final[tuple[tuple[tuple[str, ...], list[tuple[Items, ...]]], ...]] = (
    (("int32",), [(1,), (2,), (3,)]),
    (("string", "float32"), [("a", 0.5), ("b", 1.5), ("", 2.5)]),
    (("int64", "bool", "float64"), [(2**40, True, 1.0), (2, False, 2.0), (-3, True, 3.0)]),
)


def _build(tf: Namespace, name: str, dtypes: Sequence[str], **options: int | str) -> None:
    """Build every operation on an area under a name, and what they are fed."""
    raw, kinds = tf.raw_ops, [tf.as_dtype(dtype) for dtype in dtypes]
    attrs: dict[str, Argument] = {"shared_name": name, **options}
    fed = [tf.placeholder(kind, None, name=f"{name}/v{n}") for n, kind in enumerate(kinds)]
    index = tf.placeholder(tf.int32, [], name=f"{name}/place")
    raw.Stage(values=fed, name=f"{name}/put", **attrs)
    attrs["dtypes"] = kinds
    raw.Unstage(name=f"{name}/get", **attrs)
    raw.StagePeek(index=index, name=f"{name}/peek", **attrs)
    raw.StageSize(name=f"{name}/size", **attrs)
    raw.StageClear(name=f"{name}/clear", **attrs)


@dataclass(frozen=True, slots=True)
class _Area:
    """A staging area in a session, with a method for each run on it."""

    s: SessionAuthor
    name: str = "a"
    dtypes: Sequence[str] = ("int32",)

    @classmethod
    def only(cls, c: EngineAuthor, *dtypes: str, **options: int | str) -> _Area:
        """The area of a graph that has no other, in a new session."""
        dtypes = dtypes or ("int32",)
        with c.graph() as tf:
            _build(tf, "a", dtypes, **options)
        return cls(c.open(config=_THREADS), "a", dtypes)

    def fed(self, values: Sequence[Items]) -> dict[str, np.ndarray]:
        """The components as feeds."""
        pairs = zip(values, self.dtypes, strict=True)
        return {
            f"{self.name}/v{n}:0": array(value, dtype) for n, (value, dtype) in enumerate(pairs)
        }

    def put(self, *values: Items, error: Sequence[int] | None = None) -> None:
        """Put an element in."""
        done = None if error else [None]
        self.s.run([f"{self.name}/put"], self.fed(values), values=done, error=error)

    def put_in_thread(self, thread: str, *values: Items) -> None:
        """Put an element in, in a thread of its own."""
        self.s.start(thread, [f"{self.name}/put"], self.fed(values), grace_s=_GRACE_S)

    def _want(self, values: Sequence[Items]) -> list[np.ndarray]:
        return [array(value, dtype) for value, dtype in zip(values, self.dtypes, strict=True)]

    def get(self, *want: Items) -> None:
        """Take the first element."""
        self.s.run([f"{self.name}/get:{n}" for n in range(len(want))], values=self._want(want))

    def peek(self, index: int, *want: Items) -> None:
        """The element at a place."""
        fetches = [f"{self.name}/peek:{n}" for n in range(len(want))]
        self.s.run(fetches, {f"{self.name}/place:0": np.int32(index)}, values=self._want(want))

    def size(self, want: int) -> None:
        """The size."""
        self.s.run([f"{self.name}/size:0"], values=[np.int32(want)])

    def clear(self) -> None:
        """Clear it."""
        self.s.run([f"{self.name}/clear"], values=[None])


def _areas(c: EngineAuthor, **options: int | str) -> list[tuple[_Area, list[tuple[Items, ...]]]]:
    """An area of each kind, and three elements."""
    with c.graph() as tf:
        for number, (dtypes, _) in enumerate(_KINDS):
            _build(tf, f"a{number}", dtypes, **options)
    s = c.open()
    return [(_Area(s, f"a{n}", dtypes), elements) for n, (dtypes, elements) in enumerate(_KINDS)]


@engine_case("STAGING-001", title="Three elements go in and come out in one order.")
def elements_in_order(c: EngineAuthor) -> None:
    for area, elements in _areas(c):
        for element in elements:
            area.put(*element)
        for element in elements:
            area.get(*element)


@engine_case("STAGING-001", title="Elements of any shape.")
def elements_of_any_shape(c: EngineAuthor) -> None:
    area = _Area.only(c, "int32", "string")
    area.put([[1, 2], [3, 4]], "x")
    area.put([], ["y", "z"])
    area.get([[1, 2], [3, 4]], "x")
    area.get([], ["y", "z"])


@engine_case("STAGING-002", title="The size goes from 0 to 3, and to 2.")
def the_size_of_an_area(c: EngineAuthor) -> None:
    for area, elements in _areas(c):
        area.size(0)
        for number, element in enumerate(elements):
            area.put(*element)
            area.size(number + 1)
        area.get(*elements[0])
        area.size(2)


@engine_case("STAGING-003", title="Elements are looked at, and stay.")
def elements_are_looked_at(c: EngineAuthor) -> None:
    for area, elements in _areas(c):
        for element in elements:
            area.put(*element)
        for index in (2, 0, 1, 0):
            area.peek(index, *elements[index])


@engine_case("STAGING-003", title="What was looked at is taken.")
def what_was_looked_at_is_taken(c: EngineAuthor) -> None:
    area = _Area.only(c)
    area.put(4)
    area.put(5)
    area.peek(0, 4)
    area.get(4)


@engine_case("STAGING-004", title="An area is cleared, and begins anew.")
def an_area_is_cleared(c: EngineAuthor) -> None:
    for area, elements in _areas(c):
        area.put(*elements[0])
        area.put(*elements[1])
        area.clear()
        area.size(0)
        area.put(*elements[2])
        area.get(*elements[2])


@engine_case("STAGING-005", title="A third element waits for room.")
def a_third_element_waits(c: EngineAuthor) -> None:
    area = _Area.only(c, capacity=2)
    area.put(1)
    area.put(2)
    area.put_in_thread("t", 3)
    area.size(2)
    area.get(1)
    c.join("t", values=[None])
    area.size(2)


@engine_case("STAGING-006", title="An element that never fits.")
def an_element_that_never_fits(c: EngineAuthor) -> None:
    area = _Area.only(c, "int32", memory_limit=16)
    area.put([1, 2, 3, 4, 5], error=[8])
    area.put([1, 2, 3, 4])
    area.get([1, 2, 3, 4])


@engine_case("STAGING-006", title="Two components that do not fit together.")
def two_components_that_do_not_fit(c: EngineAuthor) -> None:
    area = _Area.only(c, "float64", "int64", memory_limit=24)
    area.put([1.0, 2.0], [3, 4], error=[8])
    area.size(0)


@engine_case("STAGING-007", title="Bytes wait for room.")
def bytes_wait_for_room(c: EngineAuthor) -> None:
    area = _Area.only(c, "int32", memory_limit=16)
    area.put([1, 2, 3])
    area.put_in_thread("t", [4, 5])
    area.size(1)
    area.get([1, 2, 3])
    c.join("t", values=[None])
    area.get([4, 5])


@engine_case("STAGING-008", title="A run waits for an element.")
def a_get_waits(c: EngineAuthor) -> None:
    area = _Area.only(c)
    area.s.start("t", ["a/get:0"], grace_s=_GRACE_S)
    area.put(7)
    c.join("t", values=[np.int32(7)])
    area.size(0)


@engine_case("STAGING-009", title="Two groups of operations have one area.")
def one_shared_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name in ("a", "b"):
            _build(tf, name, ("int32",), shared_name="both")
    s = c.open()
    _Area(s, "a").put(5)
    _Area(s, "b").size(1)
    _Area(s, "a").size(1)


@engine_case("STAGING-010", title="One shared name in two containers.")
def two_containers(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name in ("a", "b"):
            _build(tf, name, ("int32",), shared_name="one", container=name)
    s = c.open()
    _Area(s, "a").put(5)
    _Area(s, "b").size(0)
    _Area(s, "a").size(1)


@engine_case("STAGING-011", title="Each session of a graph has an area of its own.")
def areas_of_two_sessions(c: EngineAuthor) -> None:
    first = _Area.only(c)
    second = _Area(c.open(session="second", config=_THREADS))
    first.put(1)
    second.size(0)
    second.put(2)
    second.get(2)
    first.size(1)
