"""Kernels of depthwise convolutions, where each channel has separate filters, and gradients.

All images are multiplied and added once for each element of the window. The outputs of one channel
lie side by side, so the channels are repeated first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.channels_first import any_format
from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.kernels.input_shapes import vector_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.reference.kernels.windows import geometry, offsets, window_slices
from sessrun.spec.rules.windows import Axis

#: How many elements of a result are computed at a time: they stay in the cache.
_BLOCK = 1 << 16


class _Depthwise:
    """The attributes of a depthwise convolution or of one of its gradients, checked."""

    def __init__(self, bind: Bind) -> None:
        self.xp, attrs, self.what = bind.xp, bind.attrs, bind.node.type
        self.attrs = attrs
        self.dtype = dtype_of(attrs["T"])
        narrow = self.dtype.itemsize == 2
        self.wide = dtype_of("float32") if narrow else self.dtype
        strides, dilations = attrs["strides"], attrs["dilations"]
        if len(strides) != 4 or strides[1] != strides[2]:
            raise InvalidArgument(
                "Current implementation only supports equal length strides in the "
                "row and column dimensions."
            )
        if strides[0] != 1 or strides[3] != 1:
            raise InvalidArgument(
                "Current implementation does not yet support strides in the batch "
                "and depth dimensions."
            )
        if self.what == "DepthwiseConv2dNative" and tuple(dilations) != (1, 1, 1, 1):
            raise Unimplemented(
                "Current kernel implementation does not support dilations, "
                f"received {list(dilations)}"
            )

    def along(
        self, x: Sequence[int], filters: Sequence[int], grad: Sequence[int] | None = None
    ) -> tuple[Axis, ...]:
        """The window along rows and columns, from the shapes.

        Raises:
          KernelError: the shapes do not fit.

        """
        for name, shape in (("input", x), ("filter", filters), ("out_backprop", grad or x)):
            if len(shape) != 4:
                raise InvalidArgument(f"{self.what}: {name} must be 4-dimensional: {shape}")
        if min(*x, *filters) < 0:
            raise InvalidArgument(f"{self.what}: a dimension must be >= 0: {x}, {filters}")
        if x[3] != filters[2]:
            raise InvalidArgument(
                f"input and filter must have the same depth: {x[3]} vs {filters[2]}"
            )
        attrs = self.attrs
        axes = geometry(
            x[1:3],
            filters[:2],
            attrs["strides"],
            (1, 1, 1, 1),
            attrs["padding"],
            attrs["explicit_paddings"],
        )
        wanted = (x[0], *(axis.out for axis in axes), filters[2] * filters[3])
        if grad is not None and tuple(grad) != wanted:
            raise InvalidArgument(
                f"{self.what}: out_backprop must be of shape {wanted}, not {grad}"
            )
        return axes

    def widened(self, *arrays: Array) -> Iterator[Array]:
        return (array.astype(self.wide, copy=False) for array in arrays)

    def forward(self, x: Array, filters: Array) -> Array:
        """The convolution of each channel by its own filters."""
        along, xp = self.along(x.shape, filters.shape), self.xp
        wide, kernels = self.widened(_repeated(xp, x, filters.shape[3]), filters)
        kernels = kernels.reshape(*filters.shape[:2], -1)
        out = xp.zeros((x.shape[0], *(axis.out for axis in along), kernels.shape[-1]), self.wide)
        for image in _images(out):
            for offset in offsets(along):
                here, there = window_slices(along, offset)
                out[(image, *here[1:])] += wide[(image, *there[1:])] * kernels[offset]
        return out.astype(self.dtype, copy=False)

    def by_filter(self, x: Array, sizes: Array, grad: Array) -> Array:
        """The gradient by the filters: windows times gradients, summed over all positions."""
        shape, xp = vector_of(sizes, "filter_sizes"), self.xp
        along = self.along(x.shape, shape, grad.shape)
        wide, above = self.widened(_repeated(xp, x, shape[3]), grad)
        out = xp.zeros((*shape[:2], shape[2] * shape[3]), self.wide)
        for image in _images(above):
            for offset in offsets(along):
                here, there = window_slices(along, offset)
                products = wide[(image, *there[1:])] * above[(image, *here[1:])]
                out[offset] += xp.add.reduce(products, axis=(0, 1, 2))
        return out.reshape(tuple(shape)).astype(self.dtype, copy=False)

    def by_input(self, sizes: Array, filters: Array, grad: Array) -> Array:
        """The gradient by the input: gradients times filters, summed where windows overlap."""
        shape, xp = vector_of(sizes, "input_sizes"), self.xp
        along = self.along(shape, filters.shape, grad.shape)
        kernels, above = self.widened(filters.reshape(*filters.shape[:2], -1), grad)
        out = xp.zeros((*shape[:3], kernels.shape[-1]), self.wide)
        for image in _images(out):
            for offset in offsets(along):
                here, there = window_slices(along, offset)
                out[(image, *there[1:])] += above[(image, *here[1:])] * kernels[offset]
        if filters.shape[3] != 1:
            out = xp.add.reduce(out.reshape(*shape, filters.shape[3]), axis=4)
        return out.astype(self.dtype, copy=False)


def _repeated(xp: ArrayModule, x: Array, times: int) -> Array:
    """The channels repeated `multiplier` times, copies side by side."""
    return x if times == 1 else xp.repeat(x, times, axis=-1)


def _images(out: Array) -> list[slice]:
    """Slices of the batch that fit the cache."""
    size = max(out.size // max(out.shape[0], 1), 1)
    step = max(_BLOCK // size, 1)
    return [slice(start, start + step) for start in range(0, out.shape[0], step)]


@binder("DepthwiseConv2dNative")
@any_format("x-")
def depthwise(bind: Bind) -> KernelFunction:
    """The convolution of each channel by its own filters."""
    return _Depthwise(bind).forward


@binder("DepthwiseConv2dNativeBackpropInput", host_inputs=("input_sizes",))
@any_format("s-x")
def depthwise_by_input(bind: Bind) -> KernelFunction:
    """The gradient of a depthwise convolution by its input."""
    return _Depthwise(bind).by_input


@binder("DepthwiseConv2dNativeBackpropFilter", host_inputs=("filter_sizes",))
@any_format("x-x", "-")
def depthwise_by_filter(bind: Bind) -> KernelFunction:
    """The gradient of a depthwise convolution by its filters."""
    return _Depthwise(bind).by_filter
