"""`gradient_checker_v2`: the Jacobians of a Python function that builds a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base import dtypes
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.build import conversion
from sessrun.reference.build.framework_ops import placeholder
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
from sessrun.reference.graph.tensor import Tensor

__all__ = ["compute_gradient", "max_error"]


def compute_gradient(
    f: Callable[..., Tensor], x: Sequence[TensorLike], delta: float | None = None
) -> tuple[tuple[HostArray, ...], tuple[HostArray, ...]]:
    """Both Jacobians of `f` by each of its arguments: [numbers of y, numbers of the argument].

    Args:
      f: a function of tensors that returns a tensor.
      x: its arguments, anything that converts to tensors.
      delta: how far an argument is moved up and down for the differences; 1/1024 if None.

    Returns:
      The Jacobians by gradients, one for each argument, and those by differences.

    Raises:
      ValueError: `x` is no list; the result is empty, and its gradient is not zeros.
      AssertionError: a dtype that has no gradient.

    """
    if not isinstance(x, list | tuple):
        msg = (
            "`x` must be a list or tuple of values convertible to a Tensor "
            f"(arguments to `f`), not a {type(x)}"
        )
        raise ValueError(msg)  # noqa: TRY004 - as there
    values = get_default_session().run([conversion.convert_to_tensor(value) for value in x])
    fed = [placeholder(value.dtype, shape=value.shape) for value in map(np.asarray, values)]
    pairs = _jacobians(f, fed, values, 1 / 1024 if delta is None else delta)
    by_gradient, by_difference = zip(*pairs, strict=True)
    return by_gradient, by_difference


def max_error(grad1: Sequence[HostArray], grad2: Sequence[HostArray]) -> Any:
    """The largest difference between arrays of one list and those of another."""
    return largest_error(zip(grad1, grad2, strict=False))


def _to_numpy(a: TensorLike | IndexedSlicesValue) -> Any:
    """A value as an array: a tensor is evaluated, IndexedSlicesValue becomes dense."""
    if isinstance(a, Tensor):
        return get_default_session().run(a)
    if not isinstance(a, IndexedSlicesValue):
        return a
    dense = np.zeros(a.dense_shape, a.values.dtype)
    np.add.at(dense, a.indices, a.values)
    return dense


def _jacobians(
    f: Callable[..., Tensor], fed: Sequence[Tensor], values: Sequence[HostArray], delta: float
) -> list[Jacobians]:
    session, y = get_default_session(), f(*fed)
    feeds = dict(zip(fed, values, strict=True))
    result = np.asarray(session.run(y, feeds))
    of_y = Numbers(dtypes.as_dtype(result.dtype), result.shape)
    dy = placeholder(of_y.dtype)
    backward = [gradients(y, x, dy)[0] for x in fed]
    pairs = []
    for x, value, dx in zip(fed, values, backward, strict=True):
        of_x = Numbers(x.dtype, np.shape(value))
        of_x.check("x")
        of_y.check("y")

        def forward(moved: HostArray, x: Tensor = x) -> HostArray:
            value: HostArray = session.run(y, {**feeds, x: moved})
            return value

        def back(
            given: HostArray, dx: Tensor | IndexedSlices | None = dx
        ) -> HostArray | IndexedSlicesValue | None:
            return None if dx is None else session.run(dx, {**feeds, dy: given})

        change = by_differences(forward, value, of_x, of_y, delta)
        pairs.append((by_gradients(back, of_x, of_y).T, change.T))
    return pairs
