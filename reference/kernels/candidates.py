"""Kernels that sample classes: TensorFlow's numbers, word by word of their node's stream.

What a sampler draws is a sequence of classes, each of a word or two of the stream. A word that
would favour low numbers (one of the few that a whole multiple of the range leaves over) is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.class_weights import Alias, Unigrams, read_weights
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.philox import Stream, interleaved, stream_of
from sessrun.reference.kernels.registry import Bind, binder, kernel

__all__: list[str] = []

_CPU: Final = ("CPU",)
#: Counters that a run takes of its stream for each sample.
_RESERVED: Final = 512
#: Words that are computed at once: of many tries for few samples not all in the beginning.
_LEAST_WORDS: Final = 64
_MOST_WORDS: Final = 1 << 16
_MOST_TRIES: Final = 2**31 - 1
_SINGLE: Final = dtype_of("float32")
_LOWEST: Final = -3.4028234663852886e38


class Sampler(Protocol):
    """What classes there are, which ones words stand for, and how probable each is."""

    range: int

    def classes(self, words: Any) -> tuple[Any, int]:
        """The classes (int64) of uint32 words, an even number, and how many words they took."""
        ...

    def probability(self, classes: Any) -> Any:
        """The probability of each of these classes, float32."""
        ...


class Uniform:
    """Each class as probable as any other."""

    def __init__(self, count: int) -> None:
        self.range = count

    def classes(self, words: Any) -> tuple[Any, int]:
        """Two words each."""
        low, high = words[0::2].astype("uint64"), words[1::2].astype("uint64")
        drawn = high << 32 | low
        if self.range & (self.range - 1):
            drawn = drawn[drawn >= 2**64 % self.range]
        return (drawn % HOST.uint64(self.range)).astype("int64"), len(words)

    def probability(self, classes: Any) -> Any:
        """One part of the range."""
        return HOST.full(classes.shape, 1 / self.range, dtype=_SINGLE)


class LogUniform:
    """Zipf's law: class c between the logarithms of c + 1 and c + 2."""

    def __init__(self, count: int) -> None:
        self.range = count
        self._logarithm = HOST.log1p(float(count))

    def classes(self, words: Any) -> tuple[Any, int]:
        """Two words each: 52 bits of a fraction of the range's logarithm."""
        first, second = words[0::2].astype("uint64"), words[1::2].astype("uint64")
        whole = ((first & 0xFFFFF) << 32 | second).view("int64")
        drawn = HOST.exp(whole * 2.0**-52 * self._logarithm).astype("int64") - 1
        return drawn % self.range, len(words)

    def probability(self, classes: Any) -> Any:
        """The distance of the two logarithms in that of the range."""
        return (HOST.log((classes + 2.0) / (classes + 1.0)) / self._logarithm).astype(_SINGLE)


def _word_stream(stream: Stream, first: int, least: int) -> Iterator[Any]:
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


def _drawn(sampler: Sampler, words: Iterator[Any]) -> Iterator[Any]:
    """The classes that the words stand for, vector by vector."""
    rest = HOST.empty(0, dtype="uint32")
    for more in words:
        joined = HOST.concatenate([rest, more])
        classes, used = sampler.classes(joined[: len(joined) & ~1])
        rest = joined[used:]
        yield classes


def _sampled(drawn: Iterator[Any], count: int, *, unique: bool) -> tuple[Any, int]:
    """The first classes, or the first distinct ones, and how many it took."""
    if not unique:
        parts: list[Any] = []
        while sum(map(len, parts)) < count:
            parts.append(next(drawn))
        return HOST.concatenate(parts)[:count], count
    found, tries = HOST.empty(0, dtype="int64"), 0
    for more in drawn:
        _, firsts = HOST.unique(HOST.concatenate([found, more]), return_index=True)
        places = HOST.sort(firsts)[len(found) :] - len(found)
        missing = count - len(found)
        if len(places) >= missing:
            chosen = places[:missing]
            return HOST.concatenate([found, more[chosen]]), tries + int(chosen[-1]) + 1
        found, tries = HOST.concatenate([found, more[places]]), tries + len(more)
        if tries >= _MOST_TRIES:
            break
    raise Internal(f"There are no {count} distinct classes to draw")


def _expected(probability: Any, count: int, tries: int) -> Any:
    """How often classes of these probabilities are expected in so many samples, float32."""
    if tries == count:
        return probability * _SINGLE.type(count)
    return -HOST.expm1(_SINGLE.type(tries) * HOST.log1p(-probability))


def _check(true_classes: Any, columns: int, count: int) -> None:
    if true_classes.ndim != 2:
        raise InvalidArgument("true_classes must be a matrix")
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


def _computing(bind: Bind, sampler: Sampler) -> Callable[..., Any]:
    """The kernel of a sampler."""
    attrs, stream = bind.attrs, stream_of(bind, HOST)
    count, unique = attrs["num_sampled"], attrs["unique"]

    def compute(true_classes: Any) -> Any:
        if unique and count > sampler.range:
            raise InvalidArgument("Sampler's range is too small.")
        _check(true_classes, attrs["num_true"], sampler.range)
        words = _word_stream(stream, stream.reserve(count * _RESERVED), 2 * count)
        found, tries = _sampled(_drawn(sampler, words), count, unique=unique)
        return found, *(
            _expected(sampler.probability(classes), count, tries)
            for classes in (true_classes, found)
        )

    return compute


@binder("UniformCandidateSampler", devices=_CPU)
def uniform_candidate_sampler(bind: Bind) -> Callable[..., Any]:
    """Classes drawn evenly."""
    return _computing(bind, Uniform(bind.attrs["range_max"]))


@binder("LogUniformCandidateSampler", devices=_CPU)
def log_uniform_candidate_sampler(bind: Bind) -> Callable[..., Any]:
    """Classes drawn by Zipf's law."""
    return _computing(bind, LogUniform(bind.attrs["range_max"]))


@binder("LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler", devices=_CPU)
def learned_unigram_candidate_sampler(bind: Bind) -> Callable[..., Any]:
    """Classes drawn by how often they were true; the session keeps the counts of each node."""
    count = bind.attrs["range_max"]
    if count >= _MOST_TRIES:
        return _too_many
    sampler = bind.resources.get_or_create(
        "learned unigrams", bind.node.name, Unigrams, lambda: Unigrams(count)
    )
    draw = _computing(bind, sampler)

    def compute(true_classes: Any) -> Any:
        with sampler.lock:
            result = draw(true_classes)
            sampler.learn(true_classes.reshape(-1))
        return result

    return compute


def _too_many(_: Any) -> Any:
    raise InvalidArgument(f"range_max must be less than {_MOST_TRIES} for unigram samplers")


@binder("FixedUnigramCandidateSampler", devices=_CPU)
def fixed_unigram_candidate_sampler(bind: Bind) -> Callable[..., Any]:
    """Classes drawn by weights, those of an attribute or of a file."""
    drawing: list[Callable[..., Any]] = []

    def compute(true_classes: Any) -> Any:
        if not drawing:  # not while it is bound: a wrong file is an error of the run
            drawing.append(_computing(bind, Alias(_own_weights(bind.attrs))))
        return drawing[0](true_classes)

    return compute


def _own_weights(attrs: Mapping[str, Any]) -> Any:
    """The weights of a shard's classes, 0 of reserved ones, float32.

    Raises:
      KernelError: they cannot be read, are given twice or not at all, or their count is wrong.

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
            f"range is {attrs['range_max']} must be equal to weights size  {len(owned)}"
        )
    return owned


@binder("AllCandidateSampler", devices=_CPU)
def all_candidate_sampler(bind: Bind) -> Callable[..., Any]:
    """Every class in order, each expected once."""
    count = bind.attrs["num_sampled"]

    def compute(true_classes: Any) -> Any:
        _check(true_classes, bind.attrs["num_true"], count)
        ones = HOST.ones(true_classes.shape, dtype=_SINGLE), HOST.ones(count, dtype=_SINGLE)
        return HOST.arange(count, dtype="int64"), *ones

    return compute


@kernel("ComputeAccidentalHits", devices=_CPU)
def compute_accidental_hits(xp: Any, true_classes: Any, sampled: Any, *, num_true: int) -> Any:
    """For each true class that was sampled its row, where it was last, and the least float."""
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise InvalidArgument("true_candidates must be a batch_size * num_true matrix")
    if sampled.ndim != 1:
        raise InvalidArgument(
            "sampled_candidates must be a vector, which is typically an "
            "output from CandidateSampler"
        )
    order = xp.argsort(sampled, kind="stable")
    places = xp.searchsorted(sampled[order], true_classes.reshape(-1), side="right") - 1
    last = order[places] if len(order) else xp.zeros_like(places)
    hits = (
        (places >= 0) & (xp.take(sampled, last) == true_classes.reshape(-1))
        if len(order)
        else (xp.zeros(true_classes.size, dtype="bool"))
    )
    found = xp.flatnonzero(hits)
    rows = (found // max(num_true, 1)).astype("int32")
    return rows, last[found].astype("int64"), xp.full(len(found), _LOWEST, dtype=_SINGLE)
