"""Functions that sample classes, public as `nn.*` and `random.*`: their seeds.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.api.ops.random_ops import seed_attributes
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.public import public

__all__: list[str] = []

#: What a learned sampler can count.
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
      num_true: how many true classes a row has.
      num_sampled: how many classes are sampled.
      unique: whether they are distinct.
      range_max: how many classes there are.
      seed: the operation's seed.
      name: the operation's name.

    Returns:
      The samples, int64 [num_sampled], and how often the true classes, [batch, num_true], and
      the samples are expected among them, float32.

    """
    return sample


uniform_candidate_sampler = _sampler("UniformCandidateSampler", "Classes drawn evenly.")
log_uniform_candidate_sampler = _sampler(
    "LogUniformCandidateSampler", "Classes drawn by Zipf's law, low ones oftener."
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
    """Classes drawn by how often they were true, the arguments being those of the others.

    Raises:
      ValueError: there are more classes than can be counted.

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
    unigrams: Any = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Classes drawn by given weights.

    Args:
      true_classes: int64, shape [batch, num_true].
      num_true: how many true classes a row has.
      num_sampled: how many classes are sampled.
      unique: whether they are distinct.
      range_max: how many classes there are.
      vocab_file: a file with a weight behind the last comma of each line.
      distortion: the power to which the weights are raised.
      num_reserved_ids: how many classes before the weighed ones are never drawn.
      num_shards: among how many samplers the classes are divided.
      shard: which of them this one is.
      unigrams: the weights, where there is no file.
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
    """All of `num_sampled` classes, each expected once."""
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
    """The true classes that were sampled: their rows, places among the samples, and weights.

    Args:
      true_classes: int64, shape [batch, num_true].
      sampled_candidates: int64, a vector.
      num_true: how many true classes a row has.
      seed: the operation's seed, which nothing depends on.
      name: the operation's name.

    Returns:
      int32, int64 and float32 vectors, the weights the least float.

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
