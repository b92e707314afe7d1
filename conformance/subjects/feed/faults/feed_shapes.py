"""Faults of FEED: shapes that a placeholder takes although it should not, and those it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import elements, needed, running
from sessrun.conformance.subjects.feed.faults.feed_keys import hasty, resolved
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Session, Tensor, Value

__all__ = ["misfits"]

#: The sizes of a static shape, None for an unknown one.
Dims: TypeAlias = Sequence[int | None]


def _array(tensor: Tensor, value: Value) -> np.ndarray | None:
    """The value as an array of numbers, or None."""
    try:
        return np.asarray(value, tensor.dtype.as_numpy_dtype)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        return None


def misfits(tensor: Tensor, value: Value) -> bool:
    """Whether the value converts and has a shape that the tensor's does not admit."""
    array = _array(tensor, value)
    return array is not None and not tensor.shape.is_compatible_with(array.shape)


def _fitting(tf: Namespace, fit: Callable[[np.ndarray, Dims], np.ndarray | None]) -> Namespace:
    """The namespace that feeds `fit(array, dims)` for an array unfit for a needed placeholder.

    `dims` are the placeholder's, None where unknown; `fit` gives None to refuse the array.
    """

    def fitted(tensor: Tensor, value: np.ndarray) -> Value:
        if tensor.op.type != "Placeholder" or not misfits(tensor, value):
            return value
        array = _array(tensor, value)
        resized = None if array is None else fit(array, tensor.shape.as_list())
        return value if resized is None else resized

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        pairs = resolved(session, feeds) if isinstance(feeds, Mapping) else []
        if len(pairs) < len(feeds or ()) or not any(misfits(*pair) for pair in pairs):
            return base(fetches)
        ops = {op.name for op in needed(elements(session, fetches), [])}
        return base(fetches, {t: fitted(t, v) if t.op.name in ops else v for t, v in pairs})

    return running(tf, change)


def _broadcasts(array: np.ndarray, dims: Dims) -> bool:
    """Whether the array can be broadcast to these dimensions, all known."""
    return _broadcast(array, dims) is not None


def _broadcast(array: np.ndarray, dims: Dims) -> np.ndarray | None:
    """The array broadcast to these dimensions; None where it cannot be, or one is unknown."""
    known = [dim for dim in dims if dim is not None]
    if len(known) < len(dims):
        return None
    try:
        return np.broadcast_to(array, known)
    except ValueError:
        return None


@fault("FEED-021", "A value of the right rank is cut or repeated to the placeholder's size.")
def sizes_are_adjusted(tf: Namespace) -> Namespace:
    """Resize values that could not be broadcast."""

    def fit(array: np.ndarray, dims: Dims) -> np.ndarray | None:
        if array.ndim != len(dims) or not array.size or _broadcasts(array, dims):
            return None
        known = zip(dims, array.shape, strict=True)
        return np.resize(array, [size if dim is None else dim for dim, size in known])

    return _fitting(tf, fit)


@fault("FEED-022", "A value of another rank with as many elements is reshaped.")
def ranks_are_adjusted(tf: Namespace) -> Namespace:
    """Reshape the value, unless it could be broadcast."""

    def fit(array: np.ndarray, dims: Dims) -> np.ndarray | None:
        known = [dim for dim in dims if dim is not None]
        if array.ndim == len(dims) or len(known) < len(dims) or _broadcasts(array, dims):
            return None
        return array.reshape(known) if array.size == math.prod(known) else None

    return _fitting(tf, fit)


@fault("FEED-023", "A value that can be broadcast to the placeholder's shape is.")
def values_are_broadcast(tf: Namespace) -> Namespace:
    """Broadcast the array to the placeholder's shape."""
    return _fitting(tf, _broadcast)


def _refusing(tf: Namespace, refuses: Callable[[Tensor, np.ndarray], bool]) -> Namespace:
    """The namespace that refuses a run where `refuses(tensor, array)` holds for a feed."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        for tensor, value in resolved(session, feeds) if isinstance(feeds, Mapping) else ():
            array = _array(tensor, value)
            if tensor.op.type == "Placeholder" and array is not None and refuses(tensor, array):
                raise ValueError(f"a value of shape {array.shape} cannot be fed to {tensor.name}")
        return base(fetches)

    return running(tf, change)


@fault("FEED-024", "An unknown dimension admits no size of zero, but as the only dimension.")
def unknown_dimensions_are_positive(tf: Namespace) -> Namespace:
    """Refuse empty values of matrices whose unknown dimension is zero."""

    def refuses(tensor: Tensor, array: np.ndarray) -> bool:
        dims = tensor.shape.as_list() if tensor.shape.ndims is not None else []
        if len(dims) < 2 or len(dims) != array.ndim:
            return False
        return any(d is None and size == 0 for d, size in zip(dims, array.shape, strict=True))

    return _refusing(tf, refuses)


@fault("FEED-025", "A placeholder of unknown rank admits no more than five dimensions.")
def unknown_ranks_are_small(tf: Namespace) -> Namespace:
    """Refuse values of six or more dimensions."""
    return _refusing(tf, lambda tensor, array: tensor.shape.ndims is None and array.ndim > 5)


@fault("FEED-026", "Updates execute before a value of a wrong shape is found.")
def updates_before_checking_shapes(tf: Namespace) -> Namespace:
    """Execute the updates where the shape of a value does not fit."""
    return hasty(
        tf, lambda session, feeds: any(misfits(*pair) for pair in resolved(session, feeds))
    )
