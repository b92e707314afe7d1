"""Definitions of sets in the rows of tensors, of counts as sparse tensors, of edit distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.definitions.base import Array, definition
from sessrun.spec.definitions.sparse import Parts, sorted_parts

__all__: list[str] = []

#: A value of a tensor: a number, or bytes.
Element = Any
Rows = dict[tuple[int, ...], list[Element]]


def _sparse_rows(indices: Array, values: Array) -> Rows:
    """The values of each row that has one."""
    rows: Rows = {}
    for position, value in zip(indices.tolist(), values.tolist(), strict=True):
        rows.setdefault(tuple(position[:-1]), []).append(value)
    return rows


def _dense_rows(x: Array) -> Rows:
    return {row: x[row].tolist() for row in np.ndindex(x.shape[:-1])}


@definition("SetSize")
def _set_size(indices: Array, values: Array, shape: Array) -> Array:
    """How many different values each row has."""
    sizes = np.zeros(tuple(int(n) for n in shape[:-1]), np.int32)
    for row, mine in _sparse_rows(indices, values).items():
        sizes[row] = len(set(mine))
    return sizes


def _operated(
    first: Rows, second: Rows, outer: tuple[int, ...], operation: str, dtype: np.dtype
) -> Parts:
    """Row by row the set of two, its values in order; the last size is that of the largest set."""
    elements: list[tuple[tuple[int, ...], Element]] = []
    largest = 0
    for row in {*first, *second}:
        a, b = set(first.get(row, ())), set(second.get(row, ()))
        result = {"a-b": a - b, "b-a": b - a, "intersection": a & b, "union": a | b}[
            operation.lower()
        ]
        largest = max(largest, len(result))
        ordered = sorted(result)
        elements += [((*row, position), value) for position, value in enumerate(ordered)]
    return sorted_parts(elements, (*outer, largest), dtype)


@definition("DenseToDenseSetOperation")
def _dense_dense(set1: Array, set2: Array, *, set_operation: str) -> Parts:
    return _operated(
        _dense_rows(set1), _dense_rows(set2), set1.shape[:-1], set_operation, set1.dtype
    )


@definition("DenseToSparseSetOperation")
def _dense_sparse(
    set1: Array,
    indices: Array,
    values: Array,
    _: Array,
    *,
    set_operation: str,
) -> Parts:
    return _operated(
        _dense_rows(set1), _sparse_rows(indices, values), set1.shape[:-1], set_operation, set1.dtype
    )


@definition("SparseToSparseSetOperation")
def _sparse_sparse(
    indices1: Array,
    values1: Array,
    shape1: Array,
    indices2: Array,
    values2: Array,
    _shape2: Array,
    *,
    set_operation: str,
) -> Parts:
    outer = tuple(int(n) for n in shape1[:-1])
    return _operated(
        _sparse_rows(indices1, values1),
        _sparse_rows(indices2, values2),
        outer,
        set_operation,
        values1.dtype,
    )


def _counts(
    rows: list[tuple[list[int], list[Element]]],
    weights: Array,
    minlength: int,
    maxlength: int,
    *,
    binary: bool,
    is_vector: bool,
) -> Parts:
    """For each row the numbers that it has, below `maxlength`, with their counts or weights.

    There are as many columns as `maxlength`, or as the largest number and 1, `minlength` at
    least; of no numbers the largest counts as 0.
    """
    elements: list[tuple[tuple[int, ...], Element]] = []
    largest = 1
    for number, (values, weighed) in enumerate(rows):
        total: dict[int, Element] = {}
        for value, weight in zip(values, weighed, strict=True):
            if maxlength < 0 or value < maxlength:
                total[value] = 1 if binary else total.get(value, 0) + weight
                largest = max(largest, value + 1)
        lead = () if is_vector else (number,)
        elements += [((*lead, value), count) for value, count in total.items()]
    columns = maxlength if maxlength >= 0 else max(largest, minlength)
    shape = (columns,) if is_vector else (len(rows), columns)
    return sorted_parts(elements, shape, weights.dtype)


@definition("DenseCountSparseOutput")
def _dense_count(
    values: Array,
    weights: Array,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> Parts:
    table = values.reshape(-1, values.shape[-1])
    weighed = weights.reshape(table.shape) if weights.size else np.ones(table.shape, int)
    rows = list(zip(table.tolist(), weighed.tolist(), strict=True))
    return _counts(
        rows, weights, minlength, maxlength, binary=binary_output, is_vector=values.ndim == 1
    )


@definition("SparseCountSparseOutput")
def _sparse_count(
    indices: Array,
    values: Array,
    shape: Array,
    weights: Array,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> Parts:
    is_vector = len(shape) == 1
    weighed = weights.tolist() if weights.size else [1] * len(values)
    rows: list[tuple[list[int], list[Element]]]
    rows = [([], []) for _ in range(1 if is_vector else int(shape[0]))]
    for position, value, weight in zip(indices.tolist(), values.tolist(), weighed, strict=True):
        row = rows[0 if is_vector else position[0]]
        row[0].append(value)
        row[1].append(weight)
    return _counts(rows, weights, minlength, maxlength, binary=binary_output, is_vector=is_vector)


def _distance(a: list[Element], b: list[Element]) -> int:
    """How many elements have to be put in, taken out or replaced at least (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


@definition("EditDistance")
def _edit_distance(
    indices: Array,
    values: Array,
    shape: Array,
    truth_indices: Array,
    truth_values: Array,
    truth_shape: Array,
    *,
    normalize: bool,
) -> Array:
    """Row by row, over the truth's length if asked for: 0 of two empty ones, infinite of one."""
    mine, truth = _sparse_rows(indices, values), _sparse_rows(truth_indices, truth_values)
    outer = np.maximum(shape[:-1], truth_shape[:-1])
    result = np.zeros(tuple(int(n) for n in outer))
    for row in np.ndindex(result.shape):
        wanted = truth.get(row, [])
        distance = _distance(mine.get(row, []), wanted)
        if normalize:
            result[row] = distance / len(wanted) if wanted else np.inf if distance else 0
        else:
            result[row] = distance
    return result
