"""Vectors of ACCUMULATORS: sparse gradients, slices by index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Numbers
from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.accumulators.cases.accumulators import AHEAD
from sessrun.spec.cases.arguments import DType
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

_DTYPES: Final = ("float16", "float32", "float64")


def _build(
    tf: Namespace, name: str, dtype: str, shape: Sequence[int | None] | None = None, **options: str
) -> None:
    """Build an accumulator with its operations and placeholders under a name."""
    raw, kind = tf.raw_ops, tf.as_dtype(dtype)
    handle = raw.SparseConditionalAccumulator(
        dtype=kind,
        shape=tf.TensorShape(shape),
        **{"shared_name": name, "reduction_type": "MEAN", "name": name, **options},
    )

    def fed(word: str, of: DType, known: Sequence[int | None] | None = None) -> Tensor:
        return tf.placeholder(of, known, name=f"{name}/{word}")

    gradient = {
        "handle": handle,
        "local_step": fed("step", tf.int64, []),
        "gradient_indices": fed("indices", tf.int64),
        "gradient_values": fed("values", kind),
        "gradient_shape": fed("whole", tf.int64),
    }
    apply = raw.SparseAccumulatorApplyGradient
    apply(**gradient, has_known_shape=False, name=f"{name}/apply")
    apply(**gradient, has_known_shape=True, name=f"{name}/apply_whole")
    raw.SparseAccumulatorTakeGradient(
        handle=handle, num_required=fed("wanted", tf.int32, []), dtype=kind, name=f"{name}/take"
    )
    raw.AccumulatorNumAccumulated(handle=handle, name=f"{name}/count")


@dataclass(frozen=True, slots=True)
class _Slices:
    """A sparse accumulator in a session, and the runs on it."""

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
    ) -> _Slices:
        """A new session whose graph has one accumulator."""
        with c.graph() as tf:
            _build(tf, "a", dtype, shape, **options)
        return cls(c.open(), "a", dtype)

    def apply(
        self,
        indices: Numbers,
        values: Numbers,
        shape: Sequence[int | None] | None = None,
        *,
        error: Sequence[int] | None = None,
    ) -> None:
        """Apply a gradient."""
        feeds = {
            "indices": np.array(indices, np.int64),
            "values": np.array(values, self.dtype),
            "whole": np.array([] if shape is None else shape, np.int64),
            "step": np.int64(AHEAD),
        }
        op = "apply" if shape is None else "apply_whole"
        named = {f"{self.name}/{word}:0": value for word, value in feeds.items()}
        done = None if error else [None]
        self.s.run([f"{self.name}/{op}"], named, values=done, error=error)

    def take(self, indices: Numbers, values: Numbers, shape: Numbers) -> None:
        """Take the mean or sum of the gradients."""
        want = [
            np.array(indices, np.int64),
            np.array(values, self.dtype),
            np.array(shape, np.int64),
        ]
        fetches = [f"{self.name}/take:{index}" for index in range(3)]
        self.s.run(fetches, {f"{self.name}/wanted:0": np.int32(1)}, values=want)

    def take_one(self, values: Numbers) -> None:
        """Take a gradient of one slice."""
        want = [np.array(values, self.dtype)]
        self.s.run([f"{self.name}/take:1"], {f"{self.name}/wanted:0": np.int32(1)}, values=want)

    def count(self, want: int) -> None:
        """The number of gradients."""
        self.s.run([f"{self.name}/count:0"], values=[np.int32(want)])


def _accumulators(c: EngineAuthor, **options: str) -> list[_Slices]:
    """An accumulator of each dtype."""
    with c.graph() as tf:
        for dtype in _DTYPES:
            _build(tf, dtype, dtype, None, **options)
    s = c.open()
    return [_Slices(s, dtype, dtype) for dtype in _DTYPES]


@engine_case("ACCUMULATORS-019", title="An index that one of two gradients has is not halved.")
def an_index_of_one_gradient(c: EngineAuthor) -> None:
    for slices in _accumulators(c):
        slices.apply([0, 1], [[2.0], [4.0]])
        slices.apply([1, 3], [[8.0], [5.0]])
        slices.take([0, 1, 3], [[2.0], [6.0], [5.0]], [-1, 1])


@engine_case("ACCUMULATORS-019", title="An index that three of four gradients have.")
def an_index_of_three_gradients(c: EngineAuthor) -> None:
    slices = _Slices.only(c, "float64", [4, 2])
    for index, row in ((2, [3, 0]), (2, [6, 3]), (0, [1, 1]), (2, [0, 3])):
        slices.apply([index], [row])
    slices.take([0, 2], [[1, 1], [3, 2]], [4, 2])


@engine_case("ACCUMULATORS-020", title="The slices of two gradients come in one order.")
def slices_in_one_order(c: EngineAuthor) -> None:
    for slices in _accumulators(c):
        slices.apply([1, 7], [[1.0, 2.0], [3.0, 4.0]])
        slices.apply([0, 5, 9], [[5.0, 6.0], [7.0, 8.0], [9.0, 0.0]])
        rows = [[5.0, 6.0], [1.0, 2.0], [7.0, 8.0], [3.0, 4.0], [9.0, 0.0]]
        slices.take([0, 1, 5, 7, 9], rows, [-1, 2])


@engine_case("ACCUMULATORS-021", title="A declared first dimension, and none.")
def the_shape_of_what_is_taken(c: EngineAuthor) -> None:
    with c.graph() as tf:
        _build(tf, "a", "float32", [5, None])
        _build(tf, "b", "float32")
        _build(tf, "d", "float64", [None, 3])
    s = c.open()
    for name, dtype, row, shape in (
        ("a", "float32", [1.0, 2.0], [5, 2]),
        ("b", "float32", [1.0], [-1, 1]),
        ("d", "float64", [1.0, 2.0, 3.0], [-1, 3]),
    ):
        slices = _Slices(s, name, dtype)
        slices.apply([2], [row], [5, len(row)])
        slices.take([2], [row], shape)


@engine_case("ACCUMULATORS-021", title="Slices that are matrices.")
def the_shape_of_matrices(c: EngineAuthor) -> None:
    slices = _Slices.only(c)
    slices.apply([4], [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
    slices.take([4], [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], [-1, 2, 3])


@engine_case("ACCUMULATORS-022", title="An index beyond the first dimension that is declared.")
def an_index_beyond_the_shape(c: EngineAuthor) -> None:
    slices = _Slices.only(c, "float32", [3, 1])
    slices.apply([3], [[1.0]], error=[3])
    slices.apply([0, 5], [[1.0], [2.0]], error=[3])
    slices.count(0)
    slices.apply([2], [[4.0]])
    slices.take_one([[4.0]])


@engine_case("ACCUMULATORS-023", title="More indices than slices, and fewer.")
def more_indices_than_slices(c: EngineAuthor) -> None:
    for slices in _accumulators(c):
        slices.apply([0, 1], [[1.0]], error=[3])
        slices.apply([0], [[1.0], [2.0]], error=[3])
        slices.count(0)


@engine_case("ACCUMULATORS-024", title="Slices of another size than those gathered.")
def slices_of_another_size(c: EngineAuthor) -> None:
    for slices in _accumulators(c):
        slices.apply([0], [[1.0, 2.0]])
        slices.apply([1], [[1.0]], error=[3])
        slices.apply([0], [[1.0, 2.0, 3.0]], error=[3])
        slices.count(1)
        slices.take_one([[1.0, 2.0]])


@engine_case("ACCUMULATORS-024", title="Slices of another rank than those gathered.")
def slices_of_another_rank(c: EngineAuthor) -> None:
    slices = _Slices.only(c)
    slices.apply([0], [[1.0, 2.0]])
    slices.apply([1], [1.0], error=[3])
    slices.apply([1], [[[1.0, 2.0]]], error=[3])
    slices.count(1)
    slices.take_one([[1.0, 2.0]])


@engine_case("ACCUMULATORS-025", title="A whole of other sizes than those declared.")
def a_whole_of_other_sizes(c: EngineAuthor) -> None:
    slices = _Slices.only(c, "float64", [3, 2])
    for shape in ([4, 2], [3, 3], [3]):
        slices.apply([1], [[1.0, 2.0]], shape, error=[3])
    slices.count(0)
    slices.apply([1], [[1.0, 2.0]], [3, 2])
    slices.take_one([[1.0, 2.0]])


@engine_case("ACCUMULATORS-026", title="The sum at each index.")
def the_sum_at_each_index(c: EngineAuthor) -> None:
    for slices in _accumulators(c, reduction_type="SUM"):
        slices.apply([0, 1], [[2.0], [4.0]])
        slices.apply([1, 3], [[8.0], [5.0]])
        slices.take([0, 1, 3], [[2.0], [12.0], [5.0]], [-1, 1])
