"""Tensors as JSON: `{dtype, shape, data}`, the form of cases, records and the process protocol.

Data is base64 of the little-endian C-order bytes; a string tensor's data is a list of base64
items; 4-bit integers take one byte each. A large one that was observed in this process is `Held`:
its elements stay an array, which is looked at only where dtype and shape are as wanted.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from sessrun.spec.dtypes import BY_NAME, row_of_numpy
from sessrun.spec.forms import Json

__all__ = ["HELD_BYTES", "MAX_ELEMENTS", "Held", "TensorError", "decode", "encode", "observed"]

#: A tensor in a case or a message may not claim more elements than this.
MAX_ELEMENTS: Final = 2**31 - 1
#: A tensor of more bytes, or of more strings, is held: no base64 is made of it.
HELD_BYTES: Final = 65536


class TensorError(ValueError):
    """A tensor's JSON form is not one, or does not agree with itself."""


class Held(dict[str, Any]):
    """The form of a large tensor, whose `data` is a digest, equal for equal content.

    Attributes:
      array: the elements.

    """

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray, dtype: str) -> None:
        shape = [int(n) for n in array.shape]
        super().__init__(dtype=dtype, shape=shape, data=f"sha256 {_digest(array)}")
        self.array = array


def observed(value: ArrayLike) -> dict[str, Any]:
    """The form of an ndarray that a backend gave: as `encode`, but held if it is large.

    Raises:
      TensorError: no dtype of the spec holds such elements.

    """
    array = np.asarray(value)
    row = row_of_numpy(array.dtype)
    if row is None or _size(array) <= HELD_BYTES:
        return encode(array)
    return Held(array, row.name)


def encode(value: ArrayLike) -> dict[str, Any]:
    """The JSON form of an ndarray (or anything numpy makes one of); C order, little-endian.

    Raises:
      TensorError: no dtype of the spec holds such elements.

    """
    array = np.asarray(value)
    row = row_of_numpy(array.dtype)
    if row is None:
        raise TensorError(f"no tensor dtype holds numpy dtype {array.dtype}")
    shape = [int(n) for n in array.shape]
    if row.kind == "string":
        flat = array.reshape(-1)  # not `.flat`, which knows no more than 32 dimensions
        data: Json = [base64.b64encode(_item(item)).decode() for item in flat]
    else:
        data = base64.b64encode(_little(array)).decode()
    return {"dtype": row.name, "shape": shape, "data": data}


def _item(item: bytes | str) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode()


def _little(array: np.ndarray) -> bytes:
    ordered = array.dtype.kind in "iufc"
    little = array.astype(array.dtype.newbyteorder("<"), copy=False) if ordered else array
    return np.ascontiguousarray(little).tobytes()


def _size(array: np.ndarray) -> int:
    """The bytes of the elements, or how many strings there are if that is large already."""
    if array.dtype.kind not in "SUO":
        return array.nbytes
    if array.size > HELD_BYTES:
        return array.size
    return sum(len(_item(item)) for item in array.reshape(-1))


def _digest(array: np.ndarray) -> str:
    if array.dtype.kind not in "SUO":
        return hashlib.sha256(_little(array)).hexdigest()
    digest = hashlib.sha256()
    for item in map(_item, array.reshape(-1)):
        digest.update(len(item).to_bytes(8, "little"))
        digest.update(item)
    return digest.hexdigest()


def decode(form: Json) -> np.ndarray:
    """The ndarray of a JSON form; string tensors are object arrays of bytes.

    Raises:
      TensorError: a field is missing, the dtype is unknown, or data and shape disagree.

    """
    if isinstance(form, Held):
        return form.array
    if not isinstance(form, Mapping) or not {"dtype", "shape", "data"} <= form.keys():
        raise TensorError(f"a tensor needs dtype, shape and data, got {_brief(form)}")
    row = BY_NAME.get(form["dtype"]) if isinstance(form["dtype"], str) else None
    if row is None or row.numpy is None:
        raise TensorError(f"unknown tensor dtype {_brief(form['dtype'])}")
    shape = _shape(form["shape"])
    count = math.prod(shape)
    if row.kind == "string":
        return _strings(form["data"], shape, count)
    raw = _bytes(form["data"])
    if len(raw) != count * row.itemsize:
        raise TensorError(
            f"a {row.name} tensor of shape {list(shape)} takes {count * row.itemsize} bytes, "
            f"data has {len(raw)}"
        )
    return np.frombuffer(raw, dtype=np.dtype(row.numpy)).reshape(shape).copy()


def _shape(shape: Json) -> tuple[int, ...]:
    dims = shape if isinstance(shape, list) else [None]
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in dims):
        raise TensorError(f"a tensor's shape is a list of integers >= 0, got {_brief(shape)}")
    if len(dims) > 254 or math.prod(dims) > MAX_ELEMENTS:  # TensorFlow's own rank limit
        raise TensorError(f"a tensor of shape {_brief(shape)} is too large")
    return tuple(dims)


def _bytes(data: Json) -> bytes:
    if not isinstance(data, str):
        raise TensorError(f"a tensor's data is a base64 string, got {_brief(data)}")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise TensorError(f"a tensor's data is not base64: {error}") from error


def _strings(data: Json, shape: tuple[int, ...], count: int) -> np.ndarray:
    if not isinstance(data, list) or len(data) != count:
        raise TensorError(f"a string tensor of shape {list(shape)} needs a list of {count} items")
    array = np.empty(count, dtype=object)
    array[:] = [_bytes(item) for item in data]
    return array.reshape(shape)


def _brief(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
