"""Kernels that compute with sparse tensors: sums, extrema, with dense tensors, softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.sparse_parts import (
    Sparse,
    add_rows,
    check_extent,
    check_places,
    checked,
    group_sums,
    numbered,
    row_numbers,
)

__all__: list[str] = []

_CPU: Final = ("CPU",)


def _union(a: Sparse, b: Sparse) -> tuple[Any, Any, Any]:
    """The indices of both, in order, and of each whether `a` and whether `b` has it."""
    first, second = row_numbers(a.shape.tolist(), a.indices, b.indices)
    # Sorted anew, as indices need not be in order: three times what merging takes (SparseAdd).
    both, places = HOST.unique(HOST.concatenate([first, second]), return_index=True)
    indices = HOST.concatenate([a.indices, b.indices])[places]
    return indices, HOST.searchsorted(both, first), HOST.searchsorted(both, second)


def _spread(values: Any, places: Any, count: int) -> Any:
    wide = HOST.zeros(count, dtype=values.dtype)
    wide[places] = values
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
    _: Any,
    a_indices: Any,
    a_values: Any,
    a_shape: Any,
    b_indices: Any,
    b_values: Any,
    b_shape: Any,
    thresh: Any,
) -> Any:
    """The sums of what has equal indices, without those below the threshold, and all the rest."""
    a, b = checked(a_indices, a_values, a_shape), checked(b_indices, b_values, b_shape)
    _same_shape(a, b)
    if thresh.ndim:
        raise InvalidArgument(
            f"The magnitude threshold must be a scalar: got shape {bracketed(thresh.shape)}"
        )
    indices, in_a, in_b = _union(a, b)
    sums = _spread(a_values, in_a, len(indices)) + _spread(b_values, in_b, len(indices))
    counts = HOST.bincount(HOST.concatenate([in_a, in_b]), minlength=len(indices))
    # A narrow integer's magnitude is taken as an int, as in C++: the least one has its own.
    sizes = HOST.abs(sums.astype("int32") if sums.dtype.itemsize < 4 else sums)
    kept = (counts < 2) | (thresh <= sizes)
    return indices[kept], sums[kept], a_shape


@kernel("SparseAddGrad", devices=_CPU)
def sparse_add_grad(_: Any, grad: Any, a_indices: Any, b_indices: Any, sum_indices: Any) -> Any:
    """For the elements of both summands what came back for the sum's, 0 for those left out."""
    if grad.ndim != 1 or any(each.ndim != 2 for each in (a_indices, b_indices, sum_indices)):
        raise InvalidArgument("backprop_val_grad should be a vector, indices matrices")
    if len({each.shape[1] for each in (a_indices, b_indices, sum_indices)}) != 1:
        raise InvalidArgument("The densified ranks of the indices should be the same")
    if len(grad) != len(sum_indices):
        raise InvalidArgument(
            "# elements of backprop_val_grad and # rows of sum_indices "
            f"should match: {len(grad)} and {len(sum_indices)}"
        )
    shape = _bounds(a_indices, b_indices, sum_indices)
    summed, *others = row_numbers(shape, sum_indices, a_indices, b_indices)
    return tuple(_found(summed, grad, other) for other in others)


def _bounds(*indices: Any) -> list[int]:
    """A shape that all these indices are in."""
    every = HOST.concatenate(indices)
    return (HOST.max(every, axis=0, initial=0) + 1).tolist()  # type: ignore[no-any-return]  # ints


def _found(keys: Any, values: Any, wanted: Any) -> Any:
    """For each wanted key the value that stands beside it among rising keys, else 0."""
    result = HOST.zeros(len(wanted), dtype=values.dtype)
    if len(keys):
        places = HOST.searchsorted(keys, wanted)
        hit = keys[HOST.minimum(places, len(keys) - 1)] == wanted
        result[hit] = values[places[hit]]
    return result


@kernel("SparseTensorDenseAdd", devices=_CPU)
def sparse_tensor_dense_add(_: Any, indices: Any, values: Any, shape: Any, dense: Any) -> Any:
    """The dense tensor, the sparse one's elements added, those of equal indices together."""
    checked(indices, values, shape)
    if tuple(shape.tolist()) != dense.shape:
        raise InvalidArgument(
            f"Shape {shape.tolist()} of the sparse tensor is not that of "
            f"the dense one, {list(dense.shape)}"
        )
    outside = (indices < 0) | (indices >= shape)
    if outside.any():
        row, axis = (int(place[0]) for place in HOST.nonzero(outside))
        sizes = " ".join(map(str, dense.shape))
        raise InvalidArgument(
            f"Sparse tensor has an invalid index on dimension {axis}: "
            f"a_indices({row},{axis}) = {indices[row, axis]}, dense tensor shape: "
            f"{sizes}"
        )
    result = dense.copy()
    HOST.add.at(result, tuple(indices.T), values)
    return result


def _quotient(x: Any, y: Any) -> Any:
    """The quotient; of integers what is rounded toward 0."""
    if x.dtype.kind not in "iu":
        return HOST.true_divide(x, y).astype(x.dtype)
    if not y.all():
        raise InvalidArgument("SparseDenseCwiseDiv: division by zero")
    quotient = x // y
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)


_CWISE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "SparseDenseCwiseAdd": HOST.add,
    "SparseDenseCwiseMul": HOST.multiply,
    "SparseDenseCwiseDiv": _quotient,
}


def _cwise(op_type: str) -> None:
    @kernel(op_type, devices=_CPU)
    def compute(_: Any, indices: Any, values: Any, shape: Any, dense: Any) -> Any:
        sparse = checked(indices, values, shape)
        check_places(sparse)
        whole = tuple(shape.tolist())
        fits = dense.ndim <= len(whole) and all(
            size in (1, wanted)
            for size, wanted in zip(dense.shape[::-1], whole[::-1], strict=False)
        )
        if not fits:
            raise InvalidArgument(
                "SparseDenseBinaryOpShared broadcasts dense to sparse "
                f"only; got incompatible shapes: {list(whole)} and "
                f"{list(dense.shape)}"
            )
        gathered = HOST.broadcast_to(dense, whole)[tuple(indices.T)]
        return _CWISE[op_type](values, gathered)


for _op_type in _CWISE:
    _cwise(_op_type)


def _extreme(op_type: str, choose: Callable[[Any, Any], Any]) -> None:
    @kernel(op_type, devices=_CPU)
    def compute(
        _: Any,
        a_indices: Any,
        a_values: Any,
        a_shape: Any,
        b_indices: Any,
        b_values: Any,
        b_shape: Any,
    ) -> Any:
        a, b = checked(a_indices, a_values, a_shape), checked(b_indices, b_values, b_shape)
        _same_shape(a, b)
        check_places(a)
        check_places(b)
        indices, in_a, in_b = _union(a, b)
        count = len(indices)
        return indices, choose(_spread(a_values, in_a, count), _spread(b_values, in_b, count))


_extreme("SparseSparseMaximum", HOST.maximum)
_extreme("SparseSparseMinimum", HOST.minimum)


@kernel("SparseSoftmax", devices=_CPU)
def sparse_softmax(_: Any, indices: Any, values: Any, shape: Any) -> Any:
    """Exponentials along the last dimension, scaled to the sum 1 of those that there are."""
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
    _: Any, indices: Any, values: Any, shape: Any, b: Any, *, adjoint_a: bool, adjoint_b: bool
) -> Any:
    """[m, n]: a sparse matrix [m, k] times a dense one [k, n], each perhaps given adjoint."""
    checked(indices, values, shape)
    if len(shape) != 2 or b.ndim != 2:
        raise InvalidArgument("Tensors 'a_shape' and 'b' must be those of matrices")
    if adjoint_b:
        b = HOST.conj(b.T) if b.dtype.kind == "c" else b.T
    sparse = Sparse(indices, values, shape)
    if adjoint_a:
        turned = HOST.conj(values) if values.dtype.kind == "c" else values
        sparse = Sparse(indices[:, ::-1], turned, shape[::-1])
    height, inner = sparse.shape.tolist()
    if inner != b.shape[0]:
        raise InvalidArgument(
            f"Cannot multiply A and B because inner dimension does not "
            f"match: {inner} vs. {b.shape[0]}"
        )
    check_places(sparse)
    narrow = values.dtype.itemsize == 2
    wide = dtype_of("float32") if narrow else values.dtype
    result = HOST.zeros((height, b.shape[1]), dtype=wide)
    if len(values) and b.shape[1]:
        matrix = HOST.ascontiguousarray(b, dtype=wide)
        _add_products(result, sparse.indices, sparse.values.astype(wide), matrix)
    return result.astype(values.dtype) if narrow else result


def _add_products(result: Any, indices: Any, values: Any, b: Any) -> None:
    """Add each element times its row of `b` to the row of the result that it stands in."""
    rows, columns = indices[:, 0], indices[:, 1]
    if (HOST.diff(rows) < 0).any():
        order = HOST.argsort(rows, kind="stable")
        rows, columns, values = rows[order], columns[order], values[order]
    add_rows(result, rows, lambda part: b[columns[part]] * values[part, None])


@kernel("SparseMatMul", devices=_CPU)
def sparse_matmul(_: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    """The product of two dense matrices, of which many elements may be 0, in float32."""
    if a.ndim != 2 or b.ndim != 2:
        raise InvalidArgument("a and b must be matrices")
    left, right = (a.T if transpose_a else a), (b.T if transpose_b else b)
    if left.shape[1] != right.shape[0]:
        raise InvalidArgument(f"Matrix size incompatible: {list(a.shape)}, {list(b.shape)}")
    return HOST.matmul(left.astype("float32"), right.astype("float32"))
