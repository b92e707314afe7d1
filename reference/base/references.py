"""Reference: a tensor or variable wrapped so that it is hashed and compared by identity."""

from __future__ import annotations

from typing import Any

__all__ = ["Reference"]


class Reference:
    """The result of `x.ref()`: equal to other references of the same object; a key for dicts."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: object) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        """Whether both wrap the same object; TypeError if the other is no Reference."""
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return self._wrapped is other._wrapped

    def __ne__(self, other: object) -> bool:
        """The opposite of equality."""
        return not self == other

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"
