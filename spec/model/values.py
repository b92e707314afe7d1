"""Values of a run: tensors, dead values, references; and how an operation fails or waits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from sessrun.spec.errors import BY_NAME
from sessrun.spec.model.nodes import Node, Output

__all__ = [
    "DEAD",
    "FailedError",
    "Handle",
    "Value",
    "Variable",
    "WaitsError",
    "fetched",
    "handle_of",
    "taken",
]


class FailedError(Exception):
    """An operation failed.

    Args:
      code: the name of its code, as `INVALID_ARGUMENT`.
      message: for people.
      node: the operation, where it is known already.

    """

    def __init__(self, code: str, message: str, node: str = "") -> None:
        super().__init__(message)
        self.code: Final = BY_NAME[code].code
        self.node = node

    def at(self, node: str) -> FailedError:
        """The same error, of this operation where none is named."""
        self.node = self.node or node
        return self


class WaitsError(Exception):
    """No resource can serve an operation now; it is tried again later.

    Args:
      has_moved: whether it has done a part, which may let others go on: an `enqueue_many` that has
        put in as many elements as there was room for.

    """

    def __init__(self, *, has_moved: bool = False) -> None:
        super().__init__("an operation waits for a resource")
        self.has_moved = has_moved


class _Dead:
    """The value of what was not computed, since a branch was not taken."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD: Final = _Dead()


@dataclass(slots=True)
class Variable:
    """A variable; as the value of an output it is a reference to itself.

    Attributes:
      name: how messages call it.
      dtype: its dtype's name.
      shape: its declared shape, None for an unknown dimension; None if nothing is declared.
      value: what it holds; None before it is initialized.

    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    value: np.ndarray | None = None

    def read(self) -> np.ndarray:
        """What it holds.

        Raises:
          FailedError: it holds nothing.

        """
        if self.value is None:
            raise FailedError("FAILED_PRECONDITION", f"{self.name} is not initialized")
        return self.value


@dataclass(frozen=True, slots=True)
class Handle:
    """The value of a resource's handle: it names the resource.

    Attributes:
      kind: what it is, as `variable` or `queue`.
      container: the container that it is in.
      name: its name there.

    """

    kind: str
    container: str
    name: str


#: The value of an output: a tensor, a handle, a variable where the output is a reference to it.
Value: TypeAlias = "np.ndarray | np.generic | Handle | Variable | _Dead"

#: What may be a container, or a resource's name.
_CONTAINER: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9./-]*|")


def handle_of(node: Node, kind: str) -> Handle:
    """The handle that an operation gives: by its name in a container, or to a resource of its own.

    The name is the shared name; where that is empty, it is the operation's for a reference variable
    and empty for a resource variable, and other resources are the operation's own.

    Raises:
      FailedError: the shared name or the container is not allowed.

    """
    container, name = node.attrs["container"], node.attrs["shared_name"]
    if name.startswith("_") or not _CONTAINER.fullmatch(container):
        raise FailedError("INVALID_ARGUMENT", f"{container or name!r} is not allowed as a name")
    if name or kind == "variable":
        return Handle(kind, container, name)
    if kind.endswith("variable"):
        return Handle(kind, container, node.name)
    return Handle(f"{kind} of one operation", container, node.name)


def taken(value: Value) -> Value:
    """What an operation takes that takes no reference: of a variable, what it holds now."""
    return value.read() if isinstance(value, Variable) else value


def fetched(tensor: Output, value: Value) -> Value:
    """The value of a fetch.

    Raises:
      FailedError: it is dead, or a reference to a variable without a value.

    """
    if value is DEAD:
        raise FailedError("INVALID_ARGUMENT", f"the value of {tensor} is dead", tensor.node)
    return taken(value)
