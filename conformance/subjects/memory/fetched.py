"""Arrays that were fetched and written to: what is kept, and what else was fetched, stays."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, as_array
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.memory.arrays import own_array, spoilt
from sessrun.conformance.subjects.memory.holders import HOLDERS, Holder
from sessrun.spec.cases.model import Case

_KEPT, _PAST, _APART = "MEMORY-004", "MEMORY-005", "MEMORY-006"
_BESIDE, _FLAGS = "MEMORY-007", "MEMORY-008"
_TITLES: Final = {
    _KEPT: "Writing into an array fetched from what is kept does not change it.",
    _PAST: "An array that was fetched stays as it is when what was kept is changed.",
    _APART: "The arrays of one run share no memory.",
    _BESIDE: "What was put in is no memory of an array that the same run gave.",
    _FLAGS: "A read-only array is fed and stays read-only; what is fetched is writeable.",
}
_LASTING: Final = tuple(name for name in sorted(HOLDERS) if HOLDERS[name].lasting)
_SHAPES: Final = ((2, 2), (2, 3), (2, 1, 2))


class _Held:
    """One holder of one session, and what it was given last."""

    def __init__(self, c: ApiAuthor, draw: random.Random, holder: Holder) -> None:
        self.dtype = draw.choice(holder.dtypes)
        self.shape: tuple[int, ...] = draw.choice(_SHAPES)
        self.fed = c.tf.placeholder(c.tf.as_dtype(self.dtype), list(self.shape))
        # What goes in is computed: fed arrays are another property's matter.
        self.given = self._computed(c, draw)
        self.nodes = holder.build(c.tf, self.given, self.dtype, self.shape)
        self.sess: Symbol = c.tf.Session()
        if self.nodes.prepare is not None:
            self.sess.run(self.nodes.prepare)

    def _computed(self, c: ApiAuthor, draw: random.Random) -> Symbol:
        """A tensor equal to the fed one; `source` is the tensor whose memory it may share."""
        half = c.tf.concat([self.fed[:1], self.fed[1:]], 0)
        flat = c.tf.reshape(half, [-1])
        ways = (half, c.tf.identity(half), c.tf.reshape(flat, list(self.shape)))
        self.source = draw.choice((half, flat))
        given: Symbol = draw.choice(ways)
        return given


def _kept(c: ApiAuthor, draw: random.Random) -> None:
    held = _Held(c, draw, HOLDERS[draw.choice(_LASTING)])
    own = own_array(c, draw, held.dtype, held.shape, "inside")
    held.sess.run(held.nodes.put, {held.fed: own.mine})
    views = [held.nodes.get, c.tf.identity(held.nodes.get), c.tf.reshape(held.nodes.get, [-1])]
    for _ in range(2):
        got = held.sess.run([draw.choice(views)] if draw.random() < 0.5 else draw.sample(views, 2))
        got[0].fill(spoilt(held.dtype))
        c.check(held.sess.run(held.nodes.get), as_array(own.value))
    held.sess.close()


#: Holders that can be given another value in place of the one they have.
_CHANGING: Final = tuple(
    name for name in _LASTING if "looked at" not in name and "updated" not in name
)


def _past(c: ApiAuthor, draw: random.Random) -> None:
    held = _Held(c, draw, HOLDERS[draw.choice(_CHANGING)])
    owns = [own_array(c, draw, held.dtype, held.shape, "inside") for _ in range(3)]
    fetched = []
    for own in owns:
        held.sess.run(held.nodes.put, {held.fed: own.mine})
        view = draw.choice([held.nodes.get, c.tf.reshape(held.nodes.get, list(held.shape))])
        fetched.append(held.sess.run(view))
    for got, own in zip(fetched, owns, strict=True):
        c.check(got, as_array(own.value))
    held.sess.close()


def _views(c: ApiAuthor, tensor: Symbol) -> list[Symbol]:
    """Tensors that an engine may compute without a copy."""
    tf = c.tf
    return [
        tensor,
        tf.identity(tensor),
        tf.reshape(tensor, [-1]),
        tf.expand_dims(tensor, 0),
        tf.squeeze(tf.expand_dims(tensor, 0), [0]),
        tf.stop_gradient(tensor),
        tensor[:],
        tf.transpose(tensor),
        tf.identity_n([tensor, tensor])[1],
    ]


def _apart(c: ApiAuthor, draw: random.Random) -> None:
    p = c.tf.placeholder(c.tf.float32, [2, 3])
    variable = c.tf.Variable(np.ones((2, 3), np.float32), use_resource=draw.random() < 0.5)
    queue = c.tf.FIFOQueue(4, c.tf.float32, shapes=[[2, 3]])
    ones = np.ones((2, 3), np.float32)
    put = queue.enqueue(c.tf.constant(ones))
    values = np.array([[draw.randint(0, 9) for _ in range(3)] for _ in range(2)], np.float32)
    sources = (p * 2.0, c.tf.identity(variable), c.tf.constant(ones), queue.dequeue())
    source = draw.choice(sources)
    several = draw.sample(_views(c, source), draw.randint(2, 4))
    sess = c.tf.Session()
    sess.run([variable.initializer, put])
    got = sess.run(several, {p: values})
    for left in range(len(several)):
        for right in range(left):
            c.check(c.np.shares_memory(got[left], got[right]), False)
    sess.close()


def _beside(c: ApiAuthor, draw: random.Random) -> None:
    held = _Held(c, draw, HOLDERS[draw.choice(sorted(HOLDERS))])
    own = own_array(c, draw, held.dtype, held.shape, "inside")
    order = [held.nodes.put, held.source]
    draw.shuffle(order)
    got = held.sess.run(order, {held.fed: own.mine})
    got[order.index(held.source)].fill(spoilt(held.dtype))
    c.check(held.sess.run(held.nodes.get), as_array(own.value))
    held.sess.close()


def _flags(c: ApiAuthor, draw: random.Random) -> None:
    holder = HOLDERS[draw.choice(sorted(HOLDERS))]
    dtype, shape = draw.choice(holder.dtypes), draw.choice(_SHAPES)
    fed = c.tf.placeholder(c.tf.as_dtype(dtype), list(shape))
    nodes = holder.build(c.tf, fed, dtype, shape)
    echo = c.tf.identity(fed)
    sess = c.tf.Session()
    if nodes.prepare is not None:
        sess.run(nodes.prepare)
    own = own_array(c, draw, dtype, shape, "read-only")
    if draw.random() < 0.5:
        c.check(sess.run([echo, fed], {fed: own.mine})[0].flags.writeable, True)
    sess.run(nodes.put, {fed: own.mine})
    c.check(own.mine.flags.writeable, False)
    got = sess.run(nodes.get)
    c.check(got.flags.writeable, True)
    c.check(got, as_array(own.value))
    got.fill(spoilt(dtype))
    c.check(own.mine, as_array(own.value))
    sess.close()


_RECORDERS: Final[dict[str, Callable[[ApiAuthor, random.Random], None]]] = {
    _KEPT: _kept,
    _PAST: _past,
    _APART: _apart,
    _BESIDE: _beside,
    _FLAGS: _flags,
}


@prop("memory-fetched", *_RECORDERS, weight=3)
def memory_fetched(draw: random.Random, id_: str) -> Case:
    """Writing into fetched arrays changes nothing that is kept, and no other fetched array."""
    clause = draw.choice(sorted(_RECORDERS))
    c = ApiAuthor()
    _RECORDERS[clause](c, draw)
    return c.case(id_, _TITLES[clause], (clause,))
