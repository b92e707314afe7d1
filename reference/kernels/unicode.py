"""Kernels of Unicode text: decoding to code points, encoding, transcoding, scripts."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import HOST, host_array, string_array
from sessrun.reference.kernels.input_shapes import vector_of
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.unicode_classes import RUNS

_CPU: Final = ("CPU",)
_OUTPUTS: Final = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_LAST: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)
_REPLACEMENT: Final = 0xFFFD
#: The first code point that is no ASCII control character.
_FIRST_PRINTED: Final = 32
#: For encodings with byte order marks: the marks, and the encodings that they stand for.
_MARKED: Final = {
    "utf-16": ((b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le")),
    "utf-32": ((b"\x00\x00\xfe\xff", "utf-32-be"), (b"\xff\xfe\x00\x00", "utf-32-le")),
}

#: The code points of a string, and the positions of their first bytes.
Points = tuple[Sequence[int], Sequence[int]]


def _converter(source: str) -> codecs.CodecInfo:
    """The codec of an encoding by name."""
    try:
        return codecs.lookup(source)
    except (LookupError, UnicodeError):
        message = f"Could not create converter for input encoding: {source}"
        raise InvalidArgument(message) from None


def _codec(codec: codecs.CodecInfo, data: bytes) -> tuple[codecs.CodecInfo, int]:
    """The codec of a string, and where its text begins: behind a byte order mark, if any."""
    if codec.name not in _MARKED:
        return codec, 0
    for mark, name in _MARKED[codec.name]:
        if data.startswith(mark):
            return codecs.lookup(name), len(mark)
    return codecs.lookup(codec.name + "-be"), 0


# Non-ASCII characters are handled one by one in Python, to know where they begin: decoding
# takes twenty times TensorFlow's time, transcoding ten.
def _scanned(
    data: bytes, codec: codecs.CodecInfo, position: int
) -> Iterator[tuple[str | None, int]]:
    """The characters from a position on, with their positions; None for invalid bytes."""
    while position < len(data):
        wrong, end = None, len(data)
        try:
            text = codec.decode(data[position:], "strict")[0]
        except UnicodeDecodeError as error:
            wrong, end = position + error.start, position + error.end
            text = codec.decode(data[position:wrong], "strict")[0]
        for char in text:
            yield char, position
            position += len(codec.encode(char)[0])
        if wrong is not None:
            yield None, wrong
        position = end


def _decoder(bind: Bind) -> Callable[[bytes], Points]:
    """The function that decodes a string by the node's attributes."""
    source = _converter(attribute_text(bind.attrs["input_encoding"]))
    errors = attribute_text(bind.attrs["errors"])
    mark, controls = bind.attrs["replacement_char"], bind.attrs["replace_control_characters"]

    def decode(data: bytes) -> Points:
        if not 0 <= mark <= _LAST:
            raise InvalidArgument("replacement_char out of unicode codepoint range")
        codec, start = _codec(source, data)
        if codec.name == "utf-8" and data.isascii() and not controls:
            return data, range(len(data))
        points: list[int] = []
        starts: list[int] = []
        for char, position in _scanned(data, codec, start):
            if char is None and errors == "strict":
                raise InvalidArgument("Invalid formatting on input string")
            if char is None or (controls and ord(char) < _FIRST_PRINTED):
                if errors == "ignore":
                    continue
                points.append(mark)
            else:
                points.append(ord(char))
            starts.append(position)
        if starts and start:
            starts[0] = 0  # as in TensorFlow, the mark belongs to the first character
        return points, starts

    return decode


def _encoded(points: Sequence[int], target: str) -> bytes:
    chars = (chr(_REPLACEMENT if point in _SURROGATES else point) for point in points)
    return "".join(chars).encode(_OUTPUTS[target])


@binder("UnicodeTranscode", devices=_CPU)
def unicode_transcode(bind: Bind) -> KernelFunction:
    """Strings in another encoding, with invalid characters replaced or dropped."""
    decode, target = _decoder(bind), attribute_text(bind.attrs["output_encoding"])

    def compute(strings: Array) -> Array:
        texts = (decode(item)[0] for item in strings.reshape(-1).tolist())
        return string_array((_encoded(text, target) for text in texts), strings.shape)

    return compute


@binder("UnicodeDecodeWithOffsets", devices=_CPU)
def unicode_decode_with_offsets(bind: Bind) -> Callable[[Array], tuple[Array, Array, Array]]:
    """Row splits of the strings, the code points of all, and the positions of their first bytes."""
    decode, splits = _decoder(bind), bind.attrs["Tsplits"]

    def compute(strings: Array) -> tuple[Array, Array, Array]:
        ends: list[int] = [0]
        points: list[int] = []
        starts: list[int] = []
        for item in strings.reshape(-1).tolist():
            for joined, part in zip((points, starts), decode(item), strict=True):
                joined.extend(part)
            ends.append(len(points))
        return host_array(ends, splits), host_array(points, "int32"), host_array(starts, "int64")

    return compute


@binder("UnicodeDecode", devices=_CPU)
def unicode_decode(bind: Bind) -> KernelFunction:
    """Row splits of the strings, and the code points of all."""
    compute = unicode_decode_with_offsets(bind)
    return lambda strings: compute(strings)[:2]


def _check_splits(splits: Sequence[int], count: int) -> None:
    if not splits or splits[0]:
        raise InvalidArgument("First value in input_splits must be zero.")
    for here, after in itertools.pairwise(splits):
        if after < here:
            raise InvalidArgument("Values in input_splits must be equal or in ascending order.")
        if after > count:
            break
    if splits[-1] != count:
        raise InvalidArgument("Last value in input_splits must be equal to length of input_tensor.")


@binder("UnicodeEncode", devices=_CPU)
def unicode_encode(bind: Bind) -> KernelFunction:
    """Rows of code points as strings, with invalid code points replaced or dropped."""
    errors, target = (attribute_text(bind.attrs[name]) for name in ("errors", "output_encoding"))
    mark = bind.attrs["replacement_char"]

    def point_of(point: int) -> list[int]:
        if 0 <= point <= _LAST and point not in _SURROGATES:
            return [point]
        if errors == "strict":
            raise InvalidArgument("Code point is out of range for Unicode, or is a surrogate.")
        return [mark] if errors == "replace" else []

    def compute(values: Array, row_splits: Array) -> Array:
        if not 0 <= mark <= _LAST:
            raise InvalidArgument("replacement_char out of unicode codepoint range")
        splits = vector_of(row_splits, "input_splits")
        points = vector_of(values, "input_values")
        _check_splits(splits, len(points))
        rows = itertools.pairwise(splits)
        texts = [
            _encoded([code for point in points[start:end] for code in point_of(point)], target)
            for start, end in rows
        ]
        return string_array(texts, (len(texts),))

    return compute


@cache
def _scripts() -> Array:
    """The script of every code point, with -1 behind the last."""
    runs = [run.split(":") for run in RUNS.split()]
    sizes = [int(size, 16) for size, _ in runs] + [1]
    return HOST.repeat(HOST.array([int(script) for _, script in runs] + [-1], "int32"), sizes)


@kernel("UnicodeScript", devices=_CPU)
def unicode_script(_: ArrayModule, points: Array) -> Array:
    """ICU's number of the script of each code point; -1 for an invalid one."""
    return _scripts()[HOST.where((points < 0) | (points > _LAST), _LAST + 1, points)]
