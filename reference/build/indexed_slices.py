"""IndexedSlices: rows of a larger tensor, by their indices; fetched as an IndexedSlicesValue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_unary
from sessrun.reference.build.composites import CompositeTensor
from sessrun.reference.build.conversion import (
    convert_to_tensor,
    register_tensor_conversion_function,
)
from sessrun.reference.build.expansions import register_session_run_conversion_functions
from sessrun.reference.build.generated import unsorted_segment_sum
from sessrun.reference.build.get_static_value import seen_shape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["IndexedSlices", "IndexedSlicesValue", "convert_to_tensor_or_indexed_slices"]


class IndexedSlicesValue(NamedTuple):
    """The value of fetched IndexedSlices: arrays; `dense_shape` is None if it is not known."""

    values: np.ndarray
    indices: np.ndarray
    dense_shape: Any = None


@public("IndexedSlices")
class IndexedSlices(CompositeTensor):
    """Rows `values` of a tensor, at the positions `indices` along its first axis.

    Args:
      values: a Tensor of any dtype, shape [D0, D1, ..., Dn].
      indices: an integer Tensor of shape [D0].
      dense_shape: an integer Tensor, the shape of the dense tensor; None if it is not known.

    """

    _is_tensor_like = True  # for `tf.is_tensor`
    _stands_for_its_op = True  # for `tf.control_dependencies` and `tf.colocate_with`

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """The positions of the rows along the first axis."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the dense tensor, or None."""
        return self._dense_shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the rows."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        if self._dense_shape is None:
            return TensorShape(None)
        return seen_shape(self._dense_shape)

    @property
    def name(self) -> str:
        """The name of the rows."""
        return self._values.name

    @property
    def device(self) -> str:
        """The device of the rows."""
        return self._values.device

    @property
    def op(self) -> Operation:
        """The operation that makes the rows."""
        return self._values.op

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._values.graph

    def consumers(self) -> list[Operation]:
        """The operations that take one of its parts, without repetition."""
        return list(dict.fromkeys(op for part in self.parts() for op in part.consumers()))

    def parts(self) -> list[Tensor]:
        """Its tensors: values, indices and, if it is known, the dense shape."""
        shape = [] if self._dense_shape is None else [self._dense_shape]
        return [self._values, self._indices, *shape]

    def _mapped(self, function: Callable[[Tensor], Tensor]) -> IndexedSlices:
        """IndexedSlices with a function applied to each part of this one."""
        return IndexedSlices(*map(function, self.parts()))

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(apply_unary("Neg", self._values), self._indices, self._dense_shape)

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"


@public("convert_to_tensor_or_indexed_slices")
def convert_to_tensor_or_indexed_slices(
    value: object, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """IndexedSlices unchanged, any other value as a Tensor.

    Raises:
      InvalidArgumentTypeError, InvalidArgumentValueError: as `convert_to_tensor`.

    """
    if isinstance(value, IndexedSlices):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise bad_value(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with "
                f"dtype {value.dtype.name}: {value}"
            )
        return value
    return convert_to_tensor(value, dtype, name)


def _dense(
    value: IndexedSlices,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    """The dense tensor, zero where no index points; slices of the same index are summed.

    Raises:
      InvalidArgumentValueError: the shape is not known, or another dtype is wanted.

    """
    del as_ref
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise bad_value(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
            f"{value.dtype.name}"
        )
    if value.dense_shape is None:
        raise bad_value(
            "Tensor conversion requested for IndexedSlices for argument `value` without "
            f"dense_shape: {value}"
        )
    rows = value.dense_shape[0]
    return unsorted_segment_sum(value.values, value.indices, rows, name)


register_tensor_conversion_function(IndexedSlices, _dense)
register_session_run_conversion_functions(
    IndexedSlices,
    lambda slices: (slices.parts(), lambda values: IndexedSlicesValue(*values)),
    lambda slices, value: list(zip(slices.parts(), value, strict=False)),
    lambda slices: slices.parts(),
)
