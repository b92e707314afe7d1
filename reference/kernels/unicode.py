"""Kernels of text as code points: decoded, encoded, in another encoding, and its scripts."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import HOST, host_array, string_array
from sessrun.reference.kernels.number_inputs import vector_of
from sessrun.reference.kernels.registry import Bind, binder, kernel
from sessrun.reference.kernels.script_runs import RUNS

__all__: list[str] = []

_CPU: Final = ("CPU",)
_OUTPUTS: Final = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_LAST: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)
_REPLACEMENT: Final = 0xFFFD
#: The control characters of ASCII come before.
_FIRST_PRINTED: Final = 32
#: What the encodings that may begin with a mark of their byte order are with one, and without.
_MARKED: Final = {
    "utf-16": ((b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le")),
    "utf-32": ((b"\x00\x00\xfe\xff", "utf-32-be"), (b"\xff\xfe\x00\x00", "utf-32-le")),
}

#: The code points of a string, and the place of each one's first byte.
Points = tuple[Sequence[int], Sequence[int]]


def _converter(source: str) -> codecs.CodecInfo:
    """The encoding of that name."""
    try:
        return codecs.lookup(source)
    except (LookupError, UnicodeError):
        message = f"Could not create converter for input encoding: {source}"
        raise InvalidArgument(message) from None


def _codec(found: codecs.CodecInfo, data: bytes) -> tuple[codecs.CodecInfo, int]:
    """What decodes a string, and where its text begins: after a mark of the byte order."""
    if found.name not in _MARKED:
        return found, 0
    for mark, name in _MARKED[found.name]:
        if data.startswith(mark):
            return codecs.lookup(name), len(mark)
    return codecs.lookup(found.name + "-be"), 0


# Characters that are not ASCII's are gone through in Python, to know where each begins: decoding
# takes twenty times TensorFlow's time, transcoding ten.
def _scanned(data: bytes, codec: codecs.CodecInfo, place: int) -> Iterator[tuple[str | None, int]]:
    """The characters from a place on, each with its place; None for what is no character."""
    while place < len(data):
        wrong, end = None, len(data)
        try:
            text = codec.decode(data[place:], "strict")[0]
        except UnicodeDecodeError as error:
            wrong, end = place + error.start, place + error.end
            text = codec.decode(data[place:wrong], "strict")[0]
        for char in text:
            yield char, place
            place += len(codec.encode(char)[0])
        if wrong is not None:
            yield None, wrong
        place = end


def _decoder(bind: Bind) -> Callable[[bytes], Points]:
    """What decodes a string as the node says."""
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
        places: list[int] = []
        for char, place in _scanned(data, codec, start):
            if char is None and errors == "strict":
                raise InvalidArgument("Invalid formatting on input string")
            if char is None or (controls and ord(char) < _FIRST_PRINTED):
                if errors == "ignore":
                    continue
                points.append(mark)
            else:
                points.append(ord(char))
            places.append(place)
        if places and start:
            places[0] = 0  # as in TensorFlow, the mark is of the first character
        return points, places

    return decode


def _encoded(points: Sequence[int], target: str) -> bytes:
    chars = (chr(_REPLACEMENT if point in _SURROGATES else point) for point in points)
    return "".join(chars).encode(_OUTPUTS[target])


@binder("UnicodeTranscode", devices=_CPU)
def unicode_transcode(bind: Bind) -> Callable[..., Any]:
    """The text of each string in another encoding, what is none of it replaced or left out."""
    decode, target = _decoder(bind), attribute_text(bind.attrs["output_encoding"])

    def compute(strings: Any) -> Any:
        texts = (decode(item)[0] for item in strings.reshape(-1).tolist())
        return string_array((_encoded(text, target) for text in texts), strings.shape)

    return compute


@binder("UnicodeDecodeWithOffsets", devices=_CPU)
def unicode_decode_with_offsets(bind: Bind) -> Callable[..., Any]:
    """The code points of all strings, where each string's begin, and their first bytes."""
    decode, splits = _decoder(bind), bind.attrs["Tsplits"]

    def compute(strings: Any) -> Any:
        ends: list[int] = [0]
        points: list[int] = []
        places: list[int] = []
        for item in strings.reshape(-1).tolist():
            for whole, own in zip((points, places), decode(item), strict=True):
                whole.extend(own)
            ends.append(len(points))
        return host_array(ends, splits), host_array(points, "int32"), host_array(places, "int64")

    return compute


@binder("UnicodeDecode", devices=_CPU)
def unicode_decode(bind: Bind) -> Callable[..., Any]:
    """The code points of all strings, and where each string's begin."""
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
def unicode_encode(bind: Bind) -> Callable[..., Any]:
    """The text of each row of code points; what is none is replaced or left out."""
    errors, target = (attribute_text(bind.attrs[name]) for name in ("errors", "output_encoding"))
    mark = bind.attrs["replacement_char"]

    def point_of(point: int) -> list[int]:
        if 0 <= point <= _LAST and point not in _SURROGATES:
            return [point]
        if errors == "strict":
            raise InvalidArgument("Code point is out of range for Unicode, or is a surrogate.")
        return [mark] if errors == "replace" else []

    def compute(values: Any, row_splits: Any) -> Any:
        if not 0 <= mark <= _LAST:
            raise InvalidArgument("replacement_char out of unicode codepoint range")
        splits = vector_of(row_splits, "input_splits")
        points = vector_of(values, "input_values")
        _check_splits(splits, len(points))
        rows = itertools.pairwise(splits)
        texts = [
            _encoded([each for point in points[start:end] for each in point_of(point)], target)
            for start, end in rows
        ]
        return string_array(texts, (len(texts),))

    return compute


@cache
def _scripts() -> Any:
    """The script of every code point, and -1 behind the last."""
    runs = [run.split(":") for run in RUNS.split()]
    sizes = [int(size, 16) for size, _ in runs] + [1]
    return HOST.repeat(HOST.array([int(script) for _, script in runs] + [-1], "int32"), sizes)


@kernel("UnicodeScript", devices=_CPU)
def unicode_script(_: Any, points: Any) -> Any:
    """ICU's number of the script of each code point; -1 for what is none."""
    return _scripts()[HOST.where((points < 0) | (points > _LAST), _LAST + 1, points)]
