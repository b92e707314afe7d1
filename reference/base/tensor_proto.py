"""TensorProto messages, written and read as ndarrays.

TensorFlow writes two or more elements of most dtypes as `tensor_content`, a single element and the
other dtypes in the field of the dtype; both forms are read. Source: files that TensorFlow 2.21
wrote.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sessrun.reference.base import dtypes
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.tensor_shape import proto_of
from sessrun.reference.base.varints import put_varint, take_varint
from sessrun.reference.errors import bad_value
from sessrun.reference.public import public
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import TensorProto, TensorShapeProto
from sessrun.spec.tensor_protos import FIELDS, filled, listed_values, zeros

__all__ = [
    "HeldTensor",
    "held",
    "make_ndarray",
    "make_tensor_proto",
    "shape_equals",
    "string_content",
]

_CONTENT: Final = frozenset(
    {
        "float16",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint32",
        "uint64",
        "qint8",
        "quint8",
        "qint16",
        "quint16",
        "qint32",
        "bfloat16",
        "float8_e5m2",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e4m3b11fnuz",
        "float8_e5m2fnuz",
        "float4_e2m1fn",
    }
)
_MAX_ELEMENTS: Final = 2**31 - 1


class HeldTensor:
    """A tensor attribute as a message, which is converted to an array on first use.

    A few bytes may claim a tensor of any size, or be no valid tensor: TensorFlow imports both, and
    only a run that needs the elements fails.

    Attributes:
      proto: the message, which is written to a GraphDef unchanged.
      shape: the shape that it claims; sizes may be negative.

    """

    __slots__ = ("_array", "proto", "shape")

    def __init__(self, proto: TensorProto) -> None:
        self.proto = TensorProto()
        self.proto.CopyFrom(proto)
        self.shape = _shape_of(proto)
        self._array: HostArray | None = None

    @property
    def size(self) -> int:
        """The number of elements that it claims."""
        return math.prod(self.shape)

    def array(self) -> HostArray:
        """The elements, read-only.

        Raises:
          InvalidArgumentValueError: the message is no valid tensor.

        """
        if self._array is None:
            array = _read(self.proto, self.shape)
            array.flags.writeable = False
            self._array = array
        return self._array


def held(proto: TensorProto) -> HostArray | HeldTensor:
    """The tensor of an attribute: an ndarray if the message has every element, else HeldTensor."""
    shape = _shape_of(proto)
    try:
        dtype = dtypes.as_dtype(int(proto.dtype))
    except TypeError:
        return HeldTensor(proto)
    if _stored(proto, dtype.spec_name) != math.prod(shape) or any(size < 0 for size in shape):
        return HeldTensor(proto)
    try:
        array = make_ndarray(proto)
    except (TypeError, ValueError, OverflowError):
        return HeldTensor(proto)
    array.flags.writeable = False
    return array


def _shape_of(proto: TensorProto) -> tuple[int, ...]:
    return tuple(int(dim.size) for dim in proto.tensor_shape.dim)


def _stored(proto: TensorProto, name: str) -> int:
    """The number of elements in a message; -1 if it is ill-formed."""
    content = proto.tensor_content
    if content:
        count, rest = divmod(len(content), BY_NAME[name].itemsize or len(content) + 1)
        return -1 if rest or not _is_content(content, name) else count
    field = FIELDS.get(name, "int_val")
    count = len(getattr(proto, field))
    return count // 2 if field in {"scomplex_val", "dcomplex_val"} else count


def _is_content(content: bytes, name: str) -> bool:
    """Whether bytes can be the elements of a dtype: the bytes of bools must be 0 or 1."""
    return name != "string" and (name != "bool" or not content.strip(b"\0\1"))


def _read(proto: TensorProto, shape: tuple[int, ...]) -> HostArray:
    """The array as TensorFlow's engine reads it: integers wrap, surplus values are left out."""
    try:
        dtype = dtypes.as_dtype(int(proto.dtype))
        if dtype._is_ref_dtype or not dtype.is_numpy_compatible:  # noqa: SLF001 - DType's own notion
            raise TypeError(f"no constant has dtype {dtype.name}")  # noqa: TRY301 - the message is completed below
        return _array_of(proto, dtype.spec_name, np.dtype(dtype.as_numpy_dtype), shape)
    except (TypeError, ValueError, OverflowError) as error:
        raise bad_value(f"Cannot parse tensor from proto: {error}") from error


def _array_of(
    proto: TensorProto, name: str, numpy_dtype: np.dtype[np.generic], shape: tuple[int, ...]
) -> HostArray:
    count = math.prod(shape)
    if any(size < 0 for size in shape) or count > _MAX_ELEMENTS:
        raise ValueError(f"a tensor of shape {list(shape)} cannot be made")
    if proto.tensor_content and name == "string":
        return _strings(proto.tensor_content, count).reshape(shape)
    if proto.tensor_content:
        if not _is_content(proto.tensor_content, name):
            raise ValueError(f"its content is not that of a {name} tensor")
        return make_ndarray(proto)
    values: HostArray = listed_values(proto, name, numpy_dtype)[:count]
    if len(values) == count:
        return values.reshape(shape)
    if len(values) < 2:  # one value is repeated without allocating memory for each element
        last = values if len(values) else zeros(1, numpy_dtype)
        return np.broadcast_to(last.reshape((1,) * len(shape)), shape)
    repeated: HostArray = filled(values, count)
    return repeated.reshape(shape)


def string_content(items: Sequence[bytes]) -> bytes:
    """Strings as the content of a tensor: their lengths, then the strings."""
    return b"".join([*(put_varint(len(item)) for item in items), *items])


def _strings(content: bytes, count: int) -> NDArray[np.object_]:
    """The strings of a tensor's content; ValueError if there is another number of them."""
    position = 0
    ends: list[int] = []
    for _ in range(count):
        length, position = take_varint(content, position)
        ends.append((ends[-1] if ends else 0) + length)
    text = content[position:]
    if (ends[-1] if ends else 0) != len(text):
        raise ValueError(f"its content is not that of {count} strings")
    strings = np.empty(count, dtype=object)
    strings[:] = [text[start:end] for start, end in itertools.pairwise([0, *ends])]
    return strings


def make_tensor_proto(array: Any, shape: tuple[int, ...] | None = None) -> TensorProto:
    """The TensorProto of an ndarray (string tensors: object arrays of bytes).

    Args:
      array: the elements.
      shape: a shape of more elements, the last of which are repeated by the reader; or None for
        the array's own.

    Raises:
      TypeError: no tensor holds such elements.
      ValueError: the message would take more than 2 GiB.

    """
    if isinstance(array, HeldTensor):
        return array.proto
    array = np.asarray(array)
    dtype = dtypes.of_array(array)
    name = dtype.spec_name
    if array.nbytes >= 2**31:
        raise bad_value("Cannot create a tensor proto whose content is larger than 2GB.")
    sizes = array.shape if shape is None else shape
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=proto_of(sizes))  # type: ignore[arg-type]  # an enum is its number
    count = math.prod(sizes)
    if array.size > 1 and array.size == count and name in _CONTENT:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    else:
        _write_values(np.ravel(array)[:count], name, proto)
    return proto


def _write_values(flat: NDArray[Any], name: str, proto: TensorProto) -> None:
    field = FIELDS.get(name, "int_val")
    if field == "string_val":
        proto.string_val.extend(
            item if isinstance(item, bytes) else str(item).encode() for item in flat
        )
    elif field == "float8_val":
        proto.float8_val = flat.tobytes()
    elif field == "half_val":
        proto.half_val.extend(flat.view(np.uint16).tolist())
    elif field in {"scomplex_val", "dcomplex_val"}:
        parts = flat.view(np.float32 if name == "complex64" else np.float64)
        getattr(proto, field).extend(parts.tolist())
    elif flat.dtype.names is not None:  # quantized: a structure of one field
        proto.int_val.extend(flat[flat.dtype.names[0]].tolist())
    elif BY_NAME[name].is_narrow:  # an integer: ml_dtypes' elements are no Python ints
        proto.int_val.extend(flat.astype(np.int32).tolist())
    else:
        getattr(proto, field).extend(flat.tolist())


@public("make_ndarray")
def make_ndarray(tensor: TensorProto) -> HostArray:
    """The ndarray of a TensorProto; a short list of values repeats its last one.

    Raises:
      TypeError: no ndarray holds such a dtype.
      ValueError: the number of values does not fit the shape, or the shape is not fully known.

    """
    dtype = dtypes.as_dtype(int(tensor.dtype)).base_dtype
    if not dtype.is_numpy_compatible:
        raise TypeError(f"Unsupported tensor type: {dtype.name}")
    shape = tuple(int(dim.size) for dim in tensor.tensor_shape.dim)
    count = math.prod(shape)
    if any(size < 0 for size in shape) or count > _MAX_ELEMENTS:
        raise bad_value(f"A tensor of shape {list(shape)} cannot be made")
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    if tensor.tensor_content and dtype.spec_name != "string":
        if len(tensor.tensor_content) != count * numpy_dtype.itemsize:
            raise bad_value(
                f"A {dtype.name} tensor of shape {list(shape)} takes "
                f"{count * numpy_dtype.itemsize} bytes, got {len(tensor.tensor_content)}"
            )
        return np.frombuffer(tensor.tensor_content, numpy_dtype).reshape(shape).copy()
    values: HostArray = listed_values(tensor, dtype.spec_name, numpy_dtype)
    if len(values) > count:
        raise bad_value(f"A tensor of shape {list(shape)} got {len(values)} values")
    if len(values) == 0:
        values = zeros(count, numpy_dtype)
        return values.reshape(shape)
    repeated: HostArray = filled(values, count)
    return repeated.reshape(shape)


def shape_equals(tensor: TensorProto, shape: Any) -> bool:
    """Whether the tensor of a message has a shape, a list, a tuple or a TensorShapeProto.

    Raises:
      TypeError: an argument has another type.

    """
    if not isinstance(tensor, TensorProto):
        raise TypeError(f"`tensor` must be a TensorProto, but got type {type(tensor)}.")
    if isinstance(shape, TensorShapeProto):
        shape = [dim.size for dim in shape.dim]
    if not isinstance(shape, list | tuple):
        raise TypeError(f"`shape` must be a list or tuple, but got type {type(shape)}.")
    return [dim.size for dim in tensor.tensor_shape.dim] == list(shape)
