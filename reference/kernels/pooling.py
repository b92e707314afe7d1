"""Kernels of max and average pooling in two and three spatial dimensions, and of gradients."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.channels_first import any_format
from sessrun.reference.kernels.elementwise import is_integer
from sessrun.reference.kernels.host import HOST, dtype_of, ints
from sessrun.reference.kernels.input_shapes import vector_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.reference.kernels.scatters import scatter
from sessrun.reference.kernels.separable_pooling import (
    first_maxima_gradient,
    folded,
    spread_evenly,
)
from sessrun.reference.kernels.windows import Slices, geometry, offsets, window_slices
from sessrun.spec.rules.windows import Axis

__all__ = ["Pooling", "check_shape", "lowest"]

#: The size or the strides of a window if they are inputs; None if they are attributes.
_Given = Sequence[int] | None


class Pooling:
    """The attributes of a pooling or of one of its gradients, checked.

    Attributes:
      xp: the array module.
      name: the op type.
      rank: the rank of the input.

    """

    def __init__(self, bind: Bind, rank: int) -> None:
        self.xp, self.name, self.rank, self._attrs = bind.xp, bind.node.type, rank, bind.attrs
        if bind.attrs.get("data_format", "NHWC").startswith("NC"):  # NCHW_VECT_C
            raise InvalidArgument(
                f"Default {self.name}Op only supports the channels-last format on device type CPU"
            )
        if "ksize" in bind.attrs:
            self._check(bind.attrs["ksize"], bind.attrs["strides"])

    def _check(self, ksize: Sequence[int], strides: Sequence[int]) -> None:
        for what, values in (("ksize", ksize), ("stride", strides)):
            if len(values) != self.rank:
                raise InvalidArgument(
                    f"Sliding window {what} field must specify {self.rank} dimensions"
                )
            if min(values) <= 0:
                raise InvalidArgument(
                    f"Sliding window {what} for each dimension must be positive, got {list(values)}"
                )
        if ksize[0] != 1 or strides[0] != 1:
            raise Unimplemented("Pooling is not yet supported on the batch dimension.")
        if ksize[-1] != 1 and (self.rank == 5 or max(ksize[1:-1]) > 1 or ksize[-1] != strides[-1]):
            raise Unimplemented(
                "Depthwise pooling requires a window of the channels alone, as large as its stride"
            )

    def along(
        self, shape: Sequence[int], ksize: _Given = None, strides: _Given = None
    ) -> tuple[Axis, ...]:
        """The window along each spatial dimension, from the attributes or from inputs."""
        if len(shape) != self.rank:
            raise InvalidArgument(
                f"{self.name}: the input must be {self.rank}-dimensional: {tuple(shape)}"
            )
        if min(shape) < 0:
            raise InvalidArgument(f"{self.name}: a dimension must be >= 0: {tuple(shape)}")
        attrs = self._attrs
        if ksize is None or strides is None:
            size, step = attrs["ksize"], attrs["strides"]
        else:
            size, step = ksize, strides
            self._check(size, step)
        explicit = attrs.get("explicit_paddings", ())
        if any(
            pad >= k
            for pad, k in zip(explicit, (k for k in size for _ in "ab"), strict=False)
            if pad
        ):
            raise InvalidArgument("Padding must be less than the window's size")
        return geometry(shape[1:-1], size[1:-1], step, (1,) * self.rank, attrs["padding"], explicit)

    def deep(self, shape: Sequence[int], ksize: _Given = None) -> int:
        """The number of channels that are pooled into one."""
        depth: int = (ksize or self._attrs["ksize"])[-1]
        if shape[-1] % depth:
            raise Unimplemented(
                "Depthwise pooling requires the depth window to evenly divide the input depth"
            )
        return depth


def lowest(xp: ArrayModule, dtype: DType) -> Array | int:
    """The least finite number of a dtype."""
    least: Array | int
    if dtype.kind in "iu":
        least = xp.iinfo(dtype).min
    elif dtype.itemsize == 2:
        least = dtype.type(-65504.0 if dtype.kind == "f" else -3.3895313892515355e38)
    else:
        least = xp.finfo(dtype).min
    return least


def _rank(bind: Bind) -> int:
    """The rank of the input: 5 for volumes, 4 for images."""
    return 5 if "3D" in bind.node.type else 4


def _maximum(pooling: Pooling, x: Array, ksize: _Given = None, strides: _Given = None) -> Array:
    along, depth = pooling.along(x.shape, ksize, strides), pooling.deep(x.shape, ksize)
    xp = pooling.xp
    if depth > 1:
        return xp.max(x.reshape(*x.shape[:-1], x.shape[-1] // depth, depth), axis=-1)
    return folded(xp.maximum, xp, x, along, lowest(xp, x.dtype))


@binder("MaxPool", "MaxPool3D")
@any_format("x")
def max_pool(bind: Bind) -> KernelFunction:
    """The maximum of each window."""
    pooling = Pooling(bind, _rank(bind))
    return lambda x: _maximum(pooling, x)


@binder("MaxPoolV2", host_inputs=("ksize", "strides"))
@any_format("xss")
def max_pool_v2(bind: Bind) -> KernelFunction:
    """As MaxPool, with the size and the strides of the window as inputs."""
    pooling = Pooling(bind, 4)
    return lambda x, ksize, strides: _maximum(pooling, x, ints(ksize), ints(strides))


def maxima(
    xp: ArrayModule, x: Array, y: Array, along: Sequence[Axis], first: bool = True
) -> Iterator[tuple[Slices, Slices, Array]]:
    """For each offset in a window, the windows whose element there equals `y`, at first or at all.

    Yields:
      the slices of the windows' outputs and of the elements, and a mask over the former.

    """
    left = xp.ones(y.shape, "bool") if first else None
    for offset in offsets(along):
        here, there = window_slices(along, offset)
        is_maximum = x[there] == y[here]
        if left is not None:
            is_maximum &= left[here]
            left[here] ^= is_maximum
        yield here, there, is_maximum


def _maxima_beside_nans(
    xp: ArrayModule, x: Array, shape: Sequence[int], along: Sequence[Axis]
) -> Iterator[tuple[Slices, Slices, Array]]:
    """As `maxima`, for windows with NaNs: a NaN is the maximum if it comes first, else ignored.

    Yields:
      the slices of the windows' outputs and of the elements, and a mask over the former.

    """
    best, top = xp.full(shape, -1, "int32"), xp.zeros(shape, x.dtype)
    moves = [window_slices(along, offset) for offset in offsets(along)]
    for number, (here, there) in enumerate(moves):
        taken = (best[here] < 0) | (top[here] < x[there])
        best[here] = xp.where(taken, number, best[here])
        top[here] = xp.where(taken, x[there], top[here])
    for number, (here, there) in enumerate(moves):
        yield here, there, best[here] == number


def check_shape(what: str, operand: Array, wanted: Sequence[int]) -> None:
    """Raise InvalidArgument if an input has another shape than wanted."""
    if tuple(operand.shape) != tuple(wanted):
        sizes = [str(list(shape)).replace(" ", "") for shape in (wanted, operand.shape)]
        raise InvalidArgument(f"Expected {what} shape to be {sizes[0]}, but got {sizes[1]}")


def _maximum_grad(
    pooling: Pooling, x: Array, y: Array, grad: Array, ksize: _Given = None, strides: _Given = None
) -> Array:
    """Adds each gradient to the first maximum of its window."""
    xp, along = pooling.xp, pooling.along(x.shape, ksize, strides)
    depth = pooling.deep(x.shape, ksize)
    shape = (x.shape[0], *(axis.out for axis in along), x.shape[-1] // depth)
    check_shape("orig_output", y, shape)
    check_shape("grad", grad, shape)
    if depth > 1:
        raise Unimplemented("MaxPoolGrad is not yet supported on the depth dimension.")
    if not x.size or not grad.size:
        return xp.zeros(x.shape, x.dtype)
    is_volume = pooling.rank == 5  # for volumes TensorFlow gives it to all maxima
    if is_volume or (x.dtype.kind == "i" and xp is not HOST):
        top = y if is_volume else _maximum(pooling, x, ksize, strides)
        return _given(xp, grad, maxima(xp, x, top, along, not is_volume), x.shape, along)

    def beside_nans(images: Array, gradients: Array) -> Array:
        masks = _maxima_beside_nans(xp, images, gradients.shape, along)
        return _given(xp, gradients, masks, images.shape, along)

    # A GPU is not waited for: images there are assumed to have some.
    if xp is HOST:
        return first_maxima_gradient(x, grad, along, lowest(xp, x.dtype), beside_nans)
    return beside_nans(x, grad)


def _given(
    xp: ArrayModule,
    grad: Array,
    maximum_masks: Iterable[tuple[Slices, Slices, Array]],
    shape: Sequence[int],
    along: Sequence[Axis],
) -> Array:
    """Adds gradients to the elements that masks choose of their windows."""
    out = xp.zeros(shape, grad.dtype)
    is_alone = all(axis.window <= axis.stride for axis in along)
    for here, there, is_maximum in maximum_masks:
        given = xp.where(is_maximum, grad[here], grad.dtype.type(0))
        if is_alone:  # no element is in two windows
            out[there] = given
        else:
            out[there] += given
    return out


@binder("MaxPoolGrad", "MaxPool3DGrad")
@any_format("xxx")
def max_pool_grad(bind: Bind) -> KernelFunction:
    """The gradient of MaxPool."""
    pooling = Pooling(bind, _rank(bind))
    return lambda x, y, grad: _maximum_grad(pooling, x, y, grad)


@binder("MaxPoolGradV2", host_inputs=("ksize", "strides"))
@any_format("xxxss")
def max_pool_grad_v2(bind: Bind) -> KernelFunction:
    """As MaxPoolGrad, with the size and the strides of the window as inputs."""
    pooling = Pooling(bind, 4)
    return lambda x, y, grad, ksize, strides: _maximum_grad(
        pooling, x, y, grad, ints(ksize), ints(strides)
    )


def _maximum_grad_grad(
    pooling: Pooling, x: Array, y: Array, grad: Array, ksize: _Given = None, strides: _Given = None
) -> Array:
    """The gradients of the elements that are the first maxima of their windows."""
    xp, along = pooling.xp, pooling.along(x.shape, ksize, strides)
    shape = (x.shape[0], *(axis.out for axis in along), x.shape[-1])
    check_shape("orig_output", y, shape)
    check_shape("grad", grad, x.shape)
    out = xp.zeros(shape, x.dtype)
    for here, there, is_first in maxima(xp, x, y, along):
        out[here] += grad[there] * is_first
    return out


@binder("MaxPoolGradGrad", "MaxPool3DGradGrad")
@any_format("xxx")
def max_pool_grad_grad(bind: Bind) -> KernelFunction:
    """The gradient of MaxPoolGrad by its gradient."""
    pooling = Pooling(bind, _rank(bind))
    return lambda x, y, grad: _maximum_grad_grad(pooling, x, y, grad)


@binder("MaxPoolGradGradV2", host_inputs=("ksize", "strides"))
@any_format("xxxss")
def max_pool_grad_grad_v2(bind: Bind) -> KernelFunction:
    """As MaxPoolGradGrad, with the size and the strides of the window as inputs."""
    pooling = Pooling(bind, 4)
    return lambda x, y, grad, ksize, strides: _maximum_grad_grad(
        pooling, x, y, grad, ints(ksize), ints(strides)
    )


def _counts(xp: ArrayModule, along: Sequence[Axis], dtype: DType) -> Array:
    """The number of elements in each window without padding: [*positions, 1], or one for all."""
    if all(axis.before <= 0 and axis.after <= 0 for axis in along):
        number: Array = dtype.type(math.prod(axis.window for axis in along))
        return number
    counts = HOST.ones((), "float64")
    for axis in along:
        along_axis = HOST.zeros(axis.out)
        for offset in range(axis.window):
            along_axis[axis.within(offset)[0]] += 1
        counts = counts[..., None] * along_axis
    return xp.asarray(counts[..., None]).astype(dtype)


def _wide(x: Array) -> Array:
    return x.astype("float32") if x.dtype.itemsize == 2 and not is_integer(x) else x


@binder("AvgPool", "AvgPool3D")
@any_format("x")
def average_pool(bind: Bind) -> KernelFunction:
    """The mean of each window without padding."""
    pooling = Pooling(bind, _rank(bind))
    xp, dtype = bind.xp, dtype_of(bind.attrs["T"])

    def compute(x: Array) -> Array:
        along = pooling.along(x.shape)
        if pooling.deep(x.shape) > 1:
            raise Unimplemented("Non-spatial pooling is not yet supported.")
        total = folded(xp.add, xp, _wide(x), along, 0)
        total = xp.divide(total, _counts(xp, along, total.dtype), out=total)
        return total.astype(dtype, copy=False)

    return compute


@binder("AvgPoolGrad", "AvgPool3DGrad", host_inputs=("orig_input_shape",))
@any_format("sx")
def average_pool_grad(bind: Bind) -> KernelFunction:
    """Distributes each gradient evenly over its window."""
    pooling = Pooling(bind, _rank(bind))
    return functools.partial(_average_grad, pooling, dtype_of(bind.attrs["T"]))


def _average_grad(pooling: Pooling, dtype: DType, sizes: Array, grad: Array) -> Array:
    shape = vector_of(sizes, "orig_input_shape")
    along = pooling.along(shape)
    if pooling.deep(shape) > 1:
        raise Unimplemented("Non-spatial pooling is not yet supported.")
    wanted = (shape[0], *(axis.out for axis in along), shape[-1])
    check_shape("grad", grad, wanted)
    wide = _wide(grad)
    spread = spread_evenly(pooling.xp, wide / _counts(pooling.xp, along, wide.dtype), along)
    return spread.astype(dtype, copy=False)


def _numbers(xp: ArrayModule, shape: tuple[int, ...], with_batch: bool) -> Array:
    """The flat index of each element of the input: within its image, or within the batch."""
    count = xp.arange(shape[0] * shape[1] * shape[2] * shape[3]).reshape(shape)
    return count if with_batch or not shape[0] else xp.broadcast_to(count[:1], shape)


@binder("MaxPoolWithArgmax")
def max_pool_with_argmax(bind: Bind) -> KernelFunction:
    """The maximum of each window, and its flat index: that of the first of equal ones."""
    pooling, xp = Pooling(bind, 4), bind.xp
    with_batch, kind = bind.attrs["include_batch_in_index"], dtype_of(bind.attrs["Targmax"])

    def compute(x: Array) -> tuple[Array, Array]:
        if not x.size:
            raise InvalidArgument("tensor_in must not be empty")
        along = pooling.along(x.shape)
        if pooling.deep(x.shape) > 1:
            raise Unimplemented("MaxPoolWithArgmax is not yet supported on the depth dimension.")
        shape = (x.shape[0], *(axis.out for axis in along), x.shape[3])
        best = xp.full(shape, lowest(xp, x.dtype), x.dtype)
        which = xp.full(shape, -1, "int64")
        numbers = _numbers(xp, x.shape, with_batch)
        for offset in offsets(along):
            here, there = window_slices(along, offset)
            more = (x[there] > best[here]) | (which[here] < 0)
            best[here] = xp.where(more, x[there], best[here])
            which[here] = xp.where(more, numbers[there], which[here])
        return best, which.astype(kind)

    return compute


@binder("MaxPoolGradWithArgmax")
def max_pool_grad_with_argmax(bind: Bind) -> KernelFunction:
    """Adds each gradient to the element of the input that `argmax` names by its flat index."""
    pooling, xp = Pooling(bind, 4), bind.xp
    with_batch = bind.attrs["include_batch_in_index"]

    def compute(x: Array, grad: Array, argmax: Array) -> Array:
        along = pooling.along(x.shape)
        shape = (x.shape[0], *(axis.out for axis in along), x.shape[3])
        check_shape("grad", grad, shape)
        check_shape("argmax", argmax, shape)
        out = xp.zeros(x.size, x.dtype)
        image = x.size // max(x.shape[0], 1)
        first = xp.arange(x.shape[0]).reshape(-1, 1, 1, 1) * image
        numbers = argmax if with_batch else argmax + first
        if xp.any((numbers < 0) | (numbers >= max(x.size, 1))):
            raise InvalidArgument(f"Invalid argmax, out of [0, {x.size})")
        scatter(xp, "add", out, numbers.reshape(-1), grad.reshape(-1))
        return out.reshape(x.shape)

    return compute
