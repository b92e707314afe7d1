"""Poolings of images and volumes, one dimension after the other, and their gradients.

In host memory blocks of images are computed that stay in the cache.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.windows import Slices
from sessrun.spec.rules.windows import Axis

__all__ = ["first_maxima_gradient", "folded", "spread_evenly"]

#: Elements of the images of a block: half a megabyte of floats.
_BLOCK: Final = 1 << 17

#: The most bytes of a pixel that is copied rather than computed where it lies.
_SHORT_PIXEL: Final = 128

#: A reduction of two arrays to one: `maximum`, `add` or the like, with an `out` argument.
_Reduction = Callable[..., Array]


def _blocks(x: Array) -> Iterator[slice]:
    """Slices of a batch that stay in the cache; threads that shared them made it slower."""
    count = max(_BLOCK * len(x) // max(x.size, 1), 1)
    for start in range(0, len(x), count):
        yield slice(start, start + count)


@dataclasses.dataclass(frozen=True, slots=True)
class _Stage:
    """The windows along one dimension.

    Attributes:
      dim: the dimension, 0 the batch.
      axis: the window along it.
      pairs: for each element of the window, indices of the windows' positions where it is not
        padding, and of these elements.
      inside: how many of the first pairs are of all positions, 2 at most.

    """

    dim: int
    axis: Axis
    pairs: Sequence[tuple[Slices, Slices]]
    inside: int


def _stages(along: Sequence[Axis]) -> list[_Stage]:
    """The dimensions along which windows are more than an element, or not all elements have one."""
    stages = []
    for dim, axis in enumerate(along, 1):
        if axis.window > 1 or axis.out != axis.size:
            lead = (slice(None),) * dim
            slices = [axis.within(offset) for offset in range(axis.window)]
            slices.sort(key=lambda pair: pair[0] != slice(0, axis.out))
            inside = sum(here == slice(0, axis.out) for here, _ in slices[:2])
            pairs = [((*lead, here), (*lead, there)) for here, there in slices]
            stages.append(_Stage(dim, axis, pairs, inside))
    return stages


def folded(
    function: _Reduction, xp: ArrayModule, x: Array, along: Sequence[Axis], start: Array | int
) -> Array:
    """The reduction of each window by a function of two arrays.

    Args:
      function: the reduction.
      xp: the array module.
      x: [batch, spatial dimensions, channels].
      along: the window along each spatial dimension.
      start: the neutral element.

    """
    stages = _stages(along)

    if not stages:
        return x.copy()
    out = xp.empty((len(x), *(axis.out for axis in along), x.shape[-1]), x.dtype)
    for block in _blocks(x) if xp is HOST else (slice(None),):
        part = x[block]
        for stage in stages:
            target = out[block] if stage is stages[-1] else None
            part = _folded_along(function, xp, part, stage, start, target)
    return out


def _folded_along(
    function: _Reduction,
    xp: ArrayModule,
    x: Array,
    stage: _Stage,
    start: Array | int,
    out: Array | None = None,
) -> Array:
    """The reduction of the windows along one dimension, in `out` or a new array."""
    dim, pairs = stage.dim, stage.pairs
    if out is None:
        out = xp.empty((*x.shape[:dim], stage.axis.out, *x.shape[dim + 1 :]), x.dtype)
    elements = [x[there] for _, there in pairs]
    if xp is HOST and _are_short(x, dim):
        elements = [_in_order(pixels) for pixels in elements]
    if stage.inside == 2:
        function(elements[0], elements[1], out=out)
    else:
        out[...] = elements[0] if stage.inside else start
    for (here, _), others in zip(pairs[stage.inside :], elements[stage.inside :], strict=True):
        target = out[here]
        function(target, others, out=target)
    return out


def _are_short(x: Array, dim: int) -> bool:
    """Whether the elements along a dimension are pixels that numpy copies faster than it computes.

    It has a loop for the channels of each pixel where pixels do not lie one after the other, unless
    they are copied, as one value.
    """
    size = x.shape[-1] * x.itemsize
    is_last = dim == x.ndim - 2 and x.strides[-1] == x.itemsize
    return is_last and x.itemsize < size <= _SHORT_PIXEL


def _pixels(x: Array) -> Array:
    """A view of images in which a pixel is one value."""
    return x.view(f"V{x.shape[-1] * x.itemsize}")


def _in_order(x: Array) -> Array:
    """Images of which a pixel's channels are adjacent, and their pixels made so."""
    return HOST.ascontiguousarray(_pixels(x)).view(x.dtype)


def _put(target: Array, values: Array, dim: int) -> None:
    """Write images in host memory, whose pixels along `dim` may lie apart."""
    if _are_short(target, dim) and values.strides[-1] == values.itemsize:
        target, values = _pixels(target), _pixels(values)
    target[...] = values


def first_maxima_gradient(
    x: Array,
    grad: Array,
    along: Sequence[Axis],
    lowest: Array | int,
    beside_nans: Callable[[Array, Array], Array],
) -> Array:
    """Adds each gradient to the first maximum of its window, in host memory.

    The first maximum is in the first row whose maximum is the window's, and there the first one: a
    gradient goes to a row, and then to an element of it.

    Args:
      x: images, [batch, spatial dimensions, channels].
      grad: the gradients, [batch, positions, channels].
      along: the window along each spatial dimension.
      lowest: the least number of the dtype.
      beside_nans: the same function of `x` and `grad`, for images with NaNs.

    """
    stages = _stages(along)
    if not stages:
        return grad.copy()
    out = HOST.empty(x.shape, x.dtype)
    for block in _blocks(x):
        levels, given = [x[block]], grad[block]
        for stage in reversed(stages):
            levels.append(_folded_along(HOST.maximum, HOST, levels[-1], stage, lowest))
        if x.dtype.kind != "i" and HOST.isnan(levels[-1]).any():
            out[block] = beside_nans(x[block], given)
            continue
        for stage in stages:
            top, below = levels.pop(), levels[-1]
            target = HOST.empty(below.shape, x.dtype) if levels[1:] else out[block]
            _give_to_first(below, top, given, stage.dim, stage.axis, target)
            given = target
    return out


def _give_to_first(x: Array, top: Array, grad: Array, dim: int, axis: Axis, out: Array) -> None:
    """Add each gradient to the first element of its window along one dimension that is `top`.

    Gradients are integers here, masked by all bits or none: a product by 0 would make infinity NaN.
    """
    lead, bits = (slice(None),) * dim, HOST.dtype(f"i{x.dtype.itemsize}")
    rest = grad.copy().view(bits)
    overlap = axis.window > axis.stride
    if overlap or axis.window < axis.stride or axis.out * axis.stride - axis.before < axis.size:
        out[...] = 0
    for offset in range(axis.window):
        here, there = axis.within(offset)
        given = rest[(*lead, here)]
        if offset < axis.window - 1 or here != slice(0, axis.out):
            elements = x[(*lead, there)]
            if _are_short(x, dim):
                elements = _in_order(elements)
            is_top = HOST.equal(elements, top[(*lead, here)])
            chosen = HOST.negative(is_top.view("i1")).astype(bits)
            chosen &= given
            given ^= chosen
            given = chosen
        if overlap:
            target = out[(*lead, there)]
            HOST.add(target, given.view(x.dtype), out=target)
        else:
            _put(out.view(bits)[(*lead, there)], given, dim)


def spread_evenly(xp: ArrayModule, grad: Array, along: Sequence[Axis]) -> Array:
    """Adds each gradient, [batch, positions, channels], to all elements of its window."""
    stages = _stages(along)
    if not stages:
        return grad.copy()
    out = xp.empty((len(grad), *(axis.size for axis in along), grad.shape[-1]), grad.dtype)
    for block in _blocks(out) if xp is HOST else (slice(None),):
        part = grad[block]
        for stage in stages:
            sizes = (*part.shape[: stage.dim], stage.axis.size, *part.shape[stage.dim + 1 :])
            target = out[block] if stage is stages[-1] else xp.empty(sizes, grad.dtype)
            _spread_along(xp, part, stage.dim, stage.axis, target)
            part = target
    return out


def _spread_along(xp: ArrayModule, grad: Array, dim: int, axis: Axis, out: Array) -> None:
    """Add each gradient to all elements of its window along a dimension.

    Elements that are a stride apart are processed together, so that those of a single window are
    written once.
    """
    lead = (slice(None),) * dim
    for phase in range(min(axis.stride, axis.size)):
        count = -(-(axis.size - phase) // axis.stride)
        pairs = [
            axis.within(offset)
            for offset in range(axis.window)
            if (offset - axis.before - phase) % axis.stride == 0
        ]
        full_range = next((here for here, _ in pairs if here.stop - here.start == count), None)
        target = out[(*lead, slice(phase, None, axis.stride))]
        if full_range is None:
            target[...] = 0
        elif xp is HOST:
            _put(target, grad[(*lead, full_range)], dim)
        else:
            target[...] = grad[(*lead, full_range)]
        for here, there in pairs:
            if here is not full_range:
                out[(*lead, there)] += grad[(*lead, here)]
