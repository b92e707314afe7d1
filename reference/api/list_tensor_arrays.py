"""`tf.TensorArray` where branches and loops are functions: its elements are a list, a value.

Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops import list_ops
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.tensor_arrays import TensorArray, are_all_one
from sessrun.reference.base.dtypes import DTypeLike, as_dtype, int32, int64
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape, as_shape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity, no_op
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["ListTensorArray"]


class ListTensorArray(TensorArray):
    """An array of tensors whose flow is the list of its elements; it has no handle.

    Args:
      dtype: the elements' dtype.
      size: how many elements; required without `flow`.
      dynamic_size: whether a write past the end makes it longer.
      clear_after_read: not used.
      tensor_array_name: not used.
      handle: None.
      flow: the list of an array that exists.
      infer_shape: whether all elements have one shape, which the first write settles.
      element_shape: the shape that elements must be compatible with.
      colocate_with_first_write_call: not used.
      name: the operation's name.

    Raises:
      ValueError: neither `size` nor `flow` is given, or `flow` with arguments for a new array.

    """

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: TensorLike | None = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        del clear_after_read, tensor_array_name, colocate_with_first_write_call
        assert handle is None
        if flow is None and size is None:
            raise ValueError("Argument `size` must be provided if argument `flow` is not provided.")
        for word, value in (("size", size), ("element_shape", element_shape)):
            if flow is not None and value is not None:
                raise ValueError(
                    f"Cannot provide both `flow` and `{word}` arguments at the same time."
                )
        self._dtype = as_dtype(dtype).base_dtype
        self._size = size
        self._dynamic_size = dynamic_size  # type: ignore[assignment]  # None is kept, as TensorFlow does
        self._infer_shape = infer_shape
        self._element_shape = [as_shape(element_shape)]
        self._colocate_with = None
        self._handle = None  # type: ignore[assignment]  # a list has none
        with name_scope(name, "TensorArrayV2", [size, flow]) as scope:
            self._flow = flow
            if flow is None:
                self._flow = list_ops.tensor_list_reserve(
                    element_shape=element_shape, num_elements=size, element_dtype=dtype, name=scope
                )

    def identity(self) -> TensorArray:
        """An array of the same elements, after the control dependencies here."""
        return self._after(identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """Not there: the gradient of a list is a list.

        Raises:
          NotImplementedError: always.

        """
        raise NotImplementedError

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """The element at `index`, a scalar."""
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            return list_ops.tensor_list_get_item(
                input_handle=self._flow,
                index=index,
                element_dtype=self._dtype,
                element_shape=self.element_shape,
                name=name,
            )

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Write `value` at `index`.

        Raises:
          ValueError: its static shape contradicts that of the elements.

        """
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value = self._converted(value)
            self._learn(value.shape)
            return self._after(
                list_ops.tensor_list_set_item(
                    input_handle=self._flow,
                    index=index,
                    item=value,
                    resize_if_index_out_of_bounds=self._dynamic_size,
                    name=name,
                )
            )

    def stack(self, name: str | None = None) -> Tensor:
        """All elements, packed along a new first axis; they must have one shape."""
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            count = -1
            if not self._dynamic_size and self._size is not None:
                count = constant_value(self._size) if isinstance(self._size, Tensor) else self._size
                count = -1 if count is None else count
            return list_ops.tensor_list_stack(
                input_handle=self._flow,
                element_dtype=self._dtype,
                num_elements=count,
                element_shape=self.element_shape,
            )

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements at `indices`, a vector, packed; they must have one shape."""
        return list_ops.tensor_list_gather(
            input_handle=self._flow,
            indices=indices,
            element_dtype=self._dtype,
            element_shape=self.element_shape,
            name=name,
        )

    def concat(self, name: str | None = None) -> Tensor:
        """All elements, joined along their first axis."""
        known = self.element_shape
        sizes = TensorShape([None, *known.as_list()[1:]]) if known else None
        return list_ops.tensor_list_concat(
            input_handle=self._flow, element_dtype=self._dtype, element_shape=sizes, name=name
        )

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """The rows of `value` as the elements."""
        with name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            value = self._converted(value)
            self._learn(value.shape[1:])
            rows = list_ops.tensor_list_from_tensor(tensor=value, element_shape=value.shape[1:])
            return self._after(rows)

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """Write the rows of `value` at `indices`, a vector.

        Raises:
          ValueError: a row's static shape contradicts that of the elements.

        """
        with name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            value = self._converted(value)
            self._learn(value.shape[1:])
            return self._after(
                list_ops.tensor_list_scatter(
                    tensor=value,
                    indices=indices,
                    element_shape=self.element_shape,
                    input_handle=self._flow,
                )
            )

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """Pieces of `value`, of these lengths along its first axis, as the elements.

        Raises:
          ValueError: the static shape of the pieces contradicts that of the elements.

        """
        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = self._converted(value)
            lengths = cast(lengths, int64)
            known = constant_value(lengths)
            if value.shape.ndims is not None and are_all_one(known):
                self._learn(TensorShape([int(known[0])]).concatenate(value.shape[1:]))
            return self._after(
                list_ops.tensor_list_split(
                    tensor=value, lengths=lengths, element_shape=self.element_shape, name=name
                )
            )

    def size(self, name: str | None = None) -> Tensor:
        """How many elements it has: a scalar int32 tensor."""
        if not self._dynamic_size and self._size is not None:
            return convert_to_tensor(self._size, dtype=int32)
        return list_ops.tensor_list_length(input_handle=self._flow, name=name)

    def close(self, name: str | None = None) -> Operation:
        """Nothing: a list is given up when nothing has it any more."""
        return no_op(name=name)

    def _after(self, flow: Tensor) -> TensorArray:
        """The array of the elements of this list."""
        successor = ListTensorArray(self._dtype, flow=flow, infer_shape=self._infer_shape)
        successor._size, successor._dynamic_size = self._size, self._dynamic_size
        successor._element_shape = self._element_shape
        return successor


def new_list_array() -> ListTensorArray:
    """An array that is still to be initialized."""
    array: ListTensorArray = object.__new__(ListTensorArray)
    return array
