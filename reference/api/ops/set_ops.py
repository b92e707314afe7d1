"""Set operations on the rows of tensors, dense or sparse; public as `sets.*`.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

_VALID: Final = frozenset(
    {
        dtypes.int8,
        dtypes.int16,
        dtypes.int32,
        dtypes.int64,
        dtypes.uint8,
        dtypes.uint16,
        dtypes.string,
    }
)


@public("sets.set_size", "sets.size")
def set_size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """The number of unique values of each row of the last dimension, int32.

    Args:
      a: a sparse tensor of rank 2 or more, with sorted indices.
      validate_indices: whether the order of indices is checked.

    Raises:
      TypeError: `a` is not sparse, or its dtype is not supported.

    """
    sparse = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(sparse, SparseTensor):
        raise bad_type(f"Expected `SparseTensor`, got {sparse}.")
    _check_dtype(sparse)
    parts = {
        "set_indices": sparse.indices,
        "set_values": sparse.values,
        "set_shape": sparse.dense_shape,
    }
    return one("SetSize", parts, validate_indices=validate_indices)


def _check_dtype(value: Tensor | SparseTensor) -> None:
    if value.dtype.base_dtype not in _VALID:
        raise bad_type(f"Sets are not of {value.dtype.name}; they are of integers or strings")


def _pair(
    a: TensorLike | SparseTensor, b: TensorLike | SparseTensor
) -> tuple[Tensor | SparseTensor, Tensor | SparseTensor, bool]:
    """Both operands as tensors, a dense one first, and whether they were swapped.

    Raises:
      TypeError: the dtypes differ or are not supported.

    """
    first = convert_to_tensor_or_sparse_tensor(a, name="a")
    _check_dtype(first)
    second = convert_to_tensor_or_sparse_tensor(b, name="b")
    if second.dtype.base_dtype is not first.dtype.base_dtype:
        raise bad_type(f"Types don't match, {first.dtype} vs {second.dtype}.")
    if isinstance(first, SparseTensor) and not isinstance(second, SparseTensor):
        return second, first, True
    return first, second, False


def _operation(
    a: Tensor | SparseTensor, b: Tensor | SparseTensor, operation: str, validate_indices: bool
) -> SparseTensor:
    kinds: list[str] = []
    inputs: dict[str, Tensor] = {}
    for name, value in (("set1", a), ("set2", b)):
        if isinstance(value, SparseTensor):
            kinds.append("Sparse")
            inputs |= {
                f"{name}_indices": value.indices,
                f"{name}_values": value.values,
                f"{name}_shape": value.dense_shape,
            }
        else:
            kinds.append("Dense")
            inputs[name] = value
    make = wrapper(f"{kinds[0]}To{kinds[1]}SetOperation")
    return SparseTensor(*make(**inputs, set_operation=operation, validate_indices=validate_indices))


@public("sets.intersection", "sets.set_intersection")
def set_intersection(
    a: TensorLike | SparseTensor, b: TensorLike | SparseTensor, validate_indices: bool = True
) -> SparseTensor:
    """The intersection of sets: for each row the values that are in both tensors.

    Args:
      a: a tensor or a sparse tensor of rank 2 or more, with sorted indices.
      b: a tensor of the same dtype, and of the same shape except for the last dimension.
      validate_indices: whether the order of indices is checked.

    Returns:
      A sparse tensor with sorted values in each row.

    Raises:
      TypeError: the dtypes differ or are not supported.

    """
    first, second, _ = _pair(a, b)
    return _operation(first, second, "intersection", validate_indices)


@public("sets.difference", "sets.set_difference")
def set_difference(
    a: TensorLike | SparseTensor,
    b: TensorLike | SparseTensor,
    aminusb: bool = True,
    validate_indices: bool = True,
) -> SparseTensor:
    """The difference of sets: the values of `a` not in `b`, or of `b` not in `a` if not `aminusb`.

    The other arguments, the result and the errors are as for `set_intersection`.
    """
    first, second, flipped = _pair(a, b)
    operation = "a-b" if bool(aminusb) is not flipped else "b-a"
    return _operation(first, second, operation, validate_indices)


@public("sets.set_union", "sets.union")
def set_union(
    a: TensorLike | SparseTensor, b: TensorLike | SparseTensor, validate_indices: bool = True
) -> SparseTensor:
    """The union of sets: for each row the values that are in either tensor."""
    first, second, _ = _pair(a, b)
    return _operation(first, second, "union", validate_indices)
