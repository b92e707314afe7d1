"""The values of slices in files of version 1: numbers in the fields of TensorProto messages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import DTypeLike

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.kernel_errors import (
    InvalidArgument,
    Unimplemented,
)
from sessrun.reference.base.varints import put_varint
from sessrun.reference.state.checkpoints.wire import lost, take_varint
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import TensorProto

__all__ = ["read_values", "write_values"]

#: The field of each dtype, and the numpy dtype as which its numbers are written.
_FIELDS: Final[Mapping[str, tuple[str, DTypeLike]]] = {
    "bool": ("bool_val", np.bool_),
    "complex64": ("scomplex_val", np.float32),
    "complex128": ("dcomplex_val", np.float64),
    "float16": ("half_val", np.uint16),
    "float32": ("float_val", np.float32),
    "float64": ("double_val", np.float64),
    "int64": ("int64_val", np.int64),
    "string": ("string_val", object),
} | {
    name: ("int_val", np.dtype(name.removeprefix("q")))
    for name in ("int8", "int16", "int32", "qint8", "qint32", "quint8", "uint8", "uint16")
}
#: Fields of floating-point numbers, and the byte that each begins with in a message.
_FLOATING: Final = {
    "float_val": 0x2A,
    "double_val": 0x32,
    "scomplex_val": 0x4A,
    "dcomplex_val": 0x62,
}
#: Dtypes that TensorFlow refuses as too large, at any size.
_TOO_LARGE: Final = frozenset({"uint32", "uint64"})


def _field(dtype: str) -> tuple[str, DTypeLike]:
    field = _FIELDS.get(dtype)
    if field is not None:
        return field
    if dtype in _TOO_LARGE:
        raise InvalidArgument(f"Tensor slice is too large to serialize: {BY_NAME[dtype].opdef}")
    raise Unimplemented(f"Saving data type {BY_NAME[dtype].opdef} not yet supported")


def write_values(array: Array | HostArray, dtype: str) -> TensorProto:
    """The message with the values of an array, without dtype and shape.

    Args:
      array: the values.
      dtype: the spec name of their dtype.

    Raises:
      Unimplemented, InvalidArgument: there is no field for values of the dtype.

    """
    field, view = _field(dtype)
    flat = np.ascontiguousarray(array).reshape(-1)
    values = flat if view is object else flat.view(view)
    if field in _FLOATING:  # as bytes: a number of Python keeps not every bit of a NaN
        data = values.tobytes()
        return TensorProto.FromString(bytes([_FLOATING[field]]) + put_varint(len(data)) + data)
    proto = TensorProto()
    getattr(proto, field).extend(values.tolist())
    return proto


def read_values(proto: TensorProto, dtype: str, shape: Sequence[int], name: str) -> HostArray:
    """The array of a message's values.

    Args:
      proto: the message.
      dtype: the spec name of the dtype.
      shape: the shape.
      name: of the tensor, for messages.

    Raises:
      DataLoss: the number of values is wrong, or one of them is no value of the dtype.

    """
    field, view = _field(dtype)
    row = BY_NAME[dtype]
    array: HostArray
    try:
        if field in _FLOATING:
            array = _floating(proto, field, view).view(row.numpy)
        elif view is object:
            values = list(getattr(proto, field))
            array = np.empty(len(values), object)
            array[:] = values
        else:
            array = np.array(getattr(proto, field), view).view(row.numpy)
    except (OverflowError, ValueError) as error:
        raise lost(name, f"a value is none of dtype {row.opdef}") from error
    if array.size != math.prod(shape):
        raise lost(name, f"{array.size} values for the shape {list(shape)}")
    return array.reshape(shape)


def _floating(proto: TensorProto, field: str, view: DTypeLike) -> HostArray:
    """The numbers of a field, from the bytes of the message."""
    others = [other.name for other, _ in proto.ListFields() if other.name != field]
    only = proto
    if others:
        only = TensorProto()
        only.CopyFrom(proto)
        for name in others:
            only.ClearField(name)
    data = only.SerializeToString()
    return np.frombuffer(data, view, offset=take_varint(data, 1)[1] if data else 0)
