"""Kernels of encoded values: compressed strings and serialized tensors."""

from __future__ import annotations

import base64
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.base.tensor_proto import HeldTensor
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import HOST, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.readers import as_kernel_errors
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.state.input.compressed_files import inflated
from sessrun.reference.state.input.record_options import compression_of
from sessrun.spec.dtypes import BY_ENUM, BY_NAME, DTypeRow
from sessrun.spec.proto import TensorProto, TensorShapeProto, foreign

__all__ = ["content_proto"]

_CPU: Final = ("CPU",)


@binder("DecodeCompressed", devices=_CPU)
def decode_compressed(bind: Bind) -> KernelFunction:
    """Each string decompressed."""
    kind = attribute_text(bind.attrs["compression_type"])
    is_known = kind in {"", "GZIP", "ZLIB"}
    compression = compression_of(kind) if is_known else None

    def compute(items: Array) -> Array:
        if not is_known:
            raise InvalidArgument(
                f"Only ZLIB, GZIP or NONE are supported compressions, not {kind!r}"
            )
        if compression is None:
            return items
        with as_kernel_errors():
            texts = [inflated(item, compression) for item in items.reshape(-1).tolist()]
        return string_array(texts, items.shape)

    return compute


@kernel("DecodeJSONExample", devices=_CPU)
def decode_json_example(_: ArrayModule, texts: Array) -> Array:
    """The serialized Examples of texts in JSON."""
    from sessrun.spec.proto.input_pb2 import Example  # noqa: PLC0415 - few programs have examples

    def serialized(text: bytes) -> bytes:
        try:
            message = foreign.parse_json(Example, text.decode(), "the text")
        except (foreign.ProtoError, UnicodeDecodeError) as error:
            raise InvalidArgument(f"Error while parsing JSON: {error}") from error
        return foreign.serialize(message)

    return string_array([serialized(text) for text in texts.reshape(-1).tolist()], texts.shape)


@kernel("SerializeTensor", devices=_CPU)
def serialize_tensor(_: ArrayModule, tensor: Array, *, T: str) -> Array:
    """The serialized TensorProto of a tensor."""
    return string_array([foreign.serialize(content_proto(tensor, T))], ())


def content_proto(tensor: Array, dtype: str) -> TensorProto:
    """The TensorProto of a tensor: strings in `string_val`, all else in `tensor_content`.

    Args:
      tensor: an array in host memory.
      dtype: the spec's name of its dtype.

    """
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in tensor.shape])
    proto = TensorProto(tensor_shape=shape)
    proto.dtype = BY_NAME[dtype].enum  # type: ignore[assignment]  # a number of the enumeration
    if dtype == "string":
        proto.string_val.extend(tensor.reshape(-1).tolist())
    else:
        proto.tensor_content = HOST.ascontiguousarray(tensor).tobytes()
    return proto


@kernel("ParseTensor", devices=_CPU)
def parse_tensor(_: ArrayModule, serialized: Array, *, out_type: str) -> Array:
    """The tensor of a serialized TensorProto."""
    require_rank(0, serialized=serialized)
    row, array = tensor_of(bytes(serialized.item()))
    if row.name != out_type:
        raise InvalidArgument(
            f"Type mismatch between parsed tensor ({row.opdef}) and "
            f"dtype ({BY_NAME[out_type].opdef})"
        )
    return array


def tensor_of(data: bytes) -> tuple[DTypeRow, Array]:
    """The dtype and the array of a serialized TensorProto.

    Raises:
      InvalidArgument: the bytes are no TensorProto, or one without a valid tensor.

    """
    try:
        proto = foreign.parse(TensorProto, data, "`serialized`")
    except foreign.ProtoError as error:
        shown = base64.b64encode(data).decode()
        raise InvalidArgument(
            f"Could not parse `serialized` as TensorProto, base64: {shown}"
        ) from error
    if proto.dtype not in BY_ENUM:
        raise InvalidArgument(f"Cannot parse tensor from proto: {proto}")
    try:
        return BY_ENUM[proto.dtype], HOST.asarray(HeldTensor(proto).array())
    except (ValueError, TypeError) as error:
        raise InvalidArgument(f"Cannot parse tensor from proto: {error}") from error
