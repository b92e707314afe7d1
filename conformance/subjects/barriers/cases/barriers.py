"""Vectors of BARRIERS: elements by key, given once they are complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.tables.graphs import array
from sessrun.spec.cases.namespace import Namespace

#: Time for a run to begin to wait; the right answer does not depend on it.
_GRACE_S: Final = 0.2
_DTYPES: Final = ("float32", "int64")
#: The values of a component: for each key a number, or numbers in nested lists.
Values: TypeAlias = "Sequence[float | Values]"


def _build(
    tf: Namespace, name: str, shapes: Sequence[Sequence[int]] = ((), ()), **options: str
) -> None:
    """Build every operation on a barrier of a float32 and an int64 component under a name."""
    raw, kinds = tf.raw_ops, [tf.as_dtype(dtype) for dtype in _DTYPES]
    handle = raw.Barrier(
        component_types=kinds,
        shapes=[list(shape) for shape in shapes],
        **{"shared_name": name, "name": name, **options},
    )
    keys = tf.placeholder(tf.string, [None], name=f"{name}/keys")
    count = tf.placeholder(tf.int32, [], name=f"{name}/count")
    for number, kind in enumerate(kinds):
        values = tf.placeholder(kind, None, name=f"{name}/v{number}")
        raw.BarrierInsertMany(
            handle=handle,
            keys=keys,
            values=values,
            component_index=number,
            name=f"{name}/put{number}",
        )
    for word, few in (("take", False), ("few", True)):
        raw.BarrierTakeMany(
            handle=handle,
            num_elements=count,
            component_types=kinds,
            allow_small_batch=few,
            name=f"{name}/{word}",
        )
    raw.BarrierReadySize(handle=handle, name=f"{name}/ready")
    raw.BarrierIncompleteSize(handle=handle, name=f"{name}/incomplete")
    raw.BarrierClose(handle=handle, name=f"{name}/close")
    raw.BarrierClose(handle=handle, cancel_pending_enqueues=True, name=f"{name}/cancel")


@dataclass(frozen=True, slots=True)
class _Barrier:
    """A barrier in a session, and the runs on it."""

    s: SessionAuthor
    name: str = "b"

    @classmethod
    def only(
        cls, c: EngineAuthor, shapes: Sequence[Sequence[int]] = ((), ()), **options: str
    ) -> _Barrier:
        """A new session whose graph has one barrier."""
        with c.graph() as tf:
            _build(tf, "b", shapes, **options)
        return cls(c.open())

    def put(
        self,
        number: int,
        keys: Sequence[str],
        values: Values,
        *,
        error: Sequence[int] | None = None,
    ) -> None:
        """Insert one component of some keys."""
        feeds = {
            f"{self.name}/keys:0": array(list(keys), "string"),
            f"{self.name}/v{number}:0": array(values, _DTYPES[number]),
        }
        done = None if error else [None]
        self.s.run([f"{self.name}/put{number}"], feeds, values=done, error=error)

    def both(self, keys: Sequence[str], left: Values, right: Values) -> None:
        """Insert both components of some keys."""
        self.put(0, keys, left)
        self.put(1, keys, right)

    def take(
        self,
        keys: Sequence[str] = (),
        left: Values = (),
        right: Values = (),
        *,
        count: int | None = None,
        op: str = "take",
        error: Sequence[int] | None = None,
    ) -> None:
        """Take elements: their keys and components."""
        want = [array(list(keys), "string"), *map(array, (left, right), _DTYPES)]
        fetches = [f"{self.name}/{op}:{index}" for index in (1, 2, 3)]
        fed = np.int32(len(keys) if count is None else count)
        values = None if error else want
        self.s.run(fetches, {f"{self.name}/count:0": fed}, values=values, error=error)

    def ready(self, want: int) -> None:
        """The number of complete elements."""
        self.s.run([f"{self.name}/ready:0"], values=[np.int32(want)])

    def incomplete(self, want: int) -> None:
        """The number of elements that lack a component."""
        self.s.run([f"{self.name}/incomplete:0"], values=[np.int32(want)])

    def close(self, *, op: str = "close", error: Sequence[int] | None = None) -> None:
        """Close it."""
        self.s.run([f"{self.name}/{op}"], values=None if error else [None], error=error)


@engine_case("BARRIERS-001", title="Components come apart, and go together.")
def components_go_together(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.put(0, ["a"], [1.5])
    barrier.put(1, ["b", "a"], [20, 10])
    barrier.take(["a"], [1.5], [10])
    barrier.put(0, ["b"], [2.5])
    barrier.take(["b"], [2.5], [20])


@engine_case("BARRIERS-001", title="Components that are vectors and matrices.")
def components_of_shapes(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c, ((2,), (1, 2)))
    barrier.both(["x"], [[0.5, 1.5]], [[[7, 8]]])
    barrier.take(["x"], [[0.5, 1.5]], [[[7, 8]]])


@engine_case("BARRIERS-002", title="What is complete is counted.")
def complete_elements_are_counted(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.ready(0)
    barrier.put(0, ["a", "b", "c"], [1, 2, 3])
    barrier.ready(0)
    barrier.put(1, ["c", "a"], [3, 1])
    barrier.ready(2)


@engine_case("BARRIERS-003", title="What lacks a component is counted.")
def incomplete_elements_are_counted(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.incomplete(0)
    barrier.put(0, ["a", "b", "c"], [1, 2, 3])
    barrier.incomplete(3)
    barrier.put(1, ["c"], [3])
    barrier.incomplete(2)


@engine_case("BARRIERS-004", title="Keys that came first go first, however late they are complete.")
def keys_in_their_order(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    for key in "abc":
        barrier.put(0, [key], [ord(key)])
    for key in "cab":
        barrier.put(1, [key], [ord(key)])
    barrier.take("abc", [97, 98, 99], [97, 98, 99])


@engine_case("BARRIERS-005", title="A component comes twice.")
def a_component_comes_twice(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.put(0, ["a"], [1])
    barrier.put(0, ["a"], [2], error=[3])
    barrier.put(1, ["b"], [1])
    barrier.put(1, ["b"], [1], error=[3])
    barrier.incomplete(2)


@engine_case("BARRIERS-006", title="A component is a vector of another size.")
def a_component_of_another_shape(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c, ((2,), ()))
    barrier.put(1, ["a"], [1])
    barrier.put(0, ["a"], [[1, 2, 3]], error=[3])


@engine_case("BARRIERS-007", title="A new key for a closed barrier.")
def a_new_key_for_a_closed_barrier(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.put(0, ["a"], [1])
    barrier.close()
    barrier.put(0, ["b"], [1], error=[1])
    barrier.put(1, ["c", "d"], [1, 2], error=[1])


@engine_case("BARRIERS-008", title="A known key of a closed barrier is completed.")
def a_known_key_of_a_closed_barrier(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.put(0, ["a", "b"], [1, 2])
    barrier.close()
    barrier.put(1, ["b", "a"], [20, 10])
    barrier.ready(2)


@engine_case("BARRIERS-009", title="A known key of a barrier whose close cancelled.")
def a_known_key_of_a_cancelled_barrier(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.put(0, ["a", "b"], [1, 2])
    barrier.close(op="cancel")
    barrier.put(1, ["a"], [1], error=[1])
    barrier.incomplete(0)


@engine_case("BARRIERS-010", title="A barrier is closed twice.")
def a_barrier_is_closed_twice(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.close()
    barrier.close(error=[1])


@engine_case("BARRIERS-010", title="A barrier whose close cancelled is closed again.")
def a_cancelled_barrier_is_closed_again(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.close(op="cancel")
    barrier.close(error=[1])
    barrier.close(op="cancel", error=[1])


@engine_case("BARRIERS-010", title="Closed again while an element is incomplete.")
def closed_again_while_incomplete(c: EngineAuthor) -> None:
    for number, (op, *again) in enumerate((("close", "close"), ("cancel", "close", "cancel"))):
        with c.graph() as tf:
            _build(tf, "b")
        barrier = _Barrier(c.open(session=f"s{number}"))
        barrier.put(0, ["a"], [1])
        barrier.close(op=op)
        for word in again:
            barrier.close(op=word, error=[1])


@engine_case("BARRIERS-011", title="More than a closed barrier has.")
def more_than_a_closed_barrier_has(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.both(["a"], [1], [2])
    barrier.close()
    barrier.take(count=2, error=[11])
    barrier.ready(1)


@engine_case("BARRIERS-012", title="Two of five, since the barrier is closed.")
def two_of_five(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.put(0, ["a"], [1])
    barrier.put(0, ["b"], [2])
    barrier.put(1, ["a", "b"], [3, 4])
    barrier.close()
    barrier.take(["a", "b"], [1, 2], [3, 4], count=5, op="few")


@engine_case("BARRIERS-012", title="Two of five, while a third element is incomplete.")
def two_beside_an_incomplete_one(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.put(0, ["a", "b", "c"], [1, 2, 3])
    barrier.put(1, ["a", "b"], [4, 5])
    barrier.close()
    barrier.take(["a", "b"], [1, 2], [4, 5], count=5, op="few")


@engine_case("BARRIERS-018", title="None of five, since the closed barrier has none.")
def none_of_five(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.both(["a"], [1], [2])
    barrier.close()
    barrier.take(["a"], [1], [2], op="few")
    barrier.take(count=5, op="few", error=[11])
    barrier.take(count=1, op="few", error=[11])


@engine_case("BARRIERS-013", title="What is left in a closed barrier.")
def what_is_left(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.both(["a"], [1], [2])
    barrier.close()
    barrier.take(["a"], [1], [2])


@engine_case("BARRIERS-013", title="What is left in a barrier whose close cancelled.")
def what_is_left_of_a_cancelled_one(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.both(["a"], [1], [2])
    barrier.put(0, ["b"], [1])
    barrier.close(op="cancel")
    barrier.take(["a"], [1], [2])


@engine_case("BARRIERS-014", title="A run waits for a second element.")
def a_take_waits(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.both(["a"], [1], [2])
    fetches = [f"b/take:{index}" for index in (1, 2, 3)]
    barrier.s.start("t", fetches, {"b/count:0": np.int32(2)}, grace_s=_GRACE_S)
    barrier.both(["b"], [3], [4])
    want = [array(["a", "b"], "string"), array([1, 3], "float32"), array([2, 4], "int64")]
    c.join("t", values=want)


@engine_case("BARRIERS-015", title="Two nodes of one shared name are one barrier.")
def one_shared_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name in ("b", "d"):
            _build(tf, name, shared_name="both")
    s = c.open()
    _Barrier(s, "b").put(0, ["a"], [1])
    _Barrier(s, "d").incomplete(1)
    _Barrier(s, "d").put(1, ["a"], [2])
    _Barrier(s, "b").ready(1)


@engine_case("BARRIERS-016", title="Each session of a graph has a barrier of its own.")
def barriers_of_two_sessions(c: EngineAuthor) -> None:
    first = _Barrier.only(c)
    second = _Barrier(c.open(session="second"))
    first.put(0, ["a"], [1])
    second.incomplete(0)
    second.put(0, ["a"], [2])
    first.incomplete(1)


@engine_case("BARRIERS-017", title="A key comes again once its element is complete.")
def a_key_comes_again(c: EngineAuthor) -> None:
    barrier = _Barrier.only(c)
    barrier.both(["a"], [1], [2])
    barrier.both(["a"], [3], [4])
    barrier.ready(2)
    barrier.take(["a"], [1], [2])
    barrier.take(["a"], [3], [4])
