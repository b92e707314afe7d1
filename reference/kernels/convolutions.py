"""Kernels of convolutions and of their gradients, in two and three spatial dimensions.

The windows of a block of images become the rows of a matrix, which is multiplied by the filters.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError, Unimplemented
from sessrun.reference.kernels.channels_first import any_format
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.input_shapes import vector_of
from sessrun.reference.kernels.products import grouped, product, shared_out
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.reference.kernels.sliding_windows import (
    added_rows,
    can_add_rows,
    can_convolve,
    can_return,
    can_sum,
    convolved,
    returned,
    summed,
)
from sessrun.reference.kernels.windows import (
    Portion,
    blocks,
    geometry,
    padded,
    portions,
    row_matrices,
    spread,
    spread_in_planes,
)
from sessrun.spec.rules.windows import Axis, axes

__all__ = ["Convolution"]

#: Dtypes whose products are computed in float32.
_NARROW = ("float16", "bfloat16")
#: The number of channels from which on the channels of a pixel are added at once, not in turn.
_MANY = 8


class Convolution:
    """The attributes of a convolution or of one of its gradients, checked, and its kernels."""

    def __init__(self, bind: Bind) -> None:
        self.xp, self.attrs = bind.xp, bind.attrs
        self.what = bind.node.type
        self.padding = bind.attrs["padding"]
        self.explicit = bind.attrs.get("explicit_paddings", ())
        self.dtype = dtype_of(bind.attrs["T"])
        self.wide = dtype_of("float32") if bind.attrs["T"] in _NARROW else self.dtype
        strides = bind.attrs["strides"]
        dilations = bind.attrs.get("dilations", (1,) * len(strides))
        for name, values in (("strides", strides), ("dilations", dilations)):
            if values[0] != 1 or values[-1] != 1:
                raise self._refusal()(
                    "Current implementation does not yet support "
                    f"{name} in the batch and depth dimensions."
                )
        self.strides, self.dilations = strides, dilations

    def _refusal(self) -> type[KernelError]:
        """The error of unsupported attributes, which differs by op type as in TensorFlow."""
        plain = self.what in {"Conv2D", "Conv2DBackpropInput"}
        return Unimplemented if plain else InvalidArgument

    def along(self, sizes: Sequence[int], filters: Sequence[int]) -> tuple[Axis, ...]:
        """The window along each spatial dimension."""
        return geometry(
            sizes, filters[:-2], self.strides, self.dilations, self.padding, self.explicit
        )

    def checked(
        self, x: Sequence[int], filters: Sequence[int], grad: Sequence[int] | None = None
    ) -> tuple[tuple[Axis, ...], int]:
        """The window along each spatial dimension, and the number of groups, from the shapes."""
        rank = len(self.strides)
        for what, shape in (("input", x), ("filter", filters), ("out_backprop", grad or x)):
            if len(shape) != rank:
                raise InvalidArgument(f"{self.what}: {what} must be {rank}-dimensional: {shape}")
        if min(*x, *filters) < 0:
            raise InvalidArgument(f"{self.what}: a dimension must be >= 0: {x}, {filters}")
        if grad is not None:
            return self._checked_gradient(x, filters, grad)
        return self.along(x[1:-1], filters), _groups(x[-1], filters)

    def _checked_gradient(
        self, x: Sequence[int], filters: Sequence[int], grad: Sequence[int]
    ) -> tuple[tuple[Axis, ...], int]:
        if filters[-1] != grad[-1]:
            raise InvalidArgument(
                f"{self.what}: filter and out_backprop must have the same out_depth"
            )
        if x[0] != grad[0]:
            raise InvalidArgument(
                f"{self.what}: input and out_backprop must have the same batch "
                f"size: {x[0]} vs. {grad[0]}"
            )
        if not filters[-2] or x[-1] % filters[-2]:
            raise InvalidArgument(
                f"{self.what}: input depth must be evenly divisible by filter "
                f"depth: {x[-1]} vs {filters[-2]}"
            )
        along = self.along(x[1:-1], filters)
        if tuple(axis.out for axis in along) != tuple(grad[1:-1]):
            raise InvalidArgument(
                f"{self.what}: Size of out_backprop doesn't match computed: "
                f"{grad[1:-1]}, computed {[axis.out for axis in along]}"
            )
        groups = x[-1] // filters[-2] if x[-1] else 1
        _check_groups(filters, groups)
        return along, groups

    def forward(self, x: Array, filters: Array) -> Array:
        """The convolution of the images by the filters."""
        along, groups = self.checked(x.shape, filters.shape)
        wide, kernels = (array.astype(self.wide, copy=False) for array in (x, filters))
        done = [
            _forward(self.xp, part, kernel, along)
            for part, kernel in _grouped(wide, kernels, groups)
        ]
        return self._joined(done)

    def by_filter(self, x: Array, sizes: Array, grad: Array) -> Array:
        """The gradient by the filters: windows times gradients, summed over all positions."""
        shape = vector_of(sizes, "filter_sizes")
        along, groups = self.checked(x.shape, shape, grad.shape)
        wide, above = (array.astype(self.wide, copy=False) for array in (x, grad))
        width = shape[-1] // groups
        done = [
            _by_filter(
                self.xp,
                wide[..., i * shape[-2] : (i + 1) * shape[-2]],
                above[..., i * width : (i + 1) * width],
                along,
                (*shape[:-1], width),
            )
            for i in range(groups)
        ]
        return self._joined(done)

    def by_input(self, sizes: Array, filters: Array, grad: Array) -> Array:
        """The gradient by the input: gradients times filters, summed where windows overlap."""
        shape = vector_of(sizes, "input_sizes")
        if len(shape) == 2 and grad.ndim == 4:
            shape = [grad.shape[0], *shape, filters.shape[-2]]
        along, groups = self.checked(shape, filters.shape, grad.shape)
        kernels, above = (array.astype(self.wide, copy=False) for array in (filters, grad))
        width = filters.shape[-1] // groups
        done = [
            _by_input(
                self.xp,
                kernels[..., i * width : (i + 1) * width],
                above[..., i * width : (i + 1) * width],
                along,
            )
            for i in range(groups)
        ]
        return self._joined(done)

    def _joined(self, parts: Sequence[Array]) -> Array:
        joined = parts[0] if len(parts) == 1 else self.xp.concatenate(list(parts), axis=-1)
        return joined.astype(self.dtype, copy=False)


def _groups(depth: int, filters: Sequence[int]) -> int:
    """The number of groups of channels.

    Raises:
      KernelError: the filters do not divide them, or have no elements.

    """
    if filters[-2] < 1:
        raise InvalidArgument(f"filter depth must be strictly positive, got {filters[-2]}")
    if depth % filters[-2]:
        raise InvalidArgument(
            f"input depth must be evenly divisible by filter depth: {depth} vs {filters[-2]}"
        )
    groups = depth // filters[-2]
    if not groups or not math.prod(filters[:-1]):
        raise InvalidArgument(
            "filter must not have zero elements (i.e. all dimensions must be non-zero)"
        )
    _check_groups(filters, groups)
    return groups


def _check_groups(filters: Sequence[int], groups: int) -> None:
    if filters[-1] % groups:
        raise InvalidArgument(
            f"output depth must be evenly divisible by number of groups: {filters[-1]} vs {groups}"
        )


def _grouped(x: Array, filters: Array, groups: int) -> list[tuple[Array, Array]]:
    """The channels and the filters of each group."""
    if groups == 1:
        return [(x, filters)]
    depth, width = filters.shape[-2], filters.shape[-1] // groups
    return [
        (x[..., i * depth : (i + 1) * depth], filters[..., i * width : (i + 1) * width])
        for i in range(groups)
    ]


def _width(along: Sequence[Axis], channels: int) -> int:
    return math.prod(axis.window for axis in along) * channels


def _positions(along: Sequence[Axis]) -> int:
    return math.prod(axis.out for axis in along)


def _forward(xp: ArrayModule, x: Array, filters: Array, along: Sequence[Axis]) -> Array:
    width, depth, positions = _width(along, x.shape[-1]), filters.shape[-1], _positions(along)
    shape = (x.shape[0], *(axis.out for axis in along), depth)
    if not x.shape[0] * positions * depth:
        return xp.zeros(shape, x.dtype)
    if xp is HOST and can_convolve(x, along, depth):
        return convolved(x, filters, along)
    if xp is HOST and can_add_rows(x, filters, along):
        return added_rows(x, filters, along)
    matrix, out = filters.reshape(width, depth), xp.empty(shape, x.dtype)

    def fill(group: Sequence[Portion]) -> None:
        for here, windows in row_matrices(xp, group):
            xp.matmul(windows, matrix, out=out[here].reshape(-1, depth))

    groups = grouped(list(portions(xp, padded(xp, x, along), along)), are_added=False)
    shared_out(fill, groups, out.size * width if xp is HOST else 0)
    return out


def _by_filter(
    xp: ArrayModule, x: Array, grad: Array, along: Sequence[Axis], shape: Sequence[int]
) -> Array:
    width, depth = _width(along, x.shape[-1]), grad.shape[-1]
    if not (x.size and grad.size and width):
        return xp.zeros(tuple(shape), x.dtype)
    if xp is HOST and can_sum(x, along, depth):
        return summed(x, grad, along).reshape(tuple(shape))

    def total(group: Sequence[Portion]) -> Array:
        products = (
            xp.matmul(windows.T, grad[here].reshape(-1, depth))
            for here, windows in row_matrices(xp, group)
        )
        return _sum(xp, products)

    groups = grouped(list(portions(xp, padded(xp, x, along), along)))
    totals = shared_out(total, groups, grad.size * width if xp is HOST else 0)
    return _sum(xp, totals).reshape(tuple(shape))


def _sum(xp: ArrayModule, arrays: Iterable[Array]) -> Array:
    """The sum of arrays, which the first of them becomes."""
    return functools.reduce(lambda total, array: xp.add(total, array, out=total), arrays)


def _by_input(xp: ArrayModule, filters: Array, grad: Array, along: Sequence[Axis]) -> Array:
    channels, depth, positions = filters.shape[-2], filters.shape[-1], _positions(along)
    shape = (grad.shape[0], *(axis.size for axis in along), channels)
    if not math.prod(shape) * depth * positions:
        return xp.zeros(shape, grad.dtype)
    if all(axis.stride == 1 for axis in along) and depth <= 2 * channels:
        if xp is HOST and can_return(grad, along, channels):
            return returned(grad, filters, along)
        return _by_flipped_filters(xp, filters, grad, along)
    width = _width(along, channels)
    matrix = filters.reshape(width, depth).T
    out = xp.empty(shape, grad.dtype)
    outs, window = [axis.out for axis in along], [axis.window for axis in along]
    for block in blocks(xp, shape[0], positions * width):
        above = grad[block].reshape(-1, depth)
        if channels < _MANY:
            planes = product(xp, matrix.T, above.T).reshape(*window, channels, -1, *outs)
            out[block] = spread_in_planes(xp, planes, along)
        else:
            parts = product(xp, above, matrix).reshape(-1, *outs, *window, channels)
            out[block] = spread(xp, parts, along, channels)
    return out


def _by_flipped_filters(
    xp: ArrayModule, filters: Array, grad: Array, along: Sequence[Axis]
) -> Array:
    """The gradient by the input for strides of 1: `grad` convolved with the reversed filters."""
    spatial = len(along)
    turned = filters[(slice(None, None, -1),) * spatial]
    kernels = xp.ascontiguousarray(turned.transpose((*range(spatial), spatial + 1, spatial)))
    back = []
    for axis in along:
        before = (axis.window - 1) * axis.dilation - axis.before
        back.append((before, axis.size - axis.out + axis.before))
    if min(min(pair) for pair in back) < 0:
        cut = tuple(
            slice(max(-before, 0), axis.out - max(-after, 0))
            for (before, after), axis in zip(back, along, strict=True)
        )
        grad = grad[(slice(None), *cut, slice(None))]
    reverse = axes(
        grad.shape[1:-1],
        [axis.window for axis in along],
        [1] * spatial,
        [axis.dilation for axis in along],
        "EXPLICIT",
        [(max(b, 0), max(a, 0)) for b, a in back],
    )
    return _forward(xp, grad, kernels, reverse)


@binder("Conv2D", "Conv3D")
@any_format("x-")
def convolution(bind: Bind) -> KernelFunction:
    """The convolution of the input by the filters."""
    return Convolution(bind).forward


@binder("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", host_inputs=("filter_sizes",))
@any_format("x-x", "-")
def convolution_by_filter(bind: Bind) -> KernelFunction:
    """The gradient of a convolution by its filters."""
    return Convolution(bind).by_filter


@binder("Conv2DBackpropInput", "Conv3DBackpropInputV2", host_inputs=("input_sizes",))
@any_format("s-x")
def convolution_by_input(bind: Bind) -> KernelFunction:
    """The gradient of a convolution by its input."""
    return Convolution(bind).by_input
