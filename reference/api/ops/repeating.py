"""`tf.repeat`: the elements along an axis repeated."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import boolean_mask, concat, expand_dims, shape
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.grids import sequence_mask
from sessrun.reference.api.ops.shape_ops import rank
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import broadcast_to, reshape, tile
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


@public("repeat")
def repeat(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    repeats: TensorLike,
    axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Repeat elements along an axis.

    Args:
      input: a tensor.
      repeats: the number of repetitions: a scalar, or one for each element.
      axis: the axis; None to flatten the tensor first.
      name: the operations' scope.

    Raises:
      TypeError: the axis is not an int, or the repeats are not integers.
      ValueError: the axis is invalid, or there is another number of repeats.

    """
    if axis is None:
        input, axis = reshape(input, [-1]), 0  # noqa: A001 - the same
    if not isinstance(axis, int):
        raise TypeError(f"Argument `axis` must be an int. Received `axis` = {axis}")
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        counts = convert_to_tensor(repeats, name="repeats", preferred_dtype=dtypes.int32)
        if not counts.dtype.is_integer:
            raise TypeError(f"repeats must be an integer tensor; dtype={counts.dtype}")
        counts = cast(counts, dtypes.int32)
        counts.shape.with_rank_at_most(1)
        data = _with_axes(data)
        axis_number = _axis_of(data, axis)
        if counts.shape.num_elements() == 1:
            return _repeated(data, reshape(counts, []), axis_number)
        if counts.shape.ndims == 1 and data.shape.ndims is not None:
            data.shape[axis_number : axis_number + 1].assert_is_compatible_with(counts.shape)
        if counts.shape.ndims is None:
            counts = broadcast_to(counts, [shape(data)[axis_number]])
        # Masked copies as in TensorFlow: gradients of gathered rows would be IndexedSlices.
        mask = sequence_mask(counts)
        repeated = boolean_mask(_copies(data, shape(mask)[1], axis_number), mask, axis=axis_number)
        known = (
            get_static_value(counts) if axis_number else None
        )  # as TensorFlow is seen to know it
        if known is not None and data.shape.ndims is not None:
            sizes = data.shape.as_list()
            repeated.set_shape([*sizes[:axis_number], int(known.sum()), *sizes[axis_number + 1 :]])
        return repeated


def _with_axes(data: Tensor) -> Tensor:
    """The data; a scalar becomes a vector of one element."""
    if data.shape.ndims is None:
        sizes = concat([[1], shape(data)], axis=0)
        return reshape(data, sizes[-rank(data) :])
    return data if data.shape.ndims else reshape(data, [1])


def _axis_of(data: Tensor, axis: int) -> int:
    ndims = data.shape.ndims
    if ndims is None:
        if axis < 0:
            raise bad_value(f"axis={axis} may only be negative if rank(data) is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise bad_value(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis % ndims


def _repeated(data: Tensor, count: Tensor, axis: int) -> Tensor:
    """Repeat all elements along an axis equally often."""
    sizes = shape(data, out_type=count.dtype)
    full_shape = concat([sizes[:axis], [count * sizes[axis]], sizes[axis + 1 :]], axis=0)
    return reshape(_copies(data, count, axis), full_shape)


def _copies(data: Tensor, count: Tensor, axis: int) -> Tensor:
    """`count` copies of each element, along a new dimension after the axis."""
    wide, ndims = expand_dims(data, axis + 1), data.shape.ndims
    multiples: TensorLike
    if ndims is None:
        ones_of_rank = ones([rank(wide)], dtypes.int32)
        multiples = concat([ones_of_rank[: axis + 1], [count], ones_of_rank[axis + 2 :]], axis=0)
    else:
        multiples = [*[1] * (axis + 1), count, *[1] * (ndims - axis - 1)]
    return tile(wide, multiples)
