"""Where an index is once all are shuffled: a small cipher of the Simon family walks in a circle.

A cipher is a permutation of all numbers of so many bits. Enciphered again and again, an index comes
to one that is not above the largest; thus the cipher permutes the indices, too, and none of the
others needs to be known.

Source: the Simon family (eprint.iacr.org/2013/404), cycle-walking (Rogaway and others), with the
word sizes, the rounds and the key of three words that TensorFlow takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.registry import kernel

__all__: list[str] = []

#: The cipher's blocks are halves of 8 bits at least, of 32 at most.
_LEAST_BITS: Final = 16
_MOST_BITS: Final = 64
#: The constants of the key schedule.
_CONSTANT: Final = 0xFFFFFFFC
_SEQUENCE: Final = 0x7369F885192C0EF5
_WORD: Final = 2**32
_ONE: Final = HOST.uint64(1)
#: After so many steps of a walk the rest is looked up, which takes blocks of 16 bits; in larger
#: ones a walk has four steps on average, and none as many as this.
_STEPS: Final = 200


def _turned(words: Any, places: int, width: Any) -> Any:
    """Words whose bits have gone round to the left; a negative number of places to the right."""
    left = HOST.uint64(places) if places >= 0 else width - HOST.uint64(-places)
    return (words << left | words >> width - left) & _mask(width)


def _mask(width: Any) -> Any:
    return (_ONE << width) - _ONE


def _mixed(words: Any, width: Any) -> Any:
    first, second, eighth = (_turned(words, places, width) for places in (1, 2, 8))
    return first & eighth ^ second


def _round_keys(words: Any, rounds: int, width: Any) -> list[Any]:
    """A key for each round: the columns of the given words, then each of three before it."""
    mask = _mask(width)
    keys = [words[:, column] & mask for column in range(words.shape[1])]
    sequence = _SEQUENCE & mask
    while len(keys) < rounds:
        last = _turned(keys[-1], -3, width) ^ _turned(keys[-1], -4, width)
        keys.append(_CONSTANT & mask ^ sequence & _ONE ^ keys[-3] ^ last)
        sequence = sequence >> _ONE
    return keys[:rounds]


def _enciphered(places: Any, keys: Sequence[Any], width: Any) -> Any:
    mask = _mask(width)
    left, right = places >> width & mask, places & mask
    for first, second in zip(keys[::2], keys[1::2], strict=False):
        left = left ^ _mixed(right, width) ^ first
        right = right ^ _mixed(left, width) ^ second
    return left << width | right


def _widths(limits: Any) -> Any:
    """How many bits half a block has, for each largest index."""
    known, which = HOST.unique(limits, return_inverse=True)
    bits = [(limit - 1).bit_length() for limit in known.tolist()]
    widths = [min(max(each + each % 2, _LEAST_BITS), _MOST_BITS) // 2 for each in bits]
    return HOST.asarray(widths, dtype="uint64")[which.reshape(limits.shape)]


def _shuffled(places: Any, words: Any, limits: Any, rounds: int) -> Any:
    """For each index its place; of words and limits there is one for all, or one for each."""
    found = HOST.zeros_like(places)
    width = _widths(limits)
    keys = _round_keys(words, rounds, width)
    left = HOST.flatnonzero(HOST.broadcast_to(limits, places.shape))  # 0 is the only one to 0
    now = places[left]
    steps = 0
    while left.size:
        given = (*keys, width, limits)
        *own, size, most = (each if len(each) == 1 else each[left] for each in given)
        if steps >= _STEPS and 2 * size.max() == _LEAST_BITS:
            found[left] = _walked(now, own, size, most)
            break
        now = _enciphered(now, own, size)
        is_one = now <= most
        found[left[is_one]] = now[is_one]
        left, now = left[~is_one], now[~is_one]
        steps += 1
    return found


def _walked(places: Any, keys: Sequence[Any], width: Any, limits: Any) -> list[int]:
    """Where walks in blocks of 16 bits end: all numbers of a block are enciphered at once.

    Args:
      places: the indices, uint64.
      keys: of each round, one for all indices or one for each.
      width: how many bits half a block has, as many as the keys.
      limits: the largest indices, likewise.

    """
    ends, known = [], {}
    block = HOST.arange(2**_LEAST_BITS, dtype="uint64")
    for number, start in enumerate(places.tolist()):
        row = number if len(width) > 1 or len(keys[0]) > 1 or len(limits) > 1 else 0
        *own, size, most = (each[row if len(each) > 1 else 0] for each in (*keys, width, limits))
        cipher = (size, *own)
        if cipher not in known:
            known[cipher] = _enciphered(block, own, size).tolist()
        following = known[cipher]
        end = following[start]
        while end > most:
            end = following[end]
        ends.append(end)
    return ends


def _each(array: Any, count: int, name: str) -> Any:
    """A number for each index, as a vector: one for all, or the vector's own."""
    if array.ndim and array.shape != (count,):
        raise InvalidArgument(
            f"{name} must be a scalar or a vector of the same size as "
            f"index but got {list(array.shape)}"
        )
    return array.reshape(-1)


def _check(places: Any, limits: Any) -> None:
    wrong = HOST.flatnonzero((places < 0) | (limits < 0) | (places > limits))
    if not wrong.size:
        return
    place, limit = (array[wrong[0] if len(array) > 1 else 0] for array in (places, limits))
    for name, number in (("index", place), ("max_index", limit)):
        if number < 0:
            raise InvalidArgument(f"{name} must be >= 0 but was {number}")
    raise InvalidArgument(f"max_index must be >= index, but {limit} < {place}")


@kernel("RandomIndexShuffle", devices=("CPU",))
def random_index_shuffle(_: Any, index: Any, seed: Any, max_index: Any, *, rounds: int) -> Any:
    """The place of each index among those up to the largest.

    Raises:
      KernelError: the shapes do not belong together, or an index is not between 0 and the largest.

    """
    if seed.ndim not in {1, 2} or seed.shape[-1] != 3:
        raise InvalidArgument(
            "Seed must be a vector of size [3] or a matrix of size [n, 3] "
            f"but got {list(seed.shape)}."
        )
    rows = seed.reshape(-1, 3)
    is_scalar = index.ndim == max_index.ndim == 0 and seed.ndim == 1
    count = max([len(array) for array in (index, max_index) if array.ndim] + [len(rows)])
    places, limits = _each(index, count, "Index"), _each(max_index, count, "Maxval")
    if seed.ndim == 2 and len(rows) != count:
        raise InvalidArgument(f"Seed must have {count} rows but has {len(rows)}.")
    _check(places, limits)
    words = rows.astype("int64" if rows.dtype.kind == "i" else "uint64") % _WORD
    wide = HOST.broadcast_to(places, (count,)).astype("uint64")
    found = _shuffled(wide, words.astype("uint64"), limits.astype("uint64"), rounds)
    array = found.astype(index.dtype)
    return array[0] if is_scalar else array
