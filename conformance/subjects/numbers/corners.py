"""Numbers at the corners of their dtypes: its ends, zeros of both signs, ties, infinities, NaN."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["ROWS", "CornerRow", "arguments_of"]

#: How many elements a vector has; several times the width of a vector register, and a rest.
_COUNT: Final = 37

#: From a source of chance, a dtype and a number of elements to that many numbers.
Numbers = Callable[[random.Random, str, int], np.ndarray]


def integers(draw: random.Random, dtype: str, count: int) -> np.ndarray:
    """Integers near both ends of the dtype, near zero, and near powers of two."""
    kind = BY_NAME[dtype].numpy
    info = np.iinfo(kind)
    power = 1 << draw.randrange(info.bits - 1)
    near = [
        info.min,
        info.min + 1,
        -2,
        -1,
        0,
        1,
        2,
        3,
        power - 1,
        power,
        power + 1,
        -power,
        info.max // 2,
        info.max - 1,
        info.max,
    ]
    corners = [number for number in near if info.min <= number <= info.max]
    return np.array(draw.choices(corners, k=count), kind)


def floats(draw: random.Random, dtype: str, count: int) -> np.ndarray:
    """Zeros of both signs, ties between integers, numbers near the ends, infinities, NaN."""
    top = {"float16": 65504.0, "bfloat16": 3.0e38, "float32": 3.0e38}.get(dtype, 1.7e308)
    corners = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        -1.5,
        2.5,
        -2.5,
        0.49,
        1.0,
        -1.0,
        3.0,
        7.0,
        1 / 3,
        2.0 ** draw.randint(-10, 15),
        top,
        -top,
        np.inf,
        -np.inf,
        np.nan,
    ]
    return np.asarray(draw.choices(corners, k=count)).astype(BY_NAME[dtype].numpy)


def _divisors(draw: random.Random, dtype: str, count: int) -> np.ndarray:
    """Divisors but 0, which is refused, and -1: the least integer over -1 may kill the process."""
    drawn = [n for n in integers(draw, dtype, 8 * count).tolist() if n not in {0, -1}]
    return np.array(drawn[:count], BY_NAME[dtype].numpy)


def _counts(draw: random.Random, dtype: str, count: int) -> np.ndarray:
    """Counts of bits, less than the dtype has."""
    bits = np.iinfo(BY_NAME[dtype].numpy).bits
    return np.array([draw.choice((0, 1, bits - 2, bits - 1)) for _ in range(count)]).astype(
        BY_NAME[dtype].numpy
    )


def _exponents(draw: random.Random, dtype: str, count: int) -> np.ndarray:
    return np.array([draw.randint(0, 5) for _ in range(count)]).astype(BY_NAME[dtype].numpy)


def _no_zeros(draw: random.Random, dtype: str, count: int) -> np.ndarray:
    """Floats without zeros: which of two zeros is the greater one is left open."""
    values = floats(draw, dtype, count)
    return np.where(values == 0, np.ones((), values.dtype), values)


def _float_divisors(draw: random.Random, dtype: str, count: int) -> np.ndarray:
    """Floats whose quotients are no subnormal numbers: threads may flush these."""
    divisors = floats(draw, dtype, count)
    wide = divisors.astype("float64")
    is_large = np.isfinite(wide) & (np.nan_to_num(abs(wide)) > 1000)
    return np.where(is_large, np.full((), 2, divisors.dtype), divisors)


@dataclass(frozen=True, slots=True)
class CornerRow:
    """An operation of the table.

    Attributes:
      op: its type.
      clause: the clause that fixes its value there.
      numbers: draws each input that has the attribute's dtype.
      kind: the kind of its dtypes in the table of dtypes.
      attr: the attribute of the dtype.
      beside: its inputs of other dtypes, by name.

    """

    op: str
    clause: str
    numbers: Sequence[Numbers]
    kind: str = "int"
    attr: str = "T"
    beside: Mapping[str, np.ndarray] | None = None

    def dtypes(self) -> list[str]:
        """The dtypes of the kind that the operation takes."""
        declared = OPERATIONS[self.op].attr(self.attr)
        assert declared is not None
        names = declared.allowed or tuple(BY_NAME)
        kinds = {"int", "uint"} if self.kind == "int" else {self.kind}
        return [n for n in names if BY_NAME[n].kind in kinds and n in _ORDINARY]


#: Dtypes that numpy computes in.
_ORDINARY: Final = frozenset(
    {
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
    }
)


def _rows(
    clause: str, ops: str, *numbers: Numbers, kind: str = "int", **beside: np.ndarray
) -> list[CornerRow]:
    return [CornerRow(op, clause, numbers, kind, beside=beside) for op in ops.split()]


_AXIS: Final = np.array(0, np.int32)
_PAIR: Final = (integers, integers)
ROWS: Final[Sequence[CornerRow]] = (
    *_rows("OPERATIONS-004", "Add AddV2 Sub Mul SquaredDifference", *_PAIR),
    *_rows("OPERATIONS-004", "Square Neg Abs", integers),
    *_rows("OPERATIONS-004", "Pow", integers, _exponents),
    *_rows("OPERATIONS-004", "Sum Prod", integers, reduction_indices=_AXIS),
    *_rows("OPERATIONS-004", "Cumsum Cumprod", integers, axis=_AXIS),
    *_rows("OPERATIONS-045", "Max Min", integers, reduction_indices=_AXIS),
    *_rows("OPERATIONS-045", "Maximum Minimum", *_PAIR),
    *_rows("OPERATIONS-048", "FloorDiv FloorMod", integers, _divisors),
    *_rows("OPERATIONS-049", "TruncateDiv TruncateMod Div Mod", integers, _divisors),
    *_rows("OPERATIONS-052", "BitwiseAnd BitwiseOr BitwiseXor", *_PAIR),
    *_rows("OPERATIONS-052", "Invert PopulationCount", integers),
    *_rows("OPERATIONS-053", "LeftShift RightShift", integers, _counts),
    *_rows("OPERATIONS-054", "AddV2 Sub Mul", floats, floats, kind="float"),
    *_rows("OPERATIONS-054", "RealDiv", floats, _float_divisors, kind="float"),
    *_rows("OPERATIONS-054", "Neg Abs Sign", floats, kind="float"),
    *_rows("OPERATIONS-060", "Round Rint Floor Ceil", floats, kind="float"),
    *_rows("OPERATIONS-065", "Maximum Minimum", _no_zeros, _no_zeros, kind="float"),
    *_rows("OPERATIONS-066", "IsNan IsInf IsFinite", floats, kind="float"),
    *_rows("OPERATIONS-065", "Relu Relu6", floats, kind="float"),
    *_rows("OPERATIONS-046", "Less LessEqual Greater GreaterEqual Equal NotEqual", *_PAIR),
    *_rows(
        "OPERATIONS-068",
        "Less LessEqual Greater GreaterEqual Equal NotEqual",
        floats,
        floats,
        kind="float",
    ),
    *_rows("OPERATIONS-086", "ArgMax ArgMin", integers, dimension=_AXIS),
    *_rows("OPERATIONS-087", "ArgMax ArgMin", floats, kind="float", dimension=_AXIS),
    *_rows("OPERATIONS-135", "Unique UniqueWithCounts", integers),
    *_rows("OPERATIONS-138", "TopKV2", integers, k=np.array(7, np.int32)),
    *(CornerRow("Cast", "OPERATIONS-075", (integers,), attr="SrcT") for _ in range(4)),
    *(CornerRow("Cast", "OPERATIONS-077", (floats,), "float", "SrcT") for _ in range(3)),
)


def arguments_of(row: CornerRow, draw: random.Random) -> tuple[Operation, Arguments]:
    """The operation of a row and its arguments: a vector for each input of the dtype."""
    operation = OPERATIONS[row.op]
    drawn = Draw(operation, draw)
    dtype = draw.choice(row.dtypes())
    drawn.attrs[row.attr] = dtype
    if row.op == "Cast":
        kinds = {"int", "uint"} if row.kind == "int" else {"float"}
        drawn.attrs["DstT"] = draw.choice(sorted(n for n in _ORDINARY if BY_NAME[n].kind in kinds))
    # The order of what is not sorted is left open, and so is rounding by truncation.
    for name, value in (("sorted", True), ("Truncate", False)):
        if name in drawn.attrs:
            drawn.attrs[name] = value
    beside = dict(row.beside or {})
    own = [arg.name for arg in operation.inputs if arg.name not in beside]
    inputs = {
        name: numbers(draw, dtype, _COUNT) for name, numbers in zip(own, row.numbers, strict=True)
    }
    for arg in operation.inputs:
        if arg.name in beside and arg.type_attr is not None:
            drawn.attrs[arg.type_attr] = "int32"
    return operation, Arguments(inputs | beside, drawn.attrs)
