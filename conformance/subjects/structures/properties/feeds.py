"""Feeds under nested keys, and feed_dicts of all classes, in many runs of one session."""

from __future__ import annotations

import functools
import random
from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable, Recorded
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, as_array
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.structures.arranging import instance_of
from sessrun.conformance.subjects.structures.feeding import feed_dict_of, nested_key
from sessrun.spec.cases.model import Case

_DTYPES: Final = ("float32", "int64", "bool", "complex64", "string", "float64", "uint8")
_SHAPES: Final[tuple[tuple[int, ...], ...]] = ((), (2,), (0,), (1, 3))
_THEMES: Final = {
    "nested": ("FEED-056", "A nested key takes its values each at its place."),
    "mapping": ("FEED-065", "A feed_dict may be a mapping of any class."),
    "twice": ("FEED-066", "A tensor that is fed twice is refused."),
}
_MAPPINGS: Final = ("mapping_proxy", "user_dict", "dict_subclass", "defaultdict")


class _Fed:
    """Placeholders, tensors computed from them, and what may be fed."""

    def __init__(self, c: ApiAuthor, draw: random.Random) -> None:
        self._draw = draw
        self.dtypes = draw.choices(_DTYPES, k=draw.randint(2, 4))
        self.placeholders: list[Symbol] = [
            c.tf.placeholder(c.tf.as_dtype(dtype), None, name=f"p{index}")
            for index, dtype in enumerate(self.dtypes)
        ]
        self.results = [c.tf.identity(p) for p in self.placeholders]

    def values(self) -> list[np.ndarray]:
        """An array for each placeholder."""
        return [self._value(dtype) for dtype in self.dtypes]

    def _value(self, dtype: str) -> np.ndarray:
        shape = self._draw.choice(_SHAPES)
        numbers = [self._draw.randint(0, 99) for _ in range(int(np.prod(shape)))]
        if dtype == "string":
            held = np.empty(len(numbers), object)
            held[:] = [b"%d" % number for number in numbers]
            return held.reshape(shape)
        array = np.array(numbers, np.int64).reshape(shape)
        return array % 2 == 1 if dtype == "bool" else array.astype(dtype)

    def key(self, index: int) -> Symbol | str:
        """A placeholder by object or by name."""
        return self.placeholders[index] if self._draw.random() < 0.7 else f"p{index}:0"

    def pairs(self, values: list[np.ndarray]) -> list[tuple[Symbol | str, np.ndarray]]:
        """Each placeholder with its array."""
        return [(self.key(index), value) for index, value in enumerate(values)]


def _wanted(values: list[np.ndarray]) -> list[Recordable]:
    """The expected values of identities of these arrays."""
    return [
        value.item() if value.dtype == object and not value.ndim else as_array(value)
        for value in values
    ]


def _twice(draw: random.Random, fed: _Fed) -> Recordable:
    """A feed_dict in which a placeholder, as one object, stands twice."""
    values = fed.values()
    first = fed.placeholders[0]
    keys = [first, *fed.placeholders[1:], first]
    if draw.random() < 0.5:
        return {nested_key(draw, keys): (*values, values[0])}
    return {first: values[0], nested_key(draw, keys[1:]): (*values[1:], values[0])}


def _as_mapping(name: str, feeds: Recordable) -> Recorded:
    return instance_of(name, *([None] if name == "defaultdict" else []), feeds)


@prop("structures-feeds", *(clause for clause, _ in _THEMES.values()))
def structures_feeds(draw: random.Random, id_: str) -> Case:
    """Values under nested keys, in mappings of any class, reach their tensors in every run."""
    theme = draw.choice(("nested", "nested", *_THEMES))
    clause, title = _THEMES[theme]
    c = ApiAuthor()
    fed = _Fed(c, draw)
    sess = c.tf.Session()
    for _ in range(draw.randint(3, 5)):
        values = fed.values()
        feeds: Recordable = feed_dict_of(draw, fed.pairs(values))
        if theme == "mapping":
            feeds = _as_mapping(draw.choice(_MAPPINGS), feeds)
        if theme == "twice":
            run = functools.partial(sess.run, fed.results, _twice(draw, fed))
            c.raises("ValueError", run)
        c.check(sess.run(fed.results, feeds), _wanted(values))
    sess.close()
    return c.case(id_, title, (clause,))
