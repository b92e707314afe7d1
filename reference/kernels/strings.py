"""Kernels of strings, by Python's methods on object arrays of bytes in host memory.

Every string is a Python object and takes some Python calls: TensorFlow, in native code, takes a
quarter of the time for short strings (EncodeBase64, DecodeRaw, AsString, StringLength), for
DecodePaddedRaw a sixth, for DecodeBase64, StringToNumber and Substr a tenth.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import string
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, OutOfRange
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_octets, attribute_text
from sessrun.reference.kernels.host import dtype_of, ints, string_array
from sessrun.reference.kernels.input_shapes import require_rank, require_same_shape
from sessrun.reference.kernels.registry import Attrs, Bind, KernelFunction, binder, kernel
from sessrun.spec.dtypes import BY_NAME

_UTF8_START: Final = 0xC0
_UTF8_CONTINUATION: Final = 0x80
_CONTINUING: Final = bytes(range(_UTF8_CONTINUATION, _UTF8_START))


def _mapped(array: Array, function: Callable[[bytes], bytes]) -> Array:
    return string_array(map(function, array.reshape(-1).tolist()), array.shape)


@kernel("StringJoin", devices=("CPU",))
def string_join(_: ArrayModule, *inputs: Array, separator: str) -> Array:
    """Strings joined elementwise; scalars are broadcast."""
    shapes = [array.shape for array in inputs if array.ndim]
    shape = shapes[0] if shapes else ()
    for other in shapes:
        if other != shape:
            raise InvalidArgument(
                f"Input shapes do not match: {bracketed(shape)} vs. {bracketed(other)}"
            )
    count = 1
    for dim in shape:
        count *= dim
    columns = [
        array.reshape(-1).tolist() if array.ndim else [array.item()] * count for array in inputs
    ]
    glue = attribute_octets(separator)
    return string_array((glue.join(row) for row in zip(*columns, strict=True)), shape)


@kernel("StringLength", devices=("CPU",))
def string_length(xp: ArrayModule, x: Array, *, unit: str | bytes) -> Array:
    """The length in bytes or in UTF-8 characters."""
    characters = attribute_text(unit) == "UTF8_CHAR"
    items = x.reshape(-1).tolist()
    counted = (item.translate(None, _CONTINUING) for item in items) if characters else items
    return xp.asarray([*map(len, counted)], dtype="int32").reshape(x.shape)


def _starts(item: bytes) -> list[int]:
    """Where the UTF-8 characters begin: at all bytes that are not continuation bytes."""
    return [i for i, byte in enumerate(item) if byte & _UTF8_START != _UTF8_CONTINUATION]


def _is_ascii(encoding: str) -> bool:
    """Whether only ASCII letters are converted, as without an encoding."""
    name = attribute_text(encoding)
    if name not in {"", "utf-8"}:
        raise InvalidArgument(f"only utf-8 or '' (no encoding) is supported, received {name}")
    return name == ""


@kernel("StringLower", devices=("CPU",))
def string_lower(_: ArrayModule, x: Array, *, encoding: str) -> Array:
    """Strings in lower case: ASCII letters, or all letters of UTF-8."""
    if _is_ascii(encoding):
        return _mapped(x, bytes.lower)
    return _mapped(x, lambda item: item.decode("utf-8", "replace").lower().encode())


@kernel("StringUpper", devices=("CPU",))
def string_upper(_: ArrayModule, x: Array, *, encoding: str) -> Array:
    """Strings in upper case: ASCII letters, or all letters of UTF-8."""
    if _is_ascii(encoding):
        return _mapped(x, bytes.upper)
    return _mapped(x, lambda item: item.decode("utf-8", "replace").upper().encode())


@kernel("StringStrip", devices=("CPU",))
def string_strip(_: ArrayModule, x: Array) -> Array:
    """Strings without white space at both ends."""
    return _mapped(x, lambda item: item.strip(b" \t\n\v\f\r"))


@binder("Substr", devices=("CPU",))
def substr(bind: Bind) -> KernelFunction:
    """Part of a string by position and length, in bytes or UTF-8 characters."""
    xp, characters = bind.xp, attribute_text(bind.attrs["unit"]) == "UTF8_CHAR"

    def part(item: bytes, position: int, length: int) -> bytes:
        bounds = [*_starts(item), len(item)] if characters else None
        count = len(item) if bounds is None else len(bounds) - 1
        start = position + count if position < 0 else position
        if not 0 <= start <= count:
            raise InvalidArgument(f"pos {position} out of range for string of length {count}")
        end = min(start + max(length, 0), count)
        return item[start:end] if bounds is None else item[bounds[start] : bounds[end]]

    def compute(x: Array, pos: Array, length: Array) -> Array:
        require_same_shape(pos=pos, length=length)
        items, positions, lengths = xp.broadcast_arrays(x, pos, length)
        flat = (array.reshape(-1).tolist() for array in (items, positions, lengths))
        return string_array((part(*row) for row in zip(*flat, strict=True)), items.shape)

    return compute


@kernel("ReduceJoin", devices=("CPU",))
def reduce_join(
    _: ArrayModule, x: Array, indices: Array, *, keep_dims: bool, separator: str
) -> Array:
    """Strings joined along the given axes, one after the other."""
    axes: list[int] = []
    for axis in ints(indices):
        if not -x.ndim <= axis < x.ndim:
            raise OutOfRange(
                f"Invalid reduction dimension {axis} for input with {x.ndim} dimension(s)"
            )
        if axis % x.ndim in axes:
            raise InvalidArgument(f"Duplicate reduction dimension {axis}")
        axes.append(axis % x.ndim)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    moved = x.transpose([*kept, *axes[::-1]])
    shape = tuple(x.shape[axis] for axis in kept)
    count, glue = 1, attribute_octets(separator)
    for dim in shape:
        count *= dim
    rows = moved.reshape((count, -1)) if x.size else string_array([], (count, 0))
    joined = string_array((glue.join(row) for row in rows.tolist()), shape)
    if not keep_dims:
        return joined
    return joined.reshape(tuple(1 if i in axes else dim for i, dim in enumerate(x.shape)))


@kernel("EncodeBase64", devices=("CPU",))
def encode_base64(_: ArrayModule, x: Array, *, pad: bool) -> Array:
    """Web-safe base64, padded or not."""

    def encoded(item: bytes) -> bytes:
        text = base64.urlsafe_b64encode(item)
        return text if pad else text.rstrip(b"=")

    return _mapped(x, encoded)


#: The letters of web-safe base64, and the translation of those that differ to standard ones.
_WEB_SAFE: Final = (string.ascii_letters + string.digits + "-_").encode()
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")


@kernel("DecodeBase64", devices=("CPU",))
def decode_base64(_: ArrayModule, x: Array) -> Array:
    """The bytes of web-safe base64, padded or not."""

    def decoded(item: bytes) -> bytes:
        bare = item.rstrip(b"=")
        padded = len(item) - len(bare)
        if bare.translate(None, _WEB_SAFE) or padded > 2:
            raise InvalidArgument("Invalid character found in base64.")
        if padded and len(item) % 4 > 1:
            raise InvalidArgument("Invalid character found in base64.")
        if len(item) % 4 == 1:
            raise InvalidArgument("Base64 string length cannot be 1 modulo 4.")
        return binascii.a2b_base64(bare.translate(_STANDARD) + b"=" * (-len(bare) % 4))

    return _mapped(x, decoded)


@binder("DecodeRaw", devices=("CPU",))
def decode_raw(bind: Bind) -> KernelFunction:
    """The bytes of strings of one length, interpreted as vectors of numbers."""
    xp, dtype = bind.xp, dtype_of(bind.attrs["out_type"])
    called = BY_NAME[bind.attrs["out_type"]].opdef
    swapped = not bind.attrs["little_endian"]

    def compute(x: Array) -> Array:
        items = x.reshape(-1).tolist()
        width = len(items[0]) if items else 0
        for index, item in enumerate(items):
            if len(item) != width:
                raise InvalidArgument(
                    "DecodeRaw requires input strings to all be the same size, but element "
                    f"{index} has size {width} != {len(item)}"
                )
        if width % dtype.itemsize:
            raise InvalidArgument(
                f"Input to DecodeRaw has length {width} that is not a multiple "
                f"of {dtype.itemsize}, the size of {called}"
            )
        numbers = xp.frombuffer(b"".join(items), dtype=dtype) if width else xp.zeros((0,), dtype)
        turned = numbers.byteswap() if swapped else numbers
        return turned.reshape((*x.shape, width // dtype.itemsize))

    return compute


@binder("DecodePaddedRaw", devices=("CPU",))
def decode_padded_raw(bind: Bind) -> KernelFunction:
    """The bytes of strings, cut or padded with zeros, interpreted as vectors of numbers."""
    xp, dtype = bind.xp, dtype_of(bind.attrs["out_type"])
    swapped = not bind.attrs["little_endian"]

    def compute(x: Array, length: Array) -> Array:
        require_rank(0, fixed_length=length)
        width = int(length)
        if width <= 0:
            raise InvalidArgument(f"fixed_length ({width}) must be greater than zero.")
        if width % dtype.itemsize:
            raise InvalidArgument(
                f"fixed_length ({width}) must be a multiple of the size of "
                f"out_type ({dtype.itemsize})"
            )
        items = [item[:width].ljust(width, b"\0") for item in x.reshape(-1).tolist()]
        numbers = xp.frombuffer(b"".join(items), dtype=dtype) if items else xp.zeros((0,), dtype)
        turned = numbers.byteswap() if swapped else numbers
        return turned.reshape((*x.shape, width // dtype.itemsize))

    return compute


_NUMERAL: Final = re.compile(
    rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan(\(\w*\))?"
    rb"|(?P<hex>0x([\da-f]+\.?[\da-f]*|\.[\da-f]+)(p[+-]?\d+)?))",
    re.IGNORECASE,
)
_INTEGER: Final = re.compile(rb"[+-]?\d+")


def _float(numeral: re.Match[bytes]) -> float:
    """The number that C reads from a decimal or, after `0x`, hexadecimal numeral."""
    text = numeral[0].partition(b"(")[0].decode()
    return float.fromhex(text) if numeral["hex"] else float(text)


@binder("StringToNumber", devices=("CPU",))
def string_to_number(bind: Bind) -> KernelFunction:
    """The numbers that strings represent."""
    xp, dtype = bind.xp, dtype_of(bind.attrs["out_type"])
    is_integer = dtype.kind in "iu"
    bounds = (xp.iinfo(dtype).min, xp.iinfo(dtype).max) if is_integer else (0, 0)

    def number(item: bytes) -> float:
        bare = item.strip(b" \t\n\v\f\r")
        match = (_INTEGER if is_integer else _NUMERAL).fullmatch(bare)
        value = None if match is None else int(bare) if is_integer else _float(match)
        if value is None or (is_integer and not bounds[0] <= value <= bounds[1]):
            raise InvalidArgument(
                f"StringToNumber could not convert the string: {item.decode(errors='replace')}"
            )
        return value

    def compute(x: Array) -> Array:
        numbers = [number(item) for item in x.reshape(-1).tolist()]
        return xp.asarray(numbers, dtype=dtype).reshape(x.shape)

    return compute


@binder("AsString", devices=("CPU",))
def as_string(bind: Bind) -> KernelFunction:
    """Numbers formatted as by C's printf."""
    attrs = bind.attrs
    form = _Format(
        attrs["precision"],
        attrs["scientific"],
        attrs["shortest"],
        attrs["width"],
        attribute_text(attrs["fill"]),
    )
    if attrs["T"] == "string":
        return lambda x: _mapped(x, form.text)
    if BY_NAME[attrs["T"]].kind in {"int", "uint", "bool"}:
        _check_integer(attrs)

    def compute(x: Array) -> Array:
        write = form.writer(x.dtype.kind)
        return string_array((write(item) for item in x.reshape(-1).tolist()), x.shape)

    return compute


def _check_integer(attrs: Attrs) -> None:
    """Raise InvalidArgument for attributes that only apply to fractions."""
    if attrs["scientific"] or attrs["shortest"]:
        raise InvalidArgument(
            f"scientific and shortest format not supported for datatype {attrs['T']}"
        )
    if attrs["precision"] >= 0:
        raise InvalidArgument(f"precision not supported for datatype {attrs['T']}")


class _Format:
    """A format of AsString: printf's precision, width, fill and notation."""

    def __init__(
        self, precision: int, scientific: bool, shortest: bool, width: int, fill: str
    ) -> None:
        if scientific and shortest:
            raise InvalidArgument("Cannot select both scientific and shortest notation")
        if len(fill) > 1:
            raise InvalidArgument("Fill string must be one or fewer characters")
        if fill and fill not in " +-0#":
            raise InvalidArgument(f'Fill argument not supported: "{fill}"')
        size = str(width) if width > -1 else ""
        self._head = f"%{fill}{size}"
        # Infinities and NaN are not padded with zeros.
        self._blank = f"%{size}" if fill == "0" else self._head
        self._float = f".{precision}" if precision > -1 else ""
        self._float += "e" if scientific else "g" if shortest else "f"

    def writer(self, kind: str) -> Callable[[Any], bytes]:
        """The method for elements of a numpy kind."""
        writers: dict[str, Callable[[Any], bytes]] = {
            "b": self.bool,
            "i": self.integer,
            "u": self.unsigned,
            "c": self.complex,
        }
        return writers.get(kind, self.float)

    def integer(self, value: int) -> bytes:
        """An integer."""
        return (self._head + "d").encode() % value

    def unsigned(self, value: int) -> bytes:
        """An unsigned integer: flags for signs are ignored."""
        return (self._head.replace(" ", "").replace("+", "") + "d").encode() % value

    def bool(self, value: bool) -> bytes:
        """`true` or `false`."""
        return b"true" if value else b"false"

    def text(self, value: bytes) -> bytes:
        """A string, padded to the width."""
        return (self._head + "s").encode() % value

    def float(self, value: float) -> bytes:
        """A floating-point number."""
        head = self._head if math.isfinite(value) else self._blank
        return (head + self._float).encode() % value

    def complex(self, value: complex) -> bytes:
        """A complex number as a pair in parentheses."""
        return b"(" + self.float(value.real) + b"," + self.float(value.imag) + b")"
