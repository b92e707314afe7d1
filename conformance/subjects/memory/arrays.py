"""Arrays of the caller's own in every layout, with the memory that they are views of."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol

__all__ = ["LAYOUTS", "Own", "numbers", "own_array", "spoilt"]

#: How an array lies in its memory. None of them begins at a multiple of 64 bytes, or lies there in
#: C order: TensorFlow takes such an array's memory as its own.
LAYOUTS: Final = (
    "inside",
    "strided",
    "reversed",
    "transposed",
    "big-endian",
    "broadcast",
    "read-only",
    "other",
)
#: What an array is filled with afterwards; no array holds it before.
_SPOILT: Final = 77
#: Dtypes whose values an array of another dtype can hold.
_OTHER: Final = {"float32": "float64", "float64": "int32", "int64": "int16", "complex64": "float32"}


@dataclass(frozen=True, slots=True)
class Own:
    """An array of the caller's.

    Attributes:
      base: what is written to.
      mine: what is fed, a view of it.
      value: what is fed, by value, in the tensor's dtype.

    """

    base: Symbol
    mine: Symbol
    value: np.ndarray


def numbers(draw: random.Random, dtype: str, count: int) -> np.ndarray:
    """`count` small numbers or words of a dtype; among bools at least one is False."""
    drawn = np.array([draw.randint(0, 49) for _ in range(count)], np.int64)
    if dtype == "string":
        words = np.empty(count, object)
        words[:] = [b"w%d" % number for number in drawn]
        return words
    if dtype == "bool":
        return (np.arange(count) + drawn[0]) % 2 == 0 if count > 1 else np.array([False])
    return drawn.astype(dtype)


def spoilt(dtype: str) -> bytes | bool | int:
    """The value that the caller overwrites an array with."""
    spoils: dict[str, bytes | bool | int] = {"string": b"spoilt", "bool": True}
    return spoils.get(dtype, _SPOILT)


def own_array(
    c: ApiAuthor, draw: random.Random, dtype: str, shape: tuple[int, ...], layout: str
) -> Own:
    """Record the making of an array of this dtype, shape and layout."""
    count = int(np.prod(shape))
    if layout == "other" and dtype not in _OTHER:
        layout = "strided"
    if layout == "big-endian" and dtype in {"string", "bool", "uint8"}:
        layout = "reversed"
    if layout == "broadcast" and (len(shape) < 2 or shape[0] != 2):  # its view has two rows
        layout = "inside"
    match layout:
        case "inside" | "read-only":
            memory = numbers(draw, dtype, count + 1)
            base = c.np.asarray(memory).copy()
            mine = base[1:].reshape(*shape)
            if layout == "read-only":
                mine.setflags(write=False)
            return Own(base, mine, memory[1:].reshape(shape))
        case "strided":
            memory = numbers(draw, dtype, 2 * count)
            base = c.np.asarray(memory).copy()
            return Own(base, base[::2].reshape(*shape), memory[::2].reshape(shape))
        case "reversed":
            memory = numbers(draw, dtype, count)
            base = c.np.asarray(memory).copy()
            return Own(base, base[::-1].reshape(*shape), memory[::-1].reshape(shape))
        case "transposed":
            memory = numbers(draw, dtype, 2 * count)
            base = c.np.asarray(memory).copy()
            back = shape[::-1]
            strided = base[::2].reshape(*back).transpose()
            return Own(base, strided, memory[::2].reshape(back).transpose())
    return _without_view(c, draw, dtype, shape, layout)


def _without_view(
    c: ApiAuthor, draw: random.Random, dtype: str, shape: tuple[int, ...], layout: str
) -> Own:
    """An array of another byte order or dtype, or one whose rows are one row."""
    if layout == "broadcast":
        row = numbers(draw, dtype, int(np.prod(shape[1:]))).reshape(shape[1:])
        base = c.np.asarray(row).copy()
        mine = c.do({"$view": {"of": base._expr, "as": "broadcast"}})  # noqa: SLF001 - by its name
        return Own(base, mine, np.broadcast_to(row, shape))
    memory = numbers(draw, dtype, int(np.prod(shape))).reshape(shape)
    if layout == "big-endian":
        given = c.np.asarray(memory)
        base = c.do({"$view": {"of": given._expr, "as": "big-endian"}})  # noqa: SLF001 - as above
        return Own(base, base, memory)
    base = c.np.asarray(memory.real.astype(_OTHER[dtype])).copy()
    return Own(base, base, memory)
