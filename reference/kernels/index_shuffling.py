"""The kernel that shuffles indices without a table: a cipher of the Simon family, cycle-walking.

A cipher permutes the numbers of a given number of bits. An index is enciphered until the result is
not above the largest index; thus the cipher permutes the indices as well, and none of the others
needs to be computed.

Source: the Simon family (eprint.iacr.org/2013/404), cycle-walking (Rogaway and others), with the
word sizes, rounds and keys of three words of TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.registry import kernel

#: The least and the greatest size of the cipher's blocks, which are two words.
_LEAST_BITS: Final = 16
_MOST_BITS: Final = 64
#: The constants of the key schedule.
_CONSTANT: Final = 0xFFFFFFFC
_SEQUENCE: Final = 0x7369F885192C0EF5
_WORD: Final = 2**32
_ONE: Final = HOST.uint64(1)
#: After so many steps of a walk in blocks of 16 bits the rest is looked up in a table; in larger
#: blocks a walk has four steps on average, and never as many as this.
_STEPS: Final = 200


def _turned(words: Array, shift: int, width: Array) -> Array:
    """Words of `width` bits rotated to the left by `shift`; to the right if that is negative."""
    left = HOST.uint64(shift) if shift >= 0 else width - HOST.uint64(-shift)
    return (words << left | words >> width - left) & _mask(width)


def _mask(width: Array) -> Array:
    return (_ONE << width) - _ONE


def _mixed(words: Array, width: Array) -> Array:
    first, second, eighth = (_turned(words, shift, width) for shift in (1, 2, 8))
    return first & eighth ^ second


def _round_keys(words: Array, rounds: int, width: Array) -> list[Array]:
    """The keys of all rounds: the columns of `words`, then the key schedule's."""
    mask = _mask(width)
    keys = [words[:, column] & mask for column in range(words.shape[1])]
    sequence = _SEQUENCE & mask
    while len(keys) < rounds:
        last = _turned(keys[-1], -3, width) ^ _turned(keys[-1], -4, width)
        keys.append(_CONSTANT & mask ^ sequence & _ONE ^ keys[-3] ^ last)
        sequence = sequence >> _ONE
    return keys[:rounds]


def _enciphered(blocks: Array, keys: Sequence[Array], width: Array) -> Array:
    mask = _mask(width)
    left, right = blocks >> width & mask, blocks & mask
    for first, second in zip(keys[::2], keys[1::2], strict=False):
        left = left ^ _mixed(right, width) ^ first
        right = right ^ _mixed(left, width) ^ second
    return left << width | right


def _widths(limits: Array) -> Array:
    """The bits of half a block for each largest index."""
    known, which = HOST.unique(limits, return_inverse=True)
    bits = [(limit - 1).bit_length() for limit in known.tolist()]
    widths = [min(max(length + length % 2, _LEAST_BITS), _MOST_BITS) // 2 for length in bits]
    return HOST.asarray(widths, dtype="uint64")[which.reshape(limits.shape)]


def _shuffled(indices: Array, words: Array, limits: Array, rounds: int) -> Array:
    """The shuffled indices; words and limits have one row for all indices, or one for each."""
    shuffled = HOST.zeros_like(indices)
    width = _widths(limits)
    keys = _round_keys(words, rounds, width)
    left = HOST.flatnonzero(HOST.broadcast_to(limits, indices.shape))  # 0 is the only index up to 0
    now = indices[left]
    steps = 0
    while left.size:
        given = (*keys, width, limits)
        *own, size, most = (operand if len(operand) == 1 else operand[left] for operand in given)
        if steps >= _STEPS and 2 * size.max() == _LEAST_BITS:
            shuffled[left] = _walked(now, own, size, most)
            break
        now = _enciphered(now, own, size)
        is_one = now <= most
        shuffled[left[is_one]] = now[is_one]
        left, now = left[~is_one], now[~is_one]
        steps += 1
    return shuffled


def _walked(indices: Array, keys: Sequence[Array], width: Array, limits: Array) -> list[int]:
    """Where walks in blocks of 16 bits end, by a table of all enciphered blocks.

    Args:
      indices: the indices, uint64.
      keys: the keys of the rounds, one for all indices or one for each.
      width: the bits of half a block, likewise.
      limits: the largest indices, likewise.

    """
    ends, known = [], {}
    block = HOST.arange(2**_LEAST_BITS, dtype="uint64")
    for number, start in enumerate(indices.tolist()):
        row = number if len(width) > 1 or len(keys[0]) > 1 or len(limits) > 1 else 0
        *own, size, most = (
            operand[row if len(operand) > 1 else 0] for operand in (*keys, width, limits)
        )
        cipher = (size, *own)
        if cipher not in known:
            known[cipher] = _enciphered(block, own, size).tolist()
        following = known[cipher]
        end = following[start]
        while end > most:
            end = following[end]
        ends.append(end)
    return ends


def _per_index(array: Array, count: int, name: str) -> Array:
    """An input as a vector of one number for all indices, or one for each."""
    if array.ndim and array.shape != (count,):
        raise InvalidArgument(
            f"{name} must be a scalar or a vector of the same size as "
            f"index but got {list(array.shape)}"
        )
    return array.reshape(-1)


def _check(indices: Array, limits: Array) -> None:
    wrong = HOST.flatnonzero((indices < 0) | (limits < 0) | (indices > limits))
    if not wrong.size:
        return
    index, limit = (array[wrong[0] if len(array) > 1 else 0] for array in (indices, limits))
    for name, number in (("index", index), ("max_index", limit)):
        if number < 0:
            raise InvalidArgument(f"{name} must be >= 0 but was {number}")
    raise InvalidArgument(f"max_index must be >= index, but {limit} < {index}")


@kernel("RandomIndexShuffle", devices=("CPU",))
def random_index_shuffle(
    _: ArrayModule, index: Array, seed: Array, max_index: Array, *, rounds: int
) -> Array:
    """The position of each index in a random permutation of [0, max_index].

    Raises:
      KernelError: the shapes do not fit, or an index is not in [0, max_index].

    """
    if seed.ndim not in {1, 2} or seed.shape[-1] != 3:
        raise InvalidArgument(
            "Seed must be a vector of size [3] or a matrix of size [n, 3] "
            f"but got {list(seed.shape)}."
        )
    rows = seed.reshape(-1, 3)
    is_scalar = index.ndim == max_index.ndim == 0 and seed.ndim == 1
    count = max([len(array) for array in (index, max_index) if array.ndim] + [len(rows)])
    indices, limits = _per_index(index, count, "Index"), _per_index(max_index, count, "Maxval")
    if seed.ndim == 2 and len(rows) != count:
        raise InvalidArgument(f"Seed must have {count} rows but has {len(rows)}.")
    _check(indices, limits)
    words = rows.astype("int64" if rows.dtype.kind == "i" else "uint64") % _WORD
    wide = HOST.broadcast_to(indices, (count,)).astype("uint64")
    shuffled = _shuffled(wide, words.astype("uint64"), limits.astype("uint64"), rounds)
    array = shuffled.astype(index.dtype)
    return array[0] if is_scalar else array
