"""Encoding of values as tensors, which `map_fn` can stack and unstack, and decoding by specs.

A tensor is its own encoding. That of a sparse tensor is a vector of three variants (indices, values
and shape), the output of `SerializeSparse`; `SerializeManySparse` gives one for each row. Source:
TF 2.21.
"""

from __future__ import annotations

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

__all__ = ["decoded", "encoded", "encoded_rows", "encoded_spec"]


def encoded_spec(spec: Any) -> TensorSpec:
    """The spec of the encoding of a value of this spec."""
    return TensorSpec(None, variant) if isinstance(spec, SparseTensorSpec) else spec


def encoded(value: object) -> Any:
    """The encoding of a value."""
    if not isinstance(value, SparseTensor):
        return value
    return serialize_sparse(value, out_type=variant)


def encoded_rows(value: Tensor | SparseTensor) -> Tensor:
    """A tensor whose rows are the encodings of the rows of a tensor or sparse tensor.

    Raises:
      ValueError: the sparse tensor is a scalar.

    """
    if not isinstance(value, SparseTensor):
        return value
    if value.shape.merge_with(seen_shape(value.dense_shape)).ndims == 0:
        raise ValueError(
            f"Unbatching a sparse tensor is only supported for rank >= 1. Obtained input: {value}."
        )
    return serialize_many_sparse(value, out_type=variant)


def decoded(spec: TypeSpec, tensor: Tensor) -> Tensor | SparseTensor:
    """The value of a spec that has this tensor as its encoding."""
    if not isinstance(spec, SparseTensorSpec):
        tensor.set_shape(spec.shape)
        return tensor
    sparse = deserialize_sparse(tensor, spec.dtype, spec.shape.ndims)
    return SparseTensor(sparse.indices, sparse.values, _sizes(spec, sparse.dense_shape))


def _sizes(spec: SparseTensorSpec, sizes: Tensor) -> Tensor:
    """The dense shape, int64, with constants for the sizes that are static in the spec."""
    if spec.shape.is_fully_defined():
        return convert_to_tensor(spec.shape, dtype=int64, name="shape")
    known = spec.shape.as_list() if spec.shape.ndims is not None else ()
    if all(size is None for size in known):
        return sizes
    parts = unstack(sizes, num=len(known))
    return stack(
        [
            part if size is None else constant(size, sizes.dtype)
            for part, size in zip(parts, known, strict=True)
        ]
    )
