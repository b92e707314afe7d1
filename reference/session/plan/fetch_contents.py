"""FetchContent: what a structure of fetches held, to see quickly that it holds the same again.

A list or a dict may be changed between two runs, so that its identity says nothing. To compare
what it holds takes 5 ns an element, to make a key of it up to 100. Clauses: FETCH, RUN.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference.base.containers import is_namedtuple
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["LEAVES", "FetchContent", "content_of"]

#: Fetches that nothing equals but the same one, or an equal name.
LEAVES: Final = frozenset({Tensor, Operation, str})


@dataclass(frozen=True, slots=True, eq=False)
class FetchContent:
    """What a list, tuple, namedtuple or dict of fetches held.

    Attributes:
      kind: its type.
      keys: the keys of a dict; None for others.
      parts: the elements, or the values of a dict; for a structure within it what it held.
      is_flat: whether every part is a tensor, which nothing but itself equals.

    """

    kind: type
    keys: Sequence[object] | None
    parts: Sequence[Any]
    is_flat: bool

    def is_of(self, fetches: Any) -> bool:
        """Whether these fetches are of the same type, with the same keys and the same parts.

        Keys are the same objects: an equal one of another type would be in the result.
        """
        kind: object = type(fetches)
        if kind is not self.kind:
            return False
        if self.keys is None:
            parts = fetches if self.kind is list else [*fetches]
        else:
            parts = [*fetches.values()]
        if self.is_flat:
            is_same = self.parts == parts
        else:
            is_same = len(parts) == len(self.parts) and all(map(_is_part, self.parts, parts))
        return is_same and (self.keys is None or all(map(operator.is_, self.keys, fetches)))


def _is_part(part: object, now: object) -> bool:
    """Whether a fetch is the part that was there: the same object, or an equal name."""
    if type(part) is FetchContent:
        return part.is_of(now)
    return part is now or (type(part) is str and type(now) is str and part == now)


def content_of(fetches: Any) -> FetchContent | None:
    """What fetches hold; None if they are no structure, or one of other objects than leaves."""
    kind = type(fetches)
    if kind in {dict, OrderedDict}:
        keys, parts = [*fetches], [*fetches.values()]
    elif kind in {list, tuple} or is_namedtuple(fetches):
        keys, parts = None, [*fetches]
    else:
        return None
    if set(map(type, parts)) <= {Tensor}:
        return FetchContent(kind, keys, parts, is_flat=True)
    contents = [part if type(part) in LEAVES else content_of(part) for part in parts]
    return None if None in contents else FetchContent(kind, keys, contents, is_flat=False)
