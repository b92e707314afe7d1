"""Random nested fetch structures: the value has the structure, leaf by leaf."""

from __future__ import annotations

import collections
import random
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Matcher, Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, as_array, by
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case

_MAX_DEPTH: Final = 4
_KEYS: Final = ("a", "b", "k1", "λ", "", "with space", 3, -1)

_LIST, _TUPLE, _DICT, _ORDER = "FETCH-033", "FETCH-034", "FETCH-035", "FETCH-036"
_ORDERED, _NAMED, _OPERATION, _EMPTY = "FETCH-037", "FETCH-038", "FETCH-040", "FETCH-041"
#: The clause of each kind of structure that is not empty.
_CLAUSES: Final = {
    "list": _LIST,
    "tuple": _TUPLE,
    "dict": _DICT,
    "ordered": _ORDERED,
    "named": _NAMED,
}


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A fetchable thing and the value it must come back as."""

    fetch: Recordable
    value: Recordable


class _Structures:
    """Draws structures of fetches, and matchers of their values; a matcher names its clause."""

    def __init__(self, draw: random.Random, leaves: list[_Leaf]) -> None:
        self.draw = draw
        self.leaves = leaves

    def structure(self, depth: int = 0) -> tuple[Recordable, Matcher | Recordable]:
        """A structure of fetches and the structure of values it must give."""
        kinds = ("list", "tuple", "dict", "ordered", "named", "leaf")
        # A fetch without a structure around it is other clauses' matter.
        kind = self.draw.choice(kinds if depth else kinds[:-1])
        if depth >= _MAX_DEPTH or kind == "leaf":
            leaf = self.draw.choice(self.leaves)
            return leaf.fetch, by(_OPERATION, None) if leaf.value is None else leaf.value
        parts = [self.structure(depth + 1) for _ in range(self.draw.randint(0, 3))]
        fetches, values = self._joined(
            kind, [fetch for fetch, _ in parts], [value for _, value in parts]
        )
        return fetches, by(_CLAUSES[kind] if parts else _EMPTY, values)

    def _joined(
        self, kind: str, fetches: list[Recordable], values: list[Recordable]
    ) -> tuple[Recordable, Recordable]:
        count = len(fetches)
        if kind == "list":
            return fetches, values
        if kind == "tuple":
            return tuple(fetches), tuple(values)
        if kind == "named":
            cls = collections.namedtuple("Named", [f"f{i}" for i in range(count)])  # type: ignore[misc]  # noqa: PYI024 - fields are drawn
            return cls(*fetches), cls(*values)
        keys = self.draw.sample(_KEYS, count)
        make = dict if kind == "dict" else collections.OrderedDict
        return make(zip(keys, fetches, strict=True)), make(zip(keys, values, strict=True))


def _leaves(c: ApiAuthor, draw: random.Random) -> list[_Leaf]:
    """Constants of several dtypes and ranks, by object and by name, and operations."""
    constants: list[np.ndarray | np.generic] = [
        np.float32(draw.randint(-9, 9)),
        np.array([draw.randint(-99, 99) for _ in range(draw.randint(0, 3))], np.int32),
        np.array([[True, False]]),
        np.array([b"bytes"], object),
        np.float64(0.5) * draw.randint(-3, 3),
    ]
    leaves = []
    for index, value in enumerate(constants):
        tensor = c.tf.constant(value.tolist() if value.dtype == object else value, name=f"c{index}")
        # Whether a scalar is a numpy scalar or a 0-d array is FETCH-030's matter.
        want = value if value.ndim else as_array(value)
        leaves += [_Leaf(tensor, want), _Leaf(f"c{index}:0", want), _Leaf(tensor.op, None)]
    leaves.append(_Leaf("c0", None))
    return leaves


@prop("fetch-structures", _LIST, _TUPLE, _DICT, _ORDER, _ORDERED, _NAMED, _OPERATION, _EMPTY)
def fetch_structures(draw: random.Random, id_: str) -> Case:
    """Random nested fetch structures come back with their own structure and values."""
    c = ApiAuthor()
    structures = _Structures(draw, _leaves(c, draw))
    sess: Symbol = c.tf.Session()
    for _ in range(3):
        fetches, values = structures.structure()
        result = sess.run(fetches)
        assert isinstance(values, Matcher)
        c.blame(str(values.json["clause"]))
        if isinstance(fetches, dict) and len(fetches) > 1:
            c.check(c.expr("$list", result), by(_ORDER, list(fetches)))
        c.check(result, values)
    sess.close()
    title = "A nested fetch structure comes back as it was given."
    return c.case(id_, title)
