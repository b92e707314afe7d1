"""Kernels of sparse arithmetic: sums, extrema, softmax, and operations with dense tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, dtype_of, host_array, ints
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.sparse_parts import (
    Sparse,
    add_rows,
    check_extent,
    check_indices,
    checked,
    group_sums,
    numbered,
    row_numbers,
    unravelled,
)

_CPU: Final = ("CPU",)


def _union(a: Sparse, b: Sparse) -> tuple[Array, Array, Array]:
    """The sorted union of the indices, and the positions of `a`'s and `b`'s elements in it."""
    first, second = row_numbers(a.shape.tolist(), a.indices, b.indices)
    # Sorted, as indices need not be in order: three times as long as merging (SparseAdd).
    union, first_positions = HOST.unique(HOST.concatenate([first, second]), return_index=True)
    indices = HOST.concatenate([a.indices, b.indices])[first_positions]
    return indices, HOST.searchsorted(union, first), HOST.searchsorted(union, second)


def _scattered(values: Array, positions: Array, count: int) -> Array:
    """A vector of `count` elements with the values at their positions, 0 elsewhere."""
    wide = HOST.zeros(count, dtype=values.dtype)
    wide[positions] = values
    return wide


def _same_shape(a: Sparse, b: Sparse) -> None:
    if len(a.shape) != len(b.shape):
        raise InvalidArgument(
            "Operands do not have the same ranks; got shapes: "
            f"{a.shape.tolist()} and {b.shape.tolist()}"
        )
    if a.shape.tolist() != b.shape.tolist():
        raise InvalidArgument(
            f"Operands' shapes do not match: got {a.shape.tolist()} and {b.shape.tolist()}"
        )


@kernel("SparseAdd", devices=_CPU)
def sparse_add(
    _: ArrayModule,
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    b_shape: Array,
    thresh: Array,
) -> tuple[Array, Array, Array]:
    """The sums of two sparse tensors; sums of two elements below the threshold are dropped."""
    a, b = checked(a_indices, a_values, a_shape), checked(b_indices, b_values, b_shape)
    _same_shape(a, b)
    require_rank(0, thresh=thresh)
    indices, in_a, in_b = _union(a, b)
    sums = _scattered(a_values, in_a, len(indices)) + _scattered(b_values, in_b, len(indices))
    counts = HOST.bincount(HOST.concatenate([in_a, in_b]), minlength=len(indices))
    # As in C++, the magnitude of an int8 or int16 is an int32: that of -128 is no int8.
    sizes = HOST.abs(sums.astype("int32") if sums.dtype.itemsize < 4 else sums)
    kept = (counts < 2) | (thresh <= sizes)
    return indices[kept], sums[kept], a_shape


@kernel("SparseAddGrad", devices=_CPU)
def sparse_add_grad(
    _: ArrayModule, grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array
) -> tuple[Array, ...]:
    """The gradients of the sum's elements for those of both summands, 0 for dropped ones."""
    if grad.ndim != 1 or any(matrix.ndim != 2 for matrix in (a_indices, b_indices, sum_indices)):
        raise InvalidArgument("backprop_val_grad should be a vector, indices matrices")
    if len({matrix.shape[1] for matrix in (a_indices, b_indices, sum_indices)}) != 1:
        raise InvalidArgument("The densified ranks of the indices should be the same")
    if len(grad) != len(sum_indices):
        raise InvalidArgument(
            "# elements of backprop_val_grad and # rows of sum_indices "
            f"should match: {len(grad)} and {len(sum_indices)}"
        )
    shape = _bounds(a_indices, b_indices, sum_indices)
    summed, *others = row_numbers(shape, sum_indices, a_indices, b_indices)
    return tuple(_values_of_keys(summed, grad, other) for other in others)


def _bounds(*indices: Array) -> list[int]:
    """A shape that contains all these indices."""
    every = HOST.concatenate(indices)
    return (HOST.max(every, axis=0, initial=0) + 1).tolist()  # type: ignore[no-any-return]  # ints


def _values_of_keys(keys: Array, values: Array, wanted: Array) -> Array:
    """The values of the wanted keys, given sorted keys with values; 0 for missing ones."""
    result = HOST.zeros(len(wanted), dtype=values.dtype)
    if len(keys):
        positions = HOST.searchsorted(keys, wanted)
        hit = keys[HOST.minimum(positions, len(keys) - 1)] == wanted
        result[hit] = values[positions[hit]]
    return result


@kernel("SparseTensorDenseAdd", devices=_CPU)
def sparse_tensor_dense_add(
    _: ArrayModule, indices: Array, values: Array, shape: Array, dense: Array
) -> Array:
    """The sum of a dense and a sparse tensor, whose equal indices add up."""
    checked(indices, values, shape)
    if tuple(shape.tolist()) != dense.shape:
        raise InvalidArgument(
            f"Shape {shape.tolist()} of the sparse tensor is not that of "
            f"the dense one, {list(dense.shape)}"
        )
    outside = (indices < 0) | (indices >= shape)
    if outside.any():
        row, axis = (int(index[0]) for index in HOST.nonzero(outside))
        sizes = " ".join(map(str, dense.shape))
        raise InvalidArgument(
            f"Sparse tensor has an invalid index on dimension {axis}: "
            f"a_indices({row},{axis}) = {indices[row, axis]}, dense tensor shape: "
            f"{sizes}"
        )
    result = dense.copy()
    HOST.add.at(result, tuple(indices.T), values)
    return result


def _quotient(x: Array, y: Array) -> Array:
    """The quotient; of integers rounded toward 0."""
    if x.dtype.kind not in "iu":
        return HOST.true_divide(x, y).astype(x.dtype)
    if not y.all():
        raise InvalidArgument("SparseDenseCwiseDiv: division by zero")
    quotient = x // y
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)


_CWISE: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "SparseDenseCwiseAdd": HOST.add,
    "SparseDenseCwiseMul": HOST.multiply,
    "SparseDenseCwiseDiv": _quotient,
}


def _cwise(op_type: str) -> None:
    """Register the kernel of a sparse tensor and a dense one, which is broadcast to its shape."""

    @kernel(op_type, devices=_CPU)
    def compute(_: object, indices: Array, values: Array, shape: Array, dense: Array) -> Array:
        sparse = checked(indices, values, shape)
        check_indices(sparse)
        target = tuple(shape.tolist())
        fits = dense.ndim <= len(target) and all(
            size in (1, wanted)
            for size, wanted in zip(dense.shape[::-1], target[::-1], strict=False)
        )
        if not fits:
            raise InvalidArgument(
                f"{op_type} broadcasts dense to sparse "
                f"only; got incompatible shapes: {list(target)} and "
                f"{list(dense.shape)}"
            )
        gathered = HOST.broadcast_to(dense, target)[tuple(indices.T)]
        return _CWISE[op_type](values, gathered)


for _op_type in _CWISE:
    _cwise(_op_type)


def _extreme(op_type: str, choose: Callable[[Array, Array], Array]) -> None:
    """Register the kernel of the elementwise maximum or minimum of two sparse tensors."""

    @kernel(op_type, devices=_CPU)
    def compute(
        _: object,
        a_indices: Array,
        a_values: Array,
        a_shape: Array,
        b_indices: Array,
        b_values: Array,
        b_shape: Array,
    ) -> tuple[Array, Array]:
        a, b = checked(a_indices, a_values, a_shape), checked(b_indices, b_values, b_shape)
        _same_shape(a, b)
        check_indices(a)
        check_indices(b)
        indices, in_a, in_b = _union(a, b)
        count = len(indices)
        return indices, choose(_scattered(a_values, in_a, count), _scattered(b_values, in_b, count))


_extreme("SparseSparseMaximum", HOST.maximum)
_extreme("SparseSparseMinimum", HOST.minimum)


@kernel("SparseSoftmax", devices=_CPU)
def sparse_softmax(_: ArrayModule, indices: Array, values: Array, shape: Array) -> Array:
    """The softmax along the last dimension over the elements that are present."""
    check_extent(checked(indices, values, shape))
    if len(shape) < 2:
        raise InvalidArgument(f"Input should have rank >= 2, but received {shape.tolist()}")
    if not len(values):
        return values.copy()
    wide = values.astype("float32") if values.dtype.itemsize == 2 else values
    rows = numbered(indices[:, :-1], shape[:-1].tolist())
    starts = HOST.flatnonzero(HOST.diff(rows, prepend=-1))
    sizes = HOST.diff(starts, append=len(rows))
    powers = HOST.exp(wide - HOST.repeat(HOST.maximum.reduceat(wide, starts), sizes))
    return (powers / HOST.repeat(group_sums(powers, starts), sizes)).astype(values.dtype)


@kernel("SparseTensorDenseMatMul", devices=_CPU)
def sparse_tensor_dense_matmul(
    _: ArrayModule,
    indices: Array,
    values: Array,
    shape: Array,
    b: Array,
    *,
    adjoint_a: bool,
    adjoint_b: bool,
) -> Array:
    """A sparse matrix [m, k] times a dense one [k, n], either of which may be given adjoint."""
    checked(indices, values, shape)
    if len(shape) != 2 or b.ndim != 2:
        raise InvalidArgument("Tensors 'a_shape' and 'b' must be those of matrices")
    if adjoint_b:
        b = HOST.conj(b.T) if b.dtype.kind == "c" else b.T
    sparse = Sparse(indices, values, shape)
    if adjoint_a:
        conjugates = HOST.conj(values) if values.dtype.kind == "c" else values
        sparse = Sparse(indices[:, ::-1], conjugates, shape[::-1])
    height, inner = sparse.shape.tolist()
    if inner != b.shape[0]:
        raise InvalidArgument(
            f"Cannot multiply A and B because inner dimension does not "
            f"match: {inner} vs. {b.shape[0]}"
        )
    check_indices(sparse)
    narrow = values.dtype.itemsize == 2
    wide = dtype_of("float32") if narrow else values.dtype
    result = HOST.zeros((height, b.shape[1]), dtype=wide)
    if len(values) and b.shape[1]:
        matrix = HOST.ascontiguousarray(b, dtype=wide)
        _add_products(result, sparse.indices, sparse.values.astype(wide), matrix)
    return result.astype(values.dtype) if narrow else result


def _add_products(result: Array, indices: Array, values: Array, b: Array) -> None:
    """Add each element times its column's row of `b` to its own row of the result."""
    rows, columns = indices[:, 0], indices[:, 1]
    if (HOST.diff(rows) < 0).any():
        order = HOST.argsort(rows, kind="stable")
        rows, columns, values = rows[order], columns[order], values[order]
    add_rows(result, rows, lambda part: b[columns[part]] * values[part, None])


@kernel("SparseMatMul", devices=_CPU)
def sparse_matmul(
    _: ArrayModule, a: Array, b: Array, *, transpose_a: bool, transpose_b: bool
) -> Array:
    """The product of two dense matrices, of which many elements may be 0, in float32."""
    require_rank(2, a=a, b=b)
    left, right = (a.T if transpose_a else a), (b.T if transpose_b else b)
    if left.shape[1] != right.shape[0]:
        raise InvalidArgument(f"Matrix size incompatible: {list(a.shape)}, {list(b.shape)}")
    return HOST.matmul(left.astype("float32"), right.astype("float32"))


def _extrema(rows: Array, starts: Array) -> Array:
    return HOST.maximum.reduceat(rows, starts) if len(starts) else rows[:0]


def _sums(rows: Array, starts: Array) -> Array:
    if rows.dtype.itemsize > 2 or rows.dtype.kind in "iu":
        return group_sums(rows, starts)
    return group_sums(rows.astype("float32"), starts).astype(rows.dtype)


def _kept(axes: Array, rank: int) -> list[int]:
    """The dimensions that are not reduced."""
    reduced = ints(axes)
    for axis in reduced:
        if not -rank <= axis < rank:
            raise InvalidArgument(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
    return sorted(set(range(rank)) - {axis % rank for axis in reduced})


def _reduced(
    sparse: Sparse, axes: Array, combine: Callable[[Array, Array], Array]
) -> tuple[list[int], list[int], Array, Array]:
    """The kept dimensions, their sizes, the flat numbers of groups in these, and their values."""
    check_extent(sparse)
    check_indices(sparse)
    shape = sparse.shape.tolist()
    kept = _kept(axes, len(shape))
    sizes = [shape[axis] for axis in kept]
    (numbers,) = row_numbers(sizes, sparse.indices[:, kept])
    order = HOST.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = HOST.flatnonzero(HOST.diff(ordered, prepend=-1))
    return kept, sizes, ordered[starts], combine(sparse.values[order], starts)


def _with_ones(sizes: list[int], kept: list[int], rank: int) -> list[int]:
    """The shape of the input's rank, with reduced dimensions of size 1."""
    return [sizes[kept.index(axis)] if axis in kept else 1 for axis in range(rank)]


def _register(name: str, combine: Callable[[Array, Array], Array]) -> None:
    @kernel(f"SparseReduce{name}", devices=_CPU)
    def dense(
        _: object, indices: Array, values: Array, shape: Array, axes: Array, *, keep_dims: bool
    ) -> Array:
        sparse = checked(indices, values, shape)
        kept, sizes, groups, reduced = _reduced(sparse, axes, combine)
        result = HOST.zeros(sizes, dtype=values.dtype)
        result.reshape(-1)[groups] = reduced
        return result.reshape(_with_ones(sizes, kept, len(shape)) if keep_dims else sizes)

    @kernel(f"SparseReduce{name}Sparse", devices=_CPU)
    def sparse(
        _: object, indices: Array, values: Array, shape: Array, axes: Array, *, keep_dims: bool
    ) -> tuple[Array, Array, Array]:
        parts = checked(indices, values, shape)
        kept, sizes, groups, reduced = _reduced(parts, axes, combine)
        sizes_of_output = _with_ones(sizes, kept, len(shape)) if keep_dims else sizes
        return unravelled(groups, sizes_of_output), reduced, host_array(sizes_of_output, "int64")


_register("Sum", _sums)
_register("Max", _extrema)
