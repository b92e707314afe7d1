"""Kernels that sample classes: TensorFlow's numbers, word by word of their node's stream.

A sampler draws a sequence of classes, each from one or two words of the stream. A word that
would favour low numbers (one beyond the last full multiple of the range) is skipped.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.attributes import Attrs
from sessrun.reference.base.kernel_errors import Internal, InvalidArgument, NotFound
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.philox import Stream, interleaved, stream_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel

__all__ = ["Alias", "Unigrams", "read_weights"]

_CPU: Final = ("CPU",)
#: The number of counters of its stream that a run reserves for a sample.
_RESERVED: Final = 512
#: The number of words computed at once: the first and the greatest; it grows with each attempt.
_LEAST_WORDS: Final = 64
_MOST_WORDS: Final = 1 << 16
_MOST_TRIES: Final = 2**31 - 1
_SINGLE: Final = dtype_of("float32")
_LOWEST: Final = -3.4028234663852886e38


class Sampler(Protocol):
    """A distribution over the classes [0, range): draws them from random words."""

    range: int

    def classes(self, words: Array) -> tuple[Array, int]:
        """The classes (int64) of uint32 words, an even number, and how many words they took."""
        ...

    def probability(self, classes: Array) -> Array:
        """The probabilities of these classes, float32."""
        ...


class Uniform:
    """Each class as probable as any other."""

    def __init__(self, count: int) -> None:
        self.range = count

    def classes(self, words: Array) -> tuple[Array, int]:
        """Two words give one class; those that would favour low classes are skipped."""
        low, high = words[0::2].astype("uint64"), words[1::2].astype("uint64")
        drawn = high << 32 | low
        if self.range & (self.range - 1):
            drawn = drawn[drawn >= 2**64 % self.range]
        return (drawn % HOST.uint64(self.range)).astype("int64"), len(words)

    def probability(self, classes: Array) -> Array:
        """1 / range for every class."""
        return HOST.full(classes.shape, 1 / self.range, dtype=_SINGLE)


class LogUniform:
    """Zipf's law: class c between the logarithms of c + 1 and c + 2."""

    def __init__(self, count: int) -> None:
        self.range = count
        self._logarithm = HOST.log1p(float(count))

    def classes(self, words: Array) -> tuple[Array, int]:
        """Two words give one class: 52 bits of them are a fraction of the range's logarithm."""
        first, second = words[0::2].astype("uint64"), words[1::2].astype("uint64")
        bits = ((first & 0xFFFFF) << 32 | second).view("int64")
        drawn = HOST.exp(bits * 2.0**-52 * self._logarithm).astype("int64") - 1
        return drawn % self.range, len(words)

    def probability(self, classes: Array) -> Array:
        """log((c + 2) / (c + 1)) / log(range + 1)."""
        return (HOST.log((classes + 2.0) / (classes + 1.0)) / self._logarithm).astype(_SINGLE)


def _word_stream(stream: Stream, first: int, least: int) -> Iterator[Array]:
    """The words of a stream from a counter on, as uint32 vectors that grow."""
    count = max(_LEAST_WORDS, least)
    while True:
        groups = -(-count // 4)
        words = HOST.empty((groups, 4), dtype="uint32")
        for block, even, odd in stream.groups(first, groups):
            interleaved(words[block], even, odd)
        yield words.reshape(-1)
        first += groups
        count = min(2 * count, _MOST_WORDS)


def _drawn(sampler: Sampler, words: Iterator[Array]) -> Iterator[Array]:
    """The classes that the words stand for, vector by vector."""
    rest = HOST.empty(0, dtype="uint32")
    for more in words:
        joined = HOST.concatenate([rest, more])
        classes, used = sampler.classes(joined[: len(joined) & ~1])
        rest = joined[used:]
        yield classes


def _sampled(drawn: Iterator[Array], count: int, *, unique: bool) -> tuple[Array, int]:
    """The first classes, or the first distinct ones, and how many it took."""
    if not unique:
        parts: list[Array] = []
        while sum(map(len, parts)) < count:
            parts.append(next(drawn))
        return HOST.concatenate(parts)[:count], count
    distinct, tries = HOST.empty(0, dtype="int64"), 0
    for more in drawn:
        _, firsts = HOST.unique(HOST.concatenate([distinct, more]), return_index=True)
        firsts_of_new = HOST.sort(firsts)[len(distinct) :] - len(distinct)
        missing = count - len(distinct)
        if len(firsts_of_new) >= missing:
            chosen = firsts_of_new[:missing]
            return HOST.concatenate([distinct, more[chosen]]), tries + int(chosen[-1]) + 1
        distinct, tries = HOST.concatenate([distinct, more[firsts_of_new]]), tries + len(more)
        if tries >= _MOST_TRIES:
            break
    raise Internal(f"There are no {count} distinct classes to draw")


def _expected(probability: Array, count: int, tries: int) -> Array:
    """The expected counts of classes with these probabilities in a number of samples, float32."""
    if tries == count:
        return HOST.multiply(probability, _SINGLE.type(count))
    return -HOST.expm1(_SINGLE.type(tries) * HOST.log1p(-probability))


def _check(true_classes: Array, columns: int, count: int) -> None:
    require_rank(2, true_classes=true_classes)
    if true_classes.shape[1] != columns:
        raise InvalidArgument(
            "true_classes must have num_true columns, expected: "
            f"{true_classes.shape[1]} was: {columns}"
        )
    outside = (true_classes < 0) | (true_classes >= count)
    if outside.any():
        raise InvalidArgument(
            f"`true_candidate` out of range [0, {count}), received {true_classes[outside][0]}"
        )


def _computing(bind: Bind, sampler: Sampler) -> KernelFunction:
    """The kernel that draws from a sampler."""
    attrs, stream = bind.attrs, stream_of(bind, HOST)
    count, unique = attrs["num_sampled"], attrs["unique"]

    def compute(true_classes: Array) -> tuple[Array, ...]:
        if unique and count > sampler.range:
            raise InvalidArgument("Sampler's range is too small.")
        _check(true_classes, attrs["num_true"], sampler.range)
        words = _word_stream(stream, stream.reserve(count * _RESERVED), 2 * count)
        candidates, tries = _sampled(_drawn(sampler, words), count, unique=unique)
        return candidates, *(
            _expected(sampler.probability(classes), count, tries)
            for classes in (true_classes, candidates)
        )

    return compute


@binder("UniformCandidateSampler", devices=_CPU)
def uniform_candidate_sampler(bind: Bind) -> KernelFunction:
    """Classes drawn evenly."""
    return _computing(bind, Uniform(bind.attrs["range_max"]))


@binder("LogUniformCandidateSampler", devices=_CPU)
def log_uniform_candidate_sampler(bind: Bind) -> KernelFunction:
    """Classes drawn by Zipf's law."""
    return _computing(bind, LogUniform(bind.attrs["range_max"]))


@binder("LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler", devices=_CPU)
def learned_unigram_candidate_sampler(bind: Bind) -> KernelFunction:
    """Classes drawn in proportion to how often they were true, counted per node and session."""
    count = bind.attrs["range_max"]
    if count >= _MOST_TRIES:
        return _too_many
    sampler = bind.resources.get_or_create(
        "learned unigrams", bind.node.name, Unigrams, lambda: Unigrams(count)
    )
    draw = _computing(bind, sampler)

    def compute(true_classes: Array) -> object:
        with sampler.lock:
            result = draw(true_classes)
            sampler.learn(true_classes.reshape(-1))
        return result

    return compute


def _too_many(_: object) -> Array:
    raise InvalidArgument(f"range_max must be less than {_MOST_TRIES} for unigram samplers")


@binder("FixedUnigramCandidateSampler", devices=_CPU)
def fixed_unigram_candidate_sampler(bind: Bind) -> KernelFunction:
    """Classes drawn by weights, those of an attribute or of a file."""
    drawing: list[KernelFunction] = []

    def compute(true_classes: Array) -> object:
        if not drawing:  # not while it is bound: a wrong file is an error of the run
            drawing.append(_computing(bind, Alias(_own_weights(bind.attrs))))
        return drawing[0](true_classes)

    return compute


def _own_weights(attrs: Attrs) -> Array:
    """The weights of a shard's classes, float32; reserved classes have weight 0.

    Raises:
      KernelError: the weights cannot be read, are given twice or not, or their count is wrong.

    """
    file, given = attribute_text(attrs["vocab_file"]), list(attrs["unigrams"])
    if bool(file) == bool(given):
        raise InvalidArgument("Provide one of vocab_file and unigrams")
    if file:
        given = read_weights(file)
    shards, shard = attrs["num_shards"], attrs["shard"]
    reserved = len(range(shard, attrs["num_reserved_ids"], shards))
    given = [weight for i, weight in enumerate(given, reserved) if i % shards == shard]
    owned = HOST.asarray([0.0] * reserved + given, dtype=_SINGLE)
    owned[reserved:] **= _SINGLE.type(attrs["distortion"])
    if len(owned) != attrs["range_max"]:
        raise InvalidArgument(
            f"FixedUnigramCandidateSampler: range_max is {attrs['range_max']}, "
            f"but there are {len(owned)} weights"
        )
    return owned


@kernel("AllCandidateSampler", devices=_CPU)
def all_candidate_sampler(
    _: ArrayModule, true_classes: Array, *, num_sampled: int, num_true: int
) -> tuple[Array, Array, Array]:
    """All classes in order; the expected counts are 1."""
    _check(true_classes, num_true, num_sampled)
    ones = HOST.ones(true_classes.shape, dtype=_SINGLE), HOST.ones(num_sampled, dtype=_SINGLE)
    return HOST.arange(num_sampled, dtype="int64"), *ones


@kernel("ComputeAccidentalHits", devices=_CPU)
def compute_accidental_hits(
    xp: ArrayModule, true_classes: Array, sampled: Array, *, num_true: int
) -> tuple[Array, Array, Array]:
    """Rows of true classes that were sampled, their last positions there, and lowest floats."""
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise InvalidArgument("true_candidates must be a batch_size * num_true matrix")
    require_rank(1, sampled_candidates=sampled)
    order = xp.argsort(sampled, kind="stable")
    positions = xp.searchsorted(sampled[order], true_classes.reshape(-1), side="right") - 1
    last = order[positions] if len(order) else xp.zeros_like(positions)
    hits = (
        (positions >= 0) & (xp.take(sampled, last) == true_classes.reshape(-1))
        if len(order)
        else (xp.zeros(true_classes.size, dtype="bool"))
    )
    matches = xp.flatnonzero(hits)
    rows = (matches // max(num_true, 1)).astype("int32")
    return rows, last[matches].astype("int64"), xp.full(len(matches), _LOWEST, dtype=_SINGLE)


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
