"""Definitions of operations on sparse tensors: indices, a row each, values, and a shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sessrun.spec.definitions.base import Array, definition, rounded, strings, wide
from sessrun.spec.definitions.matrices import adjoint, product

__all__ = ["sorted_parts"]

Position = tuple[int, ...]
#: A value of a tensor: a number, or bytes.
Element = Any
Parts = tuple[Array, Array, Array]


def _positions(indices: Array) -> list[Position]:
    return [tuple(map(int, row)) for row in indices]


def _typed(values: list[Element], dtype: np.dtype[Any]) -> Array:
    """Values as a vector of the dtype."""
    if dtype.kind == "O":
        return strings(values)
    return np.array(values, dtype) if values else np.zeros(0, dtype)


def sorted_parts(
    elements: Iterable[tuple[Position, Element]], shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Parts:
    """A sparse tensor of its elements, in row-major order (stable: none is merged)."""
    ordered = sorted(elements, key=lambda element: element[0])
    indices = np.array([position for position, _ in ordered], np.int64)
    indices = indices.reshape(len(ordered), len(shape))
    values = _typed([value for _, value in ordered], dtype)
    return indices, values, np.array(shape, np.int64)


def _elements(indices: Array, values: Array) -> list[tuple[Position, Element]]:
    return list(zip(_positions(indices), values, strict=True))


def _shape(shape: Array) -> tuple[int, ...]:
    return tuple(int(size) for size in shape)


@definition("SparseReorder")
def _reorder(indices: Array, values: Array, shape: Array) -> tuple[Array, Array]:
    """The elements in row-major order."""
    return sorted_parts(_elements(indices, values), _shape(shape), values.dtype)[:2]


@definition("SparseConcat")
def _concat(
    indices: list[Array],
    values: list[Array],
    shapes: list[Array],
    *,
    concat_dim: int,
) -> Parts:
    """One behind the other along the dimension, all elements in row-major order."""
    axis = concat_dim % len(shapes[0])
    elements: list[tuple[Position, Element]] = []
    start = 0
    for at, value, shape in zip(indices, values, shapes, strict=True):
        elements += [
            ((*position[:axis], position[axis] + start, *position[axis + 1 :]), one)
            for position, one in _elements(at, value)
        ]
        start += int(shape[axis])
    sizes = _shape(shapes[0])
    return sorted_parts(elements, (*sizes[:axis], start, *sizes[axis + 1 :]), values[0].dtype)


def _box(indices: Array, values: Array, start: Position, sizes: tuple[int, ...]) -> Parts:
    """The elements of a box, counted from where it begins."""
    inside = [
        (tuple(i - a for i, a in zip(position, start, strict=True)), value)
        for position, value in _elements(indices, values)
        if all(a <= i < a + n for i, a, n in zip(position, start, sizes, strict=True))
    ]
    return sorted_parts(inside, sizes, values.dtype)


@definition("SparseSlice")
def _slice(
    indices: Array,
    values: Array,
    shape: Array,
    start: Array,
    size: Array,
) -> Parts:
    """A box, cut off where the tensor ends."""
    sizes = [
        max(min(int(n), int(length) - int(a)), 0)
        for n, length, a in zip(size, shape, start, strict=True)
    ]
    return _box(indices, values, _shape(start), tuple(sizes))


@definition("SparseSplit")
def _split(
    split_dim: Array,
    indices: Array,
    values: Array,
    shape: Array,
    *,
    num_split: int,
) -> list[Array]:
    """Parts along the dimension; the first ones are larger by 1 where it cannot be divided."""
    axis = int(np.reshape(split_dim, ())) % len(shape)
    least, more = divmod(int(shape[axis]), num_split)
    parts, start = [], 0
    for number in range(num_split):
        count = least + (number < more)
        at = [0] * len(shape)
        at[axis], sizes = start, list(_shape(shape))
        sizes[axis] = count
        parts.append(_box(indices, values, tuple(at), tuple(sizes)))
        start += count
    return [part[which] for which in range(3) for part in parts]


@definition("SparseSliceGrad")
def _slice_grad(grad: Array, indices: Array, start: Array, sliced: Array) -> Array:
    """For each element of the whole its gradient if the slice has it, else 0."""
    there = dict(zip(_positions(sliced + start), grad, strict=True))
    return np.array([there.get(position, 0) for position in _positions(indices)], grad.dtype)


@definition("SparseReshape")
def _reshape(indices: Array, shape: Array, new_shape: Array) -> tuple[Array, Array]:
    """The same elements in row-major order; one size may be -1."""
    sizes = [int(n) for n in new_shape]
    if -1 in sizes:
        known = int(np.prod([n for n in sizes if n != -1], dtype=np.int64))
        sizes[sizes.index(-1)] = int(np.prod(shape, dtype=np.int64)) // known if known else 0
    moved = []
    for position in _positions(indices):
        number, digits = 0, []
        for index, size in zip(position, _shape(shape), strict=True):
            number = number * size + index
        for size in reversed(sizes):
            number, digit = divmod(number, size)
            digits.append(digit)
        moved.append(digits[::-1])
    return np.array(moved, np.int64).reshape(-1, len(sizes)), np.array(sizes, np.int64)


@definition("SparseFillEmptyRows")
def _fill_rows(
    indices: Array, values: Array, shape: Array, default: Array
) -> tuple[Array, Array, Array, Array]:
    """The default in column 0 of each row without an element; rows in order.

    Then which rows were empty, and for each element where it is now.
    """
    rows: list[list[tuple[Position, object, int]]] = [[] for _ in range(int(shape[0]))]
    for number, (position, value) in enumerate(_elements(indices, values)):
        rows[position[0]].append((position, value, number))
    empty = [not row for row in rows]
    filled: list[tuple[Position, object, int]] = []
    for number, row in enumerate(rows):
        filled += row or [((number, *[0] * (len(shape) - 1)), default[()], -1)]
    moved = np.zeros(len(values), np.int64)
    for at, (_, _, number) in enumerate(filled):
        if number >= 0:
            moved[number] = at
    positions = np.array([position for position, _, _ in filled], np.int64).reshape(-1, len(shape))
    return positions, _typed([v for _, v, _ in filled], values.dtype), np.array(empty, bool), moved


@definition("SparseFillEmptyRowsGrad")
def _fill_rows_grad(positions: Array, grad: Array) -> tuple[Array, Array]:
    """Each element's gradient, and the sum of those of the defaults."""
    others = [value for at, value in enumerate(wide(grad)) if at not in set(positions.tolist())]
    return grad[positions], np.sum(np.array(others, wide(grad).dtype), dtype=wide(grad).dtype)


def _sums(
    pairs: Iterable[tuple[Position, Element]], step: Callable[[object, Element], Element]
) -> dict[Position, Element]:
    """What `step` makes of the values of each place, one after the other."""
    total: dict[Position, Element] = {}
    for position, value in pairs:
        total[position] = step(total[position], value) if position in total else value
    return total


@definition("SparseAdd")
def _add(
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    _b_shape: Array,
    thresh: Array,
) -> Parts:
    """The sum; sums of two elements whose size is below the threshold are left out."""
    a, b = dict(_elements(a_indices, a_values)), dict(_elements(b_indices, b_values))
    alone = [
        (position, value)
        for position, value in (a | b).items()
        if (position in a) != (position in b)
    ]
    sums = [(position, np.add(a[position], b[position])) for position in a if position in b]
    large = [(position, value) for position, value in sums if thresh <= np.abs(value)]
    return sorted_parts([*alone, *large], _shape(a_shape), a_values.dtype)


@definition("SparseAddGrad")
def _add_grad(
    grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array
) -> tuple[Array, Array]:
    """For each element of both the gradient at its place, 0 where the sum has none."""
    there = dict(zip(_positions(sum_indices), grad, strict=True))
    sides = [[there.get(position, 0) for position in _positions(x)] for x in (a_indices, b_indices)]
    return np.array(sides[0], grad.dtype), np.array(sides[1], grad.dtype)


def _extreme(
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    step: Callable[..., Element],
) -> tuple[Array, Array]:
    """`step` of both values at every place that one has; what is not there counts as 0."""
    a, b = dict(_elements(a_indices, a_values)), dict(_elements(b_indices, b_values))
    zero = np.zeros((), a_values.dtype)[()]
    both = [(position, step(a.get(position, zero), b.get(position, zero))) for position in {*a, *b}]
    return sorted_parts(both, _shape(a_shape), a_values.dtype)[:2]


@definition("SparseSparseMaximum")
def _maximum(
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    _b_shape: Array,
) -> tuple[Array, Array]:
    return _extreme(a_indices, a_values, a_shape, b_indices, b_values, np.maximum)


@definition("SparseSparseMinimum")
def _minimum(
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    _b_shape: Array,
) -> tuple[Array, Array]:
    return _extreme(a_indices, a_values, a_shape, b_indices, b_values, np.minimum)


def _dense(indices: Array, values: Array, shape: Array) -> Array:
    """The tensor with zeros where it has no element; elements of one place are added."""
    total = np.zeros(_shape(shape), wide(values).dtype)
    for position, value in zip(_positions(indices), wide(values), strict=True):
        total[position] += value
    return total


@definition("SparseTensorDenseAdd")
def _dense_add(indices: Array, values: Array, shape: Array, b: Array) -> Array:
    return _dense(indices, values, shape) + wide(b)


def _at(dense: Array, indices: Array, shape: Array) -> Array:
    """The elements of a dense tensor, broadcast to the shape, at the places."""
    spread = np.broadcast_to(dense, _shape(shape))
    return np.array([spread[position] for position in _positions(indices)], dense.dtype)


@definition("SparseDenseCwiseAdd")
def _cwise_add(indices: Array, values: Array, shape: Array, dense: Array) -> Array:
    """At the places of the sparse tensor alone."""
    return wide(values) + wide(_at(dense, indices, shape))


@definition("SparseDenseCwiseMul")
def _cwise_mul(indices: Array, values: Array, shape: Array, dense: Array) -> Array:
    return wide(values) * wide(_at(dense, indices, shape))


@definition("SparseDenseCwiseDiv")
def _cwise_div(indices: Array, values: Array, shape: Array, dense: Array) -> Array:
    """Of integers towards 0."""
    below = _at(dense, indices, shape)
    if values.dtype.kind not in "iu":
        return wide(values) / wide(below)
    pairs = zip(values.tolist(), below.tolist(), strict=True)
    return np.array([abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs])


@definition("SparseSoftmax")
def _softmax(indices: Array, values: Array, _: Array) -> Array:
    """Softmax of the elements that each row has, what is not there left out."""
    result = np.zeros(len(values))
    rows = [position[:-1] for position in _positions(indices)]
    for number, row in enumerate(rows):
        mine = wide(values)[[other == row for other in rows]]
        result[number] = 1 / np.sum(np.exp(mine - wide(values)[number]))
    return result


@definition("SparseTensorDenseMatMul")
def _mat_mul(
    indices: Array,
    values: Array,
    shape: Array,
    b: Array,
    *,
    adjoint_a: bool,
    adjoint_b: bool,
) -> Array:
    left, right = _dense(indices, values, shape), wide(b)
    return product(adjoint(left) if adjoint_a else left, adjoint(right) if adjoint_b else right)


def _reduced(
    indices: Array,
    values: Array,
    shape: Array,
    axes: Array,
    step: Callable[..., Element],
    *,
    keep: bool,
) -> tuple[dict[Position, Element], tuple[int, ...]]:
    """What `step` makes of the elements of each place that is left, and the shape then."""
    rank = len(shape)
    gone = {int(axis) % rank for axis in np.reshape(axes, -1)}

    def left(numbers: Iterable[int], one: int) -> Position:
        pairs = enumerate(numbers)
        return tuple(one if i in gone else n for i, n in pairs if keep or i not in gone)

    pairs = [
        (left(position, 0), value)
        for position, value in zip(_positions(indices), wide(values), strict=True)
    ]
    return _sums(pairs, step), left(_shape(shape), 1)


def _define_reduction(name: str, step: Callable[..., Element]) -> None:
    @definition(f"SparseReduce{name}")
    def dense(
        indices: Array,
        values: Array,
        shape: Array,
        axes: Array,
        *,
        keep_dims: bool,
    ) -> Array:
        """Zeros where there is no element."""
        total, sizes = _reduced(indices, values, shape, axes, step, keep=keep_dims)
        result = np.zeros(sizes, wide(values).dtype)
        for position, value in total.items():
            result[position] = value
        return rounded(result, values.dtype)

    @definition(f"SparseReduce{name}Sparse")
    def sparse(
        indices: Array,
        values: Array,
        shape: Array,
        axes: Array,
        *,
        keep_dims: bool,
    ) -> Parts:
        """A sparse tensor of what is left."""
        total, sizes = _reduced(indices, values, shape, axes, step, keep=keep_dims)
        return sorted_parts(total.items(), sizes, wide(values).dtype)


_define_reduction("Sum", np.add)
_define_reduction("Max", np.maximum)
