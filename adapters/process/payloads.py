"""Tensors and graphs as parts of a message, in the line or in an exchange file.

In the line a tensor is the form of `sessrun.spec.tensors`. In a file its elements are raw,
little-endian, in C order; a string's bytes follow their length, eight bytes little-endian.
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from numpy.typing import ArrayLike

from sessrun.adapters.process.errors import ProtocolError
from sessrun.adapters.process.exchange import Exchange
from sessrun.adapters.process.forms import FileReference, TensorForm
from sessrun.spec import tensors
from sessrun.spec.dtypes import BY_NAME, row_of_numpy
from sessrun.spec.forms import Json, JsonObject

if TYPE_CHECKING:  # no worker has it
    from sessrun.spec.proto import GraphDef

__all__ = [
    "INLINE_BYTES",
    "LINE_BYTES",
    "OBSERVATION_BYTES",
    "STRINGS",
    "Packer",
    "dumps",
    "loads",
    "unpack_graph",
    "unpack_json",
    "unpack_tensor",
]

#: A tensor of more bytes goes to an exchange file.
INLINE_BYTES: Final = 65536
#: A line of more bytes, without its newline, is no message.
LINE_BYTES: Final = 2**20

#: How many strings the tensors of one answer may hold in files: each is an object here.
STRINGS: Final = 2**20
#: How many bytes the observations of an API case in a file may take: all are looked at.
OBSERVATION_BYTES: Final = 2**22

_LENGTH: Final = 8
_SIZE: Final = struct.Struct("<Q")
#: The most characters of a line that a reference to an exchange file takes.
_REFERENCE_BYTES: Final = 80
#: Dtypes whose tensors cross as a mere sign that they exist.
_OPAQUE: Final = ("resource", "variant")


def dumps(form: Json) -> bytes:
    """Compact ASCII JSON without a newline.

    Raises:
      ProtocolError: something in it has no JSON form, or it nests too deep.

    """
    try:
        return json.dumps(form, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise ProtocolError(f"no JSON form: {error}") from error


def loads(data: bytes) -> Json:
    """Read the JSON value of UTF-8 bytes.

    Raises:
      ProtocolError: there is none, it nests too deep, or a number in it is not finite.

    """
    try:
        form: Json = json.loads(data.decode("utf-8"), parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON ({error})") from error
    return form


@dataclass(slots=True)
class _Part:
    """A part of a message that may move to a file: its dict and key, its size, its file's bytes."""

    container: dict[str, Any]
    key: str
    size: Callable[[], int]
    content: Callable[[], bytes]
    replaces_value: bool = False


@dataclass(slots=True)
class Packer:
    """Builds one line; what it wrote to the exchange folder is in `files`."""

    exchange: Exchange
    files: list[str] = field(default_factory=list)
    _parts: list[_Part] = field(default_factory=list)

    def tensor(self, value: ArrayLike) -> dict[str, Any]:
        """The form of an ndarray: data in the line up to 64 KiB, else a file.

        Raises:
          ProtocolError: no dtype of the spec holds such elements.

        """
        array = np.asarray(value)
        opaque = array.dtype.names[0] if array.dtype.names else ""
        if opaque in _OPAQUE:
            return {"dtype": opaque, "shape": list(array.shape), "opaque": True}
        row = row_of_numpy(array.dtype)
        if row is None:
            raise ProtocolError(f"no tensor dtype holds numpy dtype {array.dtype}")
        if array.nbytes > INLINE_BYTES and row.kind != "string":
            head = {"dtype": row.name, "shape": list(array.shape)}
            return head | {**self._file(_raw(array))}
        form = tensors.encode(array)
        data = form["data"]
        if row.kind == "string" and _string_size(data) > INLINE_BYTES:
            return {"dtype": row.name, "shape": form["shape"]} | {**self._file(_raw_strings(data))}
        self._parts.append(_Part(form, "data", lambda: _string_size(data), lambda: _raw_data(data)))
        return form

    def graph(self, message: dict[str, Any]) -> None:
        """Let the message's `graph` (JSON of a GraphDef) move to a file in binary form."""
        graph = message["graph"]
        self._parts.append(
            _Part(message, "graph", lambda: len(dumps(graph)), lambda: _binary(graph), True)
        )

    def json(self, message: dict[str, Any], key: str) -> None:
        """Let the message's part `key` move to a file as JSON."""
        value = message[key]
        self._parts.append(
            _Part(message, key, lambda: len(dumps(value)), lambda: dumps(value), True)
        )

    def line(self, message: JsonObject) -> bytes:
        """The message as one line with its newline, the largest parts in files if need be.

        Raises:
          ProtocolError: it is over 1 MiB even so, or has no JSON form.

        """
        text = dumps(message)
        if len(text) > LINE_BYTES:
            self._spill(len(text) - LINE_BYTES)
            text = dumps(message)
        if len(text) > LINE_BYTES:
            raise ProtocolError(f"the message takes {len(text)} bytes without tensors and graph")
        return text + b"\n"

    def _spill(self, excess: int) -> None:
        sized = sorted(((part.size(), part) for part in self._parts), key=lambda s: -s[0])
        for size, part in sized:
            if excess <= 0 or size <= _REFERENCE_BYTES:
                return
            reference = self._file(part.content())
            if part.replaces_value:
                part.container[part.key] = reference
            else:
                del part.container[part.key]
                part.container.update(reference)
            excess -= size - _REFERENCE_BYTES

    def _file(self, data: bytes) -> FileReference:
        reference = self.exchange.write(data)
        self.files.append(reference["file"])
        return reference


def unpack_tensor(form: TensorForm, exchange: Exchange) -> np.ndarray:
    """The ndarray of a tensor's form (object array of bytes for strings).

    Raises:
      ProtocolError: dtype unknown, data and shape disagree, or the file is not as said.

    """
    dtype, shape = form["dtype"], form["shape"]
    if not all(type(n) is int for n in shape):  # JSON Schema takes 2.0 for an integer
        raise ProtocolError(f"a tensor's shape is a list of integers, got {shape}")
    try:
        if "opaque" in form:
            return _opaque(dtype, shape)
        if "data" in form:
            return tensors.decode({"dtype": dtype, "shape": shape, "data": form["data"]})
        return _from_file(
            dtype, shape, exchange.read({"file": form["file"], "nbytes": form["nbytes"]})
        )
    except ValueError as error:  # a TensorError, or a rank that numpy does not have
        raise ProtocolError(str(error)) from error


def _opaque(dtype: str, shape: list[int]) -> np.ndarray:
    if dtype not in _OPAQUE or math.prod(shape) > INLINE_BYTES:
        raise ProtocolError(f"a tensor of dtype {dtype} and shape {shape} cannot be opaque")
    return np.zeros(shape, np.dtype([(dtype, np.uint8, (1,))]))


def unpack_graph(
    form: JsonObject, exchange: Exchange, graph_def: Callable[[], GraphDef]
) -> JsonObject:
    """The GraphDef as JSON, read from its file where there is one.

    Args:
      form: the graph, or where its file is.
      exchange: where files are.
      graph_def: makes an empty GraphDef.

    Raises:
      ProtocolError: the file is not as said, or holds no GraphDef.

    """
    if "file" not in form:
        return form
    graph = graph_def()
    try:
        graph.ParseFromString(exchange.read(cast("FileReference", form)))
    except (DecodeError, ValueError) as error:
        raise ProtocolError(f"{form['file']} holds no valid GraphDef: {error}") from error
    graph_form: JsonObject = json_format.MessageToDict(graph)
    return graph_form


def unpack_json(form: Json, exchange: Exchange) -> Json:
    """The value itself, read from its file where there is one.

    Raises:
      ProtocolError: the file is not as said, or holds no JSON.

    """
    if not isinstance(form, Mapping) or "file" not in form:
        return form
    return loads(exchange.read(cast("FileReference", form)))  # the schema says so


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number of JSON")
    return value


def _string_size(data: str | list[str]) -> int:
    return len(data) if isinstance(data, str) else sum(len(item) + 3 for item in data)


def _raw(array: np.ndarray) -> bytes:
    little = (
        array.astype(array.dtype.newbyteorder("<"), copy=False)
        if array.dtype.kind in "iufc"
        else array
    )
    return np.ascontiguousarray(little).tobytes()


def _raw_data(data: str | list[str]) -> bytes:
    return base64.b64decode(data) if isinstance(data, str) else _raw_strings(data)


def _raw_strings(data: list[str]) -> bytes:
    items = [base64.b64decode(item) for item in data]
    return b"".join(len(item).to_bytes(_LENGTH, "little") + item for item in items)


def _binary(graph: JsonObject) -> bytes:
    # No worker sends a graph: its archive has none of our messages.
    from sessrun.spec.proto import GraphDef  # noqa: PLC0415 - as above
    from sessrun.spec.proto.foreign import serialize  # noqa: PLC0415 - as above

    try:
        return serialize(json_format.ParseDict(dict(graph), GraphDef()))
    except (json_format.ParseError, ValueError) as error:
        raise ProtocolError(f"the graph has no binary form: {error}") from error


def _from_file(dtype: str, shape: list[int], raw: bytes) -> np.ndarray:
    row = BY_NAME.get(dtype)
    count = math.prod(shape)
    if row is None or row.numpy is None or count > tensors.MAX_ELEMENTS:
        raise ProtocolError(f"no tensor has dtype {dtype} and shape {shape}")
    if row.kind == "string":
        return _strings_from(raw, shape, count)
    if len(raw) != count * row.itemsize:
        raise ProtocolError(
            f"a {dtype} tensor of shape {shape} takes {count * row.itemsize} bytes, "
            f"the file has {len(raw)}"
        )
    return np.frombuffer(bytearray(raw), dtype=np.dtype(row.numpy)).reshape(shape)


def _strings_from(raw: bytes, shape: list[int], count: int) -> np.ndarray:
    if len(raw) < count * _LENGTH:
        raise ProtocolError(f"the file does not hold {count} strings")
    items: list[bytes] = []
    at = 0
    length_at = _SIZE.unpack_from
    with contextlib.suppress(struct.error):  # the length itself is cut, which the sums below show
        while at < len(raw) and len(items) <= count:
            (length,) = length_at(raw, at)
            start = at + _LENGTH
            at = start + length
            items.append(raw[start:at])
    if at != len(raw) or len(items) != count:
        raise ProtocolError(f"the file does not hold {count} strings")
    array = np.empty(count, dtype=object)
    array[:] = items
    return array.reshape(shape)
