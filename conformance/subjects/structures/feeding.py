"""Draws feed_dicts with nested keys; a value need not be of its key's container classes."""

from __future__ import annotations

import collections
import random
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

__all__ = ["feed_dict_of", "nested_key", "nested_value"]

_Leaf = TypeVar("_Leaf")
#: Leaves in tuples in tuples.
Nested: TypeAlias = "tuple[_Leaf | Nested[_Leaf], ...]"
#: What is fed: an array, or arrays in lists and tuples under a nested key.
_Value: TypeAlias = "np.ndarray | Sequence[np.ndarray | Nested[np.ndarray]]"


def nested_key(draw: random.Random, leaves: Sequence[_Leaf], depth: int = 0) -> Nested[_Leaf]:
    """A tuple or namedtuple, nested at will, of these leaves in their order."""
    parts: list[Any] = []
    rest = list(leaves)
    while rest:
        count = draw.randint(1, len(rest))
        whole = len(rest) == count and not parts  # of one part only: no end of nesting
        few = count == 1 or depth > 1 or whole
        parts += rest[:count] if few else [nested_key(draw, rest[:count], depth + 1)]
        rest = rest[count:]
    if draw.random() < 0.3:
        names = [f"k{index}" for index in range(len(parts))]
        return collections.namedtuple("Key", names)(*parts)  # noqa: PYI024 - fields are drawn
    return tuple(parts)


def nested_value(draw: random.Random, leaves: Sequence[_Leaf]) -> Sequence[_Leaf | Nested[_Leaf]]:
    """A list, tuple or namedtuple, nested at will, of these leaves in their order."""
    value = nested_key(draw, leaves)
    return list(value) if draw.random() < 0.4 else value


def feed_dict_of(
    draw: random.Random, feeds: Sequence[tuple[_Leaf, np.ndarray]]
) -> dict[_Leaf | Nested[_Leaf], _Value]:
    """A feed_dict of these tensors and arrays: some of them together under one nested key."""
    rest = draw.sample(list(feeds), len(feeds))
    feed_dict: dict[_Leaf | Nested[_Leaf], _Value] = {}
    while rest:
        count = draw.randint(1, len(rest))
        group, rest = rest[:count], rest[count:]
        if count == 1 and draw.random() < 0.5:
            feed_dict[group[0][0]] = group[0][1]
            continue
        key = nested_key(draw, [tensor for tensor, _ in group])
        feed_dict[key] = nested_value(draw, [value for _, value in group])
    return feed_dict
