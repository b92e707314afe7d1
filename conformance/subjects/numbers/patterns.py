"""Large tensors that a graph makes of a few integers, and the same as arrays of float64."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.spec import tensors
from sessrun.spec.cases.objects import Value
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.tables.ops import OPERATIONS

__all__ = [
    "ARRANGEMENTS",
    "Large",
    "Writer",
    "eps",
    "exact_pattern",
    "rounded",
    "sample",
    "tenths_pattern",
]

#: The integers up to this are all numbers of the dtype.
_EXACT: Final = {
    "float16": 2**11,
    "bfloat16": 2**8,
    "float32": 2**24,
    "float64": 2**53,
    "int32": 2**31,
    "int64": 2**53,
}


def eps(dtype: str) -> float:
    """The distance of 1 to the next number of a floating-point dtype."""
    return {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23}.get(dtype, 2.0**-52)


class Writer(GraphWriter):
    """A writer of graphs that keeps what is fed."""

    def __init__(self) -> None:
        super().__init__()
        self.feeds: dict[str, JsonObject] = {}

    def fed(self, value: float, dtype: str = "int32") -> str:
        """A scalar that is fed, so that nothing computed from it can be folded."""
        name = self.placeholder(dtype, ())
        self.feeds[f"{name}:0"] = tensors.encode(np.array(value, BY_NAME[dtype].numpy))
        return name

    def op(self, op_type: str, *inputs: str, **attrs: Json) -> str:
        """Write a declared operation with these attributes."""
        return self.operation(OPERATIONS[op_type], inputs, attrs)

    def integers(self, *values: int, dtype: npt.DTypeLike = np.int32) -> str:
        """A vector of integers as a constant."""
        return self.constant(np.array(values, dtype))

    def integer(self, value: int) -> str:
        """An integer as a constant."""
        return self.constant(np.array(value, np.int32))


@dataclass(frozen=True, slots=True)
class Large:
    """A large tensor: the node that makes it, and its elements as float64 (or int64)."""

    node: str
    values: np.ndarray
    dtype: str


def _counted(w: Writer, count: int, step: int, modulus: int) -> tuple[str, np.ndarray]:
    """(i * step) mod modulus for each i below count, as int32."""
    numbers = w.op("Range", w.integer(0), w.fed(count), w.integer(1), Tidx="int32")
    scaled = w.op("Mul", numbers, w.integer(step), T="int32")
    node = w.op("FloorMod", scaled, w.integer(modulus), T="int32")
    return node, (np.arange(count, dtype=np.int64) * step) % modulus


def exact_pattern(draw: random.Random, w: Writer, count: int, dtype: str) -> Large:
    """Small integers, most of them zero: the dtype holds the sum of any of them exactly."""
    kept = max(1, -(-count * 2 // (_EXACT[dtype] - 1)))  # one in this many is not zero
    modulus = 5 * draw.randint(kept, kept + 3)
    node, values = _counted(w, count, draw.choice((1, 3, 7)), modulus)
    clipped = w.op("Minimum", node, w.integer(5), T="int32")
    turned = w.op("FloorMod", clipped, w.integer(5), T="int32")
    node = w.op("Sub", turned, w.integer(2), T="int32")
    # 0 .. 4 become -2 .. 2, and all the others -2: those are taken off.
    small = w.op("Maximum", node, w.integer(-2), T="int32")
    is_zero = w.op(
        "Cast", w.op("Equal", clipped, w.integer(5), T="int32"), SrcT="bool", DstT="int32"
    )
    node = w.op("Add", small, w.op("Mul", is_zero, w.integer(2), T="int32"), T="int32")
    values = np.where(values >= 5, 0, values - 2)
    return _of_dtype(w, node, values, dtype)


def tenths_pattern(draw: random.Random, w: Writer, count: int, dtype: str) -> Large:
    """Positive multiples of a tenth, as the dtype has it: their sums are rounded."""
    modulus = draw.choice((1, 1, 3, 5))
    node, values = _counted(w, count, draw.choice((1, 2, 7)), modulus)
    node = w.op("Add", node, w.integer(1), T="int32")
    large = _of_dtype(w, node, values + 1, dtype)
    tenth = np.array(draw.choice((0.1, 0.3)), BY_NAME[dtype].numpy)
    node = w.op("Mul", large.node, w.constant(tenth), T=dtype)
    return Large(node, rounded(large.values * float(tenth), dtype), dtype)


def rounded(values: Value, dtype: str) -> np.ndarray:
    """Numbers rounded to a dtype, as float64."""
    return np.asarray(np.asarray(values).astype(BY_NAME[dtype].numpy), np.float64)


def _of_dtype(w: Writer, node: str, values: np.ndarray, dtype: str) -> Large:
    if dtype != "int32":
        node = w.op("Cast", node, SrcT="int32", DstT=dtype)
    return Large(node, values.astype(np.float64), dtype)


# --- how elements lie -----------------------------------------------------------------------


def _reshaped(w: Writer, x: Large, *shape: int) -> Large:
    node = w.op("Reshape", x.node, w.integers(*shape), T=x.dtype, Tshape="int32")
    return Large(node, x.values.reshape(shape), x.dtype)


def _transposed(w: Writer, x: Large, *axes: int) -> Large:
    node = w.op("Transpose", x.node, w.integers(*axes), T=x.dtype, Tperm="int32")
    return Large(node, x.values.transpose(axes), x.dtype)


def _strided(w: Writer, x: Large, step: int) -> Large:
    """Each second column, or all of them from the last to the first."""
    node = w.op(
        "StridedSlice",
        x.node,
        w.integers(0, 0),
        w.integers(0, 0),
        w.integers(1, step),
        T=x.dtype,
        Index="int32",
        begin_mask=3,
        end_mask=3,
    )
    return Large(node, x.values[:, ::step], x.dtype)


Pattern = Callable[[random.Random, Writer, int, str], Large]
#: A tensor and the axis along which it is large.
Arranged = tuple[Large, int]


def _rows(make: Callable[[int], Large], w: Writer, rows: int, count: int) -> Arranged:
    return _reshaped(w, make(rows * count), rows, count), 1


def _columns(make: Callable[[int], Large], w: Writer, rows: int, count: int) -> Arranged:
    return _reshaped(w, make(rows * count), count, rows), 0


def _turned(make: Callable[[int], Large], w: Writer, rows: int, count: int) -> Arranged:
    return _transposed(w, _reshaped(w, make(rows * count), count, rows), 1, 0), 1


def _every_second(make: Callable[[int], Large], w: Writer, rows: int, count: int) -> Arranged:
    return _strided(w, _reshaped(w, make(2 * rows * count), rows, 2 * count), 2), 1


def _backwards(make: Callable[[int], Large], w: Writer, rows: int, count: int) -> Arranged:
    return _strided(w, _reshaped(w, make(rows * count), rows, count), -1), 1


def _middle(make: Callable[[int], Large], w: Writer, rows: int, count: int) -> Arranged:
    return _reshaped(w, make(2 * rows * count), rows, count, 2), 1


def _turned_middle(make: Callable[[int], Large], w: Writer, rows: int, count: int) -> Arranged:
    whole = _reshaped(w, make(2 * rows * count), 2, count, rows)
    return _transposed(w, whole, 2, 0, 1), 2


#: How the elements of a tensor come to lie along its large axis.
ARRANGEMENTS: Final[dict[str, Callable[[Callable[[int], Large], Writer, int, int], Arranged]]] = {
    "rows": _rows,
    "columns": _columns,
    "turned": _turned,
    "every second": _every_second,
    "backwards": _backwards,
    "middle": _middle,
    "turned middle": _turned_middle,
}


def sample(draw: random.Random, count: int, size: int = 12) -> Sequence[int]:
    """Some places below count, the ends among them."""
    inner = (draw.randrange(count) for _ in range(size))
    return sorted({0, min(1, count - 1), count - 1, *inner})
