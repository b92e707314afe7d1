"""Functions of shapes and of rearranging, joining, filling and gathering.

Their node names and op types are those of `tensorflow.compat.v1`; what is one operation with its
own name is in `generated.py`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sessrun.reference import dtypes
from sessrun.reference.build import apply_op
from sessrun.reference.constant_op import constant
from sessrun.reference.conversion import convert_to_tensor
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.framework_ops import identity, name_scope
from sessrun.reference.generated import reshape
from sessrun.reference.math_ops import one
from sessrun.reference.tensor import Tensor
from sessrun.reference.tensor_shape import TensorShape

__all__ = ["EXPORTS", "concat", "expand_dims", "fill", "gather", "ones", "rank", "reshape",
           "shape", "size", "squeeze", "stack", "transpose", "where", "zeros", "zeros_like"]  # fmt: skip

#: Tensors with fewer elements are made as constants, not by `Fill`.
_SMALL: Final = 1000


def shape(
    input: Any,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
    out_type: Any = None,
    optimize: bool = True,
) -> Tensor:
    """The shape as an integer vector: a constant where it is known while the graph is built.

    Args:
      input: a tensor.
      name: the operation's name.
      out_type: int32 (the default) or int64.
      optimize: whether a known shape becomes a constant.

    """
    wanted = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    with name_scope(name, "Shape", [input]) as scope:
        value = convert_to_tensor(input)
        if optimize and value.shape.is_fully_defined():
            return constant(value.shape.as_list(), wanted, name=scope)
        return one("Shape", {"input": value}, scope, out_type=wanted)


def size(
    input: Any,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
    out_type: Any = dtypes.int32,
) -> Tensor:
    """The number of elements: a constant where it is known while the graph is built."""
    wanted = dtypes.as_dtype(out_type)
    with name_scope(name, "Size", [input]) as scope:
        value = convert_to_tensor(input)
        if value.shape.is_fully_defined():
            return constant(value.shape.num_elements(), wanted, name=scope)
        return one("Size", {"input": value}, scope, out_type=wanted)


def rank(input: Any, name: str | None = None) -> Tensor:  # noqa: A002 - TensorFlow's name
    """The number of dimensions: a constant where it is known while the graph is built."""
    with name_scope(name, "Rank", [input]) as scope:
        value = convert_to_tensor(input)
        if value.shape.ndims is not None:
            return constant(value.shape.ndims, dtypes.int32, name=scope)
        return one("Rank", {"input": value}, scope)


def expand_dims(
    input: Any,  # noqa: A002 - TensorFlow's name
    axis: Any = None,
    name: str | None = None,
    dim: Any = None,
) -> Tensor:
    """A dimension of 1 put in before an axis.

    Raises:
      ValueError: no axis is given, or two are.

    """
    if (axis is None) == (dim is None):
        raise bad_value("Must specify exactly one of 'axis' and 'dim'.")
    return one("ExpandDims", {"input": input, "dim": dim if axis is None else axis}, name)


def squeeze(
    input: Any,  # noqa: A002 - TensorFlow's name
    axis: Any = None,
    name: str | None = None,
    squeeze_dims: Any = None,
) -> Tensor:
    """Dimensions of 1 taken out: the given axes, or all."""
    axes = squeeze_dims if axis is None else axis
    if axes is None:
        axes = []
    elif np.isscalar(axes):
        axes = [axes]
    return one("Squeeze", {"input": input}, name, squeeze_dims=axes)


def transpose(
    a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False
) -> Tensor:
    """The dimensions in another order: reversed if none is given."""
    with name_scope(name, "transpose", [a]) as scope:
        value = convert_to_tensor(a, name="a")
        flip = conjugate and value.dtype.is_complex
        if perm is None:
            ndims = value.shape.ndims
            if ndims is not None:
                perm = np.arange(ndims - 1, -1, -1, dtype=np.int32)
            else:
                count = one("Rank", {"input": value})
                top = count - 1
                numbers = {"start": 0, "limit": count, "delta": 1}
                perm = top - one("Range", numbers)
        return one("ConjugateTranspose" if flip else "Transpose", {"x": value, "perm": perm}, scope)


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors joined along an axis.

    Args:
      values: a list of tensors that differ only along the axis.
      axis: a scalar integer.
      name: the operation's name.

    """
    items = list(values) if isinstance(values, list | tuple) else [values]
    if len(items) == 1:
        with name_scope(name) as scope:
            place = convert_to_tensor(axis, dtype=dtypes.int32, name="concat_dim")
            place.shape.assert_has_rank(0)
            return identity(items[0], name=scope)
    return one("ConcatV2", {"values": items, "axis": axis}, name)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape joined along a new axis.

    Raises:
      ValueError: the axis is out of range.

    """
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass  # not of one dtype and shape: the operation says what is wrong
    items = [convert_to_tensor(item) if not isinstance(item, Tensor) else item for item in values]
    ndims = items[0].shape.ndims
    if ndims is not None and not -ndims - 1 <= axis < ndims + 1:
        raise bad_value(f"Argument `axis` = {axis} not in range [{-ndims - 1}, {ndims + 1})")
    return one("Pack", {"values": items}, name, axis=axis)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> Any:
    """The slices along an axis, as a list.

    Raises:
      ValueError: `num` is not given and the axis has no known size.

    """
    if num is None:
        value = convert_to_tensor(value)
        dims = value.shape
        if dims.ndims is not None:
            if not -dims.ndims <= axis < dims.ndims:
                raise bad_value(f"Argument `axis` = {axis} not in range [{-dims.ndims}, "
                                f"{dims.ndims})")  # fmt: skip
            num = dims.as_list()[axis]
        if num is None:
            raise bad_value(f"Cannot infer argument `num` from shape {dims}")
    return list(apply_op("Unpack", {"value": value}, {"num": num, "axis": axis}, name).outputs)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """Parts along an axis: a number of equal ones, or of the given sizes.

    Raises:
      ValueError: how many sizes there are is not known.

    """
    if isinstance(num_or_size_splits, int | np.integer):
        inputs = {"split_dim": axis, "value": value}
        attrs = {"num_split": int(num_or_size_splits)}
        return list(apply_op("Split", inputs, attrs, name).outputs)
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.shape.ndims == 0:
        raise bad_value("Rank-0 tensors are not supported as the num_or_size_splits argument to "
                        "split.")  # fmt: skip
    if num is None:
        num = None if sizes.sizes is None else sizes.sizes[0]
        if num is None:
            raise bad_value(f"Cannot infer argument `num` from shape {sizes.shape}")
    inputs = {"value": value, "size_splits": sizes, "split_dim": axis}
    return list(apply_op("SplitV", inputs, {"num_split": num}, name).outputs)


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The block of a given size that begins at a given place; a size of -1 is the rest."""
    return one("Slice", {"input": input_, "begin": begin, "size": size}, name)


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,  # noqa: ARG001 - a variable to assign to, which the slice itself ignores
    name: str | None = None,
) -> Tensor:
    """A slice by begin, end and stride; the bits of the masks are the items' flags."""
    steps = ones_like(begin) if strides is None else strides
    inputs = {"input": input_, "begin": begin, "end": end, "strides": steps}
    return one("StridedSlice", inputs, name, begin_mask=begin_mask, end_mask=end_mask,
               ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
               shrink_axis_mask=shrink_axis_mask)  # fmt: skip


def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,  # noqa: ARG001 - TensorFlow ignores it too
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """Slices of params along an axis (by default the first after the batch dimensions).

    A resource variable is gathered from without reading the whole of it.
    """
    place = batch_dims if axis is None else axis
    if isinstance(place, int) and place == 0 and hasattr(params, "sparse_read"):
        found: Tensor = params.sparse_read(indices, name=name)
        return found
    inputs = {"params": params, "indices": indices, "axis": place}
    return one("GatherV2", inputs, name, batch_dims=batch_dims)


def gather_nd(
    params: Any,
    indices: Any,
    name: str | None = None,
    batch_dims: int = 0,
    bad_indices_policy: str = "",
) -> Tensor:
    """Slices of params at index vectors.

    Raises:
      ValueError: there are batch dimensions, which are not supported.

    """
    if batch_dims:
        raise bad_value(f"gather_nd supports no batch_dims here, got {batch_dims}")
    inputs = {"params": params, "indices": indices}
    return one("GatherNd", inputs, name, bad_indices_policy=bad_indices_policy)


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor filled with one value."""
    return one("Fill", {"dims": dims, "value": value}, name)


def _filled(
    shape_: Any, value: Any, dtype: dtypes.DType, default: str, name: str | None
) -> Tensor:
    """A constant of that shape if it is small, else a `Fill`."""
    with name_scope(name, default, [shape_]) as scope:
        if not isinstance(shape_, Tensor):
            static = _static(shape_)
            if static is not None and np.prod(static, dtype=np.int64) < _SMALL:
                return constant(value, dtype, shape=static, name=scope)
            shape_ = convert_to_tensor(
                TensorShape(static) if static is not None else shape_,
                None if static is not None else dtypes.int32,
            )
        if shape_.sizes is None or not shape_.sizes:
            shape_ = reshape(shape_, [-1])
        return fill(shape_, constant(value, dtype), name=scope)


def _static(shape_: Any) -> list[int] | None:
    """A shape given as Python numbers, an ndarray or a TensorShape; None if it holds tensors."""
    try:
        dims = TensorShape(shape_.tolist() if isinstance(shape_, np.ndarray) else shape_)
    except (TypeError, ValueError):
        return None
    return dims.as_list() if dims.is_fully_defined() else None  # type: ignore[return-value]  # no None here


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Zeros (false, empty strings) of that shape."""
    wanted = dtypes.as_dtype(dtype).base_dtype
    zero: Any = False if wanted is dtypes.bool_ else b"" if wanted is dtypes.string else 0
    return _filled(shape, zero, wanted, "zeros", name)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Ones of that shape."""
    wanted = dtypes.as_dtype(dtype).base_dtype
    one_: Any = True if wanted is dtypes.bool_ else 1
    return _filled(shape, one_, wanted, "ones", name)


def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Zeros in a tensor's shape: a constant where that is known and small."""
    with name_scope(name, "zeros_like", [tensor]) as scope:
        value = convert_to_tensor(tensor, name="tensor")
        wanted = value.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype)
        if optimize and value.shape.is_fully_defined():
            return zeros(value.shape, wanted, name=scope)
        if wanted is not value.dtype.base_dtype:
            return zeros(shape(value, optimize=optimize), wanted, name=scope)
        return one("ZerosLike", {"x": value}, scope)


def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Ones in a tensor's shape."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        value = convert_to_tensor(tensor, name="tensor")
        dims = shape(value, optimize=optimize)
        return ones(dims, value.dtype.base_dtype if dtype is None else dtype, name=scope)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """One value where the index says, another elsewhere.

    Args:
      indices: integers; one out of range lights nothing.
      depth: a scalar, the size of the new dimension.
      on_value: a scalar, by default 1.
      off_value: a scalar, by default 0.
      axis: where the new dimension goes, by default last.
      dtype: the dtype, by default the values' or float32.
      name: the operation's name.

    Raises:
      TypeError: the values' dtypes differ from one another or from `dtype`.

    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        given = [value for value in (on_value, off_value) if value is not None]
        found = {convert_to_tensor(v, dtype_hint=dtype).dtype.base_dtype for v in given
                 if isinstance(v, Tensor)}  # fmt: skip
        if len(found) > 1:
            raise bad_type(f"dtypes of on_value and off_value must match, got {found}")
        wanted = dtype if dtype is not None else next(iter(found), None)
        if wanted is None and not given:
            wanted = dtypes.float32
        on = convert_to_tensor(1 if on_value is None else on_value, wanted, name="on_value")
        off = convert_to_tensor(
            0 if off_value is None else off_value, wanted or on.dtype.base_dtype, name="off_value"
        )
        inputs = {"indices": indices, "depth": depth, "on_value": on, "off_value": off}
        return one("OneHot", inputs, scope, axis=-1 if axis is None else axis)


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:
    """The tensor with zeros, a value or its mirror image around it.

    Args:
      tensor: a tensor.
      paddings: [rank, 2]: how much before and after each dimension.
      mode: `CONSTANT`, `REFLECT` or `SYMMETRIC`.
      name: the operation's name.
      constant_values: a scalar, for `CONSTANT`.

    Raises:
      ValueError: the mode is another.

    """
    kind = mode.upper()
    inputs = {"input": tensor, "paddings": paddings}
    if kind in {"REFLECT", "SYMMETRIC"}:
        return one("MirrorPad", inputs, name, mode=kind)
    if kind != "CONSTANT":
        raise bad_value(f"Unknown padding mode: {mode}")
    if not isinstance(constant_values, Tensor) and np.ndim(constant_values) == 0 and (
        constant_values == 0
    ):
        return one("Pad", inputs, name)
    return one("PadV2", {**inputs, "constant_values": constant_values}, name)


def reverse_sequence(
    input: Any,  # noqa: A002 - TensorFlow's name
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """The first elements of each row reversed, as many as its length says."""
    inputs = {"input": input, "seq_lengths": seq_lengths}
    along = seq_axis if seq_dim is None else seq_dim
    batch = batch_axis if batch_dim is None else batch_dim
    return one("ReverseSequence", inputs, name, seq_dim=along, batch_dim=batch or 0)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """x where the condition holds, else y; without them the indices where it holds.

    Raises:
      ValueError: only one of x and y is given.

    """
    if (x is None) != (y is None):
        raise bad_value("x and y must both be non-None or both be None.")
    if x is None:
        with name_scope(name, "Where", [condition]) as scope:
            found = convert_to_tensor(condition, preferred_dtype=dtypes.bool_, name="condition")
            return one("Where", {"input": found}, scope)
    return one("Select", {"condition": condition, "t": x, "e": y}, name)


def setdiff1d(
    x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The elements of x that are not in y, and where they are in x."""
    out, idx = apply_op("ListDiff", {"x": x, "y": y}, {"out_idx": index_dtype}, name).outputs
    return out, idx


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """x, whose shape is known to be, and at run time checked to be, of that form."""
    return one("EnsureShape", {"input": x}, name, shape=TensorShape(shape))


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A tensor of one value with others written at given places."""
    inputs = {"sparse_indices": sparse_indices, "output_shape": output_shape,
              "sparse_values": sparse_values, "default_value": default_value}  # fmt: skip
    return one("SparseToDense", inputs, name, validate_indices=validate_indices)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape, as a vector, that two shapes given as vectors broadcast to."""
    return one("BroadcastArgs", {"s0": shape_x, "s1": shape_y})


def roll(
    input: Any,  # noqa: A002 - TensorFlow's name
    shift: Any,
    axis: Any,
    name: str | None = None,
) -> Tensor:
    """The elements shifted along axes; those that fall off come back at the other end."""
    return one("Roll", {"input": input, "shift": shift, "axis": axis}, name)


EXPORTS: Final[dict[str, Any]] = {
    "broadcast_dynamic_shape": broadcast_dynamic_shape,
    "concat": concat,
    "debugging.ensure_shape": ensure_shape,
    "ensure_shape": ensure_shape,
    "expand_dims": expand_dims,
    "fill": fill,
    "gather": gather,
    "gather_nd": gather_nd,
    "manip.gather_nd": gather_nd,
    "manip.roll": roll,
    "one_hot": one_hot,
    "ones": ones,
    "ones_like": ones_like,
    "pad": pad,
    "rank": rank,
    "reverse_sequence": reverse_sequence,
    "roll": roll,
    "setdiff1d": setdiff1d,
    "shape": shape,
    "size": size,
    "slice": slice_,
    "sparse_to_dense": sparse_to_dense,
    "split": split,
    "squeeze": squeeze,
    "stack": stack,
    "strided_slice": strided_slice,
    "transpose": transpose,
    "unstack": unstack,
    "where": where,
    "zeros": zeros,
    "zeros_like": zeros_like,
}
