"""DType, the dtypes of the namespace (`tf.float32`, ...), and `as_dtype`, on `spec.dtypes`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np

from sessrun.reference.public import public
from sessrun.spec.dtypes import BY_ENUM, DTYPES, REF_OFFSET, DTypeRow, row_of_numpy

__all__ = [
    "ALL",
    "BY_NAME",
    "NARROW",
    "QUANTIZED",
    "DType",
    "DTypeLike",
    "as_dtype",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "of_name",
    "resource",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "variant",
]


@public("DType", "dtypes.DType")
class DType:
    """The dtype of a tensor; one object for each number, so that `is` compares.

    Args:
      type_enum: the `DataType` number.

    Raises:
      TypeError: there is no dtype of this number.

    """

    __slots__ = ("_enum", "_is_ref_dtype", "_row", "base_dtype", "name", "spec_name")

    #: The name; that of a reference dtype ends with `_ref`.
    name: str
    #: The name of the base dtype in the spec's table.
    spec_name: str
    #: The dtype itself, or what a reference dtype refers to.
    base_dtype: DType
    _is_ref_dtype: bool
    _enum: int
    _row: DTypeRow

    def __new__(cls, type_enum: int) -> DType:  # noqa: PYI034 - the objects are made once
        """The one object of this number."""
        dtype = _INTERNED.get(type_enum)
        if dtype is None:
            raise TypeError(f"{type_enum} does not correspond to a valid tensorflow::DataType")
        return dtype

    @property
    def as_datatype_enum(self) -> int:
        """The `DataType` number."""
        return self._enum

    @property
    def kind(self) -> str:
        """bool, int, uint, float, complex, string, quantized, resource or variant."""
        return self._row.kind

    @property
    def opdef_name(self) -> str:
        """The name in an operation's signature (`float`, `half`), of the base dtype."""
        return self._row.opdef

    @property
    def _as_ref(self) -> DType:
        return self if self._is_ref_dtype else _INTERNED[self._enum + REF_OFFSET]

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part of a complex dtype; any other dtype itself."""
        if self._row.name == "complex64":
            return float32
        return float64 if self._row.name == "complex128" else self

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether an ndarray can hold a tensor of this dtype."""
        return self._row.numpy is not None

    @property
    def as_numpy_dtype(self) -> Any:
        """The numpy scalar type, or dtype, of one element.

        Raises:
          KeyError: no ndarray holds elements of this dtype.

        """
        if self._row.numpy is None:
            raise KeyError(self._row.enum)
        return object if self._row.kind == "string" else self._row.numpy

    @property
    def is_bool(self) -> bool:
        """Whether it is bool."""
        return self._row.kind == "bool"

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer dtype, signed or not, that is not quantized."""
        return self._row.kind in {"int", "uint"}

    @property
    def is_floating(self) -> bool:
        """Whether it is a real floating-point dtype."""
        return self._row.kind == "float"

    @property
    def is_complex(self) -> bool:
        """Whether it is complex."""
        return self._row.kind == "complex"

    @property
    def is_numeric(self) -> bool:
        """Whether arithmetic is defined on it."""
        return self._row.is_number

    @property
    def is_quantized(self) -> bool:
        """Whether it is quantized."""
        return self._row.kind == "quantized"

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an unsigned integer dtype."""
        return self._row.kind == "uint"

    @property
    def size(self) -> int:
        """Bytes of one element; 0 for string, resource and variant."""
        return self._row.itemsize

    @property
    def min(self) -> float:
        """The least finite value.

        Raises:
          TypeError: values of this dtype have no order.

        """
        least: float = self._limit("min")
        return least

    @property
    def max(self) -> float:
        """The greatest finite value.

        Raises:
          TypeError: values of this dtype have no order.

        """
        greatest: float = self._limit("max")
        return greatest

    def _limit(self, end: str) -> Any:
        if self._row.kind not in {"float", "int", "uint"}:
            words = {"min": "minimum", "max": "maximum"}[end]
            raise TypeError(f"Cannot find {words} value of {self}.")
        import ml_dtypes  # noqa: PLC0415 - its tables of limits are needed here only

        info: Any = ml_dtypes.finfo if self.is_floating else ml_dtypes.iinfo
        return getattr(info(self._row.numpy), end)

    @property
    def limits(self) -> tuple[float, float]:
        """The range of image intensities: (0, 1) for floats, (0, max) for integers.

        Raises:
          ValueError: the dtype has no least and greatest value.

        """
        if self._row.name in {"float16", "float32", "float64"}:
            return 0, 1
        if self._row.name == "bool":
            return False, True
        if self.is_integer and not self._row.is_narrow:
            return 0, self.max
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: DTypeLike) -> bool:
        """Whether a tensor of dtype `other` may be used where this dtype is expected."""
        other = as_dtype(other)
        return self._enum in {other.as_datatype_enum, other.base_dtype.as_datatype_enum}

    def is_subtype_of(self, other: DType) -> bool:
        """Whether both are the same dtype: no dtype is a subtype of another."""
        return self is other

    def most_specific_common_supertype(self, types: Iterable[DType]) -> DType | None:
        """The dtype itself if all others are the same dtype, else None."""
        return self if all(self is other for other in types) else None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self._enum

    def __int__(self) -> int:
        return self._enum

    def __reduce__(self) -> tuple[Callable[[str], DType], tuple[str]]:
        return as_dtype, (self.name,)

    def __repr__(self) -> str:
        return "tf." + self.name

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"


_INTERNED: Final[dict[int, DType]] = {}


def _intern(row: DTypeRow, *, is_ref: bool) -> None:
    dtype = object.__new__(DType)
    dtype._enum = row.enum + (REF_OFFSET if is_ref else 0)
    dtype._row = row
    dtype.name = row.name + ("_ref" if is_ref else "")
    dtype.spec_name = row.name
    dtype._is_ref_dtype = is_ref
    dtype.base_dtype = _INTERNED[row.enum] if is_ref else dtype
    _INTERNED[dtype._enum] = dtype


for _row in DTYPES:
    _intern(_row, is_ref=False)
    _intern(_row, is_ref=True)

_BY_NAME: Final = {dtype.name: dtype for dtype in _INTERNED.values()}
#: All dtypes by name, with those of references.
BY_NAME: Final[Mapping[str, DType]] = MappingProxyType(_BY_NAME)
#: The narrow dtypes, which the namespace has under `dtypes.experimental` only.
NARROW: Final = frozenset(_INTERNED[row.enum] for row in DTYPES if row.is_narrow)
_ALIASES: Final = {
    "float": _BY_NAME["float32"],
    "double": _BY_NAME["float64"],
    "half": _BY_NAME["float16"],
    "float_ref": _BY_NAME["float32_ref"],
    "double_ref": _BY_NAME["float64_ref"],
    "half_ref": _BY_NAME["float16_ref"],
}
# The Python types that TensorFlow reads as a dtype; int, str and complex are not among them.
_BY_TYPE: Final[dict[Any, DType]] = {
    float: _BY_NAME["float32"],
    bool: _BY_NAME["bool"],
    object: _BY_NAME["string"],
}

ALL: Final = tuple(_INTERNED[row.enum] for row in DTYPES)
#: The quantized dtypes and their references.
QUANTIZED: Final = frozenset(dtype for dtype in _INTERNED.values() if dtype.is_quantized)

float16: Final = _BY_NAME["float16"]
float32: Final = _BY_NAME["float32"]
float64: Final = _BY_NAME["float64"]
bfloat16: Final = _BY_NAME["bfloat16"]
int8: Final = _BY_NAME["int8"]
int16: Final = _BY_NAME["int16"]
int32: Final = _BY_NAME["int32"]
int64: Final = _BY_NAME["int64"]
uint8: Final = _BY_NAME["uint8"]
uint16: Final = _BY_NAME["uint16"]
uint32: Final = _BY_NAME["uint32"]
uint64: Final = _BY_NAME["uint64"]
complex64: Final = _BY_NAME["complex64"]
complex128: Final = _BY_NAME["complex128"]
bool_: Final = _BY_NAME["bool"]
string: Final = _BY_NAME["string"]
resource: Final = _BY_NAME["resource"]
variant: Final = _BY_NAME["variant"]


def of_name(name: str) -> DType:
    """The DType of a name of the spec's table.

    Raises:
      KeyError: the table has no such name.

    """
    return _BY_NAME[name]


def of_array(array: np.ndarray | np.generic) -> DType:
    """The DType of an ndarray's elements.

    Raises:
      TypeError: no tensor holds such elements.

    """
    row = row_of_numpy(array.dtype)
    if row is None:
        raise TypeError(f"Unrecognized data type: {array.dtype}")
    return _INTERNED[row.enum]


#: What `as_dtype` understands: a DType, its name or number, a Python type, a numpy dtype.
DTypeLike: TypeAlias = "DType | str | int | type | np.dtype[np.generic]"


@public("as_dtype", "dtypes.as_dtype")
def as_dtype(type_value: Any) -> DType:
    """The DType that a DType, number, name, Python type or numpy dtype stands for.

    Raises:
      TypeError: the argument stands for no dtype.

    """
    if isinstance(type_value, DType):
        return type_value
    try:
        if isinstance(type_value, str):
            dtype = _BY_NAME.get(type_value) or _ALIASES.get(type_value)
        elif isinstance(type_value, int):
            dtype = _INTERNED.get(type_value)
        else:
            dtype = _of_type(type_value)
    except TypeError:
        dtype = None
    return dtype if dtype is not None else _refuse(type_value)


def _of_type(value: Any) -> DType | None:
    try:
        dtype = _BY_TYPE.get(value)
    except TypeError:  # an array has no hash
        dtype = None
    return dtype or _of_numpy(value)


def _of_numpy(value: Any) -> DType | None:
    if not isinstance(value, np.dtype) and not (
        isinstance(value, type) and value.__module__ != "builtins"
    ):
        dtype = getattr(value, "dtype", None)  # of an array; that of a tensor is a DType
        return None if dtype is None or isinstance(dtype, DType) else as_dtype(dtype)
    if not isinstance(value, np.dtype) and not issubclass(value, np.generic):
        value = getattr(value, "dtype", value)
    row = row_of_numpy(np.dtype(value))
    return None if row is None else _INTERNED[row.enum]


def _refuse(value: object) -> NoReturn:
    raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.")


assert set(BY_ENUM) == {dtype.as_datatype_enum for dtype in ALL}

for _dtype in ALL:
    if _dtype in NARROW:
        public(f"dtypes.experimental.{_dtype.name}")(_dtype)
    else:
        public(_dtype.name, f"dtypes.{_dtype.name}")(_dtype)
public("half", "dtypes.half")(float16)
public("double", "dtypes.double")(float64)
public("QUANTIZED_DTYPES", "dtypes.QUANTIZED_DTYPES")(QUANTIZED)
