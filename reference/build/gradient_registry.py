"""The gradient functions by op type: a registry of the process.

A name is an op type, or one that a `gradient_override_map` puts in place of it; None is
registered for op types that have no gradient by intention. The functions stand in the package
`gradient`; they are imported at the first lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from sessrun.reference.base.upper_functions import UPPER
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.registry import Registry
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "Gradient",
    "GradientFunction",
    "Gradients",
    "RegisterGradient",
    "call_gradient",
    "gradient_function",
    "is_differentiable",
    "not_differentiable",
    "register",
    "register_call_gradients",
    "registered",
]

#: The gradient of a tensor: dense, some of its rows, or None where nothing depends on the tensor.
Gradient = Tensor | IndexedSlices | None
#: What a gradient function returns: the gradients of an operation's inputs, or of the only input.
Gradients = Gradient | Sequence[Gradient]
#: `f(op, *grads)`: from an operation and the gradients of its outputs to those of its inputs.
GradientFunction = Callable[..., Gradients]
#: The gradient function of an operation that calls a function; None for any other operation.
CallGradients = Callable[[Operation], GradientFunction | None]
F = TypeVar("F", bound=Callable[..., Any])

_FUNCTIONS: Final = Registry("gradient")
_CALL_GRADIENTS: Final[list[CallGradients]] = []


@public("RegisterGradient")
class RegisterGradient:
    """A decorator: the function `f(op, *grads)` is the gradient of this op type, or of this name.

    Raises:
      TypeError: the op type is not a string.
      KeyError: (on decorating) a function is registered for it already.

    """

    def __init__(self, op_type: str) -> None:
        self._op_type = _checked(op_type)

    def __call__(self, f: F) -> F:
        """Register the function, after those that this package registers for its own op types."""
        UPPER["register_gradients"]()
        _FUNCTIONS.register(f, self._op_type)
        return f


@public("NoGradient", "NotDifferentiable", "no_gradient")
def not_differentiable(op_type: str) -> None:
    """Say that operations of this type have no gradient.

    Raises:
      TypeError: the op type is not a string.
      KeyError: a function is registered for it already.

    """
    checked = _checked(op_type)
    UPPER["register_gradients"]()
    _FUNCTIONS.register(None, checked)


def register(op_type: str, function: GradientFunction | None) -> None:
    """Register the gradient of a declared op type, None for constants."""
    _FUNCTIONS.register(function, op_type)


def register_call_gradients(lookup: CallGradients) -> None:
    """Register how the gradient function of an operation that calls a function is looked up."""
    _CALL_GRADIENTS.append(lookup)


def _checked(op_type: object) -> str:
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    return op_type


def is_differentiable(op_type: str) -> bool:
    """Whether operations of this type have a gradient."""
    UPPER["register_gradients"]()
    try:
        return _FUNCTIONS.lookup(op_type) is not None
    except LookupError:
        return False


def registered(op_type: str) -> GradientFunction | None:
    """The gradient of this op type; None if it has none."""
    function: GradientFunction | None = (
        _FUNCTIONS.lookup(op_type) if is_differentiable(op_type) else None
    )
    return function


def gradient_function(op: Operation) -> GradientFunction | None:
    """The gradient registered for an operation; None if that is intended, or it has no input.

    Raises:
      LookupError: nothing is registered for it.

    """
    if not op.inputs:
        return None
    replaced = op.extra.get("_gradient_op_type")
    name = op.type if replaced is None else replaced.s.decode()
    function: GradientFunction | None = _FUNCTIONS.lookup(name)
    return function


def call_gradient(op: Operation) -> GradientFunction | None:
    """The gradient function of an operation that calls a function; None if it calls none."""
    UPPER["register_gradients"]()
    for lookup in _CALL_GRADIENTS:
        function = lookup(op)
        if function is not None:
            return function
    return None
