"""The numbers that the formula of an optimizer takes besides arrays."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

__all__ = ["Formula", "Numbers"]


class Numbers(SimpleNamespace):
    """The scalar inputs and the attributes of an operation by name, and the array module `xp`.

    `one` and `zero` are of the variable's dtype, so that no result is of another.
    """

    def has(self, name: str) -> bool:
        """Whether the operation has an input or attribute of that name."""
        return name in vars(self)


#: `formula(numbers, gradient, *arrays)` changes the arrays.
Formula = Callable[..., None]
