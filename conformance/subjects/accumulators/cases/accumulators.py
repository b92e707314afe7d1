"""Vectors of ACCUMULATORS: dense gradients gathered and taken.

Where a clause is not about steps, gradients are of a step far ahead, which is never stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Numbers
from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace

__all__ = ["AHEAD", "Gathered"]

#: A step that no accumulator here reaches.
AHEAD: Final = 1000
_DTYPES: Final = ("float16", "float32", "float64")
#: Time for a run to begin to wait; the right answer does not depend on it.
_GRACE_S: Final = 0.2


def _build(
    tf: Namespace,
    name: str,
    dtype: str,
    shape: Sequence[int | None] | None = None,
    *,
    op: str = "Resource",
    **options: str,
) -> None:
    """Build an accumulator with its operations and placeholders under a name."""
    raw, kind = tf.raw_ops, tf.as_dtype(dtype)
    shape = None if shape is None else list(shape)
    handle = getattr(raw, f"{op}ConditionalAccumulator")(
        dtype=kind,
        shape=tf.TensorShape(shape),
        **{"shared_name": name, "reduction_type": "MEAN", "name": name, **options},
    )
    gradient = tf.placeholder(kind, None, name=f"{name}/gradient")
    step = tf.placeholder(tf.int64, [], name=f"{name}/step")
    wanted = tf.placeholder(tf.int32, [], name=f"{name}/wanted")

    def build(what: str, **inputs: Argument) -> None:
        getattr(raw, f"{op}Accumulator{what}")(handle=handle, **inputs)

    build("ApplyGradient", local_step=step, gradient=gradient, name=f"{name}/apply")
    build("TakeGradient", num_required=wanted, dtype=kind, name=f"{name}/take")
    build("NumAccumulated", name=f"{name}/count")
    build("SetGlobalStep", new_global_step=step, name=f"{name}/set")


@dataclass(frozen=True, slots=True)
class Gathered:
    """An accumulator in a session, and the runs on it."""

    s: SessionAuthor
    name: str = "a"
    dtype: str = "float32"

    @classmethod
    def only(
        cls,
        c: EngineAuthor,
        dtype: str = "float32",
        shape: Sequence[int | None] | None = None,
        **options: str,
    ) -> Gathered:
        """A new session whose graph has one accumulator."""
        with c.graph() as tf:
            _build(tf, "a", dtype, shape, **options)
        return cls(c.open(), "a", dtype)

    def apply(
        self, *gradients: Numbers, step: int = AHEAD, error: Sequence[int] | None = None
    ) -> None:
        """Apply gradients of one step, each in a run."""
        for gradient in gradients:
            feeds = {
                f"{self.name}/gradient:0": np.array(gradient, self.dtype),
                f"{self.name}/step:0": np.int64(step),
            }
            values = None if error else [None]
            self.s.run([f"{self.name}/apply"], feeds, values=values, error=error)

    def take(
        self,
        want: Numbers | None = None,
        required: int = 1,
        *,
        error: Sequence[int] | None = None,
    ) -> None:
        """Take the mean or sum of the gradients."""
        values = None if error else [np.array(want, self.dtype)]
        feeds = {f"{self.name}/wanted:0": np.int32(required)}
        self.s.run([f"{self.name}/take:0"], feeds, values=values, error=error)

    def count(self, want: int) -> None:
        """The number of gradients."""
        self.s.run([f"{self.name}/count:0"], values=[np.int32(want)])

    def go_to(self, step: int) -> None:
        """Set the accumulator's step."""
        self.s.run([f"{self.name}/set"], {f"{self.name}/step:0": np.int64(step)}, values=[None])


def _accumulators(c: EngineAuthor, **options: str) -> list[Gathered]:
    """An accumulator of each dtype."""
    with c.graph() as tf:
        for dtype in _DTYPES:
            _build(tf, dtype, dtype, None, **options)
    s = c.open()
    return [Gathered(s, dtype, dtype) for dtype in _DTYPES]


# --- what is gathered ---------------------------------------------------------------------


@engine_case("ACCUMULATORS-001", title="The mean of three vectors, of each dtype.")
def the_mean_of_three(c: EngineAuthor) -> None:
    for gathered in _accumulators(c):
        gathered.apply([1, 2], [3, -4], [5, 8])
        gathered.take([3, 2], 3)


@engine_case("ACCUMULATORS-001", title="The mean of two matrices of a declared shape.")
def the_mean_of_matrices(c: EngineAuthor) -> None:
    gathered = Gathered.only(c, "float64", [2, None])
    gathered.apply([[1, 2], [3, 4]], [[3, 2], [1, 1]])
    gathered.take([[2, 2], [2, 2.5]], 2)


@engine_case("ACCUMULATORS-002", title="The sum of three vectors, of each dtype.")
def the_sum_of_three(c: EngineAuthor) -> None:
    for gathered in _accumulators(c, reduction_type="SUM"):
        gathered.apply([1, 2], [3, -4], [5, 8])
        gathered.take([9, 6], 3)


@engine_case("ACCUMULATORS-002", title="The sum of two scalars.")
def the_sum_of_scalars(c: EngineAuthor) -> None:
    gathered = Gathered.only(c, "float32", [], reduction_type="SUM")
    gathered.apply(2.5, -0.25)
    gathered.take(2.25, 2)


@engine_case("ACCUMULATORS-003", title="An accumulator counts from 0 to 4.")
def an_accumulator_counts(c: EngineAuthor) -> None:
    for gathered in _accumulators(c):
        gathered.count(0)
        for number in range(1, 5):
            gathered.apply([0.5])
            gathered.count(number)


@engine_case("ACCUMULATORS-004", title="Once the gradients are taken, there are none.")
def none_are_left(c: EngineAuthor) -> None:
    for gathered in _accumulators(c):
        gathered.apply([0.5], [0.5])
        gathered.take([0.5], 2)
        gathered.count(0)
        gathered.apply([4.0])
        gathered.count(1)
        gathered.take([4.0])


# --- steps --------------------------------------------------------------------------------


@engine_case("ACCUMULATORS-005", title="A gradient of an earlier step leaves no trace.")
def an_earlier_gradient(c: EngineAuthor) -> None:
    gathered = Gathered.only(c)
    gathered.go_to(5)
    gathered.apply([100.0], step=4)
    gathered.apply([7.0])
    gathered.apply([100.0, 200.0], step=0)
    gathered.apply([100.0], step=-1)
    gathered.take([7.0])


@engine_case("ACCUMULATORS-006", title="A gradient of the very step counts.")
def a_gradient_of_the_step(c: EngineAuthor) -> None:
    gathered = Gathered.only(c)
    gathered.apply([3.0], step=0)
    gathered.count(1)
    gathered.go_to(8)
    gathered.apply([5.0], step=8)
    gathered.count(2)


@engine_case("ACCUMULATORS-006", title="A new accumulator is at step 0.")
def a_gradient_of_the_first_step(c: EngineAuthor) -> None:
    for gathered in _accumulators(c):
        gathered.apply([3.0], step=0)
        gathered.apply([5.0], step=0)
        gathered.count(2)


@engine_case("ACCUMULATORS-007", title="What was of the step before is stale after a take.")
def a_take_moves_the_step(c: EngineAuthor) -> None:
    gathered = Gathered.only(c)
    for step in (0, 1, 2):
        gathered.apply([1.0 + step])
        gathered.take([1.0 + step])
        gathered.apply([9.0], step=step)
        gathered.count(0)


@engine_case("ACCUMULATORS-008", title="A step that is set makes those before it stale.")
def a_step_is_set(c: EngineAuthor) -> None:
    gathered = Gathered.only(c, "float64")
    gathered.go_to(10)
    gathered.apply([1.0], [2.0], step=9)
    gathered.count(0)
    gathered.go_to(20)
    gathered.apply([1.0], step=19)
    gathered.count(0)


@engine_case("ACCUMULATORS-009", title="Gradients of steps to come are gathered.")
def gradients_of_later_steps(c: EngineAuthor) -> None:
    gathered = Gathered.only(c)
    gathered.apply([1.0], step=1)
    gathered.apply([3.0], step=2**40)
    gathered.count(2)


# --- taking -------------------------------------------------------------------------------


@engine_case("ACCUMULATORS-010", title="One is required, and three are taken.")
def more_than_required(c: EngineAuthor) -> None:
    for gathered in _accumulators(c):
        gathered.apply([1.0], [2.0], [6.0])
        gathered.take([3.0], 1)


@engine_case("ACCUMULATORS-010", title="Two are required, and four are summed up.")
def more_than_required_summed(c: EngineAuthor) -> None:
    gathered = Gathered.only(c, "float32", [1], reduction_type="SUM")
    gathered.apply([1.0], [2.0], [6.0], [8.0])
    gathered.take([17.0], 2)


@engine_case("ACCUMULATORS-011", title="None are required, or fewer.")
def none_are_required(c: EngineAuthor) -> None:
    for gathered in _accumulators(c):
        gathered.apply([1.0])
        gathered.take(required=0, error=[3])
        gathered.take(required=-1, error=[3])
        gathered.count(1)


@engine_case("ACCUMULATORS-017", title="A run waits for the second gradient.")
def a_take_waits(c: EngineAuthor) -> None:
    gathered = Gathered.only(c)
    gathered.apply([1.0])
    gathered.s.start("t", ["a/take:0"], {"a/wanted:0": np.int32(2)}, grace_s=_GRACE_S)
    gathered.apply([5.0])
    c.join("t", values=[np.array([3.0], np.float32)])
    gathered.count(0)


@engine_case("ACCUMULATORS-017", title="A run waits for the first gradient.")
def a_take_waits_for_the_first(c: EngineAuthor) -> None:
    gathered = Gathered.only(c, "float64")
    gathered.s.start("t", ["a/take:0"], {"a/wanted:0": np.int32(3)}, grace_s=_GRACE_S)
    gathered.apply([5.0], [6.0], [1.0])
    c.join("t", values=[np.array([4.0], np.float64)])


# --- shapes -------------------------------------------------------------------------------


@engine_case("ACCUMULATORS-012", title="Gradients of other shapes than the declared one.")
def gradients_of_other_shapes(c: EngineAuthor) -> None:
    gathered = Gathered.only(c, "float32", [None, 2])
    for odd in ([1.0, 2.0], 3.0, [[1.0]], [[[1.0, 2.0]]]):
        gathered.apply(odd, error=[3])
    gathered.count(0)
    gathered.apply([[1.0, 2.0], [3.0, 4.0]])
    gathered.take([[1.0, 2.0], [3.0, 4.0]])


@engine_case("ACCUMULATORS-012", title="A vector where scalars are declared.")
def a_vector_among_scalars(c: EngineAuthor) -> None:
    gathered = Gathered.only(c, "float64", [])
    gathered.apply([1.0], error=[3])
    gathered.apply(4.0)
    gathered.take(4.0)


@engine_case("ACCUMULATORS-013", title="A second gradient of another shape than the first.")
def a_second_gradient_of_another_shape(c: EngineAuthor) -> None:
    for gathered in _accumulators(c):
        gathered.apply([1.0, 2.0])
        for odd in ([1.0], 3.0, [[1.0, 2.0]], [1.0, 2.0, 3.0]):
            gathered.apply(odd, error=[3])
        gathered.count(1)
        gathered.apply([3.0, 4.0])
        gathered.take([2.0, 3.0])


@engine_case("ACCUMULATORS-014", title="A take lets the shape go.")
def a_take_lets_the_shape_go(c: EngineAuthor) -> None:
    for gathered in _accumulators(c):
        for gradient in ([1.0, 2.0], 3.0, [[4.0]]):
            gathered.apply(gradient)
            gathered.take(gradient)


# --- names and sessions -------------------------------------------------------------------


@engine_case("ACCUMULATORS-015", title="Two nodes of one shared name are one accumulator.")
def one_shared_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name in ("a", "b"):
            _build(tf, name, "float32", shared_name="both")
    s = c.open()
    Gathered(s, "a").apply([1.0])
    Gathered(s, "b").apply([3.0])
    Gathered(s, "b").count(2)
    Gathered(s, "a").take([2.0])


@engine_case("ACCUMULATORS-016", title="Each session of a graph has an accumulator of its own.")
def accumulators_of_two_sessions(c: EngineAuthor) -> None:
    first = Gathered.only(c)
    second = Gathered(c.open(session="second"))
    first.apply([1.0])
    second.count(0)
    second.apply([5.0])
    second.take([5.0])
    first.count(1)


@engine_case("ACCUMULATORS-018", title="References to accumulators serve like resources.")
def references_to_accumulators(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for dtype in _DTYPES:
            _build(tf, dtype, dtype, op="")
    s = c.open()
    for gathered in (Gathered(s, dtype, dtype) for dtype in _DTYPES):
        gathered.go_to(4)
        gathered.apply([100.0], step=3)
        gathered.apply([1.0], [5.0], step=4)
        gathered.count(2)
        gathered.take([3.0], 2)
        gathered.count(0)


@engine_case("ACCUMULATORS-018", title="References to accumulators serve for sums too.")
def references_to_sums(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for dtype in _DTYPES:
            _build(tf, dtype, dtype, op="", reduction_type="SUM")
    s = c.open()
    for gathered in (Gathered(s, dtype, dtype) for dtype in _DTYPES):
        gathered.apply([1.0, 2.0], [5.0, -1.0])
        gathered.count(2)
        gathered.take([6.0, 1.0], 2)
        gathered.count(0)
