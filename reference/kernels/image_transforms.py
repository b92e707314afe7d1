"""Kernels that scale and translate pictures by antialiased kernels, or transform them projectively.

Resampling of an axis is a matrix: for each pixel of the result the weights of the picture's pixels
in it. Weights are computed in float32, as in TensorFlow. A projective transformation
maps each pixel of the result to a position in the picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, ints
from sessrun.reference.kernels.input_shapes import check_size, require_rank
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.resizing import checked_size

_CPU: Final = ("CPU",)
#: A sum of weights below this counts as 0.
_NO_WEIGHT: Final = 1000 * 1.1754943508222875e-38
_PI: Final = HOST.float32(3.14159265359)


def _lanczos(radius: int) -> Callable[[Array], Array]:
    def weights(x: Array) -> Array:
        some = HOST.where(x <= 1e-3, HOST.float32(1), x)
        waves = HOST.float32(radius) * HOST.sin(_PI * some) * HOST.sin(_PI * some / radius)
        kernel = HOST.where(x <= 1e-3, HOST.float32(1), waves / (_PI * _PI * some * some))
        return HOST.where(x > radius, HOST.float32(0), kernel)

    return weights


def _gaussian(x: Array) -> Array:
    kernel = HOST.exp(-x * x / (2.0 * 0.5 * 0.5)).astype("float32")
    return HOST.where(x >= 1.5, HOST.float32(0), kernel)


def _box(x: Array) -> Array:
    return HOST.where(x < 0.5, 1.0, HOST.where(x == 0.5, 0.5, 0.0))


def _cubic(near: tuple[float, ...], far: tuple[float, ...]) -> Callable[[Array], Array]:
    def weights(x: Array) -> Array:
        inner, outer = (
            ((HOST.float32(a) * x + HOST.float32(b)) * x + HOST.float32(c)) * x + HOST.float32(d)
            for a, b, c, d in (near, far)
        )
        return HOST.where(x >= 2, HOST.float32(0), HOST.where(x >= 1, outer, inner))

    return weights


#: For each kind of kernel its radius, and the function from distances to weights.
_KERNELS: Final[Mapping[str, tuple[float, Callable[[Array], Array]]]] = {
    "lanczos1": (1.0, _lanczos(1)),
    "lanczos3": (3.0, _lanczos(3)),
    "lanczos5": (5.0, _lanczos(5)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, lambda x: HOST.maximum(HOST.float32(1) - x, HOST.float32(0))),
    "keyscubic": (2.0, _cubic((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2))),
    "mitchellcubic": (2.0, _cubic((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9))),
}


def _matrix(
    kind: str, want: int, have: int, scale: Array, translation: Array, antialias: bool
) -> Array:
    """The weights [want, have] of a picture's pixels in each pixel of the result: float32."""
    radius, weights = _KERNELS[kind]
    inverse = HOST.float32(1.0 / float(scale))
    shift = -inverse * translation
    spread = HOST.maximum(inverse, HOST.float32(1)) if antialias else HOST.float32(1)
    centre = (HOST.arange(want, dtype="float32") + HOST.float32(0.5)) * inverse + shift
    reach = HOST.float32(radius) * spread
    first = HOST.ceil(centre - reach - HOST.float32(0.5))
    last = HOST.floor(centre + reach - HOST.float32(0.5))
    pixels = HOST.arange(have, dtype="float32")
    first, last = (HOST.clip(edge, 0, have - 1)[:, None] for edge in (first, last))
    distance = HOST.abs((pixels + HOST.float32(0.5) - centre[:, None]) * (HOST.float32(1) / spread))
    weighted = HOST.where((pixels >= first) & (pixels <= last), weights(distance), HOST.float32(0))
    weighted = weighted.astype("float32")
    weighted[(centre < 0) | (centre > have)] = 0  # outside of the picture
    total = weighted.sum(axis=1, keepdims=True, dtype="float32")
    is_some = HOST.abs(total) >= _NO_WEIGHT
    return HOST.where(is_some, weighted * (1 / HOST.where(is_some, total, 1)), 0).astype("float32")


def _pair(values: Array, name: str) -> Array:
    if values.shape != (2,):
        raise InvalidArgument(f"{name} must have two elements: {values.shape}")
    return values


def _matrices(
    want: tuple[int, ...],
    have: tuple[int, ...],
    scale: Array,
    translation: Array,
    kind: str,
    antialias: bool,
) -> list[Array]:
    """The matrices of rows and columns.

    Raises:
      KernelError: a scale is not positive, or the kernel is unknown.

    """
    scales, shifts = _pair(scale, "scale"), _pair(translation, "translation")
    if not (scales > 0).all():
        raise InvalidArgument("Scale must be greater than zero.")
    if kind not in _KERNELS:
        raise InvalidArgument(f"Unrecognized kernel type: {kind}")
    return [
        _matrix(kind, *axis, antialias) for axis in zip(want, have, scales, shifts, strict=True)
    ]


def _applied(xp: ArrayModule, images: Array, rows: Array, columns: Array) -> Array:
    """The pictures in float32, with rows and then columns multiplied by matrices."""
    count, _, width, channels = images.shape
    resampled = xp.empty((count, len(rows), len(columns), channels), "float32")
    down, across = xp.asarray(rows), xp.asarray(columns)
    for number in range(count):
        one = images[number].astype("float32").reshape(-1, width * channels)
        mixed = xp.matmul(down, one).reshape(len(rows), width, channels)
        resampled[number] = xp.matmul(across, mixed)
    return resampled


@kernel("ScaleAndTranslate", host_inputs=("size", "scale", "translation"), devices=_CPU)
def scale_and_translate(
    xp: ArrayModule,
    images: Array,
    size: Array,
    scale: Array,
    translation: Array,
    *,
    kernel_type: str,
    antialias: bool,
) -> Array:
    """Pictures scaled, translated and cropped to a size, resampled with a kernel."""
    want = checked_size(images, size)
    if not images.shape[3]:
        raise InvalidArgument("image must have at least one channel")
    have = images.shape[1:3]
    rows, columns = _matrices(want, have, scale, translation, kernel_type, antialias)
    return _applied(xp, images, rows, columns)


@kernel("ScaleAndTranslateGrad", host_inputs=("scale", "translation"), devices=_CPU)
def scale_and_translate_grad(
    xp: ArrayModule,
    grads: Array,
    original: Array,
    scale: Array,
    translation: Array,
    *,
    kernel_type: str,
    antialias: bool,
) -> Array:
    """The gradient of ScaleAndTranslate by its pictures."""
    require_rank(4, grads=grads, original=original)
    want, have = grads.shape[1:3], original.shape[1:3]
    rows, columns = _matrices(want, have, scale, translation, kernel_type, antialias)
    return _applied(xp, grads, rows.T, columns.T)


def _reflected(position: Array, size: int) -> Array:
    """Positions mapped into a picture that is continued by reflection, with its edges repeated."""
    period = HOST.float32(2 * size)
    below = position + period * HOST.trunc(-position / period)
    below = HOST.where(below < -size, below + period, -below - 1)
    above = position - period * HOST.trunc(position / period)
    above = HOST.where(above >= size, period - above - 1, above)
    return _outside(position, size, below, above)


def _wrapped(position: Array, size: int) -> Array:
    """Positions mapped into a picture that is repeated."""
    step = HOST.float32(max(size - 1, 1))
    below = position + size * (HOST.trunc(-position / step) + 1)
    above = position - size * HOST.trunc(position / step)
    return _outside(position, size, below, above)


def _outside(position: Array, size: int, below: Array, above: Array) -> Array:
    if size <= 1:
        below = above = HOST.zeros_like(position)
    mapped = HOST.where(position < 0, below, HOST.where(position > size - 1, above, position))
    return HOST.clip(mapped, 0, size - 1).astype("float32")


#: How positions outside of the picture are mapped into it; with a constant they stay.
_MODES: Final[Mapping[str, Callable[[Array, int], Array]]] = {
    "REFLECT": _reflected,
    "WRAP": _wrapped,
    "CONSTANT": lambda position, _: position,
    "NEAREST": lambda position, size: HOST.clip(position, 0, size - 1).astype("float32"),
}


def _sources(transform: Array, height: int, width: int) -> tuple[Array, Array]:
    """The row and column in the picture of each pixel of the result, float32; NaN if infinite."""
    t = transform.astype("float32")
    x = HOST.arange(width, dtype="float32")[None, :]
    y = HOST.arange(height, dtype="float32")[:, None]
    scale = t[6] * x + t[7] * y + HOST.float32(1)
    scale = HOST.where(scale == 0, HOST.float32(HOST.nan), scale)
    return (t[3] * x + t[4] * y + t[5]) / scale, (t[0] * x + t[1] * y + t[2]) / scale


def _nearest(position: Array) -> Array:
    """The nearest integers, halves away from zero."""
    return HOST.copysign(HOST.floor(HOST.abs(position) + 0.5), position).astype("int64")


class _Framed:
    """A picture padded with a frame, read at integer positions from -2 on.

    Args:
      image: [height, width, channels].
      fill: the value of the frame's pixels.

    """

    def __init__(self, image: Array, fill: Array) -> None:
        height, width, channels = image.shape
        padded = HOST.full((height + 5, width + 5, channels), fill, image.dtype)
        padded[2:-3, 2:-3] = image
        self._width, self._pixels = width + 5, padded.reshape(-1, channels)

    def read(self, rows: Array, columns: Array) -> Array:
        """The pixels at these positions."""
        return self._pixels.take((rows + 2) * self._width + (columns + 2), axis=0)


def _mixed(image: _Framed, y: Array, x: Array) -> Array:
    """Bilinear interpolation of the four neighbours of each position, float32."""
    top, left = HOST.floor(y), HOST.floor(x)
    lower, right = (share[..., None] for share in (top + 1 - y, left + 1 - x))
    upper, other = (share[..., None] for share in (y - top, x - left))
    rows, columns = top.astype("int64"), left.astype("int64")
    lines = [
        right * image.read(row, columns).astype("float32")
        + other * image.read(row, columns + 1).astype("float32")
        for row in (rows, rows + 1)
    ]
    return lower * lines[0] + upper * lines[1]


def _transformed(
    images: Array, transforms: Array, size: Array, fill: Array, interpolation: str, mode: str
) -> Array:
    """Pictures resampled at the positions to which transformations map their pixels.

    Raises:
      KernelError: pictures, transformations or the size have a wrong shape.

    """
    require_rank(4, images=images)
    count, have_height, have_width, channels = images.shape
    if transforms.ndim != 2 or len(transforms) not in {1, count} or transforms.shape[1] != 8:
        raise InvalidArgument("Input transform should be num_images x 8 or 1 x 8")
    height, width = ints(_pair(size, "output shape"))
    if height <= 0 or width <= 0:
        raise InvalidArgument("output dimensions must be positive")
    check_size((count, height, width, channels))
    transformed = HOST.empty((count, height, width, channels), images.dtype)
    ways = [_sources(transform, height, width) for transform in transforms]
    for number, image in enumerate(images):
        y, x = ways[number if len(ways) > 1 else 0]
        is_none = HOST.isnan(y) | HOST.isnan(x)
        y, x = (
            _MODES[mode](HOST.where(is_none, HOST.float32(0), position), edge)
            for position, edge in ((y, have_height), (x, have_width))
        )
        framed = _Framed(image, fill)
        y, x = HOST.clip(y, -2, have_height + 1), HOST.clip(x, -2, have_width + 1)
        if interpolation == "NEAREST":
            rows, columns = (_nearest(position) for position in (y, x))
            drawn = framed.read(rows, columns)
        else:
            drawn = _mixed(framed, y, x).astype(images.dtype)
        drawn[is_none] = fill
        transformed[number] = drawn
    return transformed


@kernel("ImageProjectiveTransformV2", devices=_CPU)
def image_projective_transform_v2(
    _: ArrayModule,
    images: Array,
    transforms: Array,
    size: Array,
    *,
    interpolation: str,
    fill_mode: str,
) -> Array:
    """Pictures resampled by projective transformations, with 0 outside of the picture."""
    fill = HOST.zeros((), images.dtype)
    return _transformed(images, transforms, size, fill, interpolation, fill_mode)


@kernel("ImageProjectiveTransformV3", devices=_CPU)
def image_projective_transform_v3(
    _: ArrayModule,
    images: Array,
    transforms: Array,
    size: Array,
    fill_value: Array,
    *,
    interpolation: str,
    fill_mode: str,
) -> Array:
    """As `ImageProjectiveTransformV2`, with a given value outside of the picture."""
    require_rank(0, fill_value=fill_value)
    fill = fill_value.astype(images.dtype)
    return _transformed(images, transforms, size, fill, interpolation, fill_mode)
