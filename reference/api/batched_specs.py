"""Values as tensors that may be stacked and taken apart by rows, by their specs.

A tensor is itself. A sparse tensor is three variants, which `SerializeSparse` makes of one and
`SerializeManySparse` of each of the rows of one. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.reference.api.ops.array_ops import stack, unstack
from sessrun.reference.api.sparse_ops import (
    deserialize_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.api.type_specs import SparseTensorSpec, TensorSpec, TypeSpec
from sessrun.reference.base.dtypes import int64, variant
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.get_static_value import seen_shape
from sessrun.reference.graph.tensor import Tensor

__all__ = ["boxed", "boxed_rows", "boxed_spec", "unboxed"]


def boxed_spec(spec: Any) -> TensorSpec:
    """The spec of the tensor that a value of this spec becomes."""
    return TensorSpec(None, variant) if isinstance(spec, SparseTensorSpec) else spec


def boxed(value: object) -> Any:
    """The tensor that stands for a value: a sparse tensor serialized, a tensor itself."""
    if not isinstance(value, SparseTensor):
        return value
    return serialize_sparse(value, out_type=variant)


def boxed_rows(value: Tensor | SparseTensor) -> Tensor:
    """The tensor whose rows are those of a tensor or sparse tensor.

    Raises:
      ValueError: it is a sparse scalar.

    """
    if not isinstance(value, SparseTensor):
        return value
    if value.shape.merge_with(seen_shape(value.dense_shape)).ndims == 0:
        raise ValueError(
            f"Unbatching a sparse tensor is only supported for rank >= 1. Obtained input: {value}."
        )
    return serialize_many_sparse(value, out_type=variant)


def unboxed(spec: TypeSpec, tensor: Tensor) -> Tensor | SparseTensor:
    """The value of a spec that became this tensor."""
    if not isinstance(spec, SparseTensorSpec):
        tensor.set_shape(spec.shape)
        return tensor
    sparse = deserialize_sparse(tensor, spec.dtype, spec.shape.ndims)
    return SparseTensor(sparse.indices, sparse.values, _sizes(spec, sparse.dense_shape))


def _sizes(spec: SparseTensorSpec, sizes: Tensor) -> Tensor:
    """The dense shape, int64; sizes that the spec knows are constants."""
    if spec.shape.is_fully_defined():
        return convert_to_tensor(spec.shape, dtype=int64, name="shape")
    known: Sequence[Any] = spec.shape.as_list() if spec.shape.ndims is not None else ()
    if all(size is None for size in known):
        return sizes
    parts = unstack(sizes, num=len(known))
    return stack(
        [
            part if size is None else constant(size, sizes.dtype)
            for part, size in zip(parts, known, strict=True)
        ]
    )
