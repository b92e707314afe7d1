"""Which function is the gradient of which op type: a registry of the process.

A name stands for an op type, or for what a `gradient_override_map` puts in its place; None is
registered for op types that have no gradient by intention.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sessrun.reference.graph.registry import Registry
from sessrun.reference.public import public

if TYPE_CHECKING:
    from sessrun.reference.graph.operation import Operation

__all__ = [
    "RegisterGradient",
    "gradient_function",
    "is_differentiable",
    "not_differentiable",
    "register",
    "registered",
]

Gradient = Callable[..., Any]
F = TypeVar("F", bound=Gradient)

#: The module that registers the gradients of the declared operations.
_OWN: Final = "sessrun.reference.gradient.functions"
_FUNCTIONS: Final = Registry("gradient")


@public("RegisterGradient")
class RegisterGradient:
    """A decorator: the function `f(op, *grads)` is the gradient of this op type, or of this name.

    Raises:
      TypeError: the op type is no string.
      KeyError: on decorating: something is registered for it already.

    """

    def __init__(self, op_type: str) -> None:
        self._op_type = _checked(op_type)

    def __call__(self, f: F) -> F:
        """Register the function; those of the operations themselves are registered before."""
        importlib.import_module(_OWN)
        _FUNCTIONS.register(f, self._op_type)
        return f


@public("NoGradient", "NotDifferentiable", "no_gradient")
def not_differentiable(op_type: str) -> None:
    """Say that operations of this type have no gradient.

    Raises:
      TypeError: the op type is no string.
      KeyError: something is registered for it already.

    """
    checked = _checked(op_type)
    importlib.import_module(_OWN)
    _FUNCTIONS.register(None, checked)


def register(op_type: str, function: Gradient | None) -> None:
    """Register the gradient of a declared op type, None for constants."""
    _FUNCTIONS.register(function, op_type)


def _checked(op_type: Any) -> str:
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    return op_type


def is_differentiable(op_type: str) -> bool:
    """Whether operations of this type have a gradient."""
    importlib.import_module(_OWN)
    try:
        return _FUNCTIONS.lookup(op_type) is not None
    except LookupError:
        return False


def registered(op_type: str) -> Gradient | None:
    """The gradient of this op type; None if it has none."""
    found: Gradient | None = _FUNCTIONS.lookup(op_type) if is_differentiable(op_type) else None
    return found


def gradient_function(op: Operation) -> Gradient | None:
    """The gradient of an operation; None if it has none by intention, or takes no input.

    Raises:
      LookupError: nothing is registered for it.

    """
    if not op.inputs:
        return None
    replaced = op.extra.get("_gradient_op_type")
    name = op.type if replaced is None else replaced.s.decode()
    found: Gradient | None = _FUNCTIONS.lookup(name)
    return found
