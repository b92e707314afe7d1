"""Random numbers: uniform, normal and categorical samples, and shuffles.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.shape_ops import shape_tensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.random_seed import get_seed
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["random_normal", "random_uniform", "seed_attributes", "truncated_normal"]


def seed_attributes(seed: int | None) -> AttrValues:
    """The attributes `seed` and `seed2` of an operation; 0 if there is no seed."""
    first, second = get_seed(seed)
    return {
        "seed": 0 if first is None else first,
        "seed2": 0 if second is None else second,
    }


@public("random.uniform", "random_uniform")
def random_uniform(
    shape: TensorLike | ShapeLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Samples of the uniform distribution on [minval, maxval).

    Args:
      shape: the shape of the result.
      minval: the least number.
      maxval: the upper bound, excluded; by default 1, required for integers.
      dtype: a float dtype, int32 or int64.
      seed: the operation's seed.
      name: the operation's name.

    Raises:
      ValueError: the dtype is invalid, or an integer dtype has no `maxval`.

    """
    wanted = dtypes.as_dtype(dtype)
    if not wanted.is_floating and wanted not in {dtypes.int32, dtypes.int64}:
        raise bad_value(f"Argument `dtype` got invalid value {wanted}.")
    if maxval is None:
        if wanted.is_integer:
            raise bad_value("Must specify maxval for integer dtype")
        maxval = 1
    is_from_zero = isinstance(minval, int) and minval == 0
    plain = is_from_zero and isinstance(maxval, int) and maxval == 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        dims = shape_tensor(shape)
        if wanted.is_integer or not plain:
            low = convert_to_tensor(minval, wanted, name="min")
            high = convert_to_tensor(maxval, wanted, name="max")
        seeds = seed_attributes(seed)
        if wanted.is_integer:
            inputs = {"shape": dims, "minval": low, "maxval": high}
            return one("RandomUniformInt", inputs, scope, **seeds)
        drawn = one("RandomUniform", {"shape": dims}, dtype=wanted, **seeds)
        if plain:
            return drawn
        if is_from_zero:
            return one("Mul", {"x": drawn, "y": high})
        return one("AddV2", {"x": drawn * (high - low), "y": low}, scope)


def _normal(
    op_type: str,
    scope_name: str,
    shape: TensorLike | ShapeLike,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DTypeLike,
    seed: int | None,
    name: str | None,
) -> Tensor:
    with name_scope(name, scope_name, [shape, mean, stddev]) as scope:
        dims = shape_tensor(shape)
        centre = convert_to_tensor(mean, dtype, name="mean")
        width = convert_to_tensor(stddev, dtype, name="stddev")
        drawn = one(op_type, {"shape": dims}, dtype=dtype, **seed_attributes(seed))
        return one("AddV2", {"x": drawn * width, "y": centre}, scope)


@public("random.normal", "random_normal")
def random_normal(
    shape: TensorLike | ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Samples of a normal distribution.

    Args:
      shape: the shape of the result.
      mean: the mean.
      stddev: the standard deviation.
      dtype: a float dtype.
      seed: the operation's seed.
      name: the operation's name.

    """
    return _normal("RandomStandardNormal", "random_normal", shape, mean, stddev, dtype, seed, name)


@public("random.truncated_normal", "truncated_normal")
def truncated_normal(
    shape: TensorLike | ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """As `random_normal`; samples more than two deviations off the mean are drawn again."""
    return _normal("TruncatedNormal", "truncated_normal", shape, mean, stddev, dtype, seed, name)


@public("random.shuffle", "random_shuffle")
def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows in random order."""
    return one("RandomShuffle", {"value": value}, name, **seed_attributes(seed))


@public("multinomial", "random.multinomial")
def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor:
    """Samples of classes by unnormalized log probabilities.

    Args:
      logits: [batch, classes].
      num_samples: a scalar.
      seed: the operation's seed.
      name: the name of the scope.
      output_dtype: int64 (the default) or int32.

    """
    with name_scope(name, "multinomial", [logits]):
        return _classes(logits, num_samples, output_dtype, seed)


@public("random.categorical")
def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """As `multinomial`, under its newer name; `dtype` is that of the classes."""
    with name_scope(name, "categorical", [logits]):
        return _classes(logits, num_samples, dtype, seed)


def _classes(
    logits: TensorLike, num_samples: TensorLike, dtype: DTypeLike | None, seed: int | None
) -> Tensor:
    rows = convert_to_tensor(logits, name="logits")
    wanted = dtypes.int64 if dtype is None else dtype
    inputs = {"logits": rows, "num_samples": num_samples}
    return one("Multinomial", inputs, output_dtype=wanted, **seed_attributes(seed))
