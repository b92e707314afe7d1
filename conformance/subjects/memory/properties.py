"""Arrays that were fed or fetched and written to afterwards: nothing that is kept changes.

A table of holders (`holders.py`) is crossed with dtypes, shapes and layouts of the fed array; the
other themes are in `fetched.py`.
"""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, as_array
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.memory import fetched
from sessrun.conformance.subjects.memory.arrays import LAYOUTS, Own, own_array, spoilt
from sessrun.conformance.subjects.memory.holders import HOLDERS, Holder, Nodes
from sessrun.spec.cases.model import Case

__all__ = ["fetched"]

_ROWS, _FULL, _PARTIAL = "MEMORY-001", "MEMORY-002", "MEMORY-003"
#: The first dimension is that of rows: tables and barriers have two of them.
_SHAPES: Final = ((2, 2), (2, 3), (2, 1, 2))
_LINES: Final = (*_SHAPES, (4,), (5,))


class _Keeping:
    """One holder of one session, and the ways to put into it."""

    def __init__(self, c: ApiAuthor, draw: random.Random, holder: Holder) -> None:
        self.c, self.draw, self.holder = c, draw, holder
        self.dtype = draw.choice(holder.dtypes)
        self.shape: tuple[int, ...] = draw.choice(_LINES if holder.whole else _SHAPES)
        self.fed = c.tf.placeholder(c.tf.as_dtype(self.dtype), list(self.shape))
        self.nodes: Nodes = holder.build(c.tf, self.fed, self.dtype, self.shape)
        self.sess: Symbol = c.tf.Session()
        if self.nodes.prepare is not None:
            self.sess.run(self.nodes.prepare)
        by_call = draw.random() < 0.25
        self._call = self.sess.make_callable(self.nodes.put, [self.fed]) if by_call else None

    def own(self) -> Own:
        """An array of the caller's that may be fed."""
        return own_array(self.c, self.draw, self.dtype, self.shape, self.draw.choice(LAYOUTS))

    def put(self, array: Symbol) -> None:
        """Feed an array to the run that takes it in."""
        if self._call is not None:
            self._call(array)
        else:
            self.sess.run(self.nodes.put, {self.fed: array})

    def holds(self, value: np.ndarray) -> None:
        """What it gives must be this."""
        self.c.check(self.sess.run(self.nodes.get), as_array(np.ascontiguousarray(value)))


@prop("memory-fed", _ROWS, _FULL, weight=3)
def memory_fed(draw: random.Random, id_: str) -> Case:
    """Writing into an array after it was fed changes nothing that is kept of it."""
    holder = HOLDERS[draw.choice(sorted(HOLDERS))]
    c = ApiAuthor()
    keeping = _Keeping(c, draw, holder)
    kept = []
    for _ in range(draw.randint(2, 3) if holder.several else 1):
        own = keeping.own()
        keeping.put(own.mine)
        kept.append(own.value)
        own.base.fill(spoilt(keeping.dtype))
    for value in kept:
        keeping.holds(value)
    if holder.lasting:
        keeping.holds(kept[-1])
    keeping.sess.close()
    title = f"What {holder.name} took of a fed array stays as it is."
    return c.case(id_, title, (_FULL if holder.whole else _ROWS,))


@prop("memory-partial", _PARTIAL)
def memory_partial(draw: random.Random, id_: str) -> Case:
    """Writing into arrays that a call of a partial run took or gave changes no later call."""
    c = ApiAuthor()
    dtype = draw.choice(("float32", "int64", "float64", "complex64"))
    shape = draw.choice(_LINES)
    tensor_dtype = c.tf.as_dtype(dtype)
    first, second = (c.tf.placeholder(tensor_dtype, list(shape)) for _ in range(2))
    doubled = first + first
    turned = c.tf.reshape(doubled, [-1])
    total = first + c.tf.reshape(turned, list(shape)) + second
    sess = c.tf.Session()
    own, other = (own_array(c, draw, dtype, shape, draw.choice(LAYOUTS)) for _ in range(2))
    handle = sess.partial_run_setup([doubled, turned, total], [first, second])
    got = sess.partial_run(handle, doubled, {first: own.mine})
    c.check(got, as_array(own.value * 2))
    for array in draw.sample([got, own.base], draw.randint(1, 2)):
        array.fill(spoilt(dtype))
    if draw.random() < 0.5:
        got = sess.partial_run(handle, turned)
        c.check(got, as_array((own.value * 2).reshape(-1)))
        got.fill(spoilt(dtype))
    want = as_array((own.value * 3 + other.value).astype(dtype))
    c.check(sess.partial_run(handle, total, {second: other.mine}), want)
    sess.close()
    return c.case(id_, "A partial run keeps what it was fed and what it computed.", (_PARTIAL,))
