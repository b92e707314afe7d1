"""Default names of layers: the class name in snake case, numbered per graph."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, MutableMapping
from typing import Final
from weakref import WeakKeyDictionary

from sessrun.reference.graph.default_graph import get_default_graph

__all__ = ["get_uid", "reset_uids", "snake_case", "unique_name"]

#: How often each name was given, by graph, namespace and name.
_GIVEN: Final[WeakKeyDictionary[object, defaultdict[object, int]]] = WeakKeyDictionary()


def snake_case(name: str) -> str:
    """`ConvLSTM2D` as `conv_lstm2d`; what begins with "_" becomes `private_...`."""
    parted = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    lower = re.sub("([a-z])([A-Z])", r"\1_\2", parted).lower()
    return f"private{lower}" if lower.startswith("_") else lower


def unique_name(
    name: str,
    *,
    counts: MutableMapping[Hashable, int] | None = None,
    avoid: Collection[str] = (),
    namespace: str = "",
    zero_based: bool = False,
) -> str:
    """The name, numbered so that it is unique in the default graph.

    Args:
      name: the name to count.
      counts: how often each was given; by default the default graph's.
      avoid: names that are not given.
      namespace: names are counted apart in each.
      zero_based: whether the first has no number; else it has number 1.

    """
    counts = _counts() if counts is None else counts
    key = (namespace, name)
    while True:
        number = counts[key]
        counts[key] += 1
        if zero_based:
            proposed = f"{name}_{number}" if number else name
        else:
            proposed = f"{name}_{number + 1}"
        if proposed not in avoid:
            return proposed


def get_uid(prefix: str = "") -> int:
    """The next number of a prefix in the default graph, from 1 on."""
    counts = _counts()
    counts[prefix] += 1
    return counts[prefix]


def reset_uids() -> None:
    """Count all names from the beginning again."""
    _GIVEN.clear()


def _counts() -> defaultdict[Hashable, int]:
    return _GIVEN.setdefault(get_default_graph(), defaultdict(int))
