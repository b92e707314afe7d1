"""`tf.ConditionalAccumulator` and `tf.SparseConditionalAccumulator`. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "ConditionalAccumulator",
    "ConditionalAccumulatorBase",
    "SparseConditionalAccumulator",
]


@public("ConditionalAccumulatorBase")
class ConditionalAccumulatorBase:
    """The base of accumulators of dense and of sparse gradients.

    Args:
      dtype: the dtype of the gradients.
      shape: the gradients' static shape; None if it is not known.
      accumulator_ref: the accumulator's handle.

    """

    #: The prefix of its op types.
    _prefix = "Resource"

    def __init__(self, dtype: DTypeLike, shape: ShapeLike, accumulator_ref: Tensor) -> None:
        self._dtype = dtype
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Tensor:
        """The accumulator's handle."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of its operation, without scopes."""
        return self._name

    @property
    def dtype(self) -> DTypeLike:
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """The number of accumulated gradients: a scalar int32 tensor."""
        op_type = self._prefix + "AccumulatorNumAccumulated"
        inputs = {"handle": self._accumulator_ref}
        return apply_op(op_type, inputs, {}, name or f"{self._name}_NumAccumulated").outputs[0]

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> Operation:
        """Set the global step: gradients of earlier steps are dropped from then on."""
        step = _step(new_global_step)
        inputs = {"handle": self._accumulator_ref, "new_global_step": step}
        return apply_op(self._prefix + "AccumulatorSetGlobalStep", inputs, {}, name)


def _step(value: TensorLike) -> Tensor:
    return cast(convert_to_tensor(value), dtypes.int64)


def _create_accumulator(
    op_type: str,
    dtype: DTypeLike,
    shape: ShapeLike,
    shared_name: str | None,
    name: str,
    reduction_type: str,
) -> Tensor:
    attrs = {
        "dtype": dtype,
        "shape": TensorShape(shape),
        "shared_name": shared_name or "",
        "reduction_type": reduction_type,
    }
    return apply_op(op_type, {}, attrs, name).outputs[0]


@public("ConditionalAccumulator")
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Accumulates gradients; `take_grad` waits for enough of them and returns their mean or sum.

    Args:
      dtype: the dtype of the gradients.
      shape: their static shape.
      shared_name: the name that sessions share it under; if None, `name` is used.
      name: the operation's name.
      reduction_type: `MEAN` or `SUM`.

    Raises:
      ValueError: `reduction_type` is another one.

    """

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = _create_accumulator(
            "ResourceConditionalAccumulator", dtype, shape, shared_name, name, reduction_type
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(
        self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """Add a gradient computed at `local_step`; it is dropped if it is stale.

        Raises:
          ValueError: its shape or dtype is not the accumulator's.

        """
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        inputs = {
            "handle": self._accumulator_ref,
            "local_step": _step(local_step),
            "gradient": grad,
        }
        return apply_op("ResourceAccumulatorApplyGradient", inputs, {}, name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Tensor:
        """The mean or sum of the accumulated gradients, which are removed.

        A run waits until there are `num_required` of them.
        """
        inputs = {"handle": self._accumulator_ref, "num_required": num_required}
        attrs = {"dtype": self._dtype}
        taken = apply_op("ResourceAccumulatorTakeGradient", inputs, attrs, name).outputs[0]
        taken.set_shape(self._shape)
        return taken


@public("SparseConditionalAccumulator", "sparse.SparseConditionalAccumulator")
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Accumulates sparse gradients; arguments as of `ConditionalAccumulator`."""

    _prefix = ""

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = _create_accumulator(
            "SparseConditionalAccumulator", dtype, shape, shared_name, name, reduction_type
        )
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """Add a gradient given as IndexedSlices, as `apply_grad` does."""
        return self.apply_grad(
            grad_indices=grad.indices,
            grad_values=grad.values,
            grad_shape=grad.dense_shape,
            local_step=local_step,
            name=name,
        )

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: TensorLike | None = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Operation:
        """Add slices of a gradient computed at `local_step`; they are dropped if they are stale.

        Args:
          grad_indices: a vector, ascending: the indices of the slices.
          grad_values: the slices, stacked.
          grad_shape: the dense shape of the gradient, or None.
          local_step: the step at which it was computed.
          name: the operation's name.

        """
        inputs = {
            "handle": self._accumulator_ref,
            "local_step": _step(local_step),
            "gradient_indices": cast(grad_indices, dtypes.int64),
            "gradient_values": grad_values,
            "gradient_shape": cast([] if grad_shape is None else grad_shape, dtypes.int64),
        }
        attrs = {"has_known_shape": grad_shape is not None}
        return apply_op("SparseAccumulatorApplyGradient", inputs, attrs, name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Any:
        """As `ConditionalAccumulator.take_grad`: indices, values and shape of the mean or sum."""
        return wrapper("SparseAccumulatorTakeGradient")(
            handle=self._accumulator_ref, num_required=num_required, dtype=self._dtype, name=name
        )

    def take_indexed_slices_grad(
        self, num_required: TensorLike, name: str | None = None
    ) -> IndexedSlices:
        """As `take_grad`, with the result as IndexedSlices."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(taken.values, taken.indices, taken.shape)
