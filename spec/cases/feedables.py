"""Values that only a feed or a fetch meets: Python objects, arrays and layouts of their own.

The forms `$py`, `$numpy` and `$view` of the case language are made here, from fixed tables.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import decimal
import enum
import fractions
import re
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from sessrun.spec.cases.values import ValueFormError
from sessrun.spec.forms import Json

__all__ = ["PYTHON_VALUES", "VIEWS", "array_of", "python_value", "view_of"]

#: The dtypes of `$numpy`: objects, strings, dates, and numbers by numpy's own names.
_DTYPE: Final = re.compile(
    r"[<>=|]?(O|[SU]\d{1,4}|[mM]8\[[A-Za-z]{1,2}\]|[iufc]\d{1,2}|b1|StringDType"
    r"|longlong|ulonglong|longdouble|clongdouble)"
)


class ArrayLike:
    """An object that numpy asks for its array."""

    def __init__(self, held: npt.ArrayLike) -> None:
        self._held = np.asarray(held)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is None:  # not an argument that np.array takes before numpy 2
            return np.asarray(self._held, dtype=dtype)
        return np.array(self._held, dtype=dtype, copy=copy)


class FloatLike:
    """An object that converts to float and is no number of Python's."""

    def __init__(self, held: float) -> None:
        self._held = held

    def __float__(self) -> float:
        return self._held


class IndexLike:
    """An object that converts to int and is no int."""

    def __init__(self, held: int) -> None:
        self._held = held

    def __index__(self) -> int:
        return self._held


class Number(enum.IntEnum):
    """An int that is an enumeration's member."""

    ONE = 1
    THREE_HUNDRED = 300


class DerivedDict(dict[object, object]):
    """A dict of a class of its own."""


class DerivedList(list[object]):
    """A list of a class of its own."""


@dataclasses.dataclass(eq=False)
class Record:
    """An object of a dataclass."""

    left: object
    right: object


#: The default factories that a `defaultdict` may have, by name.
FACTORIES: Final[Mapping[str | None, Callable[[], object] | None]] = {
    None: None,
    "dict": dict,
    "int": int,
    "list": list,
    "str": str,
}


def _defaultdict(factory: str | None, held: Mapping[object, object]) -> dict[object, object]:
    if factory not in FACTORIES:
        raise ValueError(f"unknown default factory {factory!r}")
    return collections.defaultdict(FACTORIES[factory], held)


def _masked(data: npt.ArrayLike, mask: Sequence[bool]) -> np.ndarray:
    masked: np.ndarray = np.ma.array(data, mask=mask)
    return masked


#: Maker of each value that `$py` can name.
PYTHON_VALUES: Final[Mapping[str, Callable[..., object]]] = {
    "array": array.array,
    "array_like": ArrayLike,
    "bytearray": bytearray,
    "datetime64": np.datetime64,
    "dataclass": Record,
    "decimal": decimal.Decimal,
    "defaultdict": _defaultdict,
    "deque": collections.deque,
    "dict_subclass": DerivedDict,
    "ellipsis": lambda: ...,
    "float_like": FloatLike,
    "fraction": fractions.Fraction,
    "frozenset": frozenset,
    "index_like": IndexLike,
    "int_enum": Number,
    "list_subclass": DerivedList,
    "mapping_proxy": types.MappingProxyType,
    "masked": _masked,
    "matrix": lambda data: np.asarray(data).view(np.matrix),
    "memoryview": memoryview,
    "object": object,
    "range": range,
    "timedelta64": np.timedelta64,
    "user_dict": collections.UserDict,
    "user_list": collections.UserList,
}


def _readonly(value: np.ndarray) -> np.ndarray:
    frozen = value.copy()
    frozen.flags.writeable = False
    return frozen


#: The layouts of `$view`; all but `broadcast` keep shape or reverse it, and hold the elements.
VIEWS: Final[Mapping[str, Callable[[np.ndarray], np.ndarray]]] = {
    "big-endian": lambda value: value.astype(value.dtype.newbyteorder(">")),
    "broadcast": lambda value: np.broadcast_to(value, (2, *value.shape)),
    "fortran": np.asfortranarray,
    "readonly": _readonly,
    "recarray": lambda value: value.view(np.recarray),
    "reversed": lambda value: value[::-1],
    "strided": lambda value: value[::2],
    "transposed": np.transpose,
}


def python_value(name: Json, args: Sequence[object]) -> object:
    """The value that `PYTHON_VALUES[name]` makes of `args`.

    Raises:
      ValueFormError: the table has no such name, or the maker refuses the arguments.

    """
    maker = PYTHON_VALUES.get(name) if isinstance(name, str) else None
    if maker is None:
        raise ValueFormError(f"unknown Python value {name!r}")
    try:
        return maker(*args)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ValueFormError(f"ill-formed {name}: {error}") from error


def array_of(dtype: Json, shape: Sequence[int], items: Sequence[object]) -> np.ndarray:
    """The array of `shape` whose elements in C order are `items`, each assigned by itself.

    Args:
      dtype: a numpy dtype by name (`O`, `S3`, `U3`, `>i4`, `M8[D]`, `longdouble`,
        `StringDType` …), or a list of [field, dtype] for a structured one.
      shape: a list of sizes.
      items: as many values as the shape has elements.

    Raises:
      ValueFormError: unknown dtype, ill-formed shape, or an item that does not fit.

    """
    try:
        array = np.empty(tuple(shape), dtype=_dtype(dtype))
        if array.size != len(items):
            raise ValueFormError(f"shape {shape} needs {array.size} items, got {len(items)}")
        flat = array.reshape(-1)
        for index, item in enumerate(items):
            flat[index] = item
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise ValueFormError(f"ill-formed $numpy: {error}") from error
    return array


def view_of(value: object, layout: Json) -> np.ndarray:
    """The array `value` in a layout of `VIEWS`.

    Raises:
      ValueFormError: unknown layout, or `value` is no array that has it.

    """
    view = VIEWS.get(layout) if isinstance(layout, str) else None
    if view is None or not isinstance(value, np.ndarray):
        raise ValueFormError(f"no layout {layout!r} of {type(value).__name__}")
    try:
        return view(value)
    except (TypeError, ValueError, IndexError) as error:
        raise ValueFormError(f"ill-formed $view: {error}") from error


def _dtype(name: Json) -> np.dtype:
    if isinstance(name, list):
        return np.dtype([(str(field), _dtype(inner)) for field, inner in name])
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ValueFormError(f"unknown numpy dtype {name!r}")
    return np.dtypes.StringDType() if name == "StringDType" else np.dtype(name)
