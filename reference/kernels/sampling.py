"""Kernels of pictures that are moved and scaled: each pixel a sum over a span, or what lies there.

What one axis becomes is a matrix: for each place of the result the weights of the picture's places
in it. Weights are computed in float32, as TensorFlow computes them. A projective transformation
says for each place of the result where in the picture it comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, ints
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.resizing import checked_size
from sessrun.reference.kernels.sizes import check_size

__all__: list[str] = []

_CPU: Final = ("CPU",)
#: Below it a sum of weights is none.
_NO_WEIGHT: Final = 1000 * 1.1754943508222875e-38
_PI: Final = HOST.float32(3.14159265359)


def _lanczos(radius: int) -> Callable[[Any], Any]:
    def weights(x: Any) -> Any:
        some = HOST.where(x <= 1e-3, HOST.float32(1), x)
        waves = HOST.float32(radius) * HOST.sin(_PI * some) * HOST.sin(_PI * some / radius)
        found = HOST.where(x <= 1e-3, HOST.float32(1), waves / (_PI * _PI * some * some))
        return HOST.where(x > radius, HOST.float32(0), found)

    return weights


def _gaussian(x: Any) -> Any:
    found = HOST.exp(-x * x / (2.0 * 0.5 * 0.5)).astype("float32")
    return HOST.where(x >= 1.5, HOST.float32(0), found)


def _box(x: Any) -> Any:
    return HOST.where(x < 0.5, 1.0, HOST.where(x == 0.5, 0.5, 0.0))


def _cubic(near: tuple[float, ...], far: tuple[float, ...]) -> Callable[[Any], Any]:
    def weights(x: Any) -> Any:
        inner, outer = (
            ((HOST.float32(a) * x + HOST.float32(b)) * x + HOST.float32(c)) * x + HOST.float32(d)
            for a, b, c, d in (near, far)
        )
        return HOST.where(x >= 2, HOST.float32(0), HOST.where(x >= 1, outer, inner))

    return weights


#: For each kind of kernel how far it reaches, and its weights at distances.
_KERNELS: Final[Mapping[str, tuple[float, Callable[[Any], Any]]]] = {
    "lanczos1": (1.0, _lanczos(1)),
    "lanczos3": (3.0, _lanczos(3)),
    "lanczos5": (5.0, _lanczos(5)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, lambda x: HOST.maximum(HOST.float32(1) - x, HOST.float32(0))),
    "keyscubic": (2.0, _cubic((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2))),
    "mitchellcubic": (2.0, _cubic((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9))),
}


def _matrix(kind: str, want: int, have: int, scale: Any, translation: Any, antialias: bool) -> Any:
    """The weights [want, have] of a picture's places in each place of the result: float32."""
    radius, weights = _KERNELS[kind]
    inverse = HOST.float32(1.0 / float(scale))
    shift = -inverse * translation
    spread = HOST.maximum(inverse, HOST.float32(1)) if antialias else HOST.float32(1)
    centre = (HOST.arange(want, dtype="float32") + HOST.float32(0.5)) * inverse + shift
    reach = HOST.float32(radius) * spread
    first = HOST.ceil(centre - reach - HOST.float32(0.5))
    last = HOST.floor(centre + reach - HOST.float32(0.5))
    places = HOST.arange(have, dtype="float32")
    first, last = (HOST.clip(each, 0, have - 1)[:, None] for each in (first, last))
    distance = HOST.abs((places + HOST.float32(0.5) - centre[:, None]) * (HOST.float32(1) / spread))
    found = HOST.where((places >= first) & (places <= last), weights(distance), HOST.float32(0))
    found = found.astype("float32")
    found[(centre < 0) | (centre > have)] = 0  # outside of the picture
    total = found.sum(axis=1, keepdims=True, dtype="float32")
    is_some = HOST.abs(total) >= _NO_WEIGHT
    return HOST.where(is_some, found * (1 / HOST.where(is_some, total, 1)), 0).astype("float32")


def _pair(values: Any, name: str) -> Any:
    if values.shape != (2,):
        raise InvalidArgument(f"{name} must have two elements: {values.shape}")
    return values


def _matrices(
    want: Any, have: Any, scale: Any, translation: Any, kind: str, antialias: bool
) -> list[Any]:
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


def _applied(xp: Any, images: Any, rows: Any, columns: Any) -> Any:
    """Each picture, float32, with its rows and then its columns mixed by matrices."""
    count, _, width, channels = images.shape
    found = xp.empty((count, len(rows), len(columns), channels), "float32")
    down, across = xp.asarray(rows), xp.asarray(columns)
    for number in range(count):
        one = images[number].astype("float32").reshape(-1, width * channels)
        mixed = xp.matmul(down, one).reshape(len(rows), width, channels)
        found[number] = xp.matmul(across, mixed)
    return found


@kernel("ScaleAndTranslate", host_inputs=("size", "scale", "translation"), devices=_CPU)
def scale_and_translate(
    xp: Any,
    images: Any,
    size: Any,
    scale: Any,
    translation: Any,
    *,
    kernel_type: str,
    antialias: bool,
) -> Any:
    """Pictures scaled, moved and cut to a size, each pixel a weighted sum around where it was."""
    want = checked_size(images, size)
    if not images.shape[3]:
        raise InvalidArgument("image must have at least one channel")
    have = images.shape[1:3]
    rows, columns = _matrices(want, have, scale, translation, kernel_type, antialias)
    return _applied(xp, images, rows, columns)


@kernel("ScaleAndTranslateGrad", host_inputs=("scale", "translation"), devices=_CPU)
def scale_and_translate_grad(
    xp: Any,
    grads: Any,
    original: Any,
    scale: Any,
    translation: Any,
    *,
    kernel_type: str,
    antialias: bool,
) -> Any:
    """The gradient of ScaleAndTranslate by its pictures."""
    if grads.ndim != 4 or original.ndim != 4:
        raise InvalidArgument(f"must be 4-dimensional: {grads.shape}, {original.shape}")
    want, have = grads.shape[1:3], original.shape[1:3]
    rows, columns = _matrices(want, have, scale, translation, kernel_type, antialias)
    return _applied(xp, grads, rows.T, columns.T)


def _reflected(place: Any, size: int) -> Any:
    """Places of a picture that is continued by mirror images, its edges doubled."""
    period = HOST.float32(2 * size)
    below = place + period * HOST.trunc(-place / period)
    below = HOST.where(below < -size, below + period, -below - 1)
    above = place - period * HOST.trunc(place / period)
    above = HOST.where(above >= size, period - above - 1, above)
    return _outside(place, size, below, above)


def _wrapped(place: Any, size: int) -> Any:
    """Places of a picture that is repeated."""
    step = HOST.float32(max(size - 1, 1))
    below = place + size * (HOST.trunc(-place / step) + 1)
    above = place - size * HOST.trunc(place / step)
    return _outside(place, size, below, above)


def _outside(place: Any, size: int, below: Any, above: Any) -> Any:
    if size <= 1:
        below = above = HOST.zeros_like(place)
    found = HOST.where(place < 0, below, HOST.where(place > size - 1, above, place))
    return HOST.clip(found, 0, size - 1).astype("float32")


#: What stands for places beyond the picture; a constant needs no other place.
_MODES: Final[Mapping[str, Callable[[Any, int], Any]]] = {
    "REFLECT": _reflected,
    "WRAP": _wrapped,
    "CONSTANT": lambda place, _: place,
    "NEAREST": lambda place, size: HOST.clip(place, 0, size - 1).astype("float32"),
}


def _sources(transform: Any, height: int, width: int) -> tuple[Any, Any]:
    """Row and column in the picture of each place of the result, float32; NaN where infinite."""
    t = transform.astype("float32")
    x = HOST.arange(width, dtype="float32")[None, :]
    y = HOST.arange(height, dtype="float32")[:, None]
    scale = t[6] * x + t[7] * y + HOST.float32(1)
    scale = HOST.where(scale == 0, HOST.float32(HOST.nan), scale)
    return (t[3] * x + t[4] * y + t[5]) / scale, (t[0] * x + t[1] * y + t[2]) / scale


def _nearest(place: Any) -> Any:
    """The nearest integers, halves away from zero."""
    return HOST.copysign(HOST.floor(HOST.abs(place) + 0.5), place).astype("int64")


class _Framed:
    """A picture in a frame of pixels beyond it, read at integer places from -2 on.

    Args:
      image: [height, width, channels].
      fill: what the frame is of.

    """

    def __init__(self, image: Any, fill: Any) -> None:
        height, width, channels = image.shape
        whole = HOST.full((height + 5, width + 5, channels), fill, image.dtype)
        whole[2:-3, 2:-3] = image
        self._width, self._pixels = width + 5, whole.reshape(-1, channels)

    def read(self, rows: Any, columns: Any) -> Any:
        """The pixels at these places."""
        return self._pixels.take((rows + 2) * self._width + (columns + 2), axis=0)


def _mixed(image: _Framed, y: Any, x: Any) -> Any:
    """Each place's pixel from its four neighbours, float32."""
    top, left = HOST.floor(y), HOST.floor(x)
    lower, right = (each[..., None] for each in (top + 1 - y, left + 1 - x))
    upper, other = (each[..., None] for each in (y - top, x - left))
    rows, columns = top.astype("int64"), left.astype("int64")
    lines = [
        right * image.read(row, columns).astype("float32")
        + other * image.read(row, columns + 1).astype("float32")
        for row in (rows, rows + 1)
    ]
    return lower * lines[0] + upper * lines[1]


def _transformed(
    images: Any, transforms: Any, size: Any, fill: Any, interpolation: str, mode: str
) -> Any:
    """Pictures, each pixel from where its transformation says.

    Raises:
      KernelError: pictures, transformations or the size are of a wrong shape.

    """
    if images.ndim != 4:
        raise InvalidArgument("Input images must have rank 4")
    count, have_height, have_width, channels = images.shape
    if transforms.ndim != 2 or len(transforms) not in {1, count} or transforms.shape[1] != 8:
        raise InvalidArgument("Input transform should be num_images x 8 or 1 x 8")
    height, width = ints(_pair(size, "output shape"))
    if height <= 0 or width <= 0:
        raise InvalidArgument("output dimensions must be positive")
    check_size((count, height, width, channels))
    found = HOST.empty((count, height, width, channels), images.dtype)
    ways = [_sources(transform, height, width) for transform in transforms]
    for number, image in enumerate(images):
        y, x = ways[number if len(ways) > 1 else 0]
        is_none = HOST.isnan(y) | HOST.isnan(x)
        y, x = (
            _MODES[mode](HOST.where(is_none, HOST.float32(0), place), edge)
            for place, edge in ((y, have_height), (x, have_width))
        )
        framed = _Framed(image, fill)
        y, x = HOST.clip(y, -2, have_height + 1), HOST.clip(x, -2, have_width + 1)
        if interpolation == "NEAREST":
            rows, columns = (_nearest(place) for place in (y, x))
            drawn = framed.read(rows, columns)
        else:
            drawn = _mixed(framed, y, x).astype(images.dtype)
        drawn[is_none] = fill
        found[number] = drawn
    return found


@kernel("ImageProjectiveTransformV2", devices=_CPU)
def image_projective_transform_v2(
    _: Any, images: Any, transforms: Any, size: Any, *, interpolation: str, fill_mode: str
) -> Any:
    """Pictures, each pixel from where a projective transformation says, 0 beyond the picture."""
    fill = HOST.zeros((), images.dtype)
    return _transformed(images, transforms, size, fill, interpolation, fill_mode)


@kernel("ImageProjectiveTransformV3", devices=_CPU)
def image_projective_transform_v3(
    _: Any,
    images: Any,
    transforms: Any,
    size: Any,
    fill_value: Any,
    *,
    interpolation: str,
    fill_mode: str,
) -> Any:
    """The same with a given number beyond the picture."""
    if fill_value.ndim:
        raise InvalidArgument("fill_value must be a scalar")
    fill = fill_value.astype(images.dtype)
    return _transformed(images, transforms, size, fill, interpolation, fill_mode)
