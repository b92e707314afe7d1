"""The decorator `public`: gives a public name to an object where it is defined.

    @public("linalg.eye", "eye")
    def eye(...): ...

`python -m sessrun.reference.public_index` writes the index of all public names and signatures,
`reference/public_names.py`, from which the namespace knows the module to import for a name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar

__all__ = ["PUBLIC", "public"]

Thing = TypeVar("Thing")

#: By the module that declares them, the objects that have public names, by their dotted names.
PUBLIC: Final[dict[str, dict[str, Any]]] = {}


def public(*names: str) -> Callable[[Thing], Thing]:
    """Give a function, a class or a value these names in the namespace.

    Args:
      *names: dotted names, such as `add` and `math.add`, which no other module declares.

    Returns:
      A decorator that returns the object unchanged.

    """
    module = sys._getframe(1).f_globals["__name__"]  # noqa: SLF001 - the one cheap way to see the caller
    declared = PUBLIC.setdefault(module, {})

    def declare(thing: Thing) -> Thing:
        declared.update(dict.fromkeys(names, thing))
        return thing

    return declare
