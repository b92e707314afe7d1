"""Random nested fetch structures: the value has the structure, leaf by leaf."""

from __future__ import annotations

import collections
import random
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.properties import prop
from sessrun.spec.cases.model import Case

_MAX_DEPTH: Final = 4
_KEYS: Final = ("a", "b", "k1", "λ", "", "with space", 3, -1)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A fetchable thing and the value it must come back as."""

    fetch: Any
    value: Any


def _leaves(c: ApiAuthor, draw: random.Random) -> list[_Leaf]:
    """Constants of several dtypes and ranks, by object and by name, and an operation."""
    constants = [
        np.float32(draw.randint(-9, 9)),
        np.array([draw.randint(-99, 99) for _ in range(draw.randint(0, 3))], np.int32),
        np.array([[True, False]]),
        np.array(b"bytes", object),
        np.float64(0.5) * draw.randint(-3, 3),
    ]
    leaves = []
    for index, value in enumerate(constants):
        tensor = c.tf.constant(value.tolist() if value.dtype == object else value, name=f"c{index}")
        # A computed scalar comes back as a numpy scalar, a string scalar as bytes.
        want = value if value.ndim else value[()]
        leaves += [_Leaf(tensor, want), _Leaf(f"c{index}:0", want), _Leaf(tensor.op, None)]
    leaves.append(_Leaf("c0", None))
    return leaves


def _structure(draw: random.Random, leaves: list[_Leaf], depth: int) -> tuple[Any, Any]:
    """A structure of fetches and the structure of values it must give."""
    kind = draw.choice(("leaf", "list", "tuple", "dict", "ordered", "named", "leaf"))
    if depth >= _MAX_DEPTH or kind == "leaf":
        leaf = draw.choice(leaves)
        return leaf.fetch, leaf.value
    count = draw.randint(0, 3)
    pairs = [_structure(draw, leaves, depth + 1) for _ in range(count)]
    fetches, values = [fetch for fetch, _ in pairs], [value for _, value in pairs]
    if kind == "list":
        return fetches, values
    if kind == "tuple":
        return tuple(fetches), tuple(values)
    if kind == "named":
        cls = collections.namedtuple("Named", [f"f{i}" for i in range(count)])  # type: ignore[misc]  # noqa: PYI024 - fields are drawn
        return cls(*fetches), cls(*values)
    keys = draw.sample(_KEYS, count)
    make: Any = dict if kind == "dict" else collections.OrderedDict
    return make(zip(keys, fetches, strict=True)), make(zip(keys, values, strict=True))


@prop("fetch-structures", "FETCH-001")
def fetch_structures(draw: random.Random, id_: str) -> Case:
    """Random nested fetch structures come back with their own structure and values."""
    c = ApiAuthor()
    leaves = _leaves(c, draw)
    sess: Symbol = c.tf.Session()
    for _ in range(3):
        fetches, values = _structure(draw, leaves, 0)
        c.check(sess.run(fetches), values)
    sess.close()
    return c.case(id_, "A nested fetch structure comes back as it was given.", ("FETCH-001",))
