"""Kernels of max pooling that also return the index of each maximum, and of its gradient."""

from __future__ import annotations

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.kernels.pooling import Pooling, check_shape, lowest
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.reference.kernels.scatters import scatter
from sessrun.reference.kernels.windows import offsets, window_slices


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
