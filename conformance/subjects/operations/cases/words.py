"""Vectors of OPERATIONS: strings, and numbers as text."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import axes, c64, column, f32, f64, i8, i32, i64, text, u8
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows

_WORDS = text(b"", b"a", b"\0", b"a\0b\0", b"\xff\xfe", "grün".encode(), b" x\t", b"Hello World")


@engine_case(
    "OPERATIONS-149",
    title="Strings are joined in order with the separator, scalars repeated, NULs and any bytes "
    "kept.",
)
def strings_are_joined_in_order(c: EngineAuthor) -> None:
    rows = Rows(c)
    rows.add("Add", column(_WORDS), _WORDS)
    enclosed: list[bytes | np.ndarray] = [b"<", _WORDS, b">"]
    for separator in (b"", b", ", b"\0"):
        rows.add("StringJoin", [_WORDS, _WORDS[::-1]], separator=separator)
        rows.add("StringJoin", enclosed, separator=separator)
    square = text(b"a", b"b", b"c", b"d", shape=(2, 2))
    for chosen in (axes(0), axes(1), axes(0, 1), axes(1, 0), axes(-1), axes()):
        rows.add("ReduceJoin", square, chosen, separator="-")
    rows.run()


@engine_case(
    "OPERATIONS-148",
    title="Lengths and parts count bytes, or characters where told, from the front or the back.",
)
def parts_count_bytes_or_characters(c: EngineAuthor) -> None:
    rows = Rows(c)
    text8 = text(b"", b"abc", "grün".encode(), "日本語".encode())
    for unit in ("BYTE", "UTF8_CHAR"):
        rows.add("StringLength", text8, unit=unit)
        for pos, length in ((0, 2), (1, 1), (-2, 9), (-3, 2), (2, 0)):
            rows.add("Substr", text8[1:], i32(pos), i32(length), unit=unit)
        rows.add("Substr", text8[1:], axes(0, 1, -1), axes(1, 2, 1), unit=unit)
    rows.add("StringLength", _WORDS)
    for pos in (4, -4):
        rows.refuse("Substr", text(b"abc"), i32(pos), i32(1), codes=[3])
    rows.run()


@engine_case(
    "OPERATIONS-154", title="Case is changed in ASCII, or in all of Unicode where it is asked for."
)
def case_is_ascii_unless_told(c: EngineAuthor) -> None:
    rows = Rows(c)
    mixed = text(b"aBc", "ÄÖü".encode(), b"", b"1x!", "Straße".encode())
    for op in ("StringLower", "StringUpper"):
        for encoding in ("", "utf-8"):
            rows.add(op, mixed, encoding=encoding)
        rows.add(op, _WORDS)
    rows.run()


@engine_case("OPERATIONS-155", title="White space goes from both ends, NULs stay.")
def white_space_goes_from_both_ends(c: EngineAuthor) -> None:
    rows = Rows(c)
    rows.add("StringStrip", text(b"  a b ", b"\t\n\r\v\fx\n", b"", b"   ", b"\0 a", b"a\0 "))
    rows.run()


@engine_case(
    "OPERATIONS-156", title="Base64 is written in the web-safe alphabet, padded only if asked."
)
def bytes_are_encoded(c: EngineAuthor) -> None:
    rows = Rows(c)
    for pad in (False, True):
        rows.add("EncodeBase64", text(b"", b"a", b"ab", b"abc", b"\xfb\xff\xfe", b"\0\0"), pad=pad)
    rows.run()


@engine_case("OPERATIONS-157", title="Web-safe base64 is read, padded or not.")
def bytes_are_read(c: EngineAuthor) -> None:
    rows = Rows(c)
    rows.add("DecodeBase64", text(b"", b"YQ", b"YQ==", b"YWI", b"YWJj", b"-__-", b"AAA="))
    rows.refuse("DecodeBase64", text(b"+//+"), codes=[3])
    rows.run()


@engine_case("OPERATIONS-158", title="Raw bytes are numbers in either byte order.")
def raw_bytes_are_numbers(c: EngineAuthor) -> None:
    rows = Rows(c)
    raw = text(b"\x01\x02\x03\x04\xff\x7f\x00\x80", b"\0" * 8)
    for little in (True, False):
        for dtype in ("uint8", "int16", "int32", "float32", "float64", "uint16", "int64"):
            rows.add("DecodeRaw", raw, out_type=dtype, little_endian=little)
    rows.run()


@engine_case(
    "OPERATIONS-152",
    title="Numbers are written as text with the precision, notation, width and fill asked for.",
)
def numbers_are_written_as_asked(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = f32([0, -1.5, 3.14159, 1e10, np.inf, np.nan])
    for asked in (
        {},
        {"precision": 2},
        {"scientific": True},
        {"shortest": True},
        {"precision": 3, "scientific": True},
        {"precision": 1, "width": 9},
        {"precision": 1, "width": 9, "fill": "0"},
    ):
        rows.add("AsString", x, **asked)
        rows.add("AsString", x[:5].astype(f64), **asked)
    for kind in (i32, i64, u8, i8):
        rows.add("AsString", np.array([0, 7, 120], kind))
        rows.add("AsString", np.array([0, 7, 120], kind), width=5, fill="0")
        rows.add("AsString", np.array([5], kind), width=4, fill="-")
    rows.add("AsString", np.array([True, False]))
    rows.add("AsString", i64([-(2**63), 2**63 - 1]))
    rows.add("AsString", c64([1.5 - 2j]), precision=1)
    rows.run()


@engine_case(
    "OPERATIONS-153",
    title="Text becomes the number it says, white space and exponents admitted, and anything "
    "else is refused.",
)
def text_becomes_the_number_it_says(c: EngineAuthor) -> None:
    rows = Rows(c)
    for dtype in ("float32", "float64"):
        numerals = text(b"1.5", b"-2e3", b" 7 ", b"inf", b"-inf", b"nan", b"0.1", b"1e400")
        rows.add("StringToNumber", numerals[:7], out_type=dtype)
    rows.add("StringToNumber", text(b"12", b"-7", b" 5 ", b"2147483647"), out_type="int32")
    rows.add("StringToNumber", text(b"9223372036854775807", b"-1"), out_type="int64")
    for dtype, wrong in (
        ("float32", b"abc"),
        ("float32", b""),
        ("int32", b"1.5"),
        ("int32", b"2147483648"),
        ("int64", b"x1"),
    ):
        rows.refuse("StringToNumber", text(wrong), out_type=dtype, codes=[3])
    rows.run()
