"""The stack of layer calls in progress, with their inputs and training flags."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference.api.argument_types import Structure
from sessrun.reference.graph.tensor import Tensor

__all__ = ["CallArguments", "calling", "current_call", "takes"]


@dataclass(frozen=True, slots=True)
class Call:
    """A layer call in progress: inputs, and the training flag if it was given."""

    layer: object
    inputs: Structure
    training: bool | Tensor | None


class _Calls(threading.local):
    """The stack of calls of this thread."""

    def __init__(self) -> None:
        self.open: list[Call] = []


_CALLS: Final = _Calls()


def current_call() -> Call | None:
    """The innermost call, if any."""
    return _CALLS.open[-1] if _CALLS.open else None


@contextmanager
def calling(layer: object, inputs: Structure, training: bool | Tensor | None) -> Iterator[None]:
    """Push a call for the duration of the `with`."""
    _CALLS.open.append(Call(layer, inputs, training))
    try:
        yield
    finally:
        _CALLS.open.pop()


def takes(function: Callable[..., object], name: str) -> bool:
    """Whether a function has a parameter of this name."""
    return name in inspect.signature(function).parameters


class CallArguments:
    """The parameters of a layer's `call` besides its inputs.

    Args:
      function: the bound method.

    Attributes:
      names: the names of its arguments, the inputs' first.
      takes_training: whether it takes `training`.
      takes_mask: whether it takes `mask`.

    """

    def __init__(self, function: Callable[..., object]) -> None:
        known = inspect.signature(function).parameters.values()
        self.names = [p.name for p in known if p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
        self._positional = [p.name for p in known if p.kind is p.POSITIONAL_OR_KEYWORD]
        takes_all = any(p.kind is p.VAR_KEYWORD for p in known)
        self.takes_training = takes_all or "training" in self.names
        self.takes_mask = takes_all or "mask" in self.names

    def given(self, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """An argument of a call, or None if absent; `args` does not contain the inputs."""
        if name in kwargs:
            return kwargs[name]
        bound = dict(zip(self._positional[1:], args, strict=False))
        return bound.get(name)

    def was_given(self, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
        """Whether a call passes an argument."""
        return name in kwargs or name in self._positional[1 : len(args) + 1]

    def with_argument(
        self,
        name: str,
        value: bool | Tensor,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        """The arguments of a call with one of them set."""
        places = self._positional[1 : len(args) + 1]
        if name in places:
            changed = list(args)
            changed[places.index(name)] = value
            return tuple(changed), kwargs
        return args, {**kwargs, name: value}
