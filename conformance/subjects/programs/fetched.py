"""A namespace whose sessions note what a program fetches: names, dtypes and static shapes.

A value does not show the static shape of its tensor, and a program that runs a tensor seldom
returns the tensor beside its value.
"""

from __future__ import annotations

import inspect
from types import FrameType
from typing import Any, Final

from sessrun.conformance.subjects.programs.described import tensor_described
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Fetches, Session, Value

__all__ = ["NotingNamespace"]

#: The package of the programs. What a library runs in a program's session is not noted.
_PROGRAMS: Final = __name__.rpartition(".")[0]


class NotingNamespace:
    """The namespace `tf`, with sessions that note what programs fetch.

    Args:
      tf: the namespace.

    Attributes:
      fetched: what was fetched, in the order of the runs, as plain data.

    """

    def __init__(self, tf: Namespace) -> None:
        self._tf = tf
        self.fetched: list[Plain] = []
        self.Session = _noting(tf, tf.Session, self.fetched)
        self.InteractiveSession = _noting(tf, tf.InteractiveSession, self.fetched)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tf, name)


def _noting(tf: Namespace, kind: type[Session], fetched: list[Plain]) -> type:
    """A subclass of a class of sessions that notes the tensors that its `run` is given."""

    def run(self: Session, *args: Any, **kwargs: Any) -> Value:
        if _is_called_by_program(inspect.currentframe()):
            fetched.append(_tensors(tf, args[0] if args else kwargs.get("fetches")))
        return kind.run(self, *args, **kwargs)

    members = {"run": run, "__doc__": kind.__doc__, "__module__": kind.__module__}
    return type(kind.__name__, (kind,), members)


def _is_called_by_program(frame: FrameType | None) -> bool:
    """Whether the function that runs in this frame was called from a module of programs."""
    caller = None if frame is None else frame.f_back
    name = "" if caller is None else caller.f_globals.get("__name__", "")
    return str(name).startswith(_PROGRAMS)


def _tensors(tf: Namespace, fetches: Fetches | None) -> list[Plain]:
    """The tensors of a fetch in order; none if its structure is not valid."""
    try:
        flat = tf.nest.flatten(fetches)
    except (TypeError, ValueError):
        return []
    return [tensor_described(value) for value in flat if isinstance(value, tf.Tensor)]
