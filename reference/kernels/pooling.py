"""Kernels of poolings by maximum and by mean, in two and three dimensions; gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.channels_first import any_format
from sessrun.reference.kernels.elementwise import is_integer
from sessrun.reference.kernels.host import HOST, dtype_of, ints
from sessrun.reference.kernels.number_inputs import vector_of
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.reference.kernels.windows import folded, geometry, offsets, places
from sessrun.spec.rules.windows import Axis

__all__ = ["Pooling", "check_shape", "lowest"]


#: Sizes or strides of a window that are inputs; None where they are attributes.
_Given = Sequence[int] | None


class Pooling:
    """The attributes of a pooling or of one of its gradients, checked.

    Attributes:
      xp: the array module.
      name: the op type.
      rank: of what is pooled.

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
        """The window along each spatial dimension, of the attributes or as given."""
        if len(shape) != self.rank:
            raise InvalidArgument(
                f"{self.name}: what is pooled must be {self.rank}-dimensional: {tuple(shape)}"
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
        """How many channels are pooled into one."""
        depth: int = (ksize or self._attrs["ksize"])[-1]
        if shape[-1] % depth:
            raise Unimplemented(
                "Depthwise pooling requires the depth window to evenly divide the input depth"
            )
        return depth


def lowest(xp: Any, dtype: Any) -> Any:
    """The least number of a dtype, finite."""
    if dtype.kind in "iu":
        return xp.iinfo(dtype).min
    if dtype.itemsize == 2:
        return dtype.type(-65504.0 if dtype.kind == "f" else -3.3895313892515355e38)
    return xp.finfo(dtype).min


def _rank(bind: Bind) -> int:
    """The rank of what is pooled."""
    return 5 if "3D" in bind.node.type else 4


def _maximum(pooling: Pooling, x: Any, ksize: _Given = None, strides: _Given = None) -> Any:
    along, depth = pooling.along(x.shape, ksize, strides), pooling.deep(x.shape, ksize)
    xp = pooling.xp
    if depth > 1:
        return xp.max(x.reshape(*x.shape[:-1], x.shape[-1] // depth, depth), axis=-1)
    return folded(xp.maximum, xp, x, along, lowest(xp, x.dtype))


@binder("MaxPool", "MaxPool3D")
@any_format("x")
def max_pool(bind: Bind) -> Callable[..., Any]:
    """The largest number of each window."""
    pooling = Pooling(bind, _rank(bind))
    return lambda x: _maximum(pooling, x)


@binder("MaxPoolV2", host_inputs=("ksize", "strides"))
@any_format("xss")
def max_pool_v2(bind: Bind) -> Callable[..., Any]:
    """As MaxPool; size and stride of the window are inputs."""
    pooling = Pooling(bind, 4)
    return lambda x, ksize, strides: _maximum(pooling, x, ints(ksize), ints(strides))


def maxima(xp: Any, x: Any, y: Any, along: Sequence[Axis], first: bool = True) -> Any:
    """For each element of the window, the places where it equals `y`, the first only or each.

    Yields:
      the slices of the places and of the elements, and a mask over the places.

    """
    left = xp.ones(y.shape, "bool") if first else None
    for offset in offsets(along):
        here, there = places(along, offset)
        found = x[there] == y[here]
        if left is not None:
            found &= left[here]
            left[here] ^= found
        yield here, there, found


def _maxima_beside_nans(xp: Any, x: Any, y: Any, along: Sequence[Axis]) -> Any:
    """As `maxima`, of windows with NaNs: one counts only as the first element, and is the largest.

    Yields:
      the slices of the places and of the elements, and a mask over the places.

    """
    best, top = xp.full(y.shape, -1, "int32"), xp.zeros(y.shape, x.dtype)
    moves = [places(along, offset) for offset in offsets(along)]
    for number, (here, there) in enumerate(moves):
        taken = (best[here] < 0) | (top[here] < x[there])
        best[here] = xp.where(taken, number, best[here])
        top[here] = xp.where(taken, x[there], top[here])
    for number, (here, there) in enumerate(moves):
        yield here, there, best[here] == number


def check_shape(what: str, found: Any, wanted: Sequence[int]) -> None:
    """Raise InvalidArgument if an input has another shape than it must have."""
    if tuple(found.shape) != tuple(wanted):
        sizes = [str(list(shape)).replace(" ", "") for shape in (wanted, found.shape)]
        raise InvalidArgument(f"Expected {what} shape to be {sizes[0]}, but got {sizes[1]}")


def _maximum_grad(
    pooling: Pooling, x: Any, y: Any, grad: Any, ksize: _Given = None, strides: _Given = None
) -> Any:
    """Each gradient where its window has its largest number first."""
    xp, along = pooling.xp, pooling.along(x.shape, ksize, strides)
    depth = pooling.deep(x.shape, ksize)
    shape = (x.shape[0], *(axis.out for axis in along), x.shape[-1] // depth)
    check_shape("orig_output", y, shape)
    check_shape("grad", grad, shape)
    if depth > 1:
        raise Unimplemented("MaxPoolGrad is not yet supported on the depth dimension.")
    out = xp.zeros(x.shape, x.dtype)
    if not out.size or not grad.size:
        return out
    volumes = pooling.rank == 5  # of volumes TensorFlow gives it to all that are the largest
    top = y if volumes else _maximum(pooling, x, ksize, strides)
    alone = all(axis.window <= axis.stride for axis in along)
    may_have_nans = not volumes and x.dtype.kind != "i"
    # On a GPU, which would have to be waited for, there may be some.
    beside_nans = may_have_nans and (xp is not HOST or bool(xp.any(xp.isnan(top))))
    if beside_nans:
        found_at = _maxima_beside_nans(xp, x, top, along)
    else:
        found_at = maxima(xp, x, top, along, not volumes)
    for here, there, found in found_at:
        given = xp.where(found, grad[here], 0) if beside_nans else grad[here] * found
        if alone:  # no element is in two windows
            out[there] = given
        else:
            out[there] += given
    return out


@binder("MaxPoolGrad", "MaxPool3DGrad")
@any_format("xxx")
def max_pool_grad(bind: Bind) -> Callable[..., Any]:
    """The gradient of MaxPool."""
    pooling = Pooling(bind, _rank(bind))
    return lambda x, y, grad: _maximum_grad(pooling, x, y, grad)


@binder("MaxPoolGradV2", host_inputs=("ksize", "strides"))
@any_format("xxxss")
def max_pool_grad_v2(bind: Bind) -> Callable[..., Any]:
    """As MaxPoolGrad; size and stride of the window are inputs."""
    pooling = Pooling(bind, 4)
    return lambda x, y, grad, ksize, strides: _maximum_grad(
        pooling, x, y, grad, ints(ksize), ints(strides)
    )


def _maximum_grad_grad(
    pooling: Pooling, x: Any, y: Any, grad: Any, ksize: _Given = None, strides: _Given = None
) -> Any:
    """The gradients of the elements that were the first to equal the pooling's outputs."""
    xp, along = pooling.xp, pooling.along(x.shape, ksize, strides)
    shape = (x.shape[0], *(axis.out for axis in along), x.shape[-1])
    check_shape("orig_output", y, shape)
    check_shape("grad", grad, x.shape)
    out = xp.zeros(shape, x.dtype)
    for here, there, found in maxima(xp, x, y, along):
        out[here] += grad[there] * found
    return out


@binder("MaxPoolGradGrad", "MaxPool3DGradGrad")
@any_format("xxx")
def max_pool_grad_grad(bind: Bind) -> Callable[..., Any]:
    """The gradient of MaxPoolGrad by its gradient."""
    pooling = Pooling(bind, _rank(bind))
    return lambda x, y, grad: _maximum_grad_grad(pooling, x, y, grad)


@binder("MaxPoolGradGradV2", host_inputs=("ksize", "strides"))
@any_format("xxxss")
def max_pool_grad_grad_v2(bind: Bind) -> Callable[..., Any]:
    """As MaxPoolGradGrad; size and stride of the window are inputs."""
    pooling = Pooling(bind, 4)
    return lambda x, y, grad, ksize, strides: _maximum_grad_grad(
        pooling, x, y, grad, ints(ksize), ints(strides)
    )


def _counts(xp: Any, along: Sequence[Axis], dtype: Any) -> Any:
    """One over the number of elements in each window, padding left out; channels are broadcast."""
    counts = HOST.ones((), "float64")
    for axis in along:
        each = HOST.zeros(axis.out)
        for offset in range(axis.window):
            each[axis.within(offset)[0]] += 1
        counts = counts[..., None] * each
    return xp.asarray(counts[..., None]).astype(dtype)


def _wide(x: Any) -> Any:
    return x.astype("float32") if x.dtype.itemsize == 2 and not is_integer(x) else x


@binder("AvgPool", "AvgPool3D")
@any_format("x")
def average_pool(bind: Bind) -> Callable[..., Any]:
    """The mean of each window, of what is not padding."""
    pooling = Pooling(bind, _rank(bind))
    xp, dtype = bind.xp, dtype_of(bind.attrs["T"])

    def compute(x: Any) -> Any:
        along = pooling.along(x.shape)
        if pooling.deep(x.shape) > 1:
            raise Unimplemented("Non-spatial pooling is not yet supported.")
        total = folded(xp.add, xp, _wide(x), along, 0)
        total = total / _counts(xp, along, total.dtype)
        return total.astype(dtype, copy=False)

    return compute


def _averaged_back(xp: Any, grad: Any, along: Sequence[Axis]) -> Any:
    """Each gradient laid over its whole window, one dimension after the other."""
    for place, axis in enumerate(along, 1):
        if axis.window > 1 or axis.out != axis.size:
            grad = _spread_along(xp, grad, place, axis)
    return grad


def _spread_along(xp: Any, grad: Any, place: int, axis: Axis) -> Any:
    """Each gradient laid over its window along a dimension.

    Elements that are a stride apart get theirs together, so that what only one window reaches is
    written once.
    """
    lead = (slice(None),) * place
    out = xp.empty((*grad.shape[:place], axis.size, *grad.shape[place + 1 :]), grad.dtype)
    for phase in range(min(axis.stride, axis.size)):
        count = -(-(axis.size - phase) // axis.stride)
        pairs = [
            axis.within(offset)
            for offset in range(axis.window)
            if (offset - axis.before - phase) % axis.stride == 0
        ]
        whole = next((here for here, _ in pairs if here.stop - here.start == count), None)
        out[(*lead, slice(phase, None, axis.stride))] = 0 if whole is None else grad[(*lead, whole)]
        for here, there in pairs:
            if here is not whole:
                out[(*lead, there)] += grad[(*lead, here)]
    return out


@binder("AvgPoolGrad", "AvgPool3DGrad", host_inputs=("orig_input_shape",))
@any_format("sx")
def average_pool_grad(bind: Bind) -> Callable[..., Any]:
    """Each gradient shared out over its window."""
    pooling = Pooling(bind, _rank(bind))
    return functools.partial(_average_grad, pooling, dtype_of(bind.attrs["T"]))


def _average_grad(pooling: Pooling, dtype: Any, sizes: Any, grad: Any) -> Any:
    shape = vector_of(sizes, "orig_input_shape")
    along = pooling.along(shape)
    if pooling.deep(shape) > 1:
        raise Unimplemented("Non-spatial pooling is not yet supported.")
    wanted = (shape[0], *(axis.out for axis in along), shape[-1])
    check_shape("grad", grad, wanted)
    wide = _wide(grad)
    spread = _averaged_back(pooling.xp, wide / _counts(pooling.xp, along, wide.dtype), along)
    return spread.astype(dtype, copy=False)
