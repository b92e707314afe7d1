"""Tensors as TensorProto: which field holds which dtype, and the elements that a message says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sessrun.spec.dtypes import BY_ENUM
from sessrun.spec.proto import TensorProto
from sessrun.spec.tensors import MAX_ELEMENTS, TensorError

__all__ = ["FIELDS", "array_of", "filled", "listed_values", "zeros"]

#: The field that lists the elements of a dtype; those of the dtypes left out are in `int_val`.
FIELDS: Final[Mapping[str, str]] = {
    "float32": "float_val",
    "float64": "double_val",
    "string": "string_val",
    "bool": "bool_val",
    "int64": "int64_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "float8_e5m2": "float8_val",
    "float8_e4m3fn": "float8_val",
    "float8_e4m3fnuz": "float8_val",
    "float8_e4m3b11fnuz": "float8_val",
    "float8_e5m2fnuz": "float8_val",
    "float4_e2m1fn": "float8_val",
    "resource": "resource_handle_val",
    "variant": "variant_val",
}


def array_of(tensor: TensorProto) -> np.ndarray:
    """The ndarray of a constant's message, as an engine reads it.

    A short list of values repeats its last one, and values beyond the shape are left out.

    Raises:
      TensorError: no ndarray holds such elements, or the content is not of this size; content of
        strings, which TensorFlow writes for large constants only, is not read.

    """
    row = BY_ENUM.get(tensor.dtype)
    if row is None or row.numpy is None:
        raise TensorError(f"no array has dtype {row.name if row else tensor.dtype}")
    shape = tuple(int(dim.size) for dim in tensor.tensor_shape.dim)
    count = math.prod(shape)
    if any(size < 0 for size in shape) or count > MAX_ELEMENTS:
        raise TensorError(f"a tensor of shape {list(shape)} cannot be made")
    numpy_dtype = np.dtype(row.numpy)
    content = tensor.tensor_content
    if content:
        if row.kind == "string" or len(content) != count * row.itemsize:
            raise TensorError(f"its content is not that of a {row.name} tensor of {list(shape)}")
        if row.kind == "bool" and content.strip(b"\0\1"):
            raise TensorError("its content is not that of a bool tensor")
        return np.frombuffer(content, numpy_dtype).reshape(shape)
    values = listed_values(tensor, row.name, numpy_dtype)[:count]
    elements = filled(values, count) if len(values) else zeros(count, numpy_dtype)
    array: np.ndarray = elements.reshape(shape)
    return array


def filled(values: Any, count: int) -> Any:
    """The values, the last one again and again up to `count`."""
    filled = np.empty(count, values.dtype)
    filled[: len(values)] = values
    filled[len(values) :] = values[-1]
    return filled


def zeros(count: int, numpy_dtype: Any) -> Any:
    """So many zeros, or empty strings."""
    zeros = np.zeros(count, numpy_dtype)
    if numpy_dtype == np.dtype(object):
        zeros.fill(b"")
    return zeros


def listed_values(tensor: TensorProto, name: str, numpy_dtype: Any) -> Any:
    """The elements that stand in the field of their dtype, flat: as many as there are."""
    field = FIELDS.get(name, "int_val")
    listed = getattr(tensor, field)
    if field == "string_val":
        values = np.empty(len(listed), object)
        values[:] = list(listed)
        return values
    if field in {"float8_val", "half_val"}:
        bits = listed
        if field == "half_val":
            bits = np.array(listed, np.int32).astype(np.uint16).tobytes()
        return np.frombuffer(bits, numpy_dtype).copy()
    if field in {"scomplex_val", "dcomplex_val"}:
        part = np.float32 if name == "complex64" else np.float64
        return np.array(listed, part)[: len(listed) // 2 * 2].view(numpy_dtype)
    if numpy_dtype.names is not None:
        return np.array(listed, np.int64).astype(numpy_dtype[0]).view(numpy_dtype)
    if field == "int_val":
        return np.array(listed, np.int32).astype(numpy_dtype)
    return np.array(listed, numpy_dtype)
