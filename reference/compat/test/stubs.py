"""`StubOutForTesting`: replaces functions of a module or class for the time of a test."""

from __future__ import annotations

from types import ModuleType, TracebackType
from typing import Any, Final, Self

from sessrun.reference.graph.tensor import Tensor

__all__ = ["StubOutForTesting"]

_ABSENT: Final = object()


class StubOutForTesting:
    """Replaces attributes and puts the old ones back: at `CleanUp`, or at the end of a `with`."""

    def __init__(self) -> None:
        self._smart: list[tuple[object, str, object]] = []
        self._plain: list[tuple[object, str, object]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.CleanUp()

    def __del__(self) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        """Put everything back."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj: object, attr_name: str, new_attr: Any) -> None:
        """Replace an attribute: an instance's in its class, unless the instance has it itself.

        Args:
          obj: a module, class or instance.
          attr_name: the attribute's name.
          new_attr: the new value of the attribute.

        Raises:
          AttributeError: the object has no such attribute.

        """
        is_holder = isinstance(obj, type | ModuleType) or attr_name in vars(obj)
        obj = obj if is_holder else type(obj)
        self._replace(self._smart, obj, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:
        """Restore the attributes that `SmartSet` replaced."""
        self._put_back(self._smart)

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replace an attribute of an object itself.

        Args:
          parent: the object.
          child_name: the attribute's name.
          new_child: the new value of the attribute.

        Raises:
          AttributeError: the object has no such attribute.

        """
        self._replace(self._plain, parent, child_name, new_child)

    def UnsetAll(self) -> None:
        """Restore the attributes that `Set` replaced."""
        self._put_back(self._plain)

    def _replace(
        self, kept: list[tuple[object, str, object]], obj: object, name: str, new: Tensor
    ) -> None:
        old = getattr(obj, name)
        # what an object has itself is kept unbound (a staticmethod, say); what it has from
        # an inherited attribute is visible again once the new one is deleted
        kept.append((obj, name, vars(obj).get(name, _ABSENT) if hasattr(obj, "__dict__") else old))
        setattr(obj, name, new)

    @staticmethod
    def _put_back(kept: list[tuple[object, str, object]]) -> None:
        while kept:
            obj, name, old = kept.pop()
            if old is _ABSENT:
                delattr(obj, name)
            else:
                setattr(obj, name, old)
