"""Builds: from the values of the unique fetches to the structure that the caller has given.

Generated code writes the commonest as displays of Python (`execute/fetch_source`). Clauses: FETCH.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Build", "MappingBuild", "SequenceBuild", "item_number", "take_item"]

#: From the values of the unique elements to the value of a part of the structure.
Build = Callable[[Sequence[Any]], Any]

#: `take_item(n)` takes the value of that number: the same function for the same number.
take_item = functools.cache(operator.itemgetter)


def item_number(build: Build) -> int | None:
    """The number of the value that `take_item` gave a function for; None for other functions."""
    if not isinstance(build, operator.itemgetter):
        return None
    return int(build.__reduce__()[1][0])


@dataclass(frozen=True, slots=True)
class SequenceBuild:
    """Makes a list, a tuple or a namedtuple.

    Attributes:
      kind: its class.
      parts: what makes its elements.
      is_leading: whether those are the first values, in order.

    """

    kind: type
    parts: Sequence[Build]
    is_leading: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_leading", _are_leading(self.parts))

    def __call__(self, values: Sequence[Any]) -> Any:
        """The sequence."""
        if self.is_leading:
            parts = values[: len(self.parts)]
        else:
            parts = [part(values) for part in self.parts]
        if issubclass(self.kind, list):
            return list(parts)
        return tuple(parts) if self.kind is tuple else self.kind(*parts)


@dataclass(frozen=True, slots=True)
class MappingBuild:
    """Makes a mapping.

    Attributes:
      make: from pairs to the mapping.
      parts: by key what makes its value.
      is_leading: whether the values are the first ones, in order.

    """

    make: Callable[[Any], Any]
    parts: Mapping[Any, Build]
    is_leading: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_leading", _are_leading([*self.parts.values()]))

    def __call__(self, values: Sequence[Any]) -> Any:
        """The mapping."""
        if self.is_leading:
            return self.make(zip(self.parts, values, strict=False))
        return self.make((key, part(values)) for key, part in self.parts.items())


def _are_leading(parts: Sequence[Build]) -> bool:
    return all(part is take_item(number) for number, part in enumerate(parts))
