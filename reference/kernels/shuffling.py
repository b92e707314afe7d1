"""Kernels of random shuffles: TensorFlow's sequence of swaps, computed block by block.

For 200,000 numbers this takes 3 to 4 times TensorFlow's time, which swaps two numbers in memory: a
block's swaps are sorted by target, and chains of them followed, before its elements move.
"""

from __future__ import annotations

import math
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.philox import Stream, interleaved, stream_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.stateless import keyed_stream

#: The number of swaps computed together, so that their keys and targets fit the cache.
_BITS: Final = 13
_BLOCK: Final = 1 << _BITS


@binder("RandomShuffle")
def random_shuffle(bind: Bind) -> KernelFunction:
    """The rows in a random order: row i is swapped with a random one at or behind i, in turn."""
    xp, stream = bind.xp, stream_of(bind, HOST)

    def compute(x: Array) -> Array:
        if x.ndim == 0 or math.prod(x.shape) <= 1 or x.shape[0] <= 1:
            return x
        partners = _partners(stream, x.shape[0])
        at_once = xp is HOST and x.ndim == 1
        rows = x.copy() if at_once else HOST.arange(x.shape[0])
        _swap(rows, partners)
        return rows if at_once else x[xp.asarray(rows), ...]

    return compute


@kernel("StatelessShuffle", devices=("CPU",))
def stateless_shuffle(_: ArrayModule, x: Array, key: Array, counter: Array, alg: Array) -> Array:
    """As `RandomShuffle`, from a key and a counter."""
    stream = keyed_stream(HOST, key, counter, alg)
    if x.ndim == 0 or math.prod(x.shape) <= 1 or x.shape[0] <= 1:
        return x
    rows = HOST.arange(x.shape[0])
    _swap(rows, _partners(stream, len(rows)))
    return x[rows, ...]


def _partners(stream: Stream, size: int) -> Array:
    """The row with which each row but the last is swapped."""
    count = size - 1
    groups = -(-count // 4)
    words = HOST.empty((groups, 4), dtype="uint32")
    for block, even, odd in stream.groups(stream.reserve(groups), groups):
        interleaved(words[block], even, odd)
    left = HOST.arange(size, 1, -1, dtype="uint32")
    return HOST.arange(count) + words.reshape(-1)[:count] % left


def _swap(rows: Array, partners: Array) -> None:
    """Swap elements i and `partners[i]` >= i, for each i in turn."""
    for begin in range(0, len(partners), _BLOCK):
        rest = rows[begin:]
        own, targets, sources = _swapped(partners[begin : begin + _BLOCK] - begin)
        old = rest[: len(own)].copy()
        rest[: len(own)] = rest[own]
        rest[targets] = old[sources]  # of equal targets the last one counts


def _swapped(partners: Array) -> tuple[Array, Array, Array]:
    """The permutation that a block of swaps results in, relative to its first element.

    Returns the sources of the block's elements; then targets behind the block, and the sources in
    the block of their elements.
    """
    count = len(partners)
    keys = partners << _BITS | HOST.arange(count)
    keys.sort()
    targets, steps = keys >> _BITS, keys & _BLOCK - 1  # by target, then by step
    inside = HOST.searchsorted(targets, count)
    held = _held(targets[:inside], steps[:inside], count)
    again = HOST.flatnonzero(targets[1:] == targets[:-1])
    own = partners.copy()
    own[steps[again + 1]] = held[steps[again]]
    return own, targets[inside:], held[steps[inside:]]


def _held(targets: Array, steps: Array, count: int) -> Array:
    """Which element of the block each position holds when its own turn comes.

    The last earlier step that targeted it brought the element that its own position held then, and
    so on: chains, two or three long, that end at a position which no earlier step targeted.
    """
    held = HOST.arange(count)
    held[targets] = steps  # a later step overwrites an earlier one
    for at in HOST.flatnonzero(targets == steps).tolist():
        # A step that targets itself is always the last one: the one before it counts.
        chosen = at > 0 and targets[at - 1] == targets[at]
        held[targets[at]] = steps[at - 1] if chosen else targets[at]
    moving = HOST.flatnonzero(held != HOST.arange(count))
    while moving.size:
        before = held[moving]
        source = held[before]
        held[moving] = source
        moving = moving[source != before]
    return held
