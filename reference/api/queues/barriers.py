"""Barriers: elements by key, taken once all their components have come. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.queues.queues import shape_list
from sessrun.reference.base.dtypes import DTypeLike, as_dtype
from sessrun.reference.base.tensor_shape import Dimension, TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Barrier"]


class Barrier:
    """Holds elements until all their components have come.

    Args:
      types: the dtype of each component.
      shapes: the fully defined shapes of the components, or the shape of the only one;
        scalars if None.
      shared_name: the name under which sessions know it, its own if None.
      name: the operation's name.

    Raises:
      TypeError: the shapes are no list.
      ValueError: a shape is not fully defined, or has no elements.

    """

    def __init__(
        self,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: object = None,
        shared_name: str | None = None,
        name: str = "barrier",
    ) -> None:
        listed = types if isinstance(types, list | tuple) else [types]
        self._types = [as_dtype(dtype) for dtype in listed]
        self._shapes = shape_list(shapes) or [TensorShape(None) for _ in self._types]
        for index, shape in enumerate(self._shapes):
            if shape.num_elements() == 0:
                raise ValueError(
                    f"Empty tensors are not supported, but received shape '{shape}' at index "
                    f"{index}"
                )
        attrs = {
            "component_types": self._types,
            "shapes": self._shapes,
            "shared_name": shared_name or "",
        }
        self._barrier_ref = apply_op("Barrier", {}, attrs, name).outputs[0]
        self._name = self._barrier_ref.op.name.rpartition("/")[2]

    @property
    def barrier_ref(self) -> Tensor:
        """The barrier's tensor."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """The name of its operation."""
        return self._barrier_ref.op.name

    def insert_many(
        self, component_index: int, keys: TensorLike, values: TensorLike, name: str | None = None
    ) -> Operation:
        """Give one component of some keys: a row of `values` for each of the vector `keys`.

        Raises:
          ValueError: there are not as many rows as keys.

        """
        inputs = {"handle": self._barrier_ref, "keys": keys, "values": values}
        attrs = {"component_index": component_index}
        name = name or f"{self._name}_BarrierInsertMany"
        return apply_op("BarrierInsertMany", inputs, attrs, name)

    def take_many(
        self,
        num_elements: TensorLike,
        allow_small_batch: bool = False,
        timeout: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Take complete elements, once there are enough: their indices, keys and components.

        Args:
          num_elements: how many.
          allow_small_batch: whether a closed barrier may give fewer, if it has any.
          timeout: whether fewer elements wait for those that lack a component, which is what it
            means in TensorFlow 2.21, despite its name.
          name: the operation's name.

        Raises:
          ValueError: the number is negative.

        """
        waits = {} if timeout is None else {"wait_for_incomplete": timeout}
        taken = wrapper("BarrierTakeMany")(
            handle=self._barrier_ref,
            num_elements=num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            name=name or f"{self._name}_BarrierTakeMany",
            **waits,
        )
        op = taken[0].op
        count = Dimension(None if allow_small_batch else constant_value(op.inputs[1]))
        for output in op.outputs[:2]:
            output.set_shape(TensorShape([count]))
        for output, shape in zip(op.outputs[2:], self._shapes, strict=False):
            output.set_shape(TensorShape([count]).concatenate(shape))
        return taken

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Take no new keys; if `cancel_pending_enqueues`, forget those that lack a component."""
        attrs = {"cancel_pending_enqueues": cancel_pending_enqueues}
        inputs = {"handle": self._barrier_ref}
        return apply_op("BarrierClose", inputs, attrs, name or f"{self._name}_BarrierClose")

    def ready_size(self, name: str | None = None) -> Tensor:
        """How many elements are complete: a scalar int32 tensor."""
        inputs = {"handle": self._barrier_ref}
        name = name or f"{self._name}_BarrierReadySize"
        return apply_op("BarrierReadySize", inputs, {}, name).outputs[0]

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack a component: a scalar int32 tensor."""
        inputs = {"handle": self._barrier_ref}
        name = name or f"{self._name}_BarrierIncompleteSize"
        return apply_op("BarrierIncompleteSize", inputs, {}, name).outputs[0]
