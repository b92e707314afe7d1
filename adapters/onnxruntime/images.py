"""Images of another size."""

from __future__ import annotations

import numpy as np

from sessrun.adapters.onnxruntime.table import ALL, INTEGERS, SINGLE, Call, translates

__all__: list[str] = []


@translates("ResizeNearestNeighbor", kernels=ALL)
def _resize_nearest(call: Call) -> str:
    """Rows and columns gathered: ONNX divides by a scale where TensorFlow multiplies by one."""
    x = call.names[0]
    if 0 in call.output_shape()[1:3]:
        raise call.invalid("an image without pixels is asked for")
    for axis in (1, 2):
        size, wanted = call.shape()[axis], call.output_shape()[axis]
        x = call.emit("Gather", x, call.constant(_nearest(call, size, wanted)), axis=axis)
    return x


def _nearest(call: Call, size: int, wanted: int) -> np.ndarray:
    """The old row that each new one is."""
    is_aligned, is_half = call.attrs["align_corners"], call.attrs["half_pixel_centers"]
    spans = (size - 1, wanted - 1) if is_aligned and wanted > 1 else (size, wanted)
    scale = np.float32(spans[0]) / np.float32(spans[1])
    rows = np.arange(wanted, dtype=np.float32)
    at = (rows + np.float32(0.5)) * scale if is_half else rows * scale
    nearest = np.floor(at + np.float32(0.5)) if is_aligned else np.floor(at)
    held: np.ndarray = np.clip(nearest, 0, size - 1)
    return held.astype(np.int64)


@translates("ResizeBilinear", kernels=SINGLE | INTEGERS | {"float64", "float16", "bfloat16"})
def _resize_bilinear(call: Call) -> str:
    """Of float32, whatever the images are; channels come second in ONNX."""
    mode = "asymmetric"
    if call.attrs["half_pixel_centers"]:
        mode = "half_pixel"
    if call.attrs["align_corners"]:
        mode = "align_corners"
    batch, height, width, channels = call.output_shape()
    x = call.cast(call.names[0], "float32")
    moved = call.emit("Transpose", x, perm=[0, 3, 1, 2])
    sizes = call.constant([batch, channels, height, width])
    y = call.emit(
        "Resize", moved, "", "", sizes, mode="linear", coordinate_transformation_mode=mode
    )
    return call.emit("Transpose", y, perm=[0, 2, 3, 1])
