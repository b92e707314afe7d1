"""From a Python value to the ndarray of a constant: its dtype, and the values that are refused."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from sessrun.reference.base import dtypes
from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.quiet_arithmetic import quietly
from sessrun.reference.errors import bad_type, bad_value
from sessrun.spec.dtypes import row_of_numpy

__all__ = ["to_array"]

_LEAST_INT32: Final = -(2**31)
_GREATEST_INT32: Final = 2**31 - 1
_ARRAYS: Final = (np.ndarray, np.generic, bytearray, memoryview)
_NUMBERS: Final = (numbers.Number, Dimension)
#: The dtype of tensors of Python numbers, where no other is wanted, and numpy's name of it.
_OF_NUMBERS: Final[dict[type | None, tuple[DType, np.dtype[Any]]]] = {
    float: (dtypes.float32, np.dtype(np.float32)),
    int: (dtypes.int32, np.dtype(np.int32)),
}
_LISTS: Final = frozenset({list, tuple})
#: The types of the Python values that most constants are: neither arrays nor lists.
_SCALARS: Final = frozenset({bool, int, float, complex, str, bytes})
# What a Python value must be to become an element of a dtype of this kind; the types of most
# values come before abstract classes, which take longer to compare with.
_ELEMENTS: Final[dict[str, tuple[type, ...]]] = {
    "int": (int, numbers.Integral, Dimension, np.ndarray),
    "uint": (int, numbers.Integral, Dimension, np.ndarray),
    "float": (float, int, numbers.Real, np.ndarray),
    "complex": (float, complex, numbers.Number, np.ndarray),
    "bool": (bool,),
    "string": (str, bytes),
}


def to_array(value: object, dtype: DType | None) -> np.ndarray:
    """A new ndarray of the value, of `dtype` or, for None, of the dtype TensorFlow gives it.

    Python floats become float32, Python integers int32 where they fit; ndarrays, numpy scalars
    and what numpy takes for an array keep their dtype. Given a dtype, arrays are cast to it and
    Python values must be of its kind; what does not fit wraps. String tensors are object arrays
    of bytes; an element of a quantized dtype is a tuple of one integer.

    Raises:
      InvalidArgumentTypeError: an element is of a wrong type.
      InvalidArgumentValueError: the value is None, its nesting is uneven, or an array's
        elements cannot be read as that dtype.
      OverflowError: a Python integer is larger than any integer dtype.

    """
    if value is None:
        raise bad_value("None values not supported.")
    kind = type(value)
    usual = _OF_NUMBERS.get(_type_of_elements(value) if kind in _LISTS else kind)
    if usual is not None and (dtype is None or dtype is usual[0]):
        try:
            return quietly(np.array, value, usual[1])
        except OverflowError:
            pass  # an integer that takes 64 bits
    if kind not in _SCALARS and _is_array(value):
        return _of_numpy(np.asarray(value), dtype)
    if dtype is not None:
        if dtype.is_quantized:
            return _of_tuples(value, dtype)
        _check_elements(value, dtype)
    if kind is bool:
        return _cast(np.array(value), dtype or dtypes.bool_)
    if isinstance(value, int) and _LEAST_INT32 <= value <= _GREATEST_INT32:
        return _cast(np.array(value), dtype or dtypes.int32)
    return _of_nested(value, dtype)


def _type_of_elements(values: Any) -> type | None:
    """The one type of all elements of a list; None where there are none, or several types."""
    kinds = set(map(type, values))
    return kinds.pop() if len(kinds) == 1 else None


def _is_array(value: object) -> bool:
    """Whether it is an array, a numpy scalar, or an object that numpy converts to an array."""
    return (
        isinstance(value, _ARRAYS)
        or hasattr(value, "__array__")
        or hasattr(value, "__array_interface__")
    )


def _of_numpy(array: np.ndarray, dtype: DType | None) -> np.ndarray:
    wanted = dtype or dtypes.of_array(array.view(array.dtype.newbyteorder("=")))
    return _strings(array) if wanted.base_dtype is dtypes.string else _cast(array, wanted)


def _of_tuples(value: object, dtype: DType) -> np.ndarray:
    for leaf in _leaves(value, list):
        if not isinstance(leaf, tuple):
            raise bad_type(
                f"Expected {dtype.name}, but got {leaf} of type '{type(leaf).__name__}'."
            )
    try:
        return np.array(value, dtype.as_numpy_dtype)
    except (TypeError, ValueError) as error:
        raise bad_value(f"Expected {dtype.name}: {error}") from error


def _strings(array: np.ndarray) -> np.ndarray:
    items = np.empty(array.size, object)
    items[:] = [_octets(item) for item in array.ravel().tolist()]
    return items.reshape(array.shape)


def _octets(item: object) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode()
    raise bad_type(f"Expected binary or unicode string, got {item!r}")


def _cast(array: np.ndarray, dtype: DType) -> np.ndarray:
    if not dtype.is_numpy_compatible:
        raise bad_type(f"`dtype` {dtype} is not compatible with a value of dtype {array.dtype}.")
    wanted = np.dtype(dtype.as_numpy_dtype)
    try:
        cast: np.ndarray = quietly(array.astype, wanted)
    except TypeError as error:
        raise bad_type(f"Expected {dtype.name}, but got a {array.dtype} array.") from error
    except ValueError as error:
        raise bad_value(str(error)) from error
    return cast


def _of_nested(value: object, dtype: DType | None) -> np.ndarray:
    try:
        array = np.array(value)
    except UnicodeDecodeError:  # text beside bytes
        array = np.array(value, dtype=object)
    except ValueError as error:  # uneven nesting
        raise bad_value(str(error)) from error
    except (TypeError, OverflowError) as error:
        raise _refused(value) from error
    if array.ndim != _depth(value):
        raise bad_value(
            f"Expected values {value!r} to be a dense tensor of rank {_depth(value)}, "
            f"but got rank {array.ndim}."
        )
    if array.dtype.kind in "SUO" and array.size:
        # numpy makes text of numbers beside text, and cuts the NULs that end a bytes object.
        leaves = list(_leaves(value))
        if not all(isinstance(leaf, str | bytes) for leaf in leaves):
            if dtype is None or not all(isinstance(leaf, _NUMBERS) for leaf in leaves):
                raise _refused(value)
            numbers_ = [leaf.value if isinstance(leaf, Dimension) else leaf for leaf in leaves]
            return _cast(np.array(numbers_, object).reshape(array.shape), dtype)
        items = np.empty(len(leaves), object)
        items[:] = [_octets(leaf) for leaf in leaves]
        return items.reshape(array.shape)
    if array.dtype.kind not in "biufcSUO" and row_of_numpy(array.dtype) is None:
        raise _refused(value)
    return _cast(array, dtype or _dtype_of_python(array))


def _dtype_of_python(array: np.ndarray) -> DType:
    if array.dtype == np.float64:
        return dtypes.float32
    if array.dtype == np.int64 and (
        not array.size or (array.min() >= _LEAST_INT32 and array.max() <= _GREATEST_INT32)
    ):
        return dtypes.int32
    return dtypes.of_array(array)


def _check_elements(value: object, dtype: DType) -> None:
    if not dtype.is_numpy_compatible:
        raise bad_type(f"`dtype` {dtype} is not compatible with {value!r}.")
    allowed = _ELEMENTS[dtype.kind]
    for leaf in (value,) if type(value) in _SCALARS else _leaves(value):
        if not isinstance(leaf, allowed):
            raise bad_type(
                f"Expected {dtype.name}, but got {leaf} of type '{type(leaf).__name__}'."
            )


def _leaves(value: object, nests: Any = (list, tuple)) -> Iterator[object]:
    """The leaves of nested lists (and of tuples, unless tuples are elements)."""
    if isinstance(value, nests):
        for item in value:
            yield from _leaves(item, nests)
    else:
        yield value


def _depth(value: object) -> int:
    depth = 0
    while isinstance(value, list | tuple):
        depth += 1
        if not value:
            break
        value = value[0]
    return depth


def _refused(value: object) -> Exception:
    return bad_type(
        f"Failed to convert elements of {value!r} to Tensor. "
        "Consider casting elements to a supported type."
    )
