"""Functions of sets, public as `sets.*`: the rows of tensors, dense or sparse.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__: list[str] = []

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
    """How many different values each row of the last dimension has, int32.

    Args:
      a: a sparse tensor of rank 2 or more, its indices in order.
      validate_indices: whether that is checked.

    Raises:
      TypeError: it is not sparse, or its dtype is none of sets.

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
    """Both as tensors, the dense one first, and whether they changed places.

    Raises:
      TypeError: a dtype is none of sets, or they differ.

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
    inputs: dict[str, Any] = {}
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
    """For each row the values that are in both.

    Args:
      a: a tensor or a sparse tensor of rank 2 or more; indices in order.
      b: one of the same dtype and shape but for the last dimension.
      validate_indices: whether the order of indices is checked.

    Returns:
      A sparse tensor, the values of each row in order.

    Raises:
      TypeError: a dtype is none of sets, or they differ.

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
    """For each row the values of `a` that are not in `b`, or with `aminusb=False` the others.

    The arguments are otherwise those of `set_intersection`, and so is what it returns and raises.
    """
    first, second, flipped = _pair(a, b)
    operation = "a-b" if bool(aminusb) is not flipped else "b-a"
    return _operation(first, second, operation, validate_indices)


@public("sets.set_union", "sets.union")
def set_union(
    a: TensorLike | SparseTensor, b: TensorLike | SparseTensor, validate_indices: bool = True
) -> SparseTensor:
    """For each row the values that are in either, as `set_intersection`."""
    first, second, _ = _pair(a, b)
    return _operation(first, second, "union", validate_indices)
