"""Random numbers that a seed determines, public as `random.stateless_*`.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from sessrun.reference.api.ops.array_ops import broadcast_dynamic_shape, pad, reshape, stack
from sessrun.reference.api.ops.array_ops import shape as shape_of
from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.math_ops import add
from sessrun.reference.api.ops.shape_ops import shape_tensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.conversion import constant, convert_to_tensor
from sessrun.reference.build.generated import bitwise_or, broadcast_to, left_shift, maximum
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["Algorithm", "AlgorithmLike", "algorithm_number", "key_inputs", "unknown_algorithm"]


@public("random.Algorithm", "random.experimental.Algorithm")
class Algorithm(enum.Enum):
    """The algorithms that generate random numbers from a key and a counter."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


#: An algorithm of random numbers, its name or its number.
AlgorithmLike: TypeAlias = "str | int | Algorithm | Tensor | None"
_ACCEPTED: Final = (
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
    dtypes.int32,
    dtypes.int64,
    dtypes.uint32,
    dtypes.uint64,
)
#: The key with which a seed is scrambled.
_SCRAMBLING: Final = 163851598941452064


def algorithm_number(alg: object) -> int | Tensor:
    """The number of an algorithm.

    Raises:
      ValueError: the name is unknown.
      TypeError: `alg` is neither a number nor a name.

    """
    if alg is None:
        return Algorithm.AUTO_SELECT.value
    if isinstance(alg, int | Tensor):
        return alg
    if isinstance(alg, Algorithm):
        return alg.value
    if not isinstance(alg, str):
        raise TypeError(f"Can't convert argument `alg` (of value {alg}) to int.")
    plain = alg.strip().lower().replace("-", "").replace("_", "")
    for member in Algorithm:
        if member.name.lower().replace("_", "") == plain:
            return member.value
    raise ValueError(unknown_algorithm(alg))


def unknown_algorithm(alg: object) -> str:
    """The message for an unknown algorithm."""
    return (
        f"Argument `alg` got unsupported value {alg}. Supported values are philox, threefry "
        "and auto_select."
    )


def _joined(pair: Tensor) -> Tensor:
    """A uint64 from two uint32, of which the second is the upper half."""
    lower, upper = (cast(pair[half], dtypes.uint64) for half in (0, 1))
    return bitwise_or(lower, left_shift(upper, constant(np.array(32, np.uint64), "Const")))


def key_inputs(seed: TensorLike, alg: AlgorithmLike) -> dict[str, object]:
    """Key, counter and algorithm of a seed, as inputs of an operation."""
    number = algorithm_number(alg)
    if number == Algorithm.AUTO_SELECT.value:
        state = wrapper("StatelessRandomGetKeyCounter")(seed=seed)
        return {"key": state.key, "counter": state.counter, "alg": number}
    if number == Algorithm.PHILOX.value:
        key = constant(np.array([_SCRAMBLING], np.uint64), "Const")
        mixed = one(
            "StatelessRandomUniformFullIntV2",
            {
                "shape": [4],
                "key": key,
                "counter": cast(seed, dtypes.uint64),
                "alg": number,
            },
            dtype=dtypes.uint32,
        )
        return {
            "key": reshape(_joined(mixed[:2]), [1]),
            "counter": stack([0, _joined(mixed[2:])], axis=0),
            "alg": number,
        }
    if number == Algorithm.THREEFRY.value:
        return {
            "key": reshape(_joined(cast(seed, dtypes.uint32)), [1]),
            "counter": zeros([1], dtypes.uint64),
            "alg": number,
        }
    raise ValueError(unknown_algorithm(alg))


@public("random.stateless_uniform")
def stateless_uniform(
    shape: TensorLike,
    seed: TensorLike,
    minval: TensorLike | None = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: AlgorithmLike = "auto_select",
) -> Tensor:
    """Samples of the uniform distribution on [minval, maxval), equal for equal seeds.

    Args:
      shape: the shape of the result.
      seed: two integers.
      minval: the least number; None, with `maxval`, for the full range of an integer dtype.
      maxval: the upper bound, excluded; by default 1, required for integers.
      dtype: a float dtype, or an integer one of 32 or 64 bits.
      name: the operation's name.
      alg: `philox`, `threefry`, `auto_select` or an `Algorithm`.

    Raises:
      ValueError: the dtype is not supported, or the bounds do not fit it.

    """
    wanted = dtypes.as_dtype(dtype)
    if wanted not in _ACCEPTED:
        raise bad_value(f"Argument `dtype` got invalid value {wanted}. Accepted are {_ACCEPTED}.")
    if wanted.is_integer:
        if (minval is None) != (maxval is None):
            raise bad_value(
                f"For integer `dtype` argument {wanted}, `minval` and `maxval` must be "
                f"both None or not None. Got {minval} and {maxval}."
            )
        if minval is not None and wanted in {dtypes.uint32, dtypes.uint64}:
            raise bad_value(
                f"Argument `dtype` got invalid value {wanted}: unsigned integers have no `minval`."
            )
    elif maxval is None:
        maxval = 1
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        dims = shape_tensor(shape)
        if minval is None:
            inputs = {"shape": dims, **key_inputs(seed, alg)}
            return one("StatelessRandomUniformFullIntV2", inputs, scope, dtype=wanted)
        low = convert_to_tensor(minval, wanted, name="min")
        high = convert_to_tensor(maxval, wanted, name="max")
        inputs = {"shape": dims, **key_inputs(seed, alg)}
        if wanted.is_integer:
            ends = {"minval": low, "maxval": high}
            return one("StatelessRandomUniformIntV2", {**inputs, **ends}, scope)
        drawn = one("StatelessRandomUniformV2", inputs, dtype=wanted)
        return add(drawn * (high - low), low, name=scope)


def _normal(op_type: str, scope_name: str, summary: str) -> Callable[..., Tensor]:
    def draw(
        shape: TensorLike,
        seed: TensorLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
        alg: AlgorithmLike = "auto_select",
    ) -> Tensor:
        with name_scope(name, scope_name, [shape, seed, mean, stddev]) as scope:
            dims = shape_tensor(shape)
            centre = convert_to_tensor(mean, dtype, name="mean")
            width = convert_to_tensor(stddev, dtype, name="stddev")
            drawn = one(op_type, {"shape": dims, **key_inputs(seed, alg)}, dtype=dtype)
            return add(drawn * width, centre, name=scope)

    draw.__doc__ = f"""{summary}

    Args:
      shape: the shape of the result.
      seed: two integers.
      mean: the mean.
      stddev: the standard deviation.
      dtype: a float dtype.
      name: the operation's name.
      alg: `philox`, `threefry`, `auto_select` or an `Algorithm`.

    """
    return draw


stateless_normal = _normal(
    "StatelessRandomNormalV2",
    "stateless_random_normal",
    "Samples of a normal distribution, equal for equal seeds.",
)
stateless_truncated_normal = _normal(
    "StatelessTruncatedNormalV2",
    "stateless_truncated_normal",
    "As `stateless_normal`; samples over two deviations off the mean are drawn again.",
)


@public("random.stateless_gamma")
def stateless_gamma(
    shape: TensorLike,
    seed: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Samples of gamma distributions, equal for equal seeds.

    Args:
      shape: the shape of the result, which ends with that of the parameters.
      seed: two integers.
      alpha: the shape parameters.
      beta: the inverse scale parameters, by default 1.
      dtype: a float dtype.
      name: the name of the scope.

    """
    with name_scope(name, "stateless_random_gamma", [shape, seed, alpha, beta]):
        dims = shape_tensor(shape)
        shapes = convert_to_tensor(alpha, dtype, name="alpha")
        rates = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        full_shape = broadcast_dynamic_shape(shape_of(shapes), shape_of(rates))
        wide = broadcast_to(shapes, full_shape)
        inputs = {"shape": dims, **key_inputs(seed, "auto_select"), "alpha": wide}
        drawn = one("StatelessRandomGammaV3", inputs)
        return maximum(np.finfo(shapes.dtype.as_numpy_dtype).tiny, drawn / rates)


@public("random.stateless_poisson")
def stateless_poisson(
    shape: TensorLike,
    seed: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Samples of Poisson distributions, equal for equal seeds.

    Args:
      shape: the shape of the result, which ends with that of the rates.
      seed: two integers.
      lam: the rates.
      dtype: the dtype of the samples.
      name: the name of the scope.

    """
    with name_scope(name, "stateless_random_poisson", [shape, seed, lam]):
        inputs = {"shape": shape_tensor(shape), "seed": seed, "lam": lam}
        return one("StatelessRandomPoisson", inputs, dtype=dtype)


@public("random.stateless_binomial")
def stateless_binomial(
    shape: TensorLike,
    seed: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    output_dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Samples of binomial distributions, equal for equal seeds.

    Args:
      shape: the shape of the result, which ends with that of the broadcast parameters.
      seed: two integers.
      counts: the numbers of trials.
      probs: the probabilities of success.
      output_dtype: the dtype of the samples.
      name: the operation's scope.

    """
    with name_scope(name, "stateless_random_binomial", [shape, seed, counts, probs]):
        dims = shape_tensor(shape)
        chances = convert_to_tensor(probs, preferred_dtype=dtypes.float32, name="probs")
        trials = convert_to_tensor(counts, preferred_dtype=chances.dtype, name="counts")
        inputs = {"shape": dims, "seed": seed, "counts": trials, "probs": chances}
        return one("StatelessRandomBinomial", inputs, dtype=output_dtype)


@public("random.stateless_parameterized_truncated_normal")
def stateless_parameterized_truncated_normal(
    shape: TensorLike,
    seed: TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    name: str | None = None,
) -> Tensor:
    """Samples of truncated normal distributions, equal for equal seeds.

    Args:
      shape: the shape of the result, which ends with that of the broadcast parameters.
      seed: two integers.
      means: the means.
      stddevs: the standard deviations.
      minvals: the least numbers.
      maxvals: the greatest numbers.
      name: the operation's scope.

    """
    parameters = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    scope_name = "stateless_parameterized_truncated_normal"
    with name_scope(name, scope_name, [shape, *parameters.values()]):
        inputs = {"shape": shape_tensor(shape)}
        given = {key: convert_to_tensor(value, name=key) for key, value in parameters.items()}
        return one("StatelessParameterizedTruncatedNormal", {**inputs, "seed": seed, **given})


def _classes(
    logits: TensorLike, num_samples: TensorLike, dtype: DTypeLike, seed: TensorLike
) -> Tensor:
    rows = convert_to_tensor(logits, name="logits")
    wanted = dtypes.as_dtype(dtype) if dtype else dtypes.int64
    if wanted not in {dtypes.int32, dtypes.int64}:
        raise bad_value(f"Argument `dtype` got invalid value {wanted}. It is int32 or int64.")
    inputs = {"logits": rows, "num_samples": num_samples, "seed": seed}
    return one("StatelessMultinomial", inputs, output_dtype=wanted)


@public("random.stateless_multinomial")
def stateless_multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Samples of classes by unnormalized log probabilities, equal for equal seeds.

    Raises:
      ValueError: the dtype is neither int32 nor int64.

    """
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _classes(logits, num_samples, output_dtype, seed)


@public("random.stateless_categorical")
def stateless_categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """As `stateless_multinomial`, under its newer name."""
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return _classes(logits, num_samples, dtype, seed)


@public("random.experimental.stateless_split", "random.split")
def split(seed: TensorLike, num: TensorLike = 2, alg: AlgorithmLike = "auto_select") -> Tensor:
    """Derive `num` seeds, [num, 2], from one seed."""
    pair = convert_to_tensor(seed)
    return stateless_uniform([num, 2], pair, None, None, pair.dtype, alg=alg)


@public("random.experimental.stateless_fold_in", "random.fold_in")
def fold_in(seed: TensorLike, data: TensorLike, alg: AlgorithmLike = "auto_select") -> Tensor:
    """Derive a seed from a seed and a number."""
    number = convert_to_tensor(data)
    first = stateless_uniform([], seed, None, None, number.dtype, alg=alg)
    return stack([first, number])


public("random.stateless_normal")(stateless_normal)
public("random.stateless_truncated_normal")(stateless_truncated_normal)


#: The first of three seeds, if two are given.
_FIRST_SEED: Final = 498247692


@public("random.experimental.index_shuffle")
def index_shuffle(index: TensorLike, seed: TensorLike, max_index: TensorLike) -> Tensor:
    """The position of an index in a random permutation of 0 to `max_index`.

    Args:
      index: an integer from 0 to `max_index`, or a vector of them.
      seed: two integers.
      max_index: the largest index, or a vector of them.

    """
    seeds = convert_to_tensor(seed)
    rest = 0 if seeds.shape.rank is None else seeds.shape.rank - 1
    three = pad(seeds, [[1, 0]] + rest * [[0, 0]], constant_values=_FIRST_SEED)
    shuffled: Tensor = wrapper("RandomIndexShuffle")(
        index=index, seed=three, max_index=max_index, rounds=4
    )
    return shuffled


@public("random.experimental.stateless_shuffle")
def stateless_shuffle(
    value: TensorLike, seed: TensorLike, alg: AlgorithmLike = "auto_select", name: str | None = None
) -> Tensor:
    """The rows in random order, equal for equal seeds.

    Args:
      value: a tensor of rank 1 or more.
      seed: two integers.
      alg: `philox`, `auto_select` or an `Algorithm`.
      name: the name of the scope.

    """
    with name_scope(name, "stateless_shuffle", [value, seed]):
        return one("StatelessShuffle", {"value": value, **key_inputs(seed, alg)})
