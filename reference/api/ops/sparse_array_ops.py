"""Reshaping, joining, splitting and slicing of sparse tensors, public as `sparse.*`.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.reference.api.ops.array_ops import (
    concat,
    gather,
    reshape,
    setdiff1d,
    shape,
    slice_,
    stack,
    where,
)
from sessrun.reference.api.ops.assertions import assert_equal, assert_less_equal
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones, ones_like, zeros, zeros_like
from sessrun.reference.api.ops.gathering import gather_nd
from sessrun.reference.api.ops.math_ops import add, not_equal, range_
from sessrun.reference.api.ops.reduce_ops import chosen, reduce_max
from sessrun.reference.api.sparse_ops import sparse_input
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import TensorShape, dimension_at_index, unknown_shape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import gated, identity
from sessrun.reference.build.generated import maximum, minimum, select_v2
from sessrun.reference.build.get_static_value import get_static_value, seen_shape
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


def _inputs(sp_inputs: object) -> list[SparseTensor]:
    if not isinstance(sp_inputs, list | tuple):
        raise bad_type("Inputs must be a list or tuple.")
    return [sparse_input(sp_input) for sp_input in sp_inputs]


@public("sparse.from_dense")
def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """A sparse tensor of the elements that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        dense = convert_to_tensor(tensor)
        indices = where(not_equal(dense, zeros_like(dense)))
        values = gather_nd(dense, indices)
        return SparseTensor(indices, values, shape(dense, out_type=dtypes.int64))


@public("sparse.expand_dims")
def sparse_expand_dims(
    sp_input: SparseTensor, axis: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """Insert a dimension of size 1 at an axis, by default after the last.

    Raises:
      TypeError: the axis is neither a number nor a tensor.

    """
    count: int | Tensor | None = sp_input.dense_shape.get_shape()[0].value
    if count is None:
        count = shape(sp_input.dense_shape)[0]
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", sp_input.parts()):
        if isinstance(axis, int | np.integer):
            position = convert_to_tensor(axis, dtypes.int32, name="axis")
        elif isinstance(axis, Tensor):
            position = axis
        else:
            raise bad_type("axis must be an integer value in [-rank - 1, rank]")
        position = select_v2(position >= 0, position, position + count + 1)
        rows = shape(sp_input.indices)[0]
        column = zeros([rows, 1], dtypes.int64)
        before = slice_(sp_input.indices, [0, 0], [-1, position])
        after = slice_(sp_input.indices, [0, position], [-1, -1])
        indices = concat([before, column, after], axis=1)
        sizes = slice_(sp_input.dense_shape, [0], [position])
        more = slice_(sp_input.dense_shape, [position], [-1])
        new = convert_to_tensor([1], dtypes.int64, name="new_shape")
        return SparseTensor(indices, sp_input.values, concat([sizes, new, more], axis=0))


def _as_int64(value: TensorLike, name: str) -> Tensor:
    if isinstance(value, int | np.integer):
        return convert_to_tensor(value, dtypes.int64, name)
    if not isinstance(value, Tensor):
        raise bad_type(f"{name} must be an integer value")
    return cast(value, dtypes.int64)


@public("sparse.eye")
def sparse_eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:
    """A sparse identity matrix, square by default.

    Raises:
      TypeError: a size is neither a number nor a tensor.

    """
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _as_int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _as_int64(num_columns, "num_columns")
        count = minimum(rows, columns)
        diagonal = range_(count, dtype=dtypes.int64)
        indices = stack([diagonal, diagonal], axis=1)
        return SparseTensor(indices, ones(count, dtype), [rows, columns])


@public("sparse.concat", "sparse_concat")
def sparse_concat(
    axis: Any,
    sp_inputs: Sequence[SparseTensor],
    name: str | None = None,
    expand_nonconcat_dim: bool | None = False,
    concat_dim: TensorLike | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Concatenate sparse tensors along an axis.

    Args:
      axis: the axis.
      sp_inputs: a list of sparse tensors.
      name: the operation's name.
      expand_nonconcat_dim: whether the other dimensions may differ; the result has the largest.
      concat_dim: the older name of `axis`.
      expand_nonconcat_dims: the newer name of `expand_nonconcat_dim`.

    Raises:
      TypeError: the inputs are not a list, or one is not sparse.
      ValueError: an argument is given under both names.

    """
    # As in TensorFlow, the newer name is used if the older one is None.
    expand = chosen(
        expand_nonconcat_dims, expand_nonconcat_dim, "expand_nonconcat_dims", "expand_nonconcat_dim"
    )
    axis = chosen(axis, concat_dim, "axis", "concat_dim")
    tensors = _inputs(sp_inputs)
    if len(tensors) == 1:
        return tensors[0]
    shapes = [sparse.dense_shape for sparse in tensors]
    if expand:
        shapes = _enlarged_shapes(shapes, axis)
    outputs = wrapper("SparseConcat")(
        indices=[sparse.indices for sparse in tensors],
        values=[sparse.values for sparse in tensors],
        shapes=shapes,
        concat_dim=axis,
        name=name,
    )
    static = _concatenated_shape([sparse.shape for sparse in tensors], axis, expand=expand)
    if all(sparse.shape.is_fully_defined() for sparse in tensors):
        sizes = convert_to_tensor(static.as_list(), dtypes.int64)
        return SparseTensor(outputs.output_indices, outputs.output_values, sizes)
    result = SparseTensor(*outputs)
    result.set_shape(static)
    return result


def _enlarged_shapes(shapes: Sequence[Tensor], axis: int) -> list[Tensor]:
    """The shapes, with all dimensions except the axis enlarged to the largest."""
    largest = reduce_max(concat([reshape(sizes, [1, -1]) for sizes in shapes], 0), 0)
    if axis == -1:
        return [concat([largest[:axis], sizes[-1:], []], 0) for sizes in shapes]
    return [
        concat([largest[:axis], sizes[axis : axis + 1], largest[axis + 1 :]], 0) for sizes in shapes
    ]


def _concatenated_shape(
    shapes: Sequence[TensorShape], axis: int, *, expand: bool | None
) -> TensorShape:
    """The static shape of the concatenation."""
    if any(static.rank is None for static in shapes):
        return unknown_shape()
    sizes: list[Any] = shapes[0].as_list()
    if expand:
        columns: list[list[Any]] = [
            [dimension_at_index(static, dim).value for static in shapes]
            for dim in range(len(sizes))
        ]
        sizes = [None if None in column else max(column) for column in columns]
    along: list[Any] = [dimension_at_index(static, axis).value for static in shapes]
    sizes[axis] = None if None in along else sum(along)
    return TensorShape(sizes)


@public("sparse.reshape", "sparse_reshape")
def sparse_reshape(
    sp_input: SparseTensor, shape: TensorLike, name: str | None = None
) -> SparseTensor:
    """Reshape a sparse tensor; one size may be -1.

    Raises:
      TypeError: `sp_input` is not sparse.
      ValueError: the static numbers of elements differ, or two sizes are -1.

    """
    sparse = sparse_input(sp_input)
    wanted = cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", sparse.parts()) as scope:
        inputs = {
            "input_indices": sparse.indices,
            "input_shape": sparse.dense_shape,
            "new_shape": wanted,
        }
        reshaped = wrapper("SparseReshape")(**inputs, name=scope)
        known = seen_shape(wanted)
        sizes = reshaped.output_shape
        if known.ndims is not None and sparse.shape.is_fully_defined():
            completed = _inferred_shape(
                known.as_list(), get_static_value(wanted), sparse.shape.as_list()
            )
            sizes = (
                reshaped.output_shape
                if completed is None
                else convert_to_tensor(completed, dtypes.int64, "Const")
            )
        return SparseTensor(reshaped.output_indices, identity(sparse.values), sizes)


def _inferred_shape(wanted: list[Any], given: Any, old: list[Any]) -> list[int] | None:
    """The new shape with a size of -1 inferred; None if it is not known statically.

    Args:
      wanted: the sizes of the new shape that are known, None for others and for -1.
      given: the static value of the new shape, or None.
      old: the shape that is reshaped.

    Raises:
      ValueError: two sizes are -1, or the numbers of elements differ.

    """
    if given is not None and sum(size == -1 for size in given) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {given}")
    count, sizes = int(np.prod(old)), list(wanted)
    if sizes.count(None) == 1 and 0 not in sizes:
        rest = int(np.prod([size for size in sizes if size is not None]))
        sizes[sizes.index(None)] = count // rest
    if None in sizes:
        return None
    if int(np.prod(sizes)) != count:
        raise ValueError(
            f"Cannot reshape a tensor with {count} elements to shape {wanted} "
            f"({int(np.prod(sizes))} elements)."
        )
    return sizes


class _KeywordRequired:
    """The default of a positional parameter that must not be passed."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


@public("sparse.split", "sparse_split")
def sparse_split(
    keyword_required: object = _KeywordRequired(),
    sp_input: SparseTensor | None = None,
    num_split: int | None = None,
    axis: TensorLike | None = None,
    name: str | None = None,
    split_dim: TensorLike | None = None,
) -> list[SparseTensor]:
    """Split a sparse tensor along an axis; the first parts may be longer by 1 than the rest.

    Args:
      keyword_required: must not be passed: the arguments are given by keyword.
      sp_input: a sparse tensor.
      num_split: the number of parts.
      axis: the axis.
      name: the operation's name.
      split_dim: the older name of `axis`.

    Raises:
      ValueError: an argument is missing, or is passed by position.
      TypeError: `sp_input` is not sparse.

    """
    if not isinstance(keyword_required, _KeywordRequired):
        raise bad_value("Keyword arguments are required for this function.")
    for value, word in ((sp_input, "sp_input"), (num_split, "num_split"), (axis, "axis")):
        if value is None:
            raise ValueError(f"{word} is required")
    axis = chosen(axis, split_dim, "axis", "split_dim")
    sparse = sparse_input(sp_input)
    outputs = wrapper("SparseSplit")(
        split_dim=axis,
        indices=sparse.indices,
        values=sparse.values,
        shape=sparse.dense_shape,
        num_split=num_split,
        name=name,
    )
    return [SparseTensor(*parts) for parts in zip(*outputs, strict=True)]


@public("sparse.slice", "sparse_slice")
def sparse_slice(
    sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None
) -> SparseTensor:
    """The block of a sparse tensor that begins at `start` and has shape `size`.

    Raises:
      TypeError: `sp_input` is not sparse.

    """
    sparse = sparse_input(sp_input)
    begin = convert_to_tensor(start, dtypes.int64)
    extent = convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", sparse.parts()) as scope:
        return SparseTensor(
            *wrapper("SparseSlice")(
                indices=sparse.indices,
                values=sparse.values,
                shape=sparse.dense_shape,
                start=begin,
                size=extent,
                name=scope,
            )
        )


@public("sparse.reset_shape", "sparse_reset_shape")
def sparse_reset_shape(sp_input: SparseTensor, new_shape: TensorLike | None = None) -> SparseTensor:
    """Change the dense shape of a sparse tensor, by default to the smallest possible one.

    Raises:
      TypeError: `sp_input` is not sparse.
      ValueError: the static shape is too small, or of another rank.

    """
    sparse = sparse_input(sp_input)
    indices, values = identity(sparse.indices), identity(sparse.values)
    old = identity(sparse.dense_shape)
    if new_shape is None:
        ends = reduce_max(indices, axis=0)
        zero = convert_to_tensor(0, dtypes.int64, "Const")
        return SparseTensor(indices, values, maximum(zero, add(ends, ones_like(old))))
    wanted = convert_to_tensor(new_shape)
    wanted.get_shape().assert_has_rank(1)
    wanted = cast(wanted, dtypes.int64)
    if wanted.get_shape().rank is not None:
        wanted.get_shape()[0].assert_is_compatible_with(old.get_shape()[0])
    known = get_static_value(wanted)
    if known is not None and sparse.get_shape().is_fully_defined():
        sizes = np.array(sparse.get_shape().as_list())
        if not np.all(sizes <= known):
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  "
                f"Found new_shape ({known}), sp_input.shape ({sizes})."
            )
        return SparseTensor(indices, values, known)
    wanted = _after_check(assert_equal(shape(old), shape(wanted)), wanted)
    wanted = _after_check(assert_less_equal(old, wanted), wanted)
    return SparseTensor(indices, values, wanted)


def _after_check(check: Operation, value: Tensor) -> Tensor:
    """The value, computed after a check."""
    graph = get_default_graph()
    with graph.control_dependencies([check]):
        checked: Tensor = gated(graph, value)
        return checked


@public("sparse.fill_empty_rows", "sparse_fill_empty_rows")
def sparse_fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Give every empty row of a sparse matrix an element `default_value` in its first column.

    Returns:
      The filled matrix, and a bool vector: which rows were empty.

    Raises:
      TypeError: `sp_input` is not sparse.

    """
    sparse = sparse_input(sp_input)
    with name_scope(name, "SparseFillEmptyRows", sparse.parts()):
        default = convert_to_tensor(default_value, sparse.values.dtype)
        outputs = wrapper("SparseFillEmptyRows")(
            indices=sparse.indices,
            values=sparse.values,
            dense_shape=sparse.dense_shape,
            default_value=default,
        )
        filled = SparseTensor(outputs.output_indices, outputs.output_values, sparse.dense_shape)
        return filled, outputs.empty_row_indicator


@public("sparse.mask", "sparse_mask")
def sparse_mask(
    a: IndexedSlices, mask_indices: TensorLike, name: str | None = None
) -> IndexedSlices:
    """The rows of IndexedSlices whose indices are not among `mask_indices`."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        indices = a.indices
        kept = setdiff1d(indices, mask_indices)
        values = gather(a.values, kept.idx, name=scope)
        return IndexedSlices(values, kept.out, a.dense_shape)
