"""Gradients of the bodies of functions, for `SymbolicGradient`."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.reference.base.dtypes import variant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import placeholder
from sessrun.reference.build.functions.function_bodies import Body
from sessrun.reference.errors import bad_argument
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.gradient.variables import note_dtypes, zeros_of_argument

__all__ = ["gradient_of"]


def gradient_of(body: Body, gives: Sequence[str]) -> Body:
    """As `build.functions.function_bodies.gradient_of`, which calls this."""
    note_dtypes(body.inputs, gives)
    with body.graph.as_default():
        factors = [placeholder(y.dtype, y.shape) for y in body.outputs]
        real = [
            (y, grad)
            for y, grad in zip(body.outputs, factors, strict=True)
            if y.dtype.is_floating or y.dtype.is_complex or y.dtype == variant
        ]
        try:
            by_input = gradients(
                [y for y, _ in real], list(body.inputs), [grad for _, grad in real]
            )
            filled = [
                zeros_of_argument(x, dtype) if grad is None else grad
                for x, dtype, grad in zip(body.inputs, gives, by_input, strict=True)
            ]
        except (LookupError, ValueError, TypeError) as error:
            raise bad_argument(str(error)) from error
        dense = tuple(convert_to_tensor(grad) for grad in filled)
    return Body(body.graph, (*body.inputs, *factors), dense, body.effects, body.controls)
