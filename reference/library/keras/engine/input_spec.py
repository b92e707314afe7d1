"""`InputSpec`: required dtype, rank and shape of a layer's inputs, and their check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

import sessrun.reference as tf
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import Dimension, ShapeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.object_configs import Config

__all__ = ["InputSpec", "InputSpecs", "Shapes", "assert_input_compatibility"]

#: The shape of each tensor, in the structure of the tensors.
Shapes: TypeAlias = "ShapeLike | Sequence[Shapes] | Mapping[str, Shapes]"
#: What a layer demands of its inputs, in their structure; None demands nothing.
InputSpecs: TypeAlias = "InputSpec | Sequence[InputSpecs] | Mapping[str, InputSpecs] | None"


class InputSpec:
    """Required dtype, rank and shape of an input; None: any.

    Args:
      dtype: its dtype.
      shape: its shape, with None for free sizes.
      ndim: its rank, where no shape is given.
      max_ndim: its largest rank.
      min_ndim: its smallest rank.
      axes: sizes of single axes, by number.
      allow_last_axis_squeeze: whether a last axis of size 1 may be lacking or be too many.
      name: a key, for inputs that come as a dict.
      optional: whether None may be given.

    Raises:
      TypeError: an axis is not an integer.
      ValueError: an axis is beyond the rank.

    """

    def __init__(
        self,
        dtype: DType | None = None,
        shape: ShapeLike | None = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Mapping[int, int | Dimension | None] | None = None,
        allow_last_axis_squeeze: bool = False,
        name: str | None = None,
        optional: bool = False,
    ) -> None:
        sizes = tf.TensorShape(shape)
        self.dtype = None if dtype is None else tf.as_dtype(dtype).name
        self.shape = None if sizes.rank is None else tuple(sizes.as_list())
        self.ndim = ndim if self.shape is None else len(self.shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.name = name
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        self.optional = optional
        try:
            self.axes = {int(axis): axes[axis] for axis in axes or {}}  # type: ignore[index]  # not of None
        except (ValueError, TypeError):
            raise TypeError(
                f"The argument `axes` must be a dict with integer keys. Got: {axes}"
            ) from None
        rank = self.ndim or self.max_ndim
        if self.axes and rank is not None and max(self.axes) > rank - 1:
            raise bad_value(
                f"Axis {max(self.axes)} is greater than the maximum allowed value: {rank - 1}"
            )

    def __repr__(self) -> str:
        shown = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        parts = [f"{key}={getattr(self, key)}" for key in shown if getattr(self, key)]
        return f"InputSpec({', '.join(parts)})"

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        keys = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return {key: getattr(self, key) for key in keys}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The spec with this config."""
        return cls(**config)


def assert_input_compatibility(
    input_spec: InputSpec | Sequence[InputSpec | None] | None, inputs: Any, layer_name: str
) -> None:
    """Check inputs against the specs of their layer.

    Args:
      input_spec: an InputSpec, a list of them, or None.
      inputs: tensors, nested as the layer takes them.
      layer_name: for messages.

    Raises:
      ValueError: their number, or a rank, shape or dtype is not as demanded.
      TypeError: an input has no shape.

    """
    if not input_spec:
        return
    specs = tf.nest.flatten(input_spec)
    if isinstance(inputs, dict) and all(spec.name for spec in specs):
        lacking = [spec.name for spec in specs if spec.name not in inputs]
        if lacking:
            raise bad_value(f'Missing data for input "{lacking[0]}". Got keys {list(inputs)}.')
        inputs = [inputs[spec.name] for spec in specs]
    inputs = tf.nest.flatten(inputs)
    pairs = [
        (number, x, spec)
        for number, (x, spec) in enumerate(zip(inputs, specs, strict=False))
        if spec is not None and not (x is None and spec.optional)
    ]
    for _, x, _ in pairs:
        if not hasattr(x, "shape"):
            raise TypeError(
                f"Inputs to a layer should be tensors. Got '{x}' (of type {type(x)}) as input for "
                f"layer '{layer_name}'."
            )
    if len(inputs) != len(specs):
        raise bad_value(
            f'Layer "{layer_name}" expects {len(specs)} input(s), but it received {len(inputs)} '
            f"input tensors. Inputs received: {inputs}"
        )
    for number, x, spec in pairs:
        fault = _fault(x, spec)
        if fault:
            raise bad_value(
                f'Input {number} of layer "{layer_name}" is incompatible with the layer: {fault}'
            )


def _fault(x: Tensor, spec: InputSpec) -> str | None:
    """The violated requirement of a spec, or None."""
    shape = tf.TensorShape(x.shape)
    rank = shape.rank
    if rank is None:
        return None
    full = f"Full shape received: {tuple(shape.as_list())}"
    if spec.ndim is not None and not spec.allow_last_axis_squeeze and rank != spec.ndim:
        return f"expected ndim={spec.ndim}, found ndim={rank}. {full}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return f"expected min_ndim={spec.min_ndim}, found ndim={rank}. {full}"
    if spec.dtype is not None and x.dtype.name != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={x.dtype}"
    return _fault_of_sizes(shape.as_list(), spec)


def _fault_of_sizes(sizes: list[int | None], spec: InputSpec) -> str | None:
    for axis, wanted in spec.axes.items():
        size = getattr(wanted, "value", wanted)
        if size is not None and sizes[axis] not in {size, None}:
            return (
                f"expected axis {axis} of input shape to have value {size}, but received input "
                f"with shape {tuple(sizes)}"
            )
    if spec.shape is None:
        return None
    wanted_sizes, actual_sizes = list(spec.shape), list(sizes)
    if spec.allow_last_axis_squeeze:
        actual_sizes = actual_sizes[:-1] if actual_sizes and actual_sizes[-1] == 1 else actual_sizes
        wanted_sizes = wanted_sizes[:-1] if wanted_sizes and wanted_sizes[-1] == 1 else wanted_sizes
    for size, other in zip(wanted_sizes, actual_sizes, strict=False):
        if size is not None and other is not None and size != other:
            return f"expected shape={spec.shape}, found shape={tuple(sizes)}"
    return None
