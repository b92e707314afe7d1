"""`tf.test.compute_gradient`: the Jacobians of a tensor by others of its graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.base import dtypes
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.build import constant_op
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.indexed_slices import IndexedSlices, IndexedSlicesValue
from sessrun.reference.compat.test.jacobians import (
    Jacobians,
    Numbers,
    by_differences,
    by_gradients,
    largest_error,
)
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.graph.default_session import get_default_session
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.resolve.feeds import FeedDict

__all__ = ["compute_gradient", "compute_gradient_error"]


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Sequence[Operation] | None = None,
    extra_feed_dict: FeedDict | None = None,
) -> Jacobians | list[Jacobians]:
    """Both Jacobians of `y` by `x`: a row for each number of `x`, a column for each of `y`.

    Args:
      x: a tensor, or a list of tensors.
      x_shape: its dimensions, or a list of the dimensions of each.
      y: a tensor that depends on `x`.
      y_shape: its dimensions.
      x_init_value: where to take the gradient, or a list of such; random numbers if None.
      delta: how far `x` is moved up and down for the differences.
      init_targets: operations to run first.
      extra_feed_dict: further feeds of the runs.

    Returns:
      A pair of arrays (by gradients, by differences), or a list of such pairs for a list.

    Raises:
      AssertionError: a dtype that has no gradient, a value of another shape.
      ValueError: `y` is empty, and its gradient is not zeros of the shape of `x`.

    """
    several = isinstance(x, list)
    if not several:
        x, x_shape, x_init_value = [x], [x_shape], [x_init_value]
    backward = [_gradient(one, y, y_shape) for one in x]
    if init_targets is not None:
        if not isinstance(init_targets, list | tuple):
            msg = "init_targets must be a list of operations"
            raise AssertionError(msg)
        for target in init_targets:
            target.run()
    values = [None] * len(x) if x_init_value is None else x_init_value
    feeds = extra_feed_dict or {}
    jacobians = [
        _jacobians(one, _start(one, shape, value), y, y_shape, gradient, delta, feeds)
        for one, shape, value, gradient in zip(x, x_shape, values, backward, strict=False)
    ]
    return jacobians if several else jacobians[0]


def compute_gradient_error(
    x: Tensor,
    x_shape: Any,
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Sequence[Operation] | None = None,
    extra_feed_dict: FeedDict | None = None,
) -> Any:
    """The largest difference between the two Jacobians of `compute_gradient`, of all its pairs."""
    jacobians = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    return largest_error([jacobians] if isinstance(jacobians, tuple) else jacobians)


def _gradient(
    x: Tensor, y: Tensor, y_shape: Sequence[int]
) -> tuple[Tensor | IndexedSlices | None, Tensor]:
    """The gradient of `y` by `x`, and the constant that is fed as the gradient of `y`."""
    with x.graph.as_default():
        fed = constant_op.constant(1.0, shape=y_shape, dtype=y.dtype)
        dy = identity(fed)
    return gradients(y, x, dy)[0], fed


def _start(x: Tensor, shape: Sequence[int], value: Any) -> Any:
    """Where the gradient is taken: the given array, or random numbers."""
    if value is None:
        # numpy's own stream: programs seed it
        value = np.random.random_sample(shape).astype(x.dtype.as_numpy_dtype)  # noqa: NPY002
        if x.dtype.is_complex:
            value.imag = np.random.random_sample(shape)  # noqa: NPY002 - the same
    if list(shape) != list(value.shape):
        msg = f"x_shape = {shape}, init_data shape = {list(value.shape)}"
        raise AssertionError(msg)
    return value


def _jacobians(
    x: Tensor,
    value: HostArray,
    y: Tensor,
    y_shape: Sequence[int],
    gradient: tuple[Tensor | IndexedSlices | None, Tensor],
    delta: float,
    feeds: FeedDict,
) -> Jacobians:
    of_x, of_y = Numbers(x.dtype, value.shape), Numbers(y.dtype, tuple(y_shape))
    of_x.check("x")
    of_y.check("y")
    session, (dx, dy) = get_default_session(), gradient

    def forward(moved: HostArray) -> HostArray:
        values: HostArray = session.run(y, {**feeds, x: moved})
        return values

    def backward(given: HostArray) -> HostArray | IndexedSlicesValue:
        rows: HostArray | IndexedSlicesValue = session.run(dx, {**feeds, x: value, dy: given})
        return rows

    theoretical = by_gradients(backward, of_x, of_y)
    if x.dtype == dtypes.bfloat16:
        # TensorFlow moves a float32 copy of x, on which y does not depend.
        x, of_x = cast(x, dtypes.float32), Numbers(dtypes.float32, value.shape)
    if y.dtype == dtypes.bfloat16:
        y, of_y = cast(y, dtypes.float32), Numbers(dtypes.float32, tuple(y_shape))
    return theoretical, by_differences(forward, value, of_x, of_y, delta)
