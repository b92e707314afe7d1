"""Shape rules of biases and losses, and of operations on strings that change the shape."""

from __future__ import annotations

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.shapes.base import (
    Dim,
    Shape,
    ShapeError,
    at_least,
    broadcast_shapes,
    merge,
    merge_dims,
    rule,
    with_rank,
)

__all__: list[str] = []

#: Rank of the shortest NCHW tensor with a channel dimension of its own, counted from the end.
_CHANNELS_FIRST = 1


def _channel_axis(data_format: str) -> int:
    return _CHANNELS_FIRST if data_format == "NCHW" else -1


@rule
def bias_add(value: Shape, bias: Shape, data_format: str) -> list[Shape]:
    """The value's shape; the bias is a vector with one element per channel."""
    dims = at_least(value, 2)
    size = with_rank(bias, 1)[0]
    if dims is None:
        return [None]
    axis = _channel_axis(data_format) % len(dims)
    return [(*dims[:axis], merge_dims(dims[axis], size), *dims[axis + 1 :])]


@rule
def bias_add_grad(out_backprop: Shape, data_format: str) -> list[Shape]:
    """A vector with one element per channel."""
    dims = at_least(out_backprop, 2)
    return [(None if dims is None else dims[_channel_axis(data_format)],)]


@rule
def normalized_by_moments(t: Shape, m: Shape, v: Shape, beta: Shape, gamma: Shape) -> list[Shape]:
    """The shape of the batch, of rank 4; the others have one element for each channel."""
    dims = with_rank(t, 4)
    return [(*dims[:3], _channels(dims[3], m, v, beta, gamma))]


@rule
def normalized_by_moments_grad(
    t: Shape, m: Shape, v: Shape, gamma: Shape, backprop: Shape
) -> list[Shape]:
    """The batch's shape, and four vectors with one element for each channel."""
    dims = merge(with_rank(t, 4), backprop)
    assert dims is not None
    channels = _channels(dims[3], m, v, gamma)
    return [(*dims[:3], channels), *[(channels,)] * 4]


def _channels(channels: Dim, *vectors: Shape) -> Dim:
    for vector in vectors:
        channels = merge_dims(channels, with_rank(vector, 1)[0])
    return channels


@rule
def cross_entropy(features: Shape, labels: Shape) -> list[Shape]:
    """One loss per row, and the gradient in the features' shape."""
    try:
        rows = merge(with_rank(features, 2), labels)
    except ShapeError:
        rows = broadcast_shapes(features, labels)
    if rows is None or len(rows) != 2:
        known = "?" if rows is None else len(rows)
        raise ShapeError(f"Shape must be broadcasted with rank 2, but is rank {known}")
    return [rows[:1], rows]


@rule
def sparse_cross_entropy(features: Shape, labels: Shape) -> list[Shape]:
    """One loss per row, and the gradient in the features' shape."""
    rows = with_rank(features, 2)
    batch = merge_dims(rows[0], with_rank(labels, 1)[0])
    return [(batch,), (batch, rows[1])]


@rule
def decode_raw(shape: Shape) -> list[Shape]:
    """The input's shape and a last dimension that depends on the strings."""
    return [None if shape is None else (*shape, None)]


@rule
def decode_padded_raw(shape: Shape, length: int | None, dtype: str) -> list[Shape]:
    """The input's shape and a last dimension of as many elements as so many bytes hold."""
    if length is None:
        return [None if shape is None else (*shape, None)]
    size = BY_NAME[dtype].itemsize
    if length < 0:
        raise ShapeError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {length}"
        )
    if length % size:
        raise ShapeError(f"Dimension size must be evenly divisible by {size} but is {length}")
    return [None if shape is None else (*shape, length // size)]
