"""Value domains of operations that work element by element."""

from __future__ import annotations

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__ = ["broadcast_parts"]


def broadcast_parts(draw: Draw, count: int, most: int = 5) -> list[tuple[int, ...]]:
    """Shapes that broadcast to one shape: leading dimensions left out, others made 1."""
    broadcast_shape = draw.shape(0, most)
    parts = []
    for _ in range(count):
        if draw.chance(0.4):
            parts.append(broadcast_shape)
            continue
        cut = draw.random.randint(0, len(broadcast_shape))
        parts.append(tuple(1 if draw.chance(0.3) else dim for dim in broadcast_shape[cut:]))
    return parts


@domain
def elementwise(draw: Draw, x: str, style: str = "any") -> Arguments:
    """A tensor of any shape, its values in a style."""
    return draw.arguments(**{x: draw.tensor(x, draw.shape(), style)})


@domain
def broadcastable(draw: Draw, x: str, y: str, style: str = "any") -> Arguments:
    """Two tensors that broadcast, their values in a style; least integers are not divided."""
    first, second = broadcast_parts(draw, 2)
    return draw.arguments(
        **{
            x: draw.tensor(x, first, "any" if style == "divisor" else style),
            y: draw.tensor(y, second, style),
        }
    )


@domain
def comparable(draw: Draw, x: str, y: str) -> Arguments:
    """Two tensors that broadcast, many of their elements equal."""
    first, second = broadcast_parts(draw, 2)
    style = draw.random.choice(["any", "small"])
    if "incompatible_shape_error" in draw.attrs and draw.chance(0.3):
        second = draw.shape()
        draw.attrs["incompatible_shape_error"] = _fit(first, second)
    return draw.arguments(**{x: draw.tensor(x, first, style), y: draw.tensor(y, second, style)})


def _fit(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in {m, n} for m, n in zip(a[::-1], b[::-1], strict=False))


@domain
def nearby(draw: Draw, x: str, y: str) -> Arguments:
    """Two tensors of one shape, elements apart by half or twice the tolerance."""
    shape = draw.shape()
    tolerance = draw.attrs["tolerance"] = draw.random.choice([1e-5, 0.5])
    first = draw.tensor(x, shape, "small")
    steps = [draw.random.choice([0.0, 0.5, 2.0, -2.0]) for _ in range(first.size)]
    second = first + np.array(steps, first.dtype).reshape(shape) * first.dtype.type(tolerance)
    return draw.arguments(**{x: first, y: second})


@domain
def powers(draw: Draw, x: str, y: str) -> Arguments:
    """Bases and exponents; an integer exponent is in [0, 6].

    Left out: negative bases with infinite exponents, complex zero as a base.
    """
    first, second = broadcast_parts(draw, 2)
    kind = BY_NAME[draw.dtype(x)].kind
    if kind == "int":
        exponents = draw.values("int32", second, "small") % 7
        return draw.arguments(
            **{x: draw.tensor(x, first, "moderate"), y: draw.integers(y, exponents)}
        )
    if kind == "complex":
        return draw.arguments(
            **{x: draw.tensor(x, first, "positive"), y: draw.tensor(y, second, "unit")}
        )
    base = draw.random.choice(["positive", "small"])
    exponents = draw.tensor(y, second, "small" if base == "small" else "unit")
    return draw.arguments(**{x: draw.tensor(x, first, base), y: exponents})


@domain
def shifts(draw: Draw, x: str, y: str) -> Arguments:
    """Integers and counts of bits in [0, width); counts outside are undefined."""
    first, second = broadcast_parts(draw, 2)
    width = BY_NAME[draw.dtype(x)].itemsize * 8
    counts = draw.values("uint16", second) % width
    return draw.arguments(**{x: draw.tensor(x, first), y: draw.integers(y, counts)})


@domain
def alike(draw: Draw, inputs: str, style: str = "any") -> Arguments:
    """One to nine tensors of one shape, which an attribute may state."""
    shape = draw.shape()
    if draw.operation.attr("shape") is not None:
        draw.attrs["shape"] = shape
    count = draw.random.randint(1, 9)
    return draw.arguments(**{inputs: [draw.tensor(inputs, shape, style) for _ in range(count)]})


@domain
def complex_parts(draw: Draw, real: str, imag: str) -> Arguments:
    """Two tensors that broadcast; the complex dtype that their dtype makes."""
    draw.attrs["Tout"] = "complex64" if draw.dtype(real) == "float32" else "complex128"
    return broadcastable(draw, real, imag, "bits")


@domain
def complex_source(draw: Draw, x: str) -> Arguments:
    """A complex tensor; the real dtype of its parts as output."""
    draw.attrs["Tout"] = "float32" if draw.dtype(x) == "complex64" else "float64"
    return draw.arguments(**{x: draw.tensor(x, draw.shape(), "any")})


@domain
def clipped(draw: Draw, t: str, low: str, high: str) -> Arguments:
    """A tensor and two bounds, scalars or of its shape, the lower one not above the other."""
    shape = draw.shape()
    bounds = shape if draw.chance(0.5) else ()
    one = draw.tensor(low, bounds, "finite")
    other = draw.tensor(high, bounds, "finite")
    return draw.arguments(
        **{
            t: draw.tensor(t, shape, "finite"),
            low: np.minimum(one, other),
            high: np.maximum(one, other),
        }
    )


@domain
def any_tensor(draw: Draw, x: str, least: int = 0, most: int = 5) -> Arguments:
    """A tensor of any values, subnormal numbers among them, and of rank in [least, most]."""
    return draw.arguments(**{x: draw.tensor(x, draw.shape(least, most), "bits")})


@domain
def any_tensors(draw: Draw, inputs: str) -> Arguments:
    """One to four tensors of different dtypes and shapes."""
    dtypes = [
        draw.random.choice(["float32", "int64", "bool", "string"])
        for _ in range(draw.random.randint(1, 4))
    ]
    (attr,) = (arg.type_list_attr for arg in draw.operation.inputs if arg.name == inputs)
    draw.attrs[attr or ""] = tuple(dtypes)
    return draw.arguments(**{inputs: [draw.values(dtype, draw.shape()) for dtype in dtypes]})


@domain
def truth(draw: Draw, x: str) -> Arguments:
    """A tensor of a dtype whose scalars count as true or false."""
    dtype = draw.random.choice(
        ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "string"]
    )
    draw.attrs["T"] = dtype
    return draw.arguments(**{x: draw.values(dtype, draw.shape())})


@domain
def any_alike(draw: Draw, inputs: str) -> Arguments:
    """One to four tensors of one dtype and different shapes."""
    count = draw.random.randint(1, 4)
    return draw.arguments(**{inputs: [draw.tensor(inputs, draw.shape()) for _ in range(count)]})


@domain
def ensured_shape(draw: Draw, x: str, shape: str) -> Arguments:
    """A tensor and a shape that it has, some dimensions left open.

    Left out: an open rank, with which TensorFlow 2.21 refuses a tensor of known shape.
    """
    dims = draw.shape()
    known = tuple(None if draw.chance(0.3) else dim for dim in dims)
    draw.attrs[shape] = known
    return draw.arguments(**{x: draw.tensor(x, dims, "bits")})


@domain
def selected(draw: Draw, condition: str, t: str, e: str) -> Arguments:
    """Two tensors of one shape; the condition of that shape, a scalar, or one per row."""
    shape = draw.shape()
    condition_shape = draw.random.choice([shape, (), shape[:1]])
    return draw.arguments(
        **{
            condition: draw.tensor(condition, condition_shape),
            t: draw.tensor(t, shape, "bits"),
            e: draw.tensor(e, shape, "bits"),
        }
    )


@domain
def broadcast_select(draw: Draw, condition: str, t: str, e: str) -> Arguments:
    """Three tensors that broadcast."""
    shapes = broadcast_parts(draw, 3)
    return draw.arguments(
        **{
            condition: draw.tensor(condition, shapes[0]),
            t: draw.tensor(t, shapes[1], "bits"),
            e: draw.tensor(e, shapes[2], "bits"),
        }
    )


@domain
def cast(draw: Draw, x: str) -> Arguments:
    """A tensor whose values the target dtype can hold, after truncation.

    Left out: strings; NaN, infinities and numbers out of range to integers; rounding to
    bfloat16 by truncation.
    """
    source, target = (BY_NAME[_number(draw, name)] for name in ("SrcT", "DstT"))
    draw.attrs["Truncate"] = False
    to_integer = target.kind in {"int", "uint"}
    style = "finite"
    if to_integer and source.kind in {"float", "complex"}:
        style = "small" if target.kind == "int" else "positive"
    elif target.kind in {"float", "complex"}:
        style = "moderate"
    return draw.arguments(**{x: draw.values(source.name, draw.shape(), style)})


def _number(draw: Draw, attr: str) -> str:
    if draw.attrs[attr] == "string":
        draw.attrs[attr] = "float32"
    chosen: str = draw.attrs[attr]
    return chosen
