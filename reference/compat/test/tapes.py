"""Gradients asked for as of a tape, for tests that run with one and with `gradients`."""

from __future__ import annotations

from typing import Any, Self

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.gradient.tape import GradientTape
from sessrun.reference.graph.tensor import Tensor

__all__ = ["AbstractGradientTape"]


class AbstractGradientTape:
    """A context that gives gradients by a tape, or by `gradients` of the graph.

    Args:
      use_tape: whether there is a tape.
      persistent: whether more than one gradient may be asked for; always so without a tape.

    """

    def __init__(self, use_tape: bool, persistent: bool = False) -> None:
        """For one `with` statement."""
        self._tape = GradientTape(persistent) if use_tape else None

    def __enter__(self) -> Self:
        """Itself, the tape recording."""
        if self._tape is not None:
            self._tape.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        """The tape records no longer."""
        if self._tape is not None:
            self._tape.__exit__(*exception)

    def watch(self, tensor: Tensor) -> None:
        """Have the tape watch a tensor; a graph knows what depends on it."""
        if self._tape is not None:
            self._tape.watch(tensor)

    def gradient(self, y: TensorLike, x: TensorLike, grad_ys: Any = None) -> Any:
        """The gradients of y: one for an x, a list for a list."""
        if self._tape is not None:
            return self._tape.gradient(y, x, grad_ys)
        grads = gradients(y, x, grad_ys)
        return grads if isinstance(x, list | tuple) else grads[0]
