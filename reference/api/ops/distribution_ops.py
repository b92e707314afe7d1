"""Random numbers of gamma, Poisson and truncated normal distributions, and random crops.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from sessrun.reference.api.control_flow.asserting import assert_
from sessrun.reference.api.ops.array_ops import broadcast_dynamic_shape, slice_
from sessrun.reference.api.ops.array_ops import shape as shape_of
from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.random_ops import random_uniform, seed_attributes
from sessrun.reference.api.ops.reduce_ops import reduce_all
from sessrun.reference.api.ops.shape_ops import shape_tensor
from sessrun.reference.api.ops.stateless_ops import stateless_uniform
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import gated
from sessrun.reference.build.generated import broadcast_to, maximum
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "parameterized_truncated_normal",
    "random_poisson_v2",
    "stateless_random_crop",
]


@public("random.gamma", "random_gamma")
def random_gamma(
    shape: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Samples of gamma distributions.

    Args:
      shape: the shape of the samples of each distribution; the parameters' shape is appended.
      alpha: the shape parameters.
      beta: the inverse scale parameters, by default 1.
      dtype: a float dtype.
      seed: the operation's seed.
      name: the name of the scope.

    """
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        dims = convert_to_tensor(shape, dtypes.int32, name="shape")
        shapes = convert_to_tensor(alpha, dtype, name="alpha")
        rates = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        full_shape = broadcast_dynamic_shape(shape_of(shapes), shape_of(rates))
        wide = broadcast_to(shapes, full_shape)
        drawn = one("RandomGamma", {"shape": dims, "alpha": wide}, **seed_attributes(seed))
        least = np.finfo(shapes.dtype.as_numpy_dtype).tiny
        return maximum(least, drawn / rates)


@public("random.poisson", "random_poisson")
def random_poisson(
    lam: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Samples of Poisson distributions.

    Args:
      lam: the rates.
      shape: the shape of the samples of each distribution; the rates' shape is appended.
      dtype: the dtype of the samples.
      seed: the operation's seed.
      name: the name of the scope.

    """
    with name_scope(name, "random_poisson", [lam, shape]):
        dims = convert_to_tensor(shape, dtypes.int32, name="shape")
        inputs = {"shape": dims, "rate": lam}
        return one("RandomPoissonV2", inputs, dtype=dtype, **seed_attributes(seed))


def random_poisson_v2(
    shape: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`random_poisson` with the shape first."""
    return random_poisson(lam, shape, dtype, seed, name)


def parameterized_truncated_normal(
    shape: TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Samples of truncated normal distributions.

    Args:
      shape: the shape of the result.
      means: the mean, or one for each row of the first dimension, as for the other parameters.
      stddevs: the standard deviation.
      minvals: the least number.
      maxvals: the greatest number.
      dtype: a float dtype.
      seed: the operation's seed.
      name: the name of the scope.

    """
    given = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    with name_scope(name, "parameterized_truncated_normal", [shape, *given.values()]):
        inputs = {"shape": shape_tensor(shape)}
        for key, value in given.items():
            inputs[key] = convert_to_tensor(value, dtype, name=key)
        inputs["stdevs"] = inputs.pop("stddevs")
        return one("ParameterizedTruncatedNormal", inputs, **seed_attributes(seed))


@public("image.random_crop", "random_crop")
def random_crop(
    value: TensorLike, size: TensorLike, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Crop a tensor to a size, at a random offset.

    Args:
      value: a tensor.
      size: the size of each dimension, at most that of the tensor.
      seed: the operation's seed.
      name: the name of the scope.

    """
    return _box(value, size, partial(random_uniform, seed=seed), name)


def stateless_random_crop(
    value: TensorLike, size: TensorLike, seed: TensorLike, name: str | None = None
) -> Tensor:
    """As `random_crop`; a seed of two integers determines the offset."""
    return _box(value, size, partial(stateless_uniform, seed=seed), name)


def _box(
    value: TensorLike, size: TensorLike, draw: Callable[..., Tensor], name: str | None
) -> Tensor:
    with name_scope(name, "random_crop", [value, size]) as scope:
        tensor = convert_to_tensor(value, name="value")
        extent = convert_to_tensor(size, dtypes.int32, name="size")
        dims = shape_of(tensor)
        text = ["Need value.shape >= size, got ", dims, extent]
        check = assert_(reduce_all(dims >= extent), text, summarize=1000)
        graph = get_default_graph()
        with graph.control_dependencies([check]):
            dims = gated(graph, dims)
        limit = dims - extent + 1
        drawn = draw(shape_of(dims), maxval=extent.dtype.max, dtype=extent.dtype)
        return slice_(tensor, drawn % limit, extent, name=scope)
