"""Kernels of sets: of distinct elements, and of the rows of a last dimension as sets of values."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.elementwise import is_integer
from sessrun.reference.kernels.host import HOST, dtype_of, host_array, ints
from sessrun.reference.kernels.input_shapes import require_rank, require_rank_at_least
from sessrun.reference.kernels.registry import Bind, kernel
from sessrun.reference.kernels.sparse_parts import check_indices, checked, numbered, unravelled

_CPU: Final = ("CPU",)


class Rows:
    """The elements of a tensor with the numbers of their rows.

    Attributes:
      values: the elements, a vector.
      rows: the row number of each element, int64.
      outer: the shape without the last dimension.

    """

    __slots__ = ("outer", "rows", "values")

    def __init__(self, values: Array, rows: Array, outer: Sequence[int]) -> None:
        self.values, self.rows, self.outer = values, rows, tuple(outer)


def _of_dense(array: Array) -> Rows:
    require_rank_at_least(2, array=array)
    outer = array.shape[:-1]
    numbers = HOST.arange(math.prod(outer), dtype="int64")
    return Rows(array.reshape(-1), HOST.repeat(numbers, array.shape[-1]), outer)


def _of_sparse(indices: Array, values: Array, shape: Array, *, order: bool) -> Rows:
    sparse = checked(indices, values, shape)
    if len(shape) < 2 or (shape < 0).any():
        raise InvalidArgument(f"Shape {shape.tolist()} is not that of a matrix or more")
    check_indices(sparse, order=order)
    outer = shape[:-1].tolist()
    return Rows(values, numbered(indices[:, :-1], outer), outer)


def _keys(*tensors: Rows) -> tuple[list[Array], Array]:
    """For each tensor its distinct elements as sorted keys, and all values in order.

    A key is the row number times the count of values, plus the number of the value.
    """
    # All values are sorted, which takes three times as long as TensorFlow's hashing.
    known, codes = HOST.unique(
        HOST.concatenate([rows.values for rows in tensors]), return_inverse=True
    )
    ends = HOST.cumsum([len(rows.values) for rows in tensors])[:-1]
    parts = HOST.split(codes.reshape(-1), ends)
    width = len(known)
    return [
        HOST.unique(rows.rows * width + part) for rows, part in zip(tensors, parts, strict=True)
    ], known


_OPERATIONS: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "a-b": lambda a, b: HOST.setdiff1d(a, b, assume_unique=True),
    "b-a": lambda a, b: HOST.setdiff1d(b, a, assume_unique=True),
    "intersection": lambda a, b: HOST.intersect1d(a, b, assume_unique=True),
    "union": HOST.union1d,
}


def _combined(a: Rows, b: Rows, operation: str) -> tuple[Array, Array, Array]:
    """The results of a set operation of the rows, as a sparse tensor."""
    combine = _OPERATIONS.get(operation.lower())
    if combine is None:
        raise InvalidArgument(f"Invalid set_operation {operation}.")
    if a.outer != b.outer:
        raise InvalidArgument(f"Mismatched shapes {list(a.outer)} vs {list(b.outer)}")
    (first, second), known = _keys(a, b)
    keys = combine(first, second).astype("int64")
    width = max(len(known), 1)
    rows = keys // width
    starts = HOST.flatnonzero(HOST.diff(rows, prepend=-1))
    sizes = HOST.diff(starts, append=len(rows))
    column = HOST.arange(len(rows)) - HOST.repeat(starts, sizes)
    indices = HOST.column_stack([unravelled(rows, a.outer), column]).astype("int64")
    return indices, known[keys % width], host_array([*a.outer, int(sizes.max(initial=0))], "int64")


@kernel("SetSize", devices=_CPU)
def set_size(
    _: ArrayModule, indices: Array, values: Array, shape: Array, *, validate_indices: bool
) -> Array:
    """The number of distinct elements in each row."""
    rows = _of_sparse(indices, values, shape, order=validate_indices)
    (keys,), known = _keys(rows)
    counts = HOST.bincount(keys // max(len(known), 1), minlength=math.prod(rows.outer))
    return counts.astype("int32").reshape(rows.outer)


@kernel("DenseToDenseSetOperation", devices=_CPU)
def dense_to_dense_set_operation(
    _: ArrayModule, a: Array, b: Array, *, set_operation: str
) -> tuple[Array, Array, Array]:
    """Sets of two dense tensors, row by row."""
    return _combined(_of_dense(a), _of_dense(b), set_operation)


@kernel("DenseToSparseSetOperation", devices=_CPU)
def dense_to_sparse_set_operation(
    _: ArrayModule,
    a: Array,
    indices: Array,
    values: Array,
    shape: Array,
    *,
    set_operation: str,
    validate_indices: bool,
) -> tuple[Array, Array, Array]:
    """Sets of a dense and a sparse tensor, row by row."""
    sparse = _of_sparse(indices, values, shape, order=validate_indices)
    return _combined(_of_dense(a), sparse, set_operation)


@kernel("SparseToSparseSetOperation", devices=_CPU)
def sparse_to_sparse_set_operation(
    _: ArrayModule,
    indices: Array,
    values: Array,
    shape: Array,
    others: Array,
    other_values: Array,
    other_shape: Array,
    *,
    set_operation: str,
    validate_indices: bool,
) -> tuple[Array, Array, Array]:
    """Sets of two sparse tensors, row by row."""
    a = _of_sparse(indices, values, shape, order=validate_indices)
    b = _of_sparse(others, other_values, other_shape, order=validate_indices)
    return _combined(a, b, set_operation)


def _distinct(items: Iterable[Hashable]) -> tuple[list[int], list[int], list[int]]:
    """The first positions of the distinct items, the number of each item, and their counts."""
    numbers: dict[Hashable, int] = {}
    first: list[int] = []
    which: list[int] = []
    count: list[int] = []
    for position, item in enumerate(items):
        number = numbers.setdefault(item, len(first))
        if number == len(first):
            first.append(position)
            count.append(0)
        count[number] += 1
        which.append(number)
    return first, which, count


def _distinct_integers(x: Array) -> tuple[Array, Array, Array]:
    """As `_distinct`, of a vector of integers."""
    _, first, which, count = HOST.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = HOST.argsort(first)
    numbers = HOST.empty(len(order), "int64")
    numbers[order] = HOST.arange(len(order))
    return first[order], numbers[which], count[order]


@kernel("Unique", "UniqueWithCounts", devices=("CPU",))
def unique(
    bind: Bind, x: Array, *, out_idx: str
) -> tuple[Array, Array, Array] | tuple[Array, Array]:
    """The distinct elements in order of occurrence, the index of each element, and the counts."""
    xp, dtype, counted = bind.xp, dtype_of(out_idx), bind.node.type == "UniqueWithCounts"
    require_rank(1, x=x)
    first, which, count = _distinct_integers(x) if is_integer(x) else _distinct(x.tolist())
    outputs = (x[xp.asarray(first, dtype="int64")], xp.asarray(which, dtype=dtype))
    return (*outputs, xp.asarray(count, dtype=dtype)) if counted else outputs


@kernel("UniqueV2", "UniqueWithCountsV2", devices=("CPU",), host_inputs=("axis",))
def unique_along(
    bind: Bind, x: Array, axis: Array, *, out_idx: str
) -> tuple[Array, Array, Array] | tuple[Array, Array]:
    """The distinct slices along an axis in order of occurrence, indices, and counts."""
    xp, dtype, counted = bind.xp, dtype_of(out_idx), bind.node.type == "UniqueWithCountsV2"
    along = _axis(x, axis)
    moved = xp.moveaxis(x, along, 0)
    # a slice as a key: its elements, so that 0.0 and -0.0 are one, as in TensorFlow
    flat = moved.reshape(moved.shape[0], math.prod(moved.shape[1:])).tolist()
    first, which, count = _distinct(map(tuple, flat))
    kept = xp.moveaxis(moved[xp.asarray(first, dtype="int64")], 0, along)
    outputs = (xp.ascontiguousarray(kept), xp.asarray(which, dtype=dtype))
    return (*outputs, xp.asarray(count, dtype=dtype)) if counted else outputs


def _axis(x: Array, axis: Array) -> int:
    """The axis, which may be left out for a vector."""
    if axis.ndim != 1 or axis.shape[0] > 1:
        raise InvalidArgument("axis expects a 1D vector of one element at most.")
    if not axis.shape[0]:
        require_rank(1, x=x)
        return 0
    number: int = ints(axis)[0]
    if not -x.ndim <= number < x.ndim:
        raise InvalidArgument(f"axis has to be between 0 and {x.ndim}")
    return number % int(x.ndim)
