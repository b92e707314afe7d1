"""Kernels that extract the windows of images and volumes as channels."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, OutOfRange, Unimplemented
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.windows import geometry, padded, rows


def _patches(
    xp: ArrayModule,
    x: Array,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> Array:
    """The windows, [batch, *positions, window * channels], with 0 outside of the image."""
    rank = len(ksizes)
    if x.ndim != rank:
        raise InvalidArgument(f"input must be {rank}-dimensional: {x.shape}")
    for name, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if values[0] != 1 or values[-1] != 1:
            raise Unimplemented(f"Only support {name} across space.")
        if min(values) < 1:
            raise OutOfRange(f"{name} is out of range.")
    along = geometry(x.shape[1:-1], ksizes[1:-1], strides, rates, padding)
    shape = (x.shape[0], *(axis.out for axis in along), -1)
    if not x.size or 0 in shape:
        window = 1
        for size in ksizes:
            window *= size
        return xp.zeros((*shape[:-1], window * x.shape[-1]), x.dtype)
    return rows(xp, padded(xp, x, along), along).reshape(shape)


@kernel("ExtractImagePatches")
def image_patches(
    xp: ArrayModule,
    x: Array,
    *,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> Array:
    """The windows of images as channels."""
    return _patches(xp, x, ksizes, strides, rates, padding)


@kernel("ExtractVolumePatches")
def volume_patches(
    xp: ArrayModule, x: Array, *, ksizes: Sequence[int], strides: Sequence[int], padding: str
) -> Array:
    """The windows of volumes as channels."""
    return _patches(xp, x, ksizes, strides, (1,) * len(ksizes), padding)
