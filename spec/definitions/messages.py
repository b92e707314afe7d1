"""Definitions of tensors as serialized messages, and of bytes that are compressed."""

from __future__ import annotations

import zlib

import numpy as np
from google.protobuf.message import DecodeError

from sessrun.spec.definitions.base import Array, definition, strings
from sessrun.spec.dtypes import row_of_numpy
from sessrun.spec.proto import TensorProto
from sessrun.spec.tensor_protos import array_of

__all__: list[str] = []


def _message(x: Array) -> bytes:
    """The TensorProto of a tensor: strings one by one, other elements as their bytes."""
    row = row_of_numpy(x.dtype)
    assert row is not None
    proto = TensorProto.FromString(bytes([8]) + _varint(row.enum))  # field 1, the dtype's number
    proto.tensor_shape.SetInParent()
    for size in x.shape:
        proto.tensor_shape.dim.add(size=size)
    if row.kind == "string":
        proto.string_val.extend(x.reshape(-1).tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(x).tobytes()
    return proto.SerializeToString(deterministic=True)


def _packed(x: Array) -> bytes:
    """As `_message`; strings are bytes too: the lengths of all as varints, then all of them."""
    if x.dtype != object:
        return _message(x)
    texts = x.reshape(-1).tolist()
    content = b"".join(_varint(len(text)) for text in texts) + b"".join(texts)
    proto = TensorProto.FromString(_message(x))
    proto.ClearField("string_val")
    proto.tensor_content = content
    return proto.SerializeToString(deterministic=True)


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth says that more follow."""
    more, low = divmod(number, 128)
    return bytes([low | 128]) + _varint(more) if more else bytes([low])


@definition("SerializeTensor")
def _serialize(x: Array) -> bytes:
    return _message(x)


@definition("ParseTensor")
def _parse(serialized: Array) -> Array:
    try:
        return array_of(TensorProto.FromString(serialized[()]))
    except DecodeError as error:
        raise ValueError("these bytes are no tensor's message") from error


@definition("SerializeSparse")
def _serialize_sparse(indices: Array, values: Array, shape: Array) -> Array:
    return strings([_packed(part) for part in (indices, values, shape)])


@definition("SerializeManySparse")
def _serialize_many(indices: Array, values: Array, shape: Array) -> Array:
    """For each row its elements, without the first index and the first size."""
    rows = []
    for row in range(int(shape[0])):
        mine = indices[:, 0] == row
        parts = (indices[mine][:, 1:], values[mine], shape[1:])
        rows.append([_packed(np.ascontiguousarray(part)) for part in parts])
    return strings([text for row in rows for text in row]).reshape(len(rows), 3)


@definition("DecodeCompressed")
def _decompressed(x: Array, *, compression_type: str) -> Array:
    """By zlib, or by gzip, whose members are joined; as they are without a type."""
    bits = {"ZLIB": zlib.MAX_WBITS, "GZIP": 16 + zlib.MAX_WBITS}.get(compression_type)
    texts = x.reshape(-1).tolist()
    inflated = texts if bits is None else [_inflated(text, bits) for text in texts]
    return strings(inflated).reshape(x.shape)


def _inflated(text: bytes, bits: int) -> bytes:
    """What the streams in `text` hold, joined; of one that is cut off, what is before the cut."""
    inflated = b""
    while text:
        stream = zlib.decompressobj(bits)
        inflated += stream.decompress(text)
        text = stream.unused_data
    return inflated
