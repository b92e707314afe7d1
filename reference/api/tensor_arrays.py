"""`tf.TensorArray`: an array of tensors that lives for one run. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.functional_mode import is_functional
from sessrun.reference.api.ops.array_ops import shape
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.base.dtypes import DType, DTypeLike, as_dtype, int32, int64, variant
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape, as_shape
from sessrun.reference.base.upper_functions import UPPER
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["TensorArray"]


#: Which argument of a new array is its flow.
_FLOW: Final = 6


@public("TensorArray")
class TensorArray:
    """An array of tensors; each element is written once.

    A method that writes returns an array of the same elements, whose operations come after the
    write: `array = array.write(0, x)`.

    Args:
      dtype: the elements' dtype.
      size: how many elements: an int or a scalar int32 tensor; required without `handle`.
      dynamic_size: whether a write past the end makes it longer.
      clear_after_read: whether reading an element removes it; None means True.
      tensor_array_name: the name that messages tell.
      handle: the handle of an existing array, which takes no arguments for a new array.
      flow: a float scalar after which `handle` is used; required with it.
      infer_shape: whether all elements have one shape, which the first write settles.
      element_shape: the shape that elements must be compatible with.
      colocate_with_first_write_call: whether it is placed where the first value comes from.
      name: the operation's name.

    Raises:
      ValueError: neither `size` nor `handle`, `handle` without `flow`, or with arguments for
        a new array.
      TypeError: `handle` is not a tensor.

    """

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        """A TensorArray, or a ListTensorArray where branches and loops are functions."""
        if cls is TensorArray:
            flow = args[_FLOW] if len(args) > _FLOW else kwargs.get("flow")
            if _is_list(flow):  # a kind of this class, which few programs need
                return UPPER["new_list_array"]()
        return object.__new__(cls)

    def __init__(
        self,
        dtype: DTypeLike,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        said = {
            "element_shape": element_shape,
            "dynamic_size": dynamic_size,
            "clear_after_read": clear_after_read,
        }
        _check_arguments(handle, size, tensor_array_name, said)
        self._dtype = as_dtype(dtype).base_dtype
        self._size = size
        self._dynamic_size = dynamic_size or False
        self._infer_shape = infer_shape
        # Arrays of the same elements share these two lists: what one learns all know.
        self._element_shape = [as_shape(element_shape)]
        self._colocate_with: list[Tensor] | None = [] if colocate_with_first_write_call else None
        if handle is not None:
            with name_scope(name, "TensorArray", [handle, size, flow]):
                if flow is None:
                    raise ValueError("flow must not be None if handle is not None.")
            self._handle: Tensor = handle
            self._flow: Tensor = flow
            return
        attrs = {
            "dtype": self._dtype,
            "element_shape": element_shape,
            "identical_element_shapes": infer_shape,
            "dynamic_size": self._dynamic_size,
            "clear_after_read": clear_after_read is not False,
            "tensor_array_name": tensor_array_name or "",
        }
        self._handle, self._flow = self._create(size, attrs, name)

    def _create(
        self, size: TensorLike, attrs: AttrValues, name: str | None
    ) -> tuple[Tensor, Tensor]:
        with name_scope(name, "TensorArray", [size]) as scope:
            if self._colocate_with is None:
                op = apply_op("TensorArrayV3", {"size": size}, attrs, scope)
            else:
                with (
                    default_graph.device(None),
                    default_graph.colocate_with(None, ignore_existing=True),
                ):
                    op = apply_op("TensorArrayV3", {"size": size}, attrs, scope)
        return op.outputs[0], op.outputs[1]

    @property
    def flow(self) -> Tensor:
        """A float scalar: what needs it comes after the writes so far."""
        return self._flow

    @property
    def dtype(self) -> DType:
        """The elements' dtype."""
        return self._dtype

    @property
    def handle(self) -> Tensor:
        """The array's resource tensor."""
        return self._handle

    @property
    def element_shape(self) -> TensorShape:
        """The static shape of the elements."""
        return self._element_shape[0]

    @property
    def dynamic_size(self) -> bool:
        """Whether a write past the end makes it longer."""
        return self._dynamic_size

    def mark_used(self) -> None:
        """Do nothing: it would switch off a warning about writes that nothing reads."""

    def identity(self) -> TensorArray:
        """An array of the same elements, after the control dependencies here."""
        return self._after(identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The TensorArray of gradients for a source; values written to one element are added."""
        flow = self._flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]), self._at_handle():
            inputs = {"handle": self._handle, "flow_in": flow}
            handle = apply_op("TensorArrayGradV3", inputs, {"source": source}, name).outputs[0]
            with default_graph.control_dependencies([handle]):
                flow = identity(flow, name="gradient_flow")
            gradients = TensorArray(
                self._dtype,
                handle=handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
        gradients._element_shape = self._element_shape
        return gradients

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """The element at `index`, a scalar."""
        value = self._apply("Read", {"index": index}, name, dtype=self._dtype).outputs[0]
        value.set_shape(self.element_shape)
        return value

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Write `value` at `index`.

        Raises:
          ValueError: its static shape contradicts that of the elements.

        """
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._converted(value)
            self._learn(value.shape)
            with self._with_first(value):
                return self._written("Write", {"index": index, "value": value}, name)

    def stack(self, name: str | None = None) -> Tensor:
        """All elements, packed along a new first axis; they must have one shape."""
        with self._at_handle(), name_scope(name, "TensorArrayStack", [self._handle]):
            value = self.gather(range_(0, self.size()), name=name)
            sizes = self.element_shape.sizes
            if sizes is not None and not self._dynamic_size and self._size is not None:
                size = self._size
                count = constant_value(size) if isinstance(size, Tensor) else size
                value.set_shape([count, *sizes])
            return value

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements at `indices`, a vector, packed; they must have one shape."""
        op = self._apply(
            "Gather",
            {"indices": indices},
            name,
            dtype=self._dtype,
            element_shape=self.element_shape,
        )
        value = op.outputs[0]
        if self.element_shape.sizes is not None:
            value.set_shape([None, *self.element_shape.sizes])
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """All elements, joined along their first axis."""
        rest = self.element_shape[1:]
        op = self._apply("Concat", {}, name, dtype=self._dtype, element_shape_except0=rest)
        value = op.outputs[0]
        sizes = self.element_shape.sizes
        if sizes is not None:
            rows = None
            if self._infer_shape:
                count = constant_value(self.size())
                if count is not None and sizes[0] is not None:
                    rows = int(count) * sizes[0]
            value.set_shape([rows, *sizes[1:]])
        return value

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """Write the rows of `value`, from the first element on."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            rows = shape(value)[0]
            return self.scatter(range_(0, rows), value, name=name)

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """Write the rows of `value` at `indices`, a vector.

        Raises:
          ValueError: a row's static shape contradicts that of the elements.

        """
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._converted(value)
            self._learn(value.shape[1:])
            with self._with_first(value):
                return self._written("Scatter", {"indices": indices, "value": value}, name)

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """Write pieces of `value`, of these lengths along its first axis, to all elements.

        Raises:
          ValueError: the static shape of the pieces contradicts that of the elements.

        """
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, dtype=self._dtype, name="value")
            with self._with_first(value):
                lengths = cast(lengths, int64)
                known = constant_value(lengths)
                if value.shape.ndims is not None and are_all_one(known):
                    first = TensorShape([int(known[0])])
                    self._learn(first.concatenate(value.shape[1:]))
                return self._written("Split", {"value": value, "lengths": lengths}, name)

    def size(self, name: str | None = None) -> Tensor:
        """How many elements it has: a scalar int32 tensor."""
        if not self._dynamic_size and self._size is not None:
            return convert_to_tensor(self._size, dtype=int32)
        return self._apply("Size", {}, name).outputs[0]

    def close(self, name: str | None = None) -> Operation:
        """Give up the elements: nothing can be read or written after it."""
        return apply_op("TensorArrayCloseV3", {"handle": self._handle}, {}, name)

    def _apply(
        self, word: str, inputs: dict[str, object], name: str | None, **attrs: Any
    ) -> Operation:
        given = {"handle": self._handle, **inputs, "flow_in": self._flow}
        return apply_op(f"TensorArray{word}V3", given, attrs, name)

    def _written(self, word: str, inputs: dict[str, object], name: str | None) -> TensorArray:
        return self._after(self._apply(word, inputs, name).outputs[0])

    def _after(self, flow: Tensor) -> TensorArray:
        """The same TensorArray with another flow."""
        successor = TensorArray(
            self._dtype, handle=self._handle, flow=flow, infer_shape=self._infer_shape
        )
        successor._size, successor._dynamic_size = self._size, self._dynamic_size
        successor._element_shape, successor._colocate_with = (
            self._element_shape,
            self._colocate_with,
        )
        return successor

    def _converted(self, value: TensorLike) -> Tensor:
        return convert_to_tensor(value, preferred_dtype=self._dtype, name="value")

    def _learn(self, element_shape: TensorShape) -> None:
        """Hold a shape against that of the elements, and learn from it."""
        if not element_shape.is_compatible_with(self.element_shape):
            raise ValueError(
                f"Inconsistent shapes: saw {element_shape} but expected {self.element_shape} "
            )
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(element_shape)

    def _at_handle(self) -> AbstractContextManager[None]:
        return default_graph.colocate_with(self._handle)

    @contextmanager
    def _with_first(self, value: Tensor) -> Iterator[None]:
        """The source of the first written value; `value` itself if there is none yet."""
        if self._colocate_with is None:
            yield
            return
        if not self._colocate_with:
            self._colocate_with.append(value)
        with default_graph.colocate_with(self._colocate_with[0]):
            yield


def _is_list(flow: object) -> bool:
    """Whether an array with this flow, or a new one, is a list here."""
    return is_functional() if flow is None else isinstance(flow, Tensor) and flow.dtype == variant


def are_all_one(lengths: Any) -> bool:
    """Whether the lengths are known and all the same."""
    return lengths is not None and bool(lengths.shape) and bool(lengths.max() == lengths.min())


def _check_arguments(
    handle: Tensor | None, size: Tensor, tensor_array_name: str | None, said: dict[str, Any]
) -> None:
    """Refuse arguments that say too little of an array, or too much of one that exists."""
    if handle is None:
        if size is None:
            raise ValueError("Argument `size` must be provided if handle is not provided.")
        return
    if tensor_array_name:
        raise ValueError("Cannot provide both `handle` and `tensor_array_name`.")
    if not isinstance(handle, Tensor):
        raise TypeError(f"Expected `handle` to be a Tensor, but got {handle!r}")
    for key, value in {"size": size, **said}.items():
        if value is not None:
            raise ValueError(f"Cannot provide both `handle` and `{key}`.")
