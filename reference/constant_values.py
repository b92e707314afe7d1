"""From a Python value to the ndarray of a constant: which dtype it gets, what is refused."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from sessrun.reference import dtypes
from sessrun.reference.dimension import Dimension
from sessrun.reference.dtypes import DType
from sessrun.reference.errors import bad_type, bad_value
from sessrun.spec.dtypes import row_of_numpy

__all__ = ["to_array"]

_INT32: Final = np.iinfo(np.int32)
# What a Python value must be to become an element of a dtype of this kind.
_ELEMENTS: Final[dict[str, tuple[type, ...]]] = {
    "int": (numbers.Integral, np.bool_, Dimension),
    "uint": (numbers.Integral, np.bool_, Dimension),
    "float": (numbers.Real, np.bool_),
    "complex": (numbers.Number, np.bool_),
    "bool": (bool, np.bool_),
    "string": (str, bytes),
    "quantized": (tuple,),
}


def to_array(value: Any, dtype: DType | None) -> Any:
    """A new ndarray of the value, of `dtype` or, for None, of the dtype TensorFlow gives it.

    Python floats become float32, Python integers int32 where they fit; ndarrays and numpy
    scalars keep their dtype. Given a dtype, ndarrays are cast to it and Python values must be
    of its kind; what does not fit wraps. String tensors are object arrays of bytes.

    Raises:
      InvalidArgumentTypeError: an element is of a wrong type.
      InvalidArgumentValueError: the value is None, or its nesting is uneven.

    """
    if value is None:
        raise bad_value("None values not supported.")
    if isinstance(value, np.ndarray | np.generic):
        return _of_numpy(np.asarray(value), dtype)
    if dtype is not None:
        _check_elements(value, dtype)
    kind = type(value)
    if kind is float:
        return _cast(np.array(value), dtype or dtypes.float32)
    if kind is bool:
        return _cast(np.array(value), dtype or dtypes.bool_)
    return _of_nested(value, dtype)


def _of_numpy(array: Any, dtype: DType | None) -> Any:
    found = dtypes.of_array(array)
    wanted = dtype or found
    if wanted.base_dtype is dtypes.string:
        return _strings(array)
    if found is dtypes.string and array.dtype.kind == "O":
        array = _of_nested(array.tolist(), dtype)
    return _cast(array, wanted)


def _strings(array: Any) -> Any:
    items = np.empty(array.size, object)
    items[:] = [_octets(item) for item in array.ravel().tolist()]
    return items.reshape(array.shape)


def _octets(item: Any) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode()
    raise bad_type(f"Expected binary or unicode string, got {item!r}")


def _cast(array: Any, dtype: DType) -> Any:
    if not dtype.is_numpy_compatible:
        raise bad_type(f"`dtype` {dtype} is not compatible with a value of dtype {array.dtype}.")
    wanted = np.dtype(dtype.as_numpy_dtype)
    try:
        with np.errstate(all="ignore"):
            return array.astype(wanted)
    except (TypeError, ValueError) as error:
        raise bad_type(f"Expected {dtype.name}, but got a {array.dtype} array.") from error


def _of_nested(value: Any, dtype: DType | None) -> Any:
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
            if dtype is None or not all(isinstance(leaf, Dimension) for leaf in leaves):
                raise _refused(value)
            return _cast(np.array([int(leaf) for leaf in leaves]).reshape(array.shape), dtype)
        items = np.empty(len(leaves), object)
        items[:] = [_octets(leaf) for leaf in leaves]
        return items.reshape(array.shape)
    if array.dtype.kind not in "biufcSUO" and row_of_numpy(array.dtype) is None:
        raise _refused(value)
    return _cast(array, dtype or _dtype_of_python(array))


def _dtype_of_python(array: Any) -> DType:
    if array.dtype == np.float64:
        return dtypes.float32
    if array.dtype == np.int64 and (
        not array.size or (array.min() >= _INT32.min and array.max() <= _INT32.max)
    ):
        return dtypes.int32
    return dtypes.of_array(array)


def _check_elements(value: Any, dtype: DType) -> None:
    if not dtype.is_numpy_compatible:
        raise bad_type(f"`dtype` {dtype} is not compatible with {value!r}.")
    allowed = _ELEMENTS[dtype.kind]
    for leaf in _leaves(value):
        if not isinstance(leaf, allowed) and not isinstance(leaf, np.ndarray):
            raise bad_type(
                f"Expected {dtype.name}, but got {leaf!r} of type '{type(leaf).__name__}'."
            )


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _depth(value: Any) -> int:
    depth = 0
    while isinstance(value, list | tuple):
        depth += 1
        if not value:
            break
        value = value[0]
    return depth


def _refused(value: Any) -> Exception:
    return bad_type(
        f"Failed to convert elements of {value!r} to Tensor. "
        "Consider casting elements to a supported type."
    )
