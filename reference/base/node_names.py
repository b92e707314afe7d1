"""Names of nodes and of their inputs, as a GraphDef writes them: `a`, `a:1`, `^a`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["NODE_NAME", "Input", "prefixes", "read_input"]

NODE_NAME: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_./>-]*")

#: The index that stands for a control input.
CONTROL: Final = -1


@dataclass(frozen=True, slots=True)
class Input:
    """An input: an output of a node, or (index -1) the node as a control input."""

    node: str
    index: int

    @property
    def is_control(self) -> bool:
        """Whether it is a control input."""
        return self.index == CONTROL

    def __str__(self) -> str:
        return f"^{self.node}" if self.is_control else f"{self.node}:{self.index}"


def read_input(text: str) -> Input | None:
    """The input that a text names; None if it is no name of an input."""
    if text.startswith("^"):
        return Input(text[1:], CONTROL)
    name, colon, digits = text.partition(":")
    if not colon:
        return Input(name, 0)
    if not (digits.isascii() and digits.isdigit()):
        return None
    return Input(name, int(digits))


def prefixes(name: str) -> list[str]:
    """The scopes that an operation of this name is in: `a` and `a/b` for `a/b/c`."""
    return [name[:position] for position, letter in enumerate(name) if letter == "/"]
