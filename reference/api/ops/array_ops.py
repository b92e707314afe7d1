"""Reshaping, joining, slicing and gathering of tensors; `shape_ops` has the functions of shapes.

Node names and op types are those of `tensorflow.compat.v1`; functions that are a single operation
of the same name are in `generated.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.shape_ops import rank, shape, size
from sessrun.reference.api.ops.where_ops import where
from sessrun.reference.base import dtypes
from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import reshape
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "concat",
    "expand_dims",
    "gather",
    "rank",
    "reshape",
    "shape",
    "size",
    "slice_",
    "split",
    "squeeze",
    "stack",
    "transpose",
    "where",
]


@public("expand_dims")
def expand_dims(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    axis: TensorLike | None = None,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """Insert a dimension of size 1 before an axis.

    Raises:
      ValueError: neither `axis` nor `dim` is given, or both are.

    """
    if axis is None and dim is None:
        raise bad_value("Must specify an axis argument to tf.expand_dims()")
    if axis is not None and dim is not None:
        raise bad_value("Cannot specify both 'dim' and 'axis'.")
    return one("ExpandDims", {"input": input, "dim": dim if axis is None else axis}, name)


@public("squeeze")
def squeeze(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    axis: TensorLike | None = None,
    name: str | None = None,
    squeeze_dims: TensorLike | None = None,
) -> Tensor:
    """Remove dimensions of size 1: those of the given axes, or all.

    Raises:
      ValueError: both `axis` and `squeeze_dims` are given.

    """
    if axis is not None and squeeze_dims is not None:
        raise bad_value("Cannot specify both 'squeeze_dims' and 'axis'.")
    axes = squeeze_dims if axis is None else axis
    if axes is None:
        axes = []
    elif np.isscalar(axes):
        axes = [axes]
    return one("Squeeze", {"input": input}, name, squeeze_dims=axes)


@public("transpose")
def transpose(
    a: TensorLike, perm: TensorLike | None = None, name: str = "transpose", conjugate: bool = False
) -> Tensor:
    """Permute the dimensions; without `perm` they are reversed."""
    with name_scope(name, "transpose", [a]) as scope:
        value = convert_to_tensor(a, name="a")
        flip = conjugate and value.dtype.is_complex
        if perm is None:
            ndims = value.shape.ndims
            if ndims is not None:
                perm = np.arange(ndims - 1, -1, -1, dtype=np.int32)
            else:
                last = one("Rank", {"input": value}) - 1
                perm = one("Range", {"start": last, "limit": -1, "delta": -1})
        return one("ConjugateTranspose" if flip else "Transpose", {"x": value, "perm": perm}, scope)


@public("concat")
def concat(values: TensorLike, axis: TensorLike, name: str = "concat") -> Tensor:
    """Concatenate tensors along an axis.

    Args:
      values: a list of tensors whose shapes differ at most along the axis.
      axis: a scalar integer.
      name: the operation's name.

    """
    items = list(values) if isinstance(values, list | tuple) else [values]
    if len(items) == 1:
        with name_scope(name):
            axis_tensor = convert_to_tensor(axis, dtype=dtypes.int32, name="concat_dim")
            axis_tensor.shape.assert_has_rank(0)
            return identity(items[0], name=name)
    return one("ConcatV2", {"values": items, "axis": axis}, name)


@public("stack")
def stack(
    values: Sequence[TensorLike] | np.ndarray | Tensor, axis: int = 0, name: str = "stack"
) -> Tensor:
    """Stack tensors of one shape along a new axis.

    Raises:
      ValueError: the axis is out of range.

    """
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass  # different dtypes or shapes: the operation raises the error
    # The rank is that of the first item; packing the list gives all items one dtype.
    ndims = convert_to_tensor(values[0], name=name).shape.ndims
    if ndims is not None and not -ndims - 1 <= axis < ndims + 1:
        raise bad_value(f"Argument `axis` = {axis} not in range [{-ndims - 1}, {ndims + 1})")
    return one("Pack", {"values": values}, name, axis=axis)


@public("unstack")
def unstack(
    value: TensorLike, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """The slices along an axis, as a list.

    Raises:
      ValueError: `num` is not given and the static size of the axis is unknown.

    """
    if num is None:
        value = convert_to_tensor(value)
        dims = value.shape
        if dims.ndims is not None:
            if not -dims.ndims <= axis < dims.ndims:
                raise bad_value(
                    f"Argument `axis` = {axis} not in range [{-dims.ndims}, {dims.ndims})"
                )
            num = dims.as_list()[axis]
        if num is None:
            raise bad_value(f"Cannot infer argument `num` from shape {dims}")
    return list(apply_op("Unpack", {"value": value}, {"num": num, "axis": axis}, name).outputs)


@public("split")
def split(
    value: TensorLike,
    num_or_size_splits: TensorLike,
    axis: TensorLike = 0,
    num: int | None = None,
    name: str = "split",
) -> list[Tensor]:
    """Split a tensor along an axis into equal parts, or into parts of the given sizes.

    Raises:
      ValueError: the number of sizes is unknown.

    """
    if isinstance(num_or_size_splits, int | np.integer | Dimension):
        inputs = {"split_dim": axis, "value": value}
        attrs = {"num_split": int(num_or_size_splits)}
        return list(apply_op("Split", inputs, attrs, name).outputs)
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.shape.ndims == 0:
        raise bad_value(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split."
        )
    if num is None:
        num = None if sizes.sizes is None else sizes.sizes[0]
        if num is None:
            raise bad_value(f"Cannot infer argument `num` from shape {sizes.shape}")
    inputs = {"value": value, "size_splits": sizes, "split_dim": axis}
    return list(apply_op("SplitV", inputs, {"num_split": num}, name).outputs)


@public("slice")
def slice_(
    input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None
) -> Tensor:
    """The block of shape `size` that begins at index `begin`; a size of -1 means the rest."""
    return one("Slice", {"input": input_, "begin": begin, "size": size}, name)


@public("strided_slice")
def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: object = None,  # noqa: ARG001 - a variable to assign to, which the slice itself ignores
    name: str | None = None,
) -> Tensor:
    """A StridedSlice; bit i of a mask applies to item i of `begin`, `end` and `strides`."""
    steps = ones_like(begin) if strides is None else strides
    inputs = {"input": input_, "begin": begin, "end": end, "strides": steps}
    return one(
        "StridedSlice",
        inputs,
        name,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
    )


@public("gather")
def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,  # noqa: ARG001 - TensorFlow ignores it too
    name: str | None = None,
    axis: TensorLike | None = None,
    batch_dims: int = 0,
) -> Tensor:
    """Slices of params along an axis (by default the first after the batch dimensions).

    A resource variable is gathered from directly (ResourceGather), without reading it entirely.
    """
    axis = batch_dims if axis is None else axis
    if get_static_value(axis) == 0:
        batch_dims = 0  # TensorFlow leaves them out of account beside the first axis
        if hasattr(params, "sparse_read"):
            rows: Tensor = params.sparse_read(indices, name=name)
            return rows
    inputs = {"params": params, "indices": indices, "axis": axis}
    return one("GatherV2", inputs, name, batch_dims=batch_dims)


@public("pad")
def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: TensorLike = 0,
) -> Tensor:
    """Pad a tensor with a constant or with its mirror image.

    Args:
      tensor: a tensor.
      paddings: [rank, 2], the number of elements added before and after each dimension.
      mode: `CONSTANT`, `REFLECT` or `SYMMETRIC`.
      name: the operation's name.
      constant_values: the scalar to pad with in the mode `CONSTANT`.

    Raises:
      ValueError: the mode is unknown.

    """
    padded = _padded(tensor, paddings, mode.upper(), name, constant_values)
    sizes = padded.op.inputs[0].shape
    known = None if padded.shape.is_fully_defined() else _known_paddings(paddings)
    if known is not None and sizes.ndims is not None:
        pairs = zip(known, sizes.as_list(), strict=False)
        padded.set_shape(
            [
                None
                if pair is None or dim is None or any(side is None for side in pair)
                else dim + sum(pair)
                for pair, dim in pairs
            ]
        )
    return padded


def _known_paddings(paddings: TensorLike) -> Any:
    """The static values of nested paddings, some of which may be tensors; None if unknown."""
    if isinstance(paddings, Tensor):
        return get_static_value(paddings, partial=True)
    if isinstance(paddings, list | tuple):
        return [_known_paddings(item) for item in paddings]
    return paddings


def _padded(
    tensor: TensorLike,
    paddings: TensorLike,
    kind: str,
    name: str | None,
    constant_values: Any,
) -> Tensor:
    inputs = {"input": tensor, "paddings": paddings}
    if kind in {"REFLECT", "SYMMETRIC"}:
        return one("MirrorPad", inputs, name, mode=kind)
    if kind != "CONSTANT":
        raise bad_value(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {kind}"
        )
    if (
        not isinstance(constant_values, Tensor)
        and np.ndim(constant_values) == 0
        and (constant_values == np.zeros_like(constant_values))
    ):
        return one("Pad", inputs, name)
    return one("PadV2", {**inputs, "constant_values": constant_values}, name)


@public("reverse_sequence")
def reverse_sequence(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Reverse the first `seq_lengths[i]` elements of row i."""
    inputs = {"input": input, "seq_lengths": seq_lengths}
    along = seq_axis if seq_dim is None else seq_dim
    batch = batch_axis if batch_dim is None else batch_dim
    return one("ReverseSequence", inputs, name, seq_dim=along, batch_dim=batch or 0)


@public("boolean_mask")
def boolean_mask(
    tensor: TensorLike, mask: TensorLike, name: str = "boolean_mask", axis: Any = None
) -> Tensor:
    """The slices of a tensor at which a mask is true, in order.

    Args:
      tensor: a tensor.
      mask: bools, of the shape of consecutive dimensions of the tensor.
      name: the name of the scope.
      axis: the first of these dimensions, by default 0.

    Raises:
      ValueError: the mask is a scalar, of unknown rank, or does not fit.

    """
    with name_scope(name, None, [tensor, mask]):
        value = convert_to_tensor(tensor, name="tensor")
        held = convert_to_tensor(mask, name="mask")
        ndims = held.shape.ndims
        if ndims == 0:
            raise bad_value("mask cannot be scalar.")
        if ndims is None:
            raise bad_value(
                "Number of mask dimensions must be specified, as in shape=[None]: the rank of "
                f"{held} is unknown."
            )
        known = 0 if axis is None else get_static_value(axis)
        first = axis if known is None else known
        if known is not None:
            value.shape[first : first + ndims].assert_is_compatible_with(held.shape)
        total = one(
            "Prod", {"input": shape(value)[first : first + ndims], "reduction_indices": [0]}
        )
        flat_shape = concat([shape(value)[:first], [total], shape(value)[first + ndims :]], 0)
        flat = reshape(value, flat_shape)
        indices = squeeze(where(reshape(held, [-1])), axis=[1])
        return gather(flat, indices, axis=first)


class ListDiff(NamedTuple):
    """The result of `setdiff1d`: the elements, and their indices."""

    out: Tensor
    idx: Tensor


@public("setdiff1d")
def setdiff1d(
    x: TensorLike, y: TensorLike, index_dtype: DTypeLike = dtypes.int32, name: str | None = None
) -> ListDiff:
    """The elements of x that are not in y, and their indices in x."""
    op = apply_op("ListDiff", {"x": x, "y": y}, {"out_idx": index_dtype}, name)
    return ListDiff(*op.outputs)


@public("debugging.ensure_shape", "ensure_shape")
def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The tensor x with a static shape that is checked when the graph runs."""
    return one("EnsureShape", {"input": x}, name, shape=TensorShape(shape))


@public("sparse_to_dense")
def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: TensorLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A tensor of shape `output_shape`, `default_value` except for values at given indices."""
    inputs = {
        "sparse_indices": sparse_indices,
        "output_shape": output_shape,
        "sparse_values": sparse_values,
        "default_value": default_value,
    }
    return one("SparseToDense", inputs, name, validate_indices=validate_indices)


@public("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The vector of the shape that two shapes, given as vectors, broadcast to."""
    return one("BroadcastArgs", {"s0": shape_x, "s1": shape_y})


@public("manip.roll", "roll")
def roll(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    shift: TensorLike,
    axis: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Shift the elements cyclically along axes."""
    return one("Roll", {"input": input, "shift": shift, "axis": axis}, name)


public("rank")(rank)
public("shape")(shape)
public("size")(size)


@public("parallel_stack")
def parallel_stack(values: Sequence[TensorLike], name: str = "parallel_stack") -> Tensor:
    """Stack tensors of one fully known shape along a new first axis, by a ParallelConcat."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        full_shape = [len(values), *first.shape.as_list()]
        parts = [expand_dims(value, 0) for value in values]
        return apply_op("ParallelConcat", {"values": parts}, {"shape": full_shape}).outputs[0]
