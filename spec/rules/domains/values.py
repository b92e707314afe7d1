"""The drawing of single values, by dtype and style.

Styles:
  any        extremes, infinities, NaN, -0.0, small and large numbers
  bits       as `any`, and subnormal numbers and all of the range: for operations that only move
  moderate   [-10, 10], rarely infinities, NaN and -0.0
  finite     [-10, 10] and large finite numbers
  small      small integers, and floats that are such: exact in every dtype
  unit       [-1, 1], with its ends
  positive   [0.1, 10], or [1, 20]
  plain      [-10, 10]
  factor     [0.8, 1.25] and the same below 0: products of many stay in range
  divisor    as `moderate`, but no integer 0 and no integer -1

Left out because what a backend does then is undefined or its own affair: subnormal numbers and
numbers whose product or quotient is one (TensorFlow's threads flush them to zero), except in
`bits`; infinite or NaN parts of complex numbers that are computed with; the least integer over -1.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from sessrun.spec.dtypes import BY_NAME

__all__ = ["WORDS", "draw_value"]

_RANGE: Final[dict[str, tuple[int, int]]] = {
    name: (-(2 ** (row.itemsize * 8 - 1)), 2 ** (row.itemsize * 8 - 1) - 1)
    if row.kind == "int"
    else (0, 2 ** (row.itemsize * 8) - 1)
    for name, row in BY_NAME.items()
    if row.kind in {"int", "uint"}
}
#: Powers of ten between which a number's square and its square's reciprocal are normal.
_DECADES: Final[dict[str, float]] = {
    "float16": 1.8,
    "bfloat16": 15.0,
    "float32": 15.0,
    "float64": 120.0,
}
#: The largest finite and the least normal number of each dtype.
_EXTREMES: Final[dict[str, tuple[float, float, float]]] = {
    "float16": (65504.0, 2.0**-14, 2.0**-20),
    "bfloat16": (3.3895313892515355e38, 2.0**-126, 2.0**-130),
    "float32": (3.4028234663852886e38, 2.0**-126, 2.0**-140),
    "float64": (1.7976931348623157e308, 2.0**-1022, 2.0**-1060),
}
_NARROW: Final[dict[str, Callable[[random.Random], float]]] = {
    "small": lambda draw: float(draw.randint(-4, 4)),
    "positive": lambda draw: draw.uniform(0.1, 10.0),
    "unit": lambda draw: draw.uniform(-1.0, 1.0),
    "plain": lambda draw: draw.uniform(-10.0, 10.0),
    "factor": lambda draw: draw.uniform(0.8, 1.25) * draw.choice((1, -1)),
}
#: How often a value of the style `unit` is a special one.
_RARE: Final = 0.1
_PART: Final[dict[str, str]] = {"complex64": "float32", "complex128": "float64"}
_INF: Final = float("inf")
_NAN: Final = float("nan")

#: Strings that are drawn: empty, ASCII, UTF-8, with a NUL, no UTF-8 at all.
WORDS: Final = (
    b"",
    b"a",
    b"A b",
    b"tensor",
    b" x\t",
    b"Zz\n",
    "grün".encode(),
    "日本".encode(),
    b"a\0\0",
    b"\xff\xfe",
    b"12",
    b"-1.5e3",
    b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
)


def draw_value(draw: random.Random, dtype: str, style: str) -> Any:
    """One value of the dtype in the style: a Python bool, int, float, complex or bytes."""
    kind = BY_NAME[dtype].kind
    if kind == "bool":
        return draw.random() < 0.5
    if kind == "string":
        return draw.choice(WORDS)
    if kind == "complex":
        style = {"any": "finite", "moderate": "plain", "divisor": "plain"}.get(style, style)
        part = _PART[dtype]
        return complex(_float(draw, part, style), _float(draw, part, style))
    if kind == "float":
        return _float(draw, dtype, style)
    return _integer(draw, dtype, style)


def _integer(draw: random.Random, dtype: str, style: str) -> int:
    low, high = _RANGE[dtype]
    if style == "divisor":
        divisors: list[int] = [*range(1, 8), 10, high]
        return draw.choice([*divisors, -2, -3, -7, low] if low else divisors)
    if style == "positive":
        return draw.randint(1, 20)
    if style == "unit":
        return draw.randint(max(low, -1), 1)
    if style in {"any", "bits", "finite"} and draw.random() < 0.4:
        return draw.choice([low, high, 0, 1, draw.randint(low, high)])
    return draw.randint(max(low, -10), 10)


def _float(draw: random.Random, dtype: str, style: str) -> float:
    chance = draw.random()
    narrow = _NARROW.get(style)
    if narrow is not None:
        specials = (0.0, -0.0, 1.0, -1.0, _NAN)
        return draw.choice(specials) if style == "unit" and chance < _RARE else narrow(draw)
    if style in {"any", "bits", "moderate", "divisor"} and chance < 0.15:
        return draw.choice((0.0, -0.0, 1.0, -1.0, _INF, -_INF, _NAN))
    if style == "bits" and chance < 0.3:
        return draw.choice(_EXTREMES[dtype]) * draw.choice((1, -1))
    if style in {"any", "bits", "finite"} and chance < 0.3:
        decades = _DECADES[dtype]
        size: float = 10.0 ** draw.uniform(-decades, decades)
        return draw.choice((1, -1)) * size
    return draw.choice((draw.uniform(-10.0, 10.0), float(draw.randint(-5, 5))))
