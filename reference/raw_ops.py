"""`tf.raw_ops`: each declared operation as a function of keyword arguments alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.build import apply_op
from sessrun.reference.signature import signature

__all__ = ["wrapper"]


def wrapper(op_type: str) -> Callable[..., Any]:
    """A function that makes an operation of this type from inputs and attributes by name.

    It returns the operation if it has no output, its tensor if it has one, else a list.

    Raises:
      AttributeError: the op type is not declared.

    """
    try:
        declared = signature(op_type)
    except RuntimeError as error:
        raise AttributeError(str(error)) from error
    names = {arg.name for arg in declared.inputs}

    def make(name: str | None = None, **arguments: Any) -> Any:
        inputs = {key: value for key, value in arguments.items() if key in names}
        attrs = {key: value for key, value in arguments.items() if key not in names}
        op = apply_op(op_type, inputs, attrs, name)
        if not op.outputs:
            return op
        return op.outputs[0] if len(declared.declaration.outputs) == 1 == len(op.outputs) else (
            list(op.outputs)
        )

    make.__name__ = op_type
    make.__doc__ = declared.declaration.summary
    return make
