"""Kernels of convolutions of images that are padded or resized first, or have more batch axes."""

from __future__ import annotations

import dataclasses
import math

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.convolutions import Convolution
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.reference.kernels.resizing import resize_bilinear
from sessrun.reference.kernels.slicing import mirror_pad


def _surrounded(xp: ArrayModule, x: Array, paddings: Array, mode: str) -> Array:
    """The images with mirror padding in their spatial dimensions."""
    if not x.size:
        raise InvalidArgument("Input tensor can't be empty")
    if paddings.shape == (4, 2) and (paddings[0].any() or paddings[3].any()):
        raise InvalidArgument(
            "Fused mirror padding only support spatial padding, not batches or "
            f"channels: {paddings.tolist()}"
        )
    return mirror_pad(xp, x, paddings, mode=mode)


@binder("FusedPadConv2D", host_inputs=("paddings",))
def padded_convolution(bind: Bind) -> KernelFunction:
    """A convolution of images with mirror padding."""
    convolution, mode = Convolution(bind), bind.attrs["mode"]

    def compute(x: Array, paddings: Array, filters: Array) -> Array:
        return convolution.forward(_surrounded(bind.xp, x, paddings, mode), filters)

    return compute


@binder("FusedResizeAndPadConv2D", host_inputs=("size", "paddings"))
def resized_convolution(bind: Bind) -> KernelFunction:
    """As FusedPadConv2D, with the images resized first."""
    convolution, mode, corners = (
        Convolution(bind),
        bind.attrs["mode"],
        bind.attrs["resize_align_corners"],
    )
    xp = bind.xp

    def compute(x: Array, size: Array, paddings: Array, filters: Array) -> Array:
        resized = resize_bilinear(xp, x, size, align_corners=corners, half_pixel_centers=False)
        padded = _surrounded(xp, resized.astype(x.dtype, copy=False), paddings, mode)
        return convolution.forward(padded, filters)

    return compute


@binder("Conv")
def convolution_of_any(bind: Bind) -> KernelFunction:
    """A convolution of images or volumes with any number of batch dimensions."""
    attrs = bind.attrs
    if attrs["data_format"] != "CHANNELS_LAST":
        raise Unimplemented(
            "The Conv op currently only supports the channels-last tensor format on the CPU."
        )
    if attrs["groups"] != 1:
        raise Unimplemented("Grouped/Depthwise Convolutions are not supported yet.")
    rank = len(attrs["strides"])
    if rank not in {4, 5}:
        raise InvalidArgument(f"The input must have 2 or 3 spatial dimensions but got {rank - 2}")
    dilations = attrs["dilations"] or (1,) * rank
    if rank == 5 and max(dilations) > 1:
        raise InvalidArgument(
            "CPU implementation of Conv3D currently only supports dilated rates of 1."
        )
    form = {**attrs, "data_format": "NHWC", "dilations": dilations}
    convolution = Convolution(dataclasses.replace(bind, attrs=form))

    def compute(x: Array, filters: Array) -> Array:
        batches = x.ndim - rank + 1
        if batches != attrs["batch_dims"] or filters.ndim != rank:
            raise InvalidArgument(
                f"Input of shape {x.shape} must have {attrs['batch_dims']} "
                f"dimensions before those of {rank - 2} in space"
            )
        if x.shape[-1] != filters.shape[-2]:
            raise InvalidArgument(
                f"Input depth must be equal to filter depth: {x.shape[-1]} vs {filters.shape[-2]}"
            )
        lead = x.shape[:batches]
        result = convolution.forward(x.reshape(math.prod(lead), *x.shape[batches:]), filters)
        return result.reshape(*lead, *result.shape[1:])

    return compute
