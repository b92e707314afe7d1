"""Distributions of classes for the candidate samplers: learned counts, and given weights."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument, NotFound
from sessrun.reference.kernels.host import HOST, dtype_of

__all__ = ["Alias", "Unigrams", "read_weights"]

#: The number of weights in a block; the sums of the blocks are kept, so a change costs little.
_BLOCK: Final = 512
_MAX_TOTAL: Final = 2**31 - 1
_WORD_VALUES: Final = 2**32


def read_weights(path: str) -> list[float]:
    """The number behind the last comma of each line of a vocabulary file.

    Raises:
      NotFound: the file cannot be read.
      InvalidArgument: a line does not end with a number.

    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise NotFound(f"{path}; {error.strerror}") from error
    try:
        return [float(line.rpartition(",")[2]) for line in lines]
    except ValueError:
        raise InvalidArgument(f"Wrong vocabulary format in {path}") from None


class Unigrams:
    """The distribution of LearnedUnigramCandidateSampler: how often each class was learned, plus 1.

    Attributes:
      range: the number of classes.
      lock: to be held while classes are drawn or learned.

    """

    def __init__(self, count: int) -> None:
        self.range = count
        self.lock = threading.Lock()
        self._weights = HOST.zeros((-(-count // _BLOCK), _BLOCK), dtype="int64")
        self._flat = self._weights.reshape(-1)
        self._flat[:count] = 1
        self._blocks = HOST.sum(self._weights, axis=1)
        self._total = count

    def classes(self, words: Array) -> tuple[Array, int]:
        """Draw classes by random words: the first whose cumulative weight exceeds a remainder.

        Args:
          words: random uint32 numbers.

        Returns:
          The classes, int64, and the number of words used. Words that would favour small
          remainders give no class.

        """
        drawn = words.astype("int64")
        if self._total & (self._total - 1):
            drawn = drawn[drawn >= _WORD_VALUES % self._total]
        drawn %= self._total
        ends = HOST.cumsum(self._blocks)
        blocks = HOST.searchsorted(ends, drawn, side="right")
        drawn -= (ends - self._blocks)[blocks]
        inner, which = HOST.unique(blocks, return_inverse=True)
        sums = HOST.cumsum(self._weights[inner], axis=1)
        offsets = HOST.arange(len(inner)) * (int(sums.max(initial=0)) + 1)
        joined = (sums + offsets[:, None]).reshape(-1)
        columns = HOST.searchsorted(joined, drawn + offsets[which], side="right")
        return blocks * _BLOCK + columns - which * _BLOCK, len(words)

    def probability(self, classes: Array) -> Array:
        """The weights of the classes over the total weight, float32."""
        total: Array = dtype_of("float32").type(self._total)
        return self._flat[classes].astype("float32") / total

    def learn(self, classes: Array) -> None:
        """Add 1 to the weight of each of these classes, up to the greatest total."""
        known = classes[: _MAX_TOTAL - self._total]
        HOST.add.at(self._flat, known, 1)
        HOST.add.at(self._blocks, known // _BLOCK, 1)
        self._total += len(known)


class Alias:
    """The distribution of FixedUnigramCandidateSampler, drawn by Walker's alias method.

    A draw picks a slot and a fraction; the fraction chooses between the slot's class and its alias.
    """

    def __init__(self, weights: Array) -> None:
        self.range = len(weights)
        self._weights = weights
        total = dtype_of("float32").type(0)
        for weight in weights:  # one by one: the rounding is TensorFlow's
            total += weight
        self._total: Array = total
        self._kept, self._others = _paired(weights.tolist())

    def classes(self, words: Array) -> tuple[Array, int]:
        """As `Unigrams.classes`, by two words for each class: a fraction and a slot."""
        excess = 0 if self.range & (self.range - 1) == 0 else _WORD_VALUES % self.range
        skipped = HOST.flatnonzero(words[1::2] < excess)
        used = len(words)
        while len(skipped):  # a class's word is drawn again, its fraction is not
            words = HOST.delete(words, 2 * skipped[0] + 1)
            skipped = HOST.flatnonzero(words[1::2] < excess)
        if len(words) & 1:
            used, words = used - 1, words[:-1]
        fractions = (words[0::2] & 0x7FFFFF).astype("float32") * dtype_of("float32").type(2.0**-23)
        drawn = (words[1::2] % HOST.uint32(self.range)).astype("int64")
        return HOST.where(fractions < self._kept[drawn], drawn, self._others[drawn]), used

    def probability(self, classes: Array) -> Array:
        """The weights of the classes over the total weight, float32."""
        return self._weights[classes] / self._total


def _paired(weights: Sequence[float]) -> tuple[Array, Array]:
    """Walker's tables: for each slot the share of its own class, float32, and its alias, int64."""
    count, total = len(weights), sum(weights)
    shares = [weight * count / total for weight in weights]
    others = list(range(count))
    low = [i for i in range(count) if shares[i] < 1]
    high = [i for i in range(count) if not shares[i] < 1]
    while low and high:
        poor, rich = low.pop(), high.pop()
        others[poor] = rich
        shares[rich] -= 1 - shares[poor]
        (low if shares[rich] < 1 else high).append(rich)
    for left in (*low, *high):
        shares[left], others[left] = 1.0, left
    return HOST.asarray(shares, dtype="float32"), HOST.asarray(others, dtype="int64")
