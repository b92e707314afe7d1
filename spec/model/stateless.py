"""Operations without effects: their values are those of the executable definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sessrun.spec.definitions import DEFINITIONS, defined_outputs
from sessrun.spec.model.refusals import check_values
from sessrun.spec.model.run import FLOW, KERNELS, WITHOUT_EFFECTS, kernel
from sessrun.spec.model.values import FailedError, Value
from sessrun.spec.node_attributes import inputs_by_name
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments
from sessrun.spec.rules.shapes import ShapeError, infer
from sessrun.spec.tensor_protos import array_of
from sessrun.spec.tensors import TensorError

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["defined", "fits", "has_operation", "may_be_one"]


def has_operation(name: str) -> bool:
    """Whether the model has operations of this type."""
    return name in KERNELS or name in DEFINITIONS or name in FLOW


@kernel(WITHOUT_EFFECTS)
def defined(activity: Activity, *inputs: np.ndarray) -> Sequence[Value]:
    """What an operation gives by its definition.

    Raises:
      FailedError: the shapes of its inputs contradict its shape rule; it has no definition.

    """
    node = activity.node
    operation = node.operation
    if node.type not in DEFINITIONS:
        raise FailedError("UNIMPLEMENTED", f"the model has no {node.type}")
    arguments = inputs_by_name(operation, node.attrs, inputs)
    check_shapes(operation, arguments, node.attrs)
    check_values(node.type, arguments, node.attrs)
    try:
        return defined_outputs(operation, Arguments(arguments, node.attrs))
    except MemoryError as error:
        raise FailedError("RESOURCE_EXHAUSTED", str(error)) from error
    except Exception as error:  # a definition says nothing of arguments that are refused
        raise FailedError("INVALID_ARGUMENT", str(error)) from error


def check_shapes(
    operation: Operation, arguments: Mapping[str, Any], attrs: Mapping[str, Any]
) -> None:
    """Hold the inputs against the operation's shape rule.

    Raises:
      FailedError: they contradict it.

    """
    shapes = {
        name: [np.shape(tensor) for tensor in value] if isinstance(value, list) else np.shape(value)
        for name, value in arguments.items()
    }
    try:
        infer(operation, shapes, attrs, value=arguments.get)
    except ShapeError as error:
        raise FailedError("INVALID_ARGUMENT", str(error)) from error


@kernel("Const")
def _const(activity: Activity) -> Sequence[Value]:
    try:
        return [array_of(activity.node.attrs["value"])]
    except TensorError as error:
        raise FailedError("INVALID_ARGUMENT", str(error)) from error


@kernel("NoOp", "ControlTrigger")
def _nothing(_: Activity) -> Sequence[Value]:
    return []


@kernel("Identity", "RefIdentity", "Snapshot", "StopGradient", "PreventGradient", "LoopCond")
def _same(_: Activity, value: Value) -> Sequence[Value]:
    return [value]


@kernel("IdentityN")
def _all_same(_: Activity, *values: Value) -> Sequence[Value]:
    return values


@kernel("Placeholder", "PlaceholderV2")
def _placeholder(activity: Activity) -> Sequence[Value]:
    raise FailedError("INVALID_ARGUMENT", f"{activity.node.name} must be fed")


@kernel("PlaceholderWithDefault")
def _with_default(activity: Activity, value: Value) -> Sequence[Value]:
    shape = activity.node.attrs["shape"]
    size = value.shape if isinstance(value, np.ndarray | np.generic) else ()  # a handle is one
    if not fits(size, shape):
        raise FailedError("INVALID_ARGUMENT", f"{size} does not fit {shape}")
    return [value]


def fits(shape: Sequence[int], declared: Sequence[int | None] | None) -> bool:
    """Whether a shape is one of those that are declared."""
    return declared is None or may_be_one(shape, declared)


def may_be_one(a: Sequence[int | None], b: Sequence[int | None]) -> bool:
    """Whether two shapes of known rank agree as far as both are known."""
    return len(a) == len(b) and all(
        None in pair or pair[0] == pair[1] for pair in zip(a, b, strict=True)
    )


@kernel("Assert")
def _assert(activity: Activity, condition: np.ndarray, *_: np.ndarray) -> Sequence[Value]:
    if not condition:
        raise FailedError("INVALID_ARGUMENT", f"assertion failed: {activity.node.name}")
    return []
