"""Messages from outside: TensorFlow's own, bytes, text and JSON, each accepted or refused."""

from typing import Final, Self, TypeVar

from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError, EncodeError, Message

__all__ = ["MAX_BYTES", "ProtoError", "adopt", "parse", "parse_json", "parse_text", "serialize"]

#: Longest serialized message that every protobuf implementation can read back.
MAX_BYTES: Final = 2**31 - 1

_PACKAGE: Final = "sessrun"
_TWIN_PACKAGE: Final = "tensorflow"

M = TypeVar("M", bound=Message)


class ProtoError(ValueError):
    """Raised where bytes, text or JSON do not hold a message of the wanted kind.

    `source` is the caller's name for where the input came from, `reason` what is wrong with it.
    """

    def __init__(self, kind: str, source: str, reason: str) -> None:
        super().__init__(f"{source} holds no valid {kind}: {reason}")
        self.kind = kind
        self.source = source
        self.reason = reason

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str]]:
        return type(self), (self.kind, self.source, self.reason)


def adopt(message: object, cls: type[M]) -> M:
    """Return `message` itself if it is a `cls`, or a `cls` copied from TensorFlow's of that name.

    Raises `TypeError` for anything else, and `ValueError` if a copy would be over 2 GiB.
    """
    if isinstance(message, cls):
        return message
    ours = cls.DESCRIPTOR.full_name
    twin = _TWIN_PACKAGE + ours.removeprefix(_PACKAGE)
    if isinstance(message, Message) and message.DESCRIPTOR.full_name == twin:
        return cls.FromString(serialize(message))
    raise TypeError(f"expected a {ours} or a {twin}, got {_describe(message)}")


def serialize(message: Message) -> bytes:
    """Return the wire bytes of `message`, with map entries in a fixed order.

    Raises `ValueError` if they are over 2**31 - 1 bytes: some implementations write more, none
    can be relied on to read it.
    """
    name = message.DESCRIPTOR.full_name
    # The default implementation finds ByteSize() by serializing, so the bytes are measured.
    try:
        data = message.SerializeToString(deterministic=True)
    except EncodeError as error:
        raise ValueError(f"this {name} cannot be serialized: {error}") from error
    if len(data) > MAX_BYTES:
        raise ValueError(f"this {name} takes {len(data)} bytes; the limit is {MAX_BYTES}")
    return data


def parse(cls: type[M], data: bytes, source: str) -> M:
    """Return the message of class `cls` in the wire bytes `data`.

    `source` says where they are from. Raises `ProtoError` if they hold none.
    """
    try:
        return cls.FromString(data)
    except (DecodeError, ValueError) as error:
        raise _refusal(cls, source, error) from error


def parse_text(cls: type[M], text: str, source: str) -> M:
    """Return the message of class `cls` in protobuf's text format.

    Raises `ProtoError` if `text` holds none, names an unknown field or nests too deep.
    """
    # Python warns of an unknown escape in a string; where warnings are errors it is refused.
    try:
        return text_format.Parse(text, cls())
    except (text_format.ParseError, ValueError, RecursionError, DeprecationWarning) as error:
        raise _refusal(cls, source, error) from error


def parse_json(cls: type[M], text: str, source: str) -> M:
    """Return the message of class `cls` in protobuf's JSON mapping.

    Raises `ProtoError` if `text` holds none, names an unknown field or nests too deep.
    """
    try:
        return json_format.Parse(text, cls())
    except (json_format.ParseError, ValueError, RecursionError) as error:
        raise _refusal(cls, source, error) from error


def _refusal(cls: type[Message], source: str, error: Exception) -> ProtoError:
    reason = "it nests too deep" if isinstance(error, RecursionError) else str(error)
    return ProtoError(cls.DESCRIPTOR.full_name, source, reason)


def _describe(value: object) -> str:
    if isinstance(value, Message):
        return f"a {value.DESCRIPTOR.full_name}"
    return f"an object of type {type(value).__qualname__}"
