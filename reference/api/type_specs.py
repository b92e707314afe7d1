"""Static descriptions of tensors and composite tensors (`tf.TensorSpec` and its kin)."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.sparse_tensor import SparseTensor, SparseTensorValue
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.build.constant_op import make_tensor_proto
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.indexed_slices import IndexedSlices, IndexedSlicesValue
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

# ruff: noqa: SLF001 - the specs of this module compare what they know

__all__ = [
    "BatchableTypeSpec",
    "IndexedSlicesSpec",
    "SparseTensorSpec",
    "TensorSpec",
    "TypeSpec",
    "type_spec_from_value",
]


@public("TypeSpec")
class TypeSpec(abc.ABC):
    """The static description of a value: a shape, a dtype and fields of its class.

    Attributes:
      shape: the static dense shape.
      dtype: the DType of the values.

    """

    shape: TensorShape
    dtype: dtypes.DType

    @property
    @abc.abstractmethod
    def value_type(self) -> type:
        """The class of the values it describes."""

    @abc.abstractmethod
    def _facts(self) -> tuple[object, ...]:
        """Its fields: the shape, then those that must be equal in specs that go together."""

    @abc.abstractmethod
    def _with_shape(self, shape: TensorShape) -> Self:
        """The same spec with another shape."""

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Whether a value, or any value of another spec, can be what this one describes."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            if not isinstance(other, Tensor | SparseTensor | SparseTensorValue | IndexedSlices):
                return False
            other = type_spec_from_value(other)
        if type(other) is not type(self) or not self.dtype.is_compatible_with(other.dtype):
            return False
        return self.shape.is_compatible_with(other.shape) and self._rest() == other._rest()

    def _rest(self) -> tuple[object, ...]:
        return self._facts()[2:]

    def _serialize(self) -> tuple[object, ...]:
        """The arguments that construct an equal spec."""
        return self._facts()

    def is_subtype_of(self, other: object) -> bool:
        """Whether every value that this one describes is described by the other, too."""
        if type(other) is not type(self) or other.dtype is not self.dtype:
            return False
        wider = self.shape.most_specific_compatible_shape(other.shape)
        return self._rest() == other._rest() and repr(wider) == repr(other.shape)

    def most_specific_common_supertype(self, others: Sequence[object]) -> Self | None:
        """The narrowest spec that has all values of this one and of the others.

        None if their types, dtypes or fields other than the shape differ.
        """
        shape = self.shape
        for other in others:
            if type(other) is not type(self) or other.dtype is not self.dtype:
                return None
            if other._facts()[2:] != self._facts()[2:]:
                return None
            shape = shape.most_specific_compatible_shape(other.shape)
        return self._with_shape(shape)

    def most_specific_compatible_type(self, other: object) -> Self:
        """The most specific spec that is compatible with both.

        Raises:
          ValueError: no spec has the values of both.

        """
        common = self.most_specific_common_supertype([other])
        if common is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return common

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _plain(self) == _plain(other)

    def __hash__(self) -> int:
        return hash((type(self), repr(self.shape), self.dtype))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._facts()))})"


def _plain(spec: TypeSpec) -> tuple[object, ...]:
    """A spec's fields, with shapes as text: unknown sizes are equal there."""
    return tuple(repr(fact) if isinstance(fact, TensorShape) else fact for fact in spec._facts())


class BatchableTypeSpec(TypeSpec):
    """The spec of values that may be stacked: of their batches, and of the rows of one."""

    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The spec of that many values, stacked."""
        return type(self)(TensorShape([batch_size]).concatenate(self.shape), self.dtype)  # type: ignore[call-arg]  # those of this module

    def _unbatch(self) -> TypeSpec:
        """The spec of one of the rows.

        Raises:
          ValueError: the shape is that of a scalar.

        """
        if self.shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return type(self)(self.shape[1:], self.dtype)  # type: ignore[call-arg]  # those of this module


@public("TensorSpec")
class TensorSpec(BatchableTypeSpec):
    """A shape, a dtype and perhaps a name of a tensor.

    Args:
      shape: what becomes a TensorShape.
      dtype: what becomes a DType.
      name: any name.

    Raises:
      TypeError: there is no such shape or dtype.

    """

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None
    ) -> None:
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Self:
        """A spec of the same shape and dtype, by default with the same name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: TensorLike, name: str | None = None) -> Self:
        """The spec of a tensor, by default with the name of its operation.

        Raises:
          ValueError: `tensor` is not a Tensor.

        """
        if not isinstance(tensor, Tensor):
            raise ValueError(  # noqa: TRY004 - TensorFlow's class
                f"`tensor` should be a tf.Tensor, but got type {type(tensor)}."
            )
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def value_type(self) -> type:
        """Tensor."""
        return Tensor

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor that this one describes is described by the other, too."""
        return super().is_subtype_of(other) and self.name in {None, other.name}

    def _facts(self) -> tuple[object, ...]:
        return self.shape, self.dtype, self.name

    def _rest(self) -> tuple[object, ...]:
        return ()

    @property
    def _component_specs(self) -> Self:
        return self

    def _to_components(self, value: TensorLike) -> Tensor:
        """The tensor itself, or what a variable holds."""
        assert isinstance(value, Tensor | Variable)
        return convert_to_tensor(value)

    def _from_components(self, components: Any) -> Any:
        """The tensor itself."""
        return components

    def _with_shape(self, shape: TensorShape) -> Self:
        return type(self)(shape, self.dtype, self.name)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


@public("SparseTensorSpec")
class SparseTensorSpec(BatchableTypeSpec):
    """The shape and dtype of a sparse tensor.

    Args:
      shape: the dense shape; by default unknown.
      dtype: of the values.

    """

    def __init__(self, shape: ShapeLike = None, dtype: DTypeLike = dtypes.float32) -> None:
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value: object) -> Self:
        """The spec of a sparse value.

        Raises:
          TypeError: the value is not sparse.

        """
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            return cls([int(size) for size in value.dense_shape], value.values.dtype)
        raise TypeError(f"Expected SparseTensor or SparseTensorValue. Received: {value}.")

    @property
    def value_type(self) -> type:
        """SparseTensor."""
        return SparseTensor

    def _facts(self) -> tuple[object, ...]:
        return self.shape, self.dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        """The specs of indices, values and dense shape."""
        rank = self.shape.ndims
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self.dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value: Any) -> list[Tensor]:
        """Indices, values and dense shape of a sparse value."""
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Sequence[object]) -> Any:
        """A SparseTensor of tensors; of arrays a SparseTensorValue."""
        if all(isinstance(part, np.ndarray) for part in components):
            return SparseTensorValue(*components)
        sparse = SparseTensor(*components)
        sparse.set_shape(self.shape)
        return sparse

    def _with_shape(self, shape: TensorShape) -> Self:
        return type(self)(shape, self.dtype)


@public("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """The shape and dtypes of indexed slices.

    Args:
      shape: the dense shape; by default unknown.
      dtype: of the rows.
      indices_dtype: of their places.
      dense_shape_dtype: the dtype of `dense_shape`; None if the values have none.
      indices_shape: the shape of the places, by default a vector of any length.

    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = dense_shape_dtype and dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        """IndexedSlices."""
        return IndexedSlices

    def _facts(self) -> tuple[object, ...]:
        return (
            self.shape,
            self.dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    def _rest(self) -> tuple[object, ...]:
        return self._indices_dtype, self._dense_shape_dtype

    @property
    def _shape(self) -> TensorShape:
        return self.shape

    @property
    def _values_dtype(self) -> dtypes.DType:
        return self.dtype

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        """The specs of values, indices and, if it is known, dense shape."""
        count = self._indices_shape.dims
        rows = TensorShape(count).concatenate(self.shape[1:])
        specs = (TensorSpec(rows, self.dtype), TensorSpec(self._indices_shape, self._indices_dtype))
        if self._dense_shape_dtype is None:
            return specs
        return *specs, TensorSpec([self.shape.rank], self._dense_shape_dtype)

    def _to_components(self, value: IndexedSlices) -> tuple[object, ...]:
        """Values, indices and, if it is known, dense shape of indexed slices."""
        parts = (value.values, value.indices, value.dense_shape)
        return parts if value.dense_shape is not None else parts[:2]

    def _from_components(self, components: Sequence[Any]) -> Any:
        """Indexed slices of tensors; of arrays what a fetch of them gives."""
        is_fetched = all(isinstance(part, np.ndarray) for part in components)
        return (IndexedSlicesValue if is_fetched else IndexedSlices)(*components)

    def _with_shape(self, shape: TensorShape) -> Self:
        return type(self)(shape, *self._facts()[1:])


@public("type_spec_from_value")
def type_spec_from_value(value: object) -> TypeSpec:
    """The spec of a tensor, a sparse value or what becomes a constant.

    Raises:
      TypeError: the value has no spec.

    """
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, Variable):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if isinstance(value, SparseTensor | SparseTensorValue):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, IndexedSlices):
        dense_shape = value.dense_shape
        shape = TensorShape([None]).concatenate(value.values.shape[1:]).merge_with(value.shape)
        return IndexedSlicesSpec(
            shape,
            value.dtype,
            value.indices.dtype,
            None if dense_shape is None else dense_shape.dtype,
            value.indices.shape,
        )
    try:
        proto = make_tensor_proto(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}."
        ) from error
    return TensorSpec([dim.size for dim in proto.tensor_shape.dim], proto.dtype)
