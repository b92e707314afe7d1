"""Gradients asked for as of a tape, for tests that run with one and with `gradients`."""

from __future__ import annotations

from typing import Any, Self

from sessrun.reference.differentiation.backprop import gradients

__all__ = ["AbstractGradientTape"]


class AbstractGradientTape:
    """A context that gives itself; `gradient` is `gradients` of a graph.

    Args:
      use_tape: must be false: there are no tapes where nothing is executed at once.
      persistent: whether more than one gradient may be asked for; always so here.

    Raises:
      NotImplementedError: a tape is asked for.

    """

    def __init__(self, use_tape: bool, persistent: bool = False) -> None:
        """For one `with` statement."""
        del persistent
        if use_tape:
            raise NotImplementedError("there are no gradient tapes: graphs are built here")

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing has to end."""

    def watch(self, tensor: Any) -> None:
        """Nothing: a graph knows what depends on a tensor."""

    def gradient(self, y: Any, x: Any, grad_ys: Any = None) -> Any:
        """The gradients of y: one for an x, a list for a list."""
        found = gradients(y, x, grad_ys)
        return found if isinstance(x, list | tuple) else found[0]
