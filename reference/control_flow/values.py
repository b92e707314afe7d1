"""Values on their way in and out of branches and loops: arrays of tensors by their flow, merges."""

from __future__ import annotations

from typing import Any

from sessrun.reference.build import apply_op
from sessrun.reference.control_flow.context import op_type_for
from sessrun.reference.tensor import Tensor
from sessrun.reference.tensor_arrays import TensorArray

__all__ = ["flow_of", "merged", "with_flow"]


def flow_of(value: Any) -> Any:
    """The flow of an array of tensors; any other value is itself."""
    return value.flow if isinstance(value, TensorArray) else value


def with_flow(like: Any, flow: Tensor) -> Any:
    """An array of tensors as `like`, after `flow`; the flow itself where `like` is no array."""
    return like._after(flow) if isinstance(like, TensorArray) else flow  # noqa: SLF001 - it hands arrays on


def merged(values: list[Tensor], name: str | None = None) -> Tensor:
    """The first of the values that is alive."""
    return apply_op(op_type_for("Merge", *values), {"inputs": values}, {}, name).outputs[0]
