"""Vectors of OPERATIONS: gathering, scattering, sorting out, searching."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import (
    FLOATS,
    axes,
    c64,
    f32,
    f64,
    floats,
    i32,
    i64,
    text,
    u8,
)
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows
from sessrun.conformance.generators.graphdef import CPU

_X = np.arange(24, dtype=f32).reshape(2, 3, 4)
_WORDS = text(b"a", b"b\0", b"c")


@engine_case(
    "OPERATIONS-129",
    title="Rows are gathered along any axis, in any order and repeatedly, batch by batch if asked.",
)
def rows_are_gathered_along_any_axis(c: EngineAuthor) -> None:
    rows = Rows(c)
    for axis in (0, 1, 2, -1, -2):
        size = _X.shape[axis]
        rows.add("GatherV2", _X, axes(size - 1, 0, 0), i32(axis))
        rows.add("GatherV2", _X, i64([[0], [1]]), i64(axis))
    rows.add("GatherV2", _X, i32(1), i32(1))
    rows.add("GatherV2", _X, np.zeros((2, 0), i32), i32(1))
    rows.add("GatherV2", _X, i32([[2, 0], [1, 1]]), i32(1), batch_dims=1)
    rows.add("GatherV2", _X, i32([[3, 0], [1, 1]]), i32(2), batch_dims=1)
    rows.add("GatherV2", _X, i32([[3, 0, 1], [1, 1, 2]]), i32(2), batch_dims=2)
    rows.add("Gather", _WORDS, i32([[2, 0], [1, 1]]))
    rows.add("Gather", _X, axes(1, 0, 1))
    rows.run()


@engine_case(
    "OPERATIONS-130",
    title="GatherNd takes elements or slices by index vectors of any length, of no length too.",
)
def elements_are_gathered_by_vectors(c: EngineAuthor) -> None:
    rows = Rows(c)
    rows.add("GatherNd", _X, i32([[0, 1, 2], [1, 2, 3]]))
    rows.add("GatherNd", _X, i32([[1, 2], [0, 0]]))
    rows.add("GatherNd", _X, i32([[[1]], [[0]]]))
    rows.add("GatherNd", _X, axes(1, 1))
    rows.add("GatherNd", _X, np.zeros((2, 0), i32))
    rows.add("GatherNd", _WORDS, i64([[2], [1]]))
    rows.run()


@engine_case(
    "OPERATIONS-131",
    title="Every gathering and scattering refuses an index below zero and one not below the size.",
)
def indices_outside_are_refused(c: EngineAuthor) -> None:
    rows = Rows(c)
    for index in (-1, 3, 1000):
        rows.refuse("Gather", _X[0], axes(0, index), codes=[3], device=CPU)
        rows.refuse("GatherV2", _X[0], axes(0, index), i32(0), codes=[3], device=CPU)
        rows.refuse("GatherV2", _X, axes(0, index), i32(1), codes=[3], device=CPU)
        rows.refuse("GatherNd", _X[0], i32([[0], [index]]), codes=[3], device=CPU)
        rows.refuse("ScatterNd", i32([[index]]), f32([1]), axes(3), codes=[3], device=CPU)
        rows.refuse(
            "TensorScatterUpdate", f32([1, 2, 3]), i32([[index]]), f32([1]), codes=[3], device=CPU
        )
        rows.refuse(
            "DynamicPartition", f32([1, 2]), axes(0, index), num_partitions=3, codes=[3], device=CPU
        )
        rows.refuse("SparseToDense", axes(index), axes(3), f32(1), f32(0), codes=[3], device=CPU)
    rows.run()


@engine_case(
    "OPERATIONS-132",
    title="Scattered values are added up where an index is repeated, and slices as well as "
    "elements.",
)
def repeated_indices_add_up(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (f32, i32, i64):
        rows.add("ScatterNd", i32([[1], [3], [1]]), kind([10, 20, 5]), axes(5))
        rows.add("ScatterNd", i32([[1], [0], [1]]), kind([[1, 2], [3, 4], [5, 6]]), axes(3, 2))
        rows.add("ScatterNd", i64([[0, 1], [0, 1]]), kind([7, 8]), i64([2, 2]))
        base = kind([1, 2, 3, 4])
        rows.add("TensorScatterAdd", base, i32([[2], [0], [2]]), kind([10, 20, 30]))
        rows.add("TensorScatterSub", base, i32([[2], [0], [2]]), kind([10, 20, 30]))
    rows.run()


@engine_case("OPERATIONS-159", title="TensorScatterUpdate replaces elements or slices in a copy.")
def places_are_replaced(c: EngineAuthor) -> None:
    rows = Rows(c)
    base = i32([[1, 2], [3, 4], [5, 6]])
    rows.add("TensorScatterUpdate", base, i32([[2], [0]]), i32([[-1, -2], [-3, -4]]))
    rows.add("TensorScatterUpdate", base, i32([[1, 1], [0, 0]]), i32([9, 8]))
    rows.add("TensorScatterUpdate", _WORDS, i32([[1]]), text(b"new"))
    rows.run()


@engine_case("OPERATIONS-160", title="DynamicStitch lets the last value of an index win.")
def the_last_value_is_stitched(c: EngineAuthor) -> None:
    rows = Rows(c)
    parts = [f32([[1, 2]]), f32([[3, 4], [5, 6]]), f32([[7, 8]])]
    rows.add("DynamicStitch", [axes(1), axes(0, 1), axes(3)], parts)
    rows.add("DynamicStitch", [axes(0, 2), axes(2, 1)], [i32([1, 2]), i32([3, 4])])
    rows.add("DynamicStitch", [i32(1), axes(0)], [i32(5), i32([6])])
    rows.run()


@engine_case(
    "OPERATIONS-134",
    title="SparseToDense writes its values into the default, and refuses places that repeat or "
    "fall unless told not to look.",
)
def sparse_values_are_written_into_a_default(c: EngineAuthor) -> None:
    rows = Rows(c)
    places = i64([[0, 1], [1, 0], [1, 2]])
    shape = i64([2, 3])
    rows.add("SparseToDense", places, shape, f32([1, 2, 3]), f32(-1))
    rows.add("SparseToDense", places, shape, f32(7), f32(0))
    rows.add("SparseToDense", axes(1, 3), axes(5), text(b"a", b"b"), b"none")
    rows.add("SparseToDense", i32(2), axes(4), i32(9), i32(1))
    rows.add("SparseToDense", axes(3, 1), axes(5), i32([1, 2]), i32(0), validate_indices=False)
    for wrong in (axes(3, 1), axes(1, 1)):
        rows.refuse("SparseToDense", wrong, axes(5), i32([1, 2]), i32(0), codes=[3], device=CPU)
    rows.run()


@engine_case(
    "OPERATIONS-135",
    title="Distinct elements come as they first occur, with their places and counts.",
)
def distinct_elements_come_as_they_occur(c: EngineAuthor) -> None:
    rows = Rows(c)
    for x in (
        i32([3, 1, 3, 2, 1, 3]),
        f32([2, -1, 2, 0]),
        u8([9, 9]),
        text(b"b", b"a", b"b", b"", b"a\0"),
        i64([]),
    ):
        rows.add("Unique", x)
        rows.add("UniqueWithCounts", x, out_idx="int64")
    rows.add("ListDiff", i32([1, 5, 2, 5, 3]), i32([2, 9, 1]))
    rows.add("ListDiff", text(b"a", b"b", b"b"), text(b"a"), out_idx="int64")
    rows.refuse("Unique", i32([[1, 2]]), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-136",
    title="Where gives the places of what is not zero in row-major order, of negative numbers "
    "and NaN too.",
)
def places_come_in_row_major_order(c: EngineAuthor) -> None:
    rows = Rows(c)
    rows.add("Where", np.array([[False, True, True], [True, False, True]]))
    for dtype in ("float32", "float64", "bfloat16"):
        rows.add("Where", floats(dtype, [0.0, -0.0, -1, float("nan"), 0.25]))
    for x in (i32([[0, -3], [5, 0]]), u8([0, 255]), c64([0, 1j, 0j])):
        rows.add("Where", x)
    rows.add("Where", np.zeros((0, 3), bool))
    rows.run()


@engine_case(
    "OPERATIONS-137", title="Slices are partitioned in their order; a permutation is inverted."
)
def slices_are_partitioned_in_order(c: EngineAuthor) -> None:
    rows = Rows(c)
    rows.add("DynamicPartition", i32([10, 20, 30, 40, 50]), axes(1, 0, 1, 3, 0), num_partitions=4)
    rows.add("DynamicPartition", _X[0], axes(1, 1, 0), num_partitions=2)
    rows.add("DynamicPartition", _X[0, :2, :2], i32([[1, 0], [0, 1]]), num_partitions=2)
    rows.add("DynamicPartition", _WORDS, axes(0, 0, 0), num_partitions=2)
    for kind in (i32, i64):
        rows.add("InvertPermutation", kind([2, 0, 3, 1]))
    rows.refuse("InvertPermutation", axes(0, 0), codes=[3], device=CPU)
    rows.refuse("InvertPermutation", axes(0, 2), codes=[3], device=CPU)
    rows.run()


@engine_case(
    "OPERATIONS-138",
    title="TopKV2 gives the largest elements of each row, falling, the first of equals first.",
)
def the_largest_come_first(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in FLOATS:
        x = floats(dtype, [1, 5, 5, -3, 5, 2, 2, 0]).reshape(2, 4)
        for k in (0, 1, 2, 4):
            rows.add("TopKV2", x, i32(k))
    for kind in (i32, u8, i64):
        rows.add("TopKV2", kind([[3, 100, 7], [7, 7, 1]]), i32(3), index_type="int64")
    rows.add("TopKV2", _X, i32(2))
    rows.refuse("TopKV2", f32([1, 2]), i32(3), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-139",
    title="A target is in the top k if fewer than k predictions are above it, and never in a "
    "row that is not finite.",
)
def targets_are_in_the_top(c: EngineAuthor) -> None:
    rows = Rows(c)
    predictions = f32([[1, 3, 2], [5, 5, 5], [np.inf, 1, 2], [0, np.nan, 1], [4, 1, 2]])
    for k in (1, 2, 3):
        for targets in (axes(1, 2, 0, 2, 1), i64([0, 0, 1, 0, 7])):
            rows.add("InTopK", predictions, targets, k=k)
            rows.add("InTopKV2", predictions, targets, targets.dtype.type(k))
    rows.run()


@engine_case(
    "OPERATIONS-140",
    title="LowerBound and UpperBound differ at values that the row holds, and reach from 0 to "
    "its size.",
)
def bounds_stand_before_and_after_equals(c: EngineAuthor) -> None:
    rows = Rows(c)
    for kind in (i32, i64, f32, f64):
        row = kind([[1, 3, 3, 5], [0, 0, 0, 9]])
        values = kind([[0, 3, 4, 9], [0, 9, 10, -1]])
        for op in ("LowerBound", "UpperBound"):
            rows.add(op, row, values)
            rows.add(op, row, values[:, :1], out_type="int64")
    rows.run()
