"""Vectors of PARSING: bytes as numbers, lines of fields, compressed strings, serialized tensors."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Sequence
from typing import Final

import ml_dtypes
import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.subjects.readers.cases.readers import words

assert sys.byteorder == "little"

_BYTES: Final = bytes(range(1, 33))
_INTEGERS: Final = ("int8", "uint8", "int16", "uint16", "int32", "int64")
_FLOATS: Final = ("float16", "float32", "float64", "bfloat16", "complex64", "complex128")


def _dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)


def _decoding(
    c: EngineAuthor, names: Sequence[str], **more: int | str | bool | list[int]
) -> SessionAuthor:
    """DecodeRaw of the strings `in`, an operation for each dtype and called like it."""
    with c.graph() as tf:
        given = tf.placeholder(tf.string, None, name="in")
        for name in names:
            tf.raw_ops.DecodeRaw(bytes=given, out_type=getattr(tf, name), name=name, **more)
    return c.open()


@engine_case("PARSING-001", title="Bytes as integers of every size.")
def bytes_as_integers(c: EngineAuthor) -> None:
    s = _decoding(c, _INTEGERS)
    for name in _INTEGERS:
        want = np.frombuffer(_BYTES, _dtype(name)).reshape(2, -1)
        s.run([f"{name}:0"], {"in:0": words(_BYTES[:16], _BYTES[16:])}, values=[want])


@engine_case("PARSING-001", title="Bytes as real and complex numbers.")
def bytes_as_floats(c: EngineAuthor) -> None:
    s = _decoding(c, _FLOATS)
    for name in _FLOATS:
        want = np.frombuffer(_BYTES, _dtype(name))
        s.run([f"{name}:0"], {"in:0": _BYTES}, values=[want])


@engine_case("PARSING-001", title="Bytes as booleans, no bytes, no strings.")
def odd_bytes(c: EngineAuthor) -> None:
    s = _decoding(c, ("bool", "int32"))
    s.run(["bool:0"], {"in:0": words(b"\0\1", b"\1\0")}, values=[np.array([[0, 1], [1, 0]], bool)])
    s.run(["int32:0"], {"in:0": words(b"", b"")}, values=[np.zeros((2, 0), np.int32)])
    s.run(["int32:0"], {"in:0": np.zeros((0,), object)}, values=[np.zeros((0, 0), np.int32)])
    nested = np.array([[b"abcd"], [b"efgh"]], object)
    want = np.frombuffer(b"abcdefgh", np.int32).reshape(2, 1, 1)
    s.run(["int32:0"], {"in:0": nested}, values=[want])


@engine_case("PARSING-002", title="Bytes of numbers in the other order.")
def bytes_in_the_other_order(c: EngineAuthor) -> None:
    names = ("uint8", "int16", "int32", "int64", "float32", "float64")
    s = _decoding(c, names, little_endian=False)
    for name in names:
        want = np.frombuffer(_BYTES, np.dtype(name).newbyteorder(">")).astype(name)
        s.run([f"{name}:0"], {"in:0": _BYTES}, values=[want])


@engine_case("PARSING-003", title="Strings of other lengths are refused.")
def strings_of_other_lengths(c: EngineAuthor) -> None:
    s = _decoding(c, ("int16", "int32"))
    s.run(["int16:0"], {"in:0": words("ab", "abcd")}, error=[3])
    s.run(["int16:0"], {"in:0": words("abc")}, error=[3])
    s.run(["int32:0"], {"in:0": b"abcdef"}, error=[3])


@engine_case("PARSING-004", title="Strings are cut or filled up to one length.")
def padded_strings(c: EngineAuthor) -> None:
    with c.graph() as tf:
        given = tf.placeholder(tf.string, None, name="in")
        length = tf.placeholder(tf.int32, [], name="length")
        for name, little in (("uint8", True), ("int16", True), ("float32", False)):
            tf.raw_ops.DecodePaddedRaw(
                input_bytes=given,
                fixed_length=length,
                out_type=getattr(tf, name),
                little_endian=little,
                name=name,
            )
    s = c.open()
    feeds = {"in:0": words("abcdef", "a", ""), "length:0": np.int32(4)}
    padded = b"abcd" + b"a\0\0\0" + b"\0\0\0\0"
    s.run(["uint8:0"], feeds, values=[np.frombuffer(padded, np.uint8).reshape(3, 4)])
    s.run(["int16:0"], feeds, values=[np.frombuffer(padded, np.int16).reshape(3, 2)])
    want = np.frombuffer(padded, np.dtype(">f4")).astype(np.float32).reshape(3, 1)
    s.run(["float32:0"], feeds, values=[want])
    s.run(["int16:0"], feeds | {"length:0": np.int32(3)}, error=[3])
    s.run(["int16:0"], feeds | {"length:0": np.int32(0)}, error=[3])


# --- lines of fields ----------------------------------------------------------------------


def _lines(
    c: EngineAuthor, defaults: Sequence[np.ndarray], **more: int | str | bool | list[int]
) -> SessionAuthor:
    """DecodeCSV of the strings `in`: `csv:0`, `csv:1` and so on."""
    with c.graph() as tf:
        tf.raw_ops.DecodeCSV(
            records=tf.placeholder(tf.string, None, name="in"),
            record_defaults=list(defaults),
            name="csv",
            **more,
        )
    return c.open()


def _none(*dtypes: str) -> list[np.ndarray]:
    return [np.zeros(0, dtype) for dtype in dtypes]


def _fields(
    s: SessionAuthor, lines: np.ndarray | bytes, *columns: np.ndarray | np.generic | bytes
) -> None:
    outputs = [f"csv:{number}" for number in range(len(columns))]
    s.run(outputs, {"in:0": lines}, values=list(columns))


@engine_case("PARSING-005", title="Columns of every dtype.")
def columns_of_every_dtype(c: EngineAuthor) -> None:
    s = _lines(c, _none("int32", "int64", "float32", "float64", "object"))
    _fields(
        s,
        words("1,-2,3.5,1e300,word", "7, 9223372036854775807 ,-inf,.5, x "),
        np.array([1, 7], np.int32),
        np.array([-2, 2**63 - 1]),
        np.array([3.5, -np.inf], np.float32),
        np.array([1e300, 0.5]),
        words("word", " x "),
    )


# TensorFlow 2.18 and older releases refuse it.
@engine_case("PARSING-005", title="An integer with a plus sign.", release={"producer": 2129})
def an_integer_with_a_plus_sign(c: EngineAuthor) -> None:
    s = _lines(c, _none("int32", "int64"))
    _fields(s, words("+7,+8", " +9 ,-0"), np.array([7, 9], np.int32), np.array([8, 0]))


@engine_case("PARSING-005", title="One line, lines in rows, no lines.")
def lines_of_other_shapes(c: EngineAuthor) -> None:
    s = _lines(c, _none("int32", "object"))
    _fields(s, b"4,four", np.int32(4), b"four")
    lines = np.array([[b"1,a", b"2,b", b"3,c"]], object)
    _fields(s, lines, np.array([[1, 2, 3]], np.int32), words("a", "b", "c").reshape(1, 3))
    _fields(s, np.zeros((0,), object), np.zeros(0, np.int32), np.zeros(0, object))


@engine_case("PARSING-005", title="Other delimiters.")
def other_delimiters(c: EngineAuthor) -> None:
    for name, mark in (("tab", "\t"), ("bar", "|"), ("space", " ")):
        with c.graph(name) as tf:
            tf.raw_ops.DecodeCSV(
                records=tf.placeholder(tf.string, None, name="in"),
                field_delim=mark,
                name="csv",
                record_defaults=_none("int32", "object"),
            )
        s = c.open(name, name)
        _fields(s, words(f"1{mark}a,b"), np.array([1], np.int32), words("a,b"))


@engine_case("PARSING-006", title="Quoted fields.")
def quoted_fields(c: EngineAuthor) -> None:
    s = _lines(c, _none("object", "object", "int32"))
    _fields(
        s,
        words('"a,b","say ""so""","3"', '"x\r\ny","",4'.replace('""', '"\'"')),
        words("a,b", "x\r\ny"),
        words('say "so"', "'"),
        np.array([3, 4], np.int32),
    )


@engine_case("PARSING-007", title="Quotes that are letters.")
def quotes_are_letters(c: EngineAuthor) -> None:
    s = _lines(c, _none("object", "object"), use_quote_delim=False)
    _fields(s, words('"a","b', 'c""d,"'), words('"a"', 'c""d'), words('"b', '"'))


@engine_case("PARSING-008", title="Empty fields have their columns' defaults.")
def empty_fields(c: EngineAuthor) -> None:
    s = _lines(c, [np.array([-7], np.int32), np.array([2.5]), words("none")])
    _fields(
        s,
        words("1,,a", ",3,", ',"",""'),
        np.array([1, -7, -7], np.int32),
        np.array([2.5, 3.0, 2.5]),
        words("a", "none", "none"),
    )


@engine_case("PARSING-008", title="Fields that say that they are none.")
def fields_that_are_none(c: EngineAuthor) -> None:
    s = _lines(c, [np.array([-7], np.int32), words("none")], na_value="NA")
    _fields(
        s, words("NA,a", "1,NA", ",NAN"), np.array([-7, 1, -7], np.int32), words("a", "none", "NAN")
    )


@engine_case("PARSING-009", title="Empty fields without a default.")
def required_fields(c: EngineAuthor) -> None:
    s = _lines(c, [np.zeros(0, np.int32), np.array([1], np.int32)])
    _fields(s, words("5,"), np.array([5], np.int32), np.array([1], np.int32))
    s.run(["csv:0"], {"in:0": words("5,6", ",6")}, error=[3])


@engine_case("PARSING-010", title="Some of the columns.")
def chosen_columns(c: EngineAuthor) -> None:
    s = _lines(c, _none("object", "int32"), select_cols=[1, 3])
    _fields(s, words("x,a,y,1,z", "no,b,,2,"), words("a", "b"), np.array([1, 2], np.int32))


@engine_case("PARSING-011", title="Lines of more or fewer fields.")
def lines_of_other_lengths(c: EngineAuthor) -> None:
    s = _lines(c, [np.array([1], np.int32), np.array([2], np.int32)])
    for wrong in ("1", "1,2,3", "", "1,2,"):
        s.run(["csv:0"], {"in:0": words("1,2", wrong)}, error=[3])
    _fields(s, words("1,2"), np.array([1], np.int32), np.array([2], np.int32))


@engine_case("PARSING-012", title="Fields that are no numbers, or too large.")
def fields_that_are_no_numbers(c: EngineAuthor) -> None:
    for dtype, wrongs in (
        ("int32", ("x", "1.5", "0x10", "2147483648", "1 2")),
        ("int64", ("9223372036854775808", "1e3")),
        ("float32", ("x", "1.5.2", "1e")),
        ("float64", ("--1",)),
    ):
        with c.graph(dtype) as tf:
            tf.raw_ops.DecodeCSV(
                records=tf.placeholder(tf.string, None, name="in"),
                record_defaults=_none(dtype),
                name="csv",
            )
        s = c.open(dtype, dtype)
        for wrong in wrongs:
            s.run(["csv:0"], {"in:0": words("1", wrong)}, error=[3])


@engine_case("PARSING-013", title="Quotes that are nowhere allowed.")
def misplaced_quotes(c: EngineAuthor) -> None:
    s = _lines(c, _none("object", "object"))
    for wrong in ('"a,b', 'a"b,c', '"a"b,c', 'a,"', "a\n,b"):
        s.run(["csv:0"], {"in:0": words(wrong)}, error=[3])


# --- compressed strings, serialized tensors -----------------------------------------------

_TEXT: Final = b"to be compressed, " * 40


def _compressed(c: EngineAuthor, kind: str) -> SessionAuthor:
    with c.graph() as tf:
        given = tf.placeholder(tf.string, None, name="in")
        tf.raw_ops.DecodeCompressed(bytes=given, compression_type=kind, name="out")
    return c.open()


@engine_case("PARSING-014", title="Strings that zlib compressed.")
def zlib_strings(c: EngineAuthor) -> None:
    s = _compressed(c, "ZLIB")
    s.run(
        ["out:0"],
        {"in:0": words(zlib.compress(_TEXT), zlib.compress(b"", 0))},
        values=[words(_TEXT, b"")],
    )
    s.run(["out:0"], {"in:0": zlib.compress(bytes(1000), 9)}, values=[bytes(1000)])


@engine_case("PARSING-014", title="Strings that gzip compressed, several members of them.")
def gzip_strings(c: EngineAuthor) -> None:
    s = _compressed(c, "GZIP")
    one, two = gzip.compress(_TEXT, mtime=0), gzip.compress(b"two", mtime=0)
    s.run(
        ["out:0"],
        {"in:0": words(one, two, one + two)},
        values=[words(_TEXT, b"two", _TEXT + b"two")],
    )


@engine_case("PARSING-014", title="Strings that nothing compressed.")
def plain_strings(c: EngineAuthor) -> None:
    s = _compressed(c, "")
    s.run(["out:0"], {"in:0": words(b"a\0b", b"")}, values=[words(b"a\0b", b"")])


@engine_case("PARSING-015", title="Damaged compressed strings.")
def damaged_strings(c: EngineAuthor) -> None:
    s = _compressed(c, "ZLIB")
    good = zlib.compress(_TEXT)
    for wrong in (
        b"no stream",
        good[:-1] + b"\0",
        b"\x78\x9c\xff" + good[3:],
        gzip.compress(_TEXT, mtime=0),
    ):
        s.run(["out:0"], {"in:0": words(good, wrong)}, error=[15])


@engine_case("PARSING-032", title="Compressed strings that are cut off at each of their bytes.")
def cut_off_strings(c: EngineAuthor) -> None:
    stored = zlib.compress(_TEXT[:40], 0)
    for kind, good in (("ZLIB", stored), ("GZIP", gzip.compress(_TEXT[:40], 0, mtime=0))):
        with c.graph(kind) as tf:
            given = tf.placeholder(tf.string, None, name="in")
            tf.raw_ops.DecodeCompressed(bytes=given, compression_type=kind, name="out")
        s = c.open(kind, kind)
        header = len(good) - 40 - (8 if kind == "GZIP" else 4)
        cuts = range(len(good))
        want = [_TEXT[: min(max(cut - header, 0), 40)] for cut in cuts]
        s.run(["out:0"], {"in:0": words(*(good[:cut] for cut in cuts))}, values=[words(*want)])
        s.close()


_TENSORS: Final[tuple[np.ndarray | np.int64, ...]] = (
    *(np.array([[0, 1], [100, 127]], dtype) for dtype in (*_INTEGERS, "uint32", "uint64")),
    *(np.array([-0.0, 1.5, np.inf, np.nan], _dtype(name)) for name in _FLOATS),
    np.array([True, False]),
    np.int64(-(2**63)),
    np.zeros((0, 3), np.float32),
    words("a", b"\0\xff", b"").reshape(3, 1),
    np.zeros((2, 0), object),
)


@engine_case("PARSING-016", title="Tensors there and back, of every dtype.")
def tensors_there_and_back(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for number, value in enumerate(_TENSORS):
            dtype = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
            given = tf.placeholder(dtype, None, name=f"in{number}")
            there = tf.raw_ops.SerializeTensor(tensor=given, name=f"there{number}")
            tf.raw_ops.ParseTensor(serialized=there, out_type=dtype, name=f"back{number}")
    s = c.open()
    for number, value in enumerate(_TENSORS):
        s.run([f"back{number}:0"], {f"in{number}:0": value}, values=[value])


@engine_case("PARSING-016", title="Bytes that say a tensor, and what they say.")
def tensors_of_bytes(c: EngineAuthor) -> None:
    s = _parsed(c)
    vector = b"\x12\x04\x12\x02\x08\x03"
    s.run(
        ["out:0"],
        {"in:0": b"\x08\x03" + vector + b"\x3a\x03\x05\x06\x07"},
        values=[np.array([5, 6, 7], np.int32)],
    )
    s.run(
        ["out:0"],
        {"in:0": b"\x08\x03" + vector + b"\x3a\x02\x05\x06"},
        values=[np.array([5, 6, 6], np.int32)],
    )
    s.run(["out:0"], {"in:0": b"\x08\x03\x12\x00\x22\x04\x01\x02\x00\x00"}, values=[np.int32(513)])


def _parsed(c: EngineAuthor) -> SessionAuthor:
    with c.graph() as tf:
        given = tf.placeholder(tf.string, None, name="in")
        tf.raw_ops.ParseTensor(serialized=given, out_type=tf.int32, name="out")
    return c.open()


@engine_case("PARSING-017", title="Bytes that are no tensor, or another's.")
def bytes_of_no_tensor(c: EngineAuthor) -> None:
    s = _parsed(c)
    vector = b"\x12\x04\x12\x02\x08\x02"
    for wrong in (
        b"\xff\xff",
        b"",
        b"\x08\x09" + vector + b"\x52\x02\x05\x06",
        b"\x08\x03" + vector + b"\x22\x04abcd",
    ):
        s.run(["out:0"], {"in:0": wrong}, error=[3])
