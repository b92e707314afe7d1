"""Draws structures over given leaves: the fetches, and the values that must come back."""

from __future__ import annotations

import collections
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import attr
import numpy as np

from sessrun.conformance.authoring.forms import Matcher, Recordable, Recorded, form
from sessrun.conformance.authoring.record import ApiAuthor, as_array

__all__ = [
    "FACTORIES",
    "Leaf",
    "Part",
    "arranged",
    "constant_leaves",
    "instance_of",
    "joined",
    "mapping_of",
]

#: The default factories of defaultdicts, by the names that cases have for them.
FACTORIES: Final = ("list", "int", "dict", "str", None)
#: Containers whose kind comes back as it was passed, each with a form of its own.
_KINDS: Final = ("list", "list", "tuple", "tuple", "dict", "dict", "ordered", "named", "attrs")
_KEYS: Final = ("a", "b", "k1", "λ", "", "with space", 3, -1, 0.5, b"k", None)
_MAX_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class Leaf:
    """What may be fetched, and the value or matcher that it must come back as."""

    fetch: Recordable
    value: Recordable


@dataclass(frozen=True, slots=True)
class Part:
    """A structure of fetches and what must come back for it."""

    fetch: Recordable
    want: Recordable


def constant_leaves(c: ApiAuthor, draw: random.Random, count: int) -> list[Leaf]:
    """Constants of several dtypes and ranks, fetched by object, by name or by operation."""
    makers = (
        lambda: np.float32(draw.randint(-9, 9)),
        lambda: np.array([draw.randint(-99, 99) for _ in range(draw.randint(0, 3))], np.int32),
        lambda: np.array([[True, False]]),
        lambda: np.array([b"bytes"], object),
        lambda: np.float64(0.5) * draw.randint(-3, 3),
    )
    leaves = []
    for index in range(count):
        value: Any = draw.choice(makers)()
        given = value.tolist() if value.dtype == object else value
        tensor = c.tf.constant(given, name=f"c{index}")
        want = value if value.ndim else as_array(value)
        ways = (
            (tensor, want),
            (f"c{index}:0", want),
            (tensor, want),
            (tensor.op, None),
            (f"c{index}", None),
        )
        leaves.append(Leaf(*draw.choice(ways)))
    return leaves


def arranged(draw: random.Random, leaves: Sequence[Leaf], depth: int = 0) -> Part:
    """A drawn structure of exactly these leaves in their order; some of its parts may be empty."""
    if len(leaves) == 1 and depth and (depth >= _MAX_DEPTH or draw.random() < 0.6):
        return Part(leaves[0].fetch, leaves[0].value)
    if depth >= _MAX_DEPTH:
        return joined(draw, draw.choice(_KINDS), [Part(leaf.fetch, leaf.value) for leaf in leaves])
    parts = []
    rest = list(leaves)
    while rest:
        count = draw.randint(1, len(rest))
        parts.append(arranged(draw, rest[:count], depth + 1))
        rest = rest[count:]
    if draw.random() < 0.15:
        parts.insert(draw.randint(0, len(parts)), joined(draw, draw.choice(_KINDS), []))
    return joined(draw, draw.choice(_KINDS), parts)


def joined(draw: random.Random, kind: str, parts: Sequence[Part]) -> Part:
    """The parts in one container of this kind."""
    fetches, wants = [part.fetch for part in parts], [part.want for part in parts]
    match kind:
        case "list":
            return Part(fetches, wants)
        case "tuple":
            return Part(tuple(fetches), tuple(wants))
        case "named":
            names = [f"f{index}" for index in range(len(parts))]
            named = collections.namedtuple("Named", names)  # type: ignore[misc]  # noqa: PYI024 - fields are drawn
            return Part(named(*fetches), named(*wants))
        case "attrs":
            box = attr.make_class("Box", [f"f{index}" for index in range(len(parts))])
            return Part(box(*fetches), box(*wants))
    keys = draw.sample(_KEYS, len(parts))
    make = dict if kind == "dict" else collections.OrderedDict
    return Part(make(zip(keys, fetches, strict=True)), make(zip(keys, wants, strict=True)))


def instance_of(name: str, *args: Recordable) -> Recorded:
    """An object of the class that cases call `name`, made of the arguments."""
    return Recorded({"$py": name, "args": [form(arg) for arg in args]})


def mapping_of(name: str, parts: Mapping[str, Part], *before: Recordable) -> Part:
    """The parts in a mapping of the class that cases call `name`.

    Args:
      name: the class.
      parts: the keys and what stands there.
      before: arguments of the class that come before the pairs.

    """
    fetches = {key: part.fetch for key, part in parts.items()}
    pairs = [[form(key), form(part.want)] for key, part in parts.items()]
    return Part(instance_of(name, *before, fetches), Matcher({"$mapping": pairs}))
