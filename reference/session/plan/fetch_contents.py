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
      is_flat: whether no part is a structure.

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
            try:
                is_same = self.parts == parts
            except ValueError:  # an array instead of a tensor: what equals it is an array, too
                return False
        else:
            is_same = len(parts) == len(self.parts) and all(
                part.is_of(now) if type(part) is FetchContent else part is now
                for part, now in zip(self.parts, parts, strict=True)
            )
        return is_same and (self.keys is None or all(map(operator.is_, self.keys, fetches)))


def content_of(fetches: Any) -> FetchContent | None:
    """What fetches hold; None if they are no structure, or one of other objects than leaves."""
    kind = type(fetches)
    if kind in {dict, OrderedDict}:
        keys, parts = [*fetches], [*fetches.values()]
    elif kind in {list, tuple} or is_namedtuple(fetches):
        keys, parts = None, [*fetches]
    else:
        return None
    if LEAVES.issuperset(map(type, parts)):
        return FetchContent(kind, keys, parts, is_flat=True)
    contents = [part if type(part) in LEAVES else content_of(part) for part in parts]
    return None if None in contents else FetchContent(kind, keys, contents, is_flat=False)
