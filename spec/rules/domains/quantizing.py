"""Value domains of quantized numbers and of those that become such."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []

#: The dtypes of quantized numbers whose levels a float32 tells apart.
_SMALL = ("qint8", "quint8", "qint16", "quint16")


def _end(number: float, dtype: Any = "float32") -> np.ndarray:
    return np.array(number).astype(dtype)


def _range(draw: Draw) -> tuple[float, float]:
    """A range with zero in it, of float32 numbers."""
    low = draw.random.choice([-1.0, -6.0, -draw.random.uniform(0.5, 9), 0.0])
    return float(np.float32(low)), float(np.float32(draw.random.uniform(0.5, 9)))


def _drawn(draw: Draw, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Integers of a quantized dtype: all of 8 and 16 bits, of 32 those of some millions."""
    kind = np.dtype(BY_NAME[dtype].numpy)
    info = np.iinfo(kind[0])
    low, high = max(info.min, -(1 << 24)), min(info.max, 1 << 24)
    count = int(np.prod(shape))
    integers = [draw.random.randint(low, high) for _ in range(count)]
    return np.array(integers, kind[0]).reshape(shape).view(kind)


def _numbers(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    return draw.values("float32", shape, "plain")


def _axis(draw: Draw, shape: tuple[int, ...]) -> int:
    """No axis, or one counted from the front; a single slice TensorFlow takes for the whole."""
    places = [axis for axis, dim in enumerate(shape) if dim > 1]
    return draw.random.choice(places) if places and draw.chance(0.4) else -1


def _ends(draw: Draw, axis: int, shape: tuple[int, ...], dtype: Any = "float32") -> Any:
    """Both ends of a range, of one for each slice of the axis."""
    if axis == -1:
        low, high = _range(draw)
        return _end(low, dtype), _end(high, dtype)
    pairs = [_range(draw) for _ in range(shape[axis])]
    return tuple(np.array(ends, "float32").astype(dtype) for ends in zip(*pairs, strict=True))


@domain
def quantized(draw: Draw, x: str, low: str, high: str) -> Arguments:
    """Numbers and a range; 32 bits are left out, whose levels no float32 tells apart.

    So are scalars in MIN_FIRST, which one of TensorFlow's builds lets run over.
    """
    shape = draw.shape(1 if draw.attrs["mode"] == "MIN_FIRST" else 0, 3, 1)
    draw.attrs["T"] = draw.random.choice(_SMALL)
    draw.attrs["axis"] = axis = -1 if draw.attrs["mode"] == "MIN_FIRST" else _axis(draw, shape)
    if draw.attrs["mode"] != "SCALED":
        draw.attrs["round_mode"] = "HALF_AWAY_FROM_ZERO"
    elif draw.attrs["T"] == "qint8" and draw.attrs["round_mode"] == "HALF_TO_EVEN":
        draw.attrs["narrow_range"] = True  # TensorFlow's builds differ in the range they report
    least, most = _ends(draw, axis, shape)
    return draw.arguments(**{x: _numbers(draw, shape), low: least, high: most})


@domain
def dequantized(draw: Draw, x: str, low: str, high: str) -> Arguments:
    """Quantized numbers and their range, one for all: an axis needs a rank that is known.

    Left out are scalars, which one of TensorFlow's builds refuses.
    """
    shape = draw.shape(1, 3, 1)
    draw.attrs["T"] = draw.random.choice(_SMALL)
    draw.attrs.update(dtype="float32", axis=-1)
    least, most = _ends(draw, -1, shape)
    return draw.arguments(**{x: _drawn(draw, draw.attrs["T"], shape), low: least, high: most})


@domain
def roundtrip(draw: Draw, x: str, low: str, high: str, bits: str = "") -> Arguments:
    """Numbers, a range, and how many bits there are."""
    shape = draw.shape(1, 3, 1)
    draw.attrs["T"] = kind = draw.random.choice(["float32", "float64"])
    is_scalar = draw.attrs["range_given"] and not bits  # so TensorFlow demands it
    draw.attrs["axis"] = axis = -1 if is_scalar else _axis(draw, shape)
    count = draw.random.choice([4, 8, 8, 10])
    least, most = _ends(draw, axis, shape, kind)
    inputs = {x: draw.tensor(x, shape, "plain"), low: least, high: most}
    if bits:
        inputs[bits] = draw.integers(bits, count)
    else:
        draw.attrs["num_bits"] = count
    return draw.arguments(**inputs)


@domain
def roundtrip_between(draw: Draw, x: str) -> Arguments:
    """Numbers, and a range and a count of bits as attributes."""
    draw.attrs["T"] = draw.random.choice(["float32", "float64"])
    draw.attrs["num_bits"] = draw.random.choice([4, 8, 8, 10])
    draw.attrs["input_min"] = draw.random.choice([0.0, -1.0, -2.5])
    draw.attrs["input_max"] = draw.random.choice([0.5, 1.0, 4.0])
    return draw.arguments(**{x: draw.tensor(x, draw.shape(1, 3, 1), "plain")})


@domain
def roundtrip_grad(draw: Draw, grads: str, x: str, low: str, high: str) -> Arguments:
    """Gradients, numbers and a range."""
    shape = draw.shape(0, 3, 1)
    draw.attrs["T"] = kind = draw.random.choice(["float32", "float64"])
    draw.attrs["axis"] = axis = _axis(draw, shape)
    least, most = _ends(draw, axis, shape, kind)
    tensors = {name: draw.tensor(name, shape, "plain") for name in (grads, x)}
    return draw.arguments(**tensors, **{low: least, high: most})


@domain
def faked(draw: Draw, *names: str) -> Arguments:
    """Numbers, perhaps gradients before them; the last two names are a range's ends, if any."""
    draw.attrs["num_bits"] = draw.random.choice([2, 4, 8, 8, 16])
    shape = draw.shape(0, 3, 1)
    tensors = [name for name in names if name in {"inputs", "gradients"}]
    inputs = {name: _numbers(draw, shape) for name in tensors}
    ends = [name for name in names if name not in inputs]
    if ends:
        inputs.update(zip(ends, map(_end, _range(draw)), strict=True))
    return draw.arguments(**inputs)


@domain
def faked_channels(draw: Draw, *names: str) -> Arguments:
    """The same with a range for each channel."""
    draw.attrs["num_bits"] = draw.random.choice([2, 4, 8, 8, 16])
    shape = draw.shape(1, 4, 1)
    inputs = {name: _numbers(draw, shape) for name in names[:-2]}
    inputs.update(zip(names[-2:], _ends(draw, len(shape) - 1, shape), strict=True))
    return draw.arguments(**inputs)


@domain
def of_bytes(draw: Draw, x: str, *scalars: str) -> Arguments:
    """Quantized bytes and their range; a scalar of another name is a bound."""
    for name in ("T", "Tinput", "out_type"):
        if draw.operation.attr(name) is not None:
            draw.attrs[name] = "quint8"
    return _with_range(draw, x, "quint8", draw.shape(0, 3, 1), scalars)


@domain
def of_words(draw: Draw, x: str, *scalars: str) -> Arguments:
    """Quantized numbers of 32 bits, their range, and perhaps another that is asked for."""
    draw.attrs["Tinput"] = "qint32"
    if draw.operation.attr("out_type") is not None:
        draw.attrs["out_type"] = "quint8"
    return _with_range(draw, x, "qint32", draw.shape(0, 3, 1), scalars)


@domain
def words_of_channels(draw: Draw, x: str, low: str, high: str, *asked: str) -> Arguments:
    """Pictures of 32 bits, a range for each channel, and perhaps another that is asked for."""
    draw.attrs["T"] = "qint32"
    if asked:
        draw.attrs["out_type"] = draw.random.choice(["qint8", "quint8"])
    else:
        draw.attrs["clip_value_max"] = draw.random.choice([6.0, 0.02])
    shape = tuple(draw.random.randint(1, 4) for _ in range(4))
    least, most = _ends(draw, 3, shape)
    inputs = {x: _drawn(draw, "qint32", shape), low: least, high: most}
    ends = (draw.random.choice([-1.0, -0.3]), draw.random.choice([1.0, 2.0, 0.05]))
    return draw.arguments(**inputs, **dict(zip(asked, map(_end, ends), strict=False)))


def _with_range(
    draw: Draw, x: str, dtype: str, shape: tuple[int, ...], scalars: tuple[str, ...]
) -> Arguments:
    bounds = [name for name in scalars if name == "max_value"]
    inputs = {name: _end(2.5) for name in bounds}
    rest = [name for name in scalars if name not in inputs]
    for pair in zip(rest[::2], rest[1::2], strict=True):
        inputs.update(zip(pair, map(_end, _range(draw)), strict=True))
    return draw.arguments(**{x: _drawn(draw, dtype, shape)}, **inputs)


def _pair(draw: Draw, names: tuple[str, ...], shapes: Any) -> Arguments:
    """Two tensors of bytes and their ranges, in the order of the operation's inputs."""
    draw.attrs.update(T1="quint8", T2="quint8")
    for name in ("Toutput", "out_type"):
        if draw.operation.attr(name) is not None:
            draw.attrs[name] = "qint32"
    inputs = {
        name: _drawn(draw, "quint8", shape) for name, shape in zip(names[:2], shapes, strict=True)
    }
    for pair in (names[2:4], names[4:6]):
        inputs.update(zip(pair, map(_end, _range(draw)), strict=True))
    return draw.arguments(**inputs)


@domain
def bytes_multiplied(draw: Draw, *names: str) -> Arguments:
    """Two matrices of bytes that fit, each perhaps stored transposed, and their ranges."""
    draw.attrs["Tactivation"] = "quint8"
    rows, inner, columns = (draw.dim(1) for _ in range(3))
    left = (inner, rows) if draw.attrs["transpose_a"] else (rows, inner)
    right = (columns, inner) if draw.attrs["transpose_b"] else (inner, columns)
    return _pair(draw, names, (left, right))


@domain
def bytes_paired(draw: Draw, *names: str) -> Arguments:
    """Two tensors of bytes of one shape, or a scalar for the second, and their ranges."""
    shape = draw.shape(1, 3, 1)
    return _pair(draw, names, (shape, () if draw.chance(0.3) else shape))


@domain
def bytes_biased(draw: Draw, *names: str) -> Arguments:
    """Bytes, a vector of as many as the last dimension, and their ranges."""
    shape = draw.shape(2, 4, 1)
    return _pair(draw, names, (shape, shape[-1:]))


@domain
def bytes_reshaped(draw: Draw, x: str, shape: str, low: str, high: str) -> Arguments:
    """Bytes, a shape of as many elements, and their range."""
    draw.attrs["T"] = "quint8"
    old = draw.shape(0, 3, 1)
    least, most = _range(draw)
    return draw.arguments(
        **{
            x: _drawn(draw, "quint8", old),
            low: _end(least),
            high: _end(most),
            shape: draw.integers(shape, [*old[::-1], 1]),
        }
    )


@domain
def bytes_joined(draw: Draw, axis: str, values: str, lows: str, highs: str) -> Arguments:
    """Tensors of bytes that fit, the axis along which they are joined, and their ranges."""
    draw.attrs["T"] = "quint8"
    shape = draw.shape(1, 3, 1)
    along = draw.random.randrange(len(shape))
    count = draw.random.randint(2, 3)
    shapes = [(*shape[:along], draw.dim(1), *shape[along + 1 :]) for _ in range(count)]
    ends = [_range(draw) for _ in range(count)]
    return draw.arguments(
        **{
            axis: draw.integers(axis, along),
            values: [_drawn(draw, "quint8", size) for size in shapes],
            lows: [_end(low) for low, _ in ends],
            highs: [_end(high) for _, high in ends],
        }
    )


@domain
def bytes_convolved(draw: Draw, *names: str) -> Arguments:
    """Pictures and filters of bytes, and their ranges."""
    draw.attrs.update(Tinput="quint8", Tfilter="quint8")
    step = draw.random.randint(1, 2)
    draw.attrs["strides"] = [1, step, step, 1]
    depth = draw.random.randint(1, 3)
    picture = (*(draw.random.randint(low, 2 * low) for low in (1, 3, 3)), depth)
    window = (*(draw.random.randint(1, 3) for _ in range(2)), depth, draw.random.randint(1, 3))
    arguments = _pair(draw, names, (picture, window))
    attrs = {key: value for key, value in arguments.attrs.items() if key not in {"T1", "T2"}}
    return Arguments(arguments.inputs, attrs)


@domain
def bytes_pooled(draw: Draw, x: str, low: str, high: str) -> Arguments:
    """Pictures of bytes, a window and its stride, and their range."""
    draw.attrs["T"] = "quint8"
    size, step = draw.random.randint(1, 3), draw.random.randint(1, 2)
    draw.attrs.update(ksize=[1, size, size, 1], strides=[1, step, step, 1])
    shape = (draw.random.randint(1, 2), draw.random.randint(3, 6), draw.random.randint(3, 6), 2)
    return _with_range(draw, x, "quint8", shape, (low, high))


@domain
def bytes_normalized(draw: Draw, x: str, low: str, high: str) -> Arguments:
    """Pictures of bytes and their range, perhaps with the range of the result."""
    draw.attrs["T"] = "quint8"
    draw.attrs.update(given_y_min=-2.0, given_y_max=draw.random.choice([1.5, 3.0]))
    shape = tuple(draw.random.randint(least, least + 2) for least in (1, 2, 2, 1))
    return _with_range(draw, x, "quint8", shape, (low, high))


@domain
def quantized_resizing(draw: Draw, x: str, size: str, low: str, high: str) -> Arguments:
    """Quantized pictures, or of float32, a size and a range."""
    if draw.attrs["align_corners"]:
        draw.attrs["half_pixel_centers"] = False
    shape = tuple(draw.random.randint(1, most) for most in (2, 6, 6, 3))
    kind = draw.attrs["T"] = draw.random.choice(["quint8", "qint32", "float32"])
    values = draw.tensor(x, shape, "plain") if kind == "float32" else _drawn(draw, kind, shape)
    least, most = _range(draw)
    wanted = [draw.random.randint(1, 10), draw.random.randint(1, 10)]
    return draw.arguments(
        **{
            x: values,
            size: draw.integers(size, wanted),
            low: _end(least),
            high: _end(most),
        }
    )
