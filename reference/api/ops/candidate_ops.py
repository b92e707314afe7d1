"""Candidate samplers, public as `nn.*` and `random.*`.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.api.ops.random_ops import seed_attributes
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.public import public

#: The largest `range_max` of a learned sampler.
_MOST: Final = 2**31 - 1


def _sampler(op_type: str, summary: str) -> Callable[..., Any]:
    def sample(
        true_classes: TensorLike,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int | None = None,
        name: str | None = None,
    ) -> Any:
        return wrapper(op_type)(
            true_classes=true_classes,
            num_true=num_true,
            num_sampled=num_sampled,
            unique=unique,
            range_max=range_max,
            **seed_attributes(seed),
            name=name,
        )

    sample.__doc__ = f"""{summary}

    Args:
      true_classes: int64, shape [batch, num_true].
      num_true: the number of true classes of a row.
      num_sampled: the number of classes to sample.
      unique: whether the sampled classes are distinct.
      range_max: the number of classes.
      seed: the operation's seed.
      name: the operation's name.

    Returns:
      The samples, int64 [num_sampled], and float32 expected counts of the true classes,
      [batch, num_true], and of the samples, [num_sampled].

    """
    return sample


uniform_candidate_sampler = _sampler("UniformCandidateSampler", "Sample classes uniformly.")
log_uniform_candidate_sampler = _sampler(
    "LogUniformCandidateSampler", "Sample classes by a log-uniform (Zipf) distribution."
)


@public("nn.learned_unigram_candidate_sampler", "random.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Sample classes by the frequencies of past true classes; arguments as for other samplers.

    Raises:
      ValueError: `range_max` is too large.

    """
    attrs = seed_attributes(seed)
    if range_max > _MOST:
        raise ValueError(f"Value of range_max:{range_max} is too large to handle")
    return wrapper("LearnedUnigramCandidateSampler")(
        true_classes=true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **attrs,
        name=name,
    )


@public("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Sample classes with given weights.

    Args:
      true_classes: int64, shape [batch, num_true].
      num_true: the number of true classes of a row.
      num_sampled: the number of classes to sample.
      unique: whether the sampled classes are distinct.
      range_max: the number of classes.
      vocab_file: a file with a class in each line, whose weight follows the last comma.
      distortion: the power to which the weights are raised.
      num_reserved_ids: the number of classes before those with weights; they are never sampled.
      num_shards: the number of samplers among which the classes are divided.
      shard: the index of this sampler among them.
      unigrams: the weights, if there is no file.
      seed: the operation's seed.
      name: the operation's name.

    """
    return wrapper("FixedUnigramCandidateSampler")(
        true_classes=true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=unigrams,
        **seed_attributes(seed),
        name=name,
    )


@public("nn.all_candidate_sampler", "random.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """All classes below `num_sampled`, with expected counts of 1."""
    return wrapper("AllCandidateSampler")(
        true_classes=true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        **seed_attributes(seed),
        name=name,
    )


@public("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """The true classes that were sampled: their rows, indices among the samples, and weights.

    Args:
      true_classes: int64, shape [batch, num_true].
      sampled_candidates: int64, a vector.
      num_true: the number of true classes of a row.
      seed: an attribute of the operation; it changes no result.
      name: the operation's name.

    Returns:
      int32, int64 and float32 vectors; the weights are the least float.

    """
    return wrapper("ComputeAccidentalHits")(
        true_classes=true_classes,
        sampled_candidates=sampled_candidates,
        num_true=num_true,
        **seed_attributes(seed),
        name=name,
    )


public("nn.log_uniform_candidate_sampler", "random.log_uniform_candidate_sampler")(
    log_uniform_candidate_sampler
)
public("nn.uniform_candidate_sampler", "random.uniform_candidate_sampler")(
    uniform_candidate_sampler
)
