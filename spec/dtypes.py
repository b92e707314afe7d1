"""The dtypes of tensors: names, wire numbers, numpy scalar types, limits; the one such table.

Names and numbers are those of TensorFlow's `DataType` enum (shared by GraphDef files), the
numpy types of bfloat16 and its kin come from ml_dtypes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import ml_dtypes
import numpy as np

__all__ = ["BY_ENUM", "BY_NAME", "DTYPES", "GROUPS", "REF_OFFSET", "DTypeRow", "row_of_numpy"]

#: A reference dtype (of a reference variable's output) is the base dtype's number plus this.
REF_OFFSET: Final = 100


@dataclass(frozen=True, slots=True)
class DTypeRow:
    """One dtype.

    Attributes:
      name: TensorFlow's Python name (`float32`), also used in cases and in the protocol.
      enum: the `DataType` number.
      opdef: the name in an operation's signature (`float`, `double`, `half`).
      numpy: the numpy scalar type of one element, or None where no ndarray holds it.
      kind: one of bool, int, uint, float, complex, string, quantized, resource, variant.
      itemsize: bytes of one element on the wire, 0 for string, resource and variant.

    """

    name: str
    enum: int
    opdef: str
    numpy: Any
    kind: str
    itemsize: int

    @property
    def is_number(self) -> bool:
        """Whether arithmetic is defined on values of this dtype (not bool, not quantized)."""
        return self.kind in {"int", "uint", "float", "complex"}

    @property
    def is_in_gpu_memory(self) -> bool:
        """Whether a GPU's memory can hold its elements, as arrays of cupy."""
        return self.kind in {"bool", "int", "uint", "float", "complex"} and not self.is_narrow

    @property
    def is_narrow(self) -> bool:
        """Whether it is one of the floats of a byte or less, or integers of less than a byte.

        TensorFlow has them under `dtypes.experimental` only, and few operations take them.
        """
        return self.enum >= BY_NAME["float8_e5m2"].enum


def _of_newer_releases(name: str) -> Any:
    """An element type of ml_dtypes; None in a worker whose TensorFlow wants one without it."""
    return getattr(ml_dtypes, name, None)


_ROWS: Final = (
    ("float32", 1, "float", np.float32, "float", 4),
    ("float64", 2, "double", np.float64, "float", 8),
    ("int32", 3, "int32", np.int32, "int", 4),
    ("uint8", 4, "uint8", np.uint8, "uint", 1),
    ("int16", 5, "int16", np.int16, "int", 2),
    ("int8", 6, "int8", np.int8, "int", 1),
    ("string", 7, "string", np.object_, "string", 0),
    ("complex64", 8, "complex64", np.complex64, "complex", 8),
    ("int64", 9, "int64", np.int64, "int", 8),
    ("bool", 10, "bool", np.bool_, "bool", 1),
    ("qint8", 11, "qint8", np.dtype([("qint8", np.int8)]), "quantized", 1),
    ("quint8", 12, "quint8", np.dtype([("quint8", np.uint8)]), "quantized", 1),
    ("qint32", 13, "qint32", np.dtype([("qint32", np.int32)]), "quantized", 4),
    ("bfloat16", 14, "bfloat16", ml_dtypes.bfloat16, "float", 2),
    ("qint16", 15, "qint16", np.dtype([("qint16", np.int16)]), "quantized", 2),
    ("quint16", 16, "quint16", np.dtype([("quint16", np.uint16)]), "quantized", 2),
    ("uint16", 17, "uint16", np.uint16, "uint", 2),
    ("complex128", 18, "complex128", np.complex128, "complex", 16),
    ("float16", 19, "half", np.float16, "float", 2),
    ("resource", 20, "resource", None, "resource", 0),
    ("variant", 21, "variant", None, "variant", 0),
    ("uint32", 22, "uint32", np.uint32, "uint", 4),
    ("uint64", 23, "uint64", np.uint64, "uint", 8),
    ("float8_e5m2", 24, "float8_e5m2", ml_dtypes.float8_e5m2, "float", 1),
    ("float8_e4m3fn", 25, "float8_e4m3fn", ml_dtypes.float8_e4m3fn, "float", 1),
    ("float8_e4m3fnuz", 26, "float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, "float", 1),
    ("float8_e4m3b11fnuz", 27, "float8_e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz, "float", 1),
    ("float8_e5m2fnuz", 28, "float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, "float", 1),
    ("int4", 29, "int4", ml_dtypes.int4, "int", 1),
    ("uint4", 30, "uint4", ml_dtypes.uint4, "uint", 1),
    ("int2", 31, "int2", _of_newer_releases("int2"), "int", 1),
    ("uint2", 32, "uint2", _of_newer_releases("uint2"), "uint", 1),
    ("float4_e2m1fn", 33, "float4_e2m1fn", _of_newer_releases("float4_e2m1fn"), "float", 1),
)

DTYPES: Final = tuple(DTypeRow(*row) for row in _ROWS)
BY_NAME: Final[Mapping[str, DTypeRow]] = MappingProxyType({row.name: row for row in DTYPES})
BY_ENUM: Final[Mapping[int, DTypeRow]] = MappingProxyType({row.enum: row for row in DTYPES})
_BY_NUMPY: Final = {np.dtype(row.numpy): row for row in DTYPES if row.numpy is not None}


def _group(*kinds: str) -> tuple[str, ...]:
    return tuple(row.name for row in DTYPES if row.kind in kinds)


#: Groups that a signature's attribute may name instead of a list (TensorFlow's OpDef words).
GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "numbertype": (
            "float32",
            "float64",
            "int32",
            "uint8",
            "int16",
            "int8",
            "complex64",
            "int64",
            "qint8",
            "quint8",
            "qint32",
            "bfloat16",
            "uint16",
            "complex128",
            "float16",
            "uint32",
            "uint64",
        ),
        "realnumbertype": (
            "float32",
            "float64",
            "int32",
            "uint8",
            "int16",
            "int8",
            "int64",
            "bfloat16",
            "uint16",
            "float16",
            "uint32",
            "uint64",
        ),
        "quantizedtype": _group("quantized"),
    }
)


def row_of_numpy(dtype: Any) -> DTypeRow | None:
    """The row whose elements numpy holds as `dtype`; None if there is none.

    Fixed-width string dtypes (`S3`, `U3`) and object are `string`.
    """
    numpy_dtype = np.dtype(dtype)
    if numpy_dtype.kind in "SUO":
        return BY_NAME["string"]
    return _BY_NUMPY.get(numpy_dtype)
