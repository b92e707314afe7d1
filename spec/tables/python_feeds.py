"""The Python values whose feeding is observed: numbers, text, lists, tuples, objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from sessrun.spec.forms import Json
from sessrun.spec.tables.feed_expressions import (
    NOTHING,
    Kind,
    array_of,
    byte_string,
    floating,
    integer,
    nested,
    object_array,
    python_object,
    scalar_of,
)

__all__ = ["python_values"]

#: Ints at and beyond the limits of every width, and where each float width stops being exact.
_INTS: Final = (
    0, 1, 2, -1, 7, 8, 15, 16, -8, -9, 100, 127, 128, -128, -129, 255, 256, 257, 300, 449, 481,
    2049, 32767, 32768, -32768, -32769, 65504, 65519, 65520, 65535, 65536, 2**24 + 1, 2**31 - 1,
    2**31, -(2**31), -(2**31) - 1, 2**32 - 1, 2**32, 2**40, 2**53 + 1, 2**63 - 1, 2**63,
    -(2**63), -(2**63) - 1, 2**64 - 1, 2**64, 10**39, -(10**39), 10**400,
)  # fmt: skip
_LISTED_INTS: Final = (
    1, -1, 8, 16, 128, 256, 300, 2**24 + 1, 2**31, 2**32, 2**63, -(2**63) - 1, 2**64, 10**39,
    10**400,
)  # fmt: skip
_FLOATS: Final = (
    "0.0",
    "-0.0",
    "1.0",
    "1.5",
    "-1.5",
    "0.1",
    "0.3333333333333333",
    "-0.5",
    "7.9",
    "127.9",
    "-128.9",
    "255.9",
    "300.7",
    "-1.0",
    "480.0",
    "65519.0",
    "65520.0",
    "3e9",
    "5e9",
    "1e-9",
    "1e-46",
    "1e19",
    "1e40",
    "-1e40",
    "1e308",
    "nan",
    "inf",
    "-inf",
)
_STRINGS: Final = (
    ("integer", "1"),
    ("negative", "-1"),
    ("decimal", "1.5"),
    ("padded", " 7 "),
    ("exponent", "1e3"),
    ("underscored", "1_000"),
    ("hex", "0x10"),
    ("too-big", "300"),
    ("huge", "1e400"),
    ("nan", "nan"),
    ("inf", "-inf"),
    ("complex", "1+2j"),
    ("zero", "0"),
    ("true", "True"),
    ("false", "False"),
    ("letter", "a"),
    ("empty", ""),
    ("space", " "),
    ("non-ascii", "é"),
    ("wide", "日本"),
    ("astral", "\U0001f600"),
    ("surrogate", "\ud800"),
    ("embedded-nul", "a\0b"),
    ("trailing-nul", "a\0\0"),
    ("arabic-digit", "٣"),
)
_BYTES: Final = (
    ("integer", b"1"),
    ("decimal", b"1.5"),
    ("letter", b"a"),
    ("empty", b""),
    ("embedded-nul", b"a\0b"),
    ("trailing-nul", b"a\0\0"),
    ("only-nul", b"\0"),
    ("not-utf8", b"\xff\xfe"),
    ("utf8", "é".encode()),
)


def python_values() -> Iterator[Kind]:
    """Kinds of Python values, in the table's order."""
    yield from _ints()
    yield from _floats()
    yield from _texts()
    yield from _lists()
    yield from _tuples()
    yield from _objects()


def _int_name(value: int) -> str:
    sign, size = ("neg-" if value < 0 else ""), abs(value)
    for power in (24, 31, 32, 40, 53, 63, 64):
        off = size - 2**power
        if -1 <= off <= 1:
            return f"{sign}2p{power}" + {-1: "-minus-1", 0: "", 1: "-plus-1"}[off]
    return sign + (str(size) if size < 10**11 else f"1e{len(str(size)) - 1}")


def _ints() -> Iterator[Kind]:
    yield "bool-true", "True", True
    yield "bool-false", "False", False
    for value in _INTS:
        yield f"int-{_int_name(value)}", f"int {_brief(value)}", integer(value)
    for value in _LISTED_INTS:
        yield f"list-int-{_int_name(value)}", f"list of int {_brief(value)}", [integer(value)]
    yield "int-enum", "IntEnum member 1", python_object("int_enum", 1)
    yield "int-enum-300", "IntEnum member 300", python_object("int_enum", 300)


def _brief(value: int) -> str:
    if value.bit_length() <= 64:
        return str(value)
    sign = "-" if value < 0 else ""
    return str(value) if value == 2**64 else f"{sign}10**{len(str(abs(value))) - 1}"


def _floats() -> Iterator[Kind]:
    for text in _FLOATS:
        yield f"float-{text}", f"float {text}", floating(text)
    for text in ("1.5", "-0.0", "300.7", "3e9", "1e40", "nan", "inf"):
        yield f"list-float-{text}", f"list of float {text}", [floating(text)]
    for name, parts in (
        ("1+2j", ("1", "2")),
        ("1+0j", ("1", "0")),
        ("0+1j", ("0", "1")),
        ("nan+1j", ("nan", "1")),
        ("1e40+1j", ("1e40", "1")),
    ):
        yield f"complex-{name}", f"complex {name}", {"$complex": list(parts)}
    yield "list-complex", "list of complex", [{"$complex": ["1", "2"]}, {"$complex": ["3", "0"]}]


def _texts() -> Iterator[Kind]:
    for name, text in _STRINGS:
        yield f"str-{name}", f"str {text!a}", text
    for name, text in _STRINGS:
        if name in {"integer", "decimal", "letter", "non-ascii", "surrogate", "trailing-nul"}:
            yield f"list-str-{name}", f"list of str {text!a}", [text]
    for name, octets in _BYTES:
        yield f"bytes-{name}", f"bytes {octets!r}", byte_string(octets)
    for name, octets in _BYTES:
        if name in {"integer", "letter", "trailing-nul", "not-utf8"}:
            yield f"list-bytes-{name}", f"list of bytes {octets!r}", [byte_string(octets)]
    yield "none", "None", NOTHING
    yield "list-none", "[None]", [NOTHING]


def _lists() -> Iterator[Kind]:
    rows: tuple[Kind, ...] = (
        ("list-ints", "[1, 2, 3]", [1, 2, 3]),
        ("list-zero-one", "[0, 1]", [0, 1]),
        ("list-bools", "[True, False]", [True, False]),
        ("list-floats", "[1.5, 2.5]", [1.5, 2.5]),
        ("list-nested", "[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("list-nested-str", "[['a', 'b'], ['c', 'd']]", [["a", "b"], ["c", "d"]]),
        ("list-ragged", "[[1], [2, 3]]", [[1], [2, 3]]),
        ("list-ragged-depth", "[1, [2]]", [1, [2]]),
        ("list-ragged-str", "[['a'], ['b', 'c']]", [["a"], ["b", "c"]]),
        ("list-empty", "[]", []),
        ("list-empty-nested", "[[]]", [[]]),
        ("list-empty-pair", "[[], []]", [[], []]),
        ("list-ragged-empty", "[[], [1]]", [[], [1]]),
        ("list-deep", "1 in 32 lists", nested(32)),
        ("list-deep-str", "'a' in 32 lists", nested(32, "a")),
        ("list-int-float", "[1, 2.5]", [1, 2.5]),
        ("list-bool-int", "[True, 2]", [True, 2]),
        ("list-int-complex", "[1, 1+2j]", [1, {"$complex": ["1", "2"]}]),
        ("list-int-str", "[1, 'a']", [1, "a"]),
        ("list-int-digits", "[1, '2']", [1, "2"]),
        ("list-int-none", "[1, None]", [1, NOTHING]),
        ("list-float-none", "[1.5, None]", [1.5, NOTHING]),
        ("list-str-none", "['a', None]", ["a", NOTHING]),
        ("list-str-bytes", "['a', b'b']", ["a", byte_string(b"b")]),
        ("list-bytes-int", "[b'a', 1]", [byte_string(b"a"), 1]),
        ("list-big-mixed", "[1, 2**64]", [1, integer(2**64)]),
        ("list-signed-unsigned", "[-1, 2**63]", [-1, integer(2**63)]),
        ("list-str-list", "[[1, 2], 'ab']", [[1, 2], "ab"]),
        ("list-tuples", "[(1, 2), (3, 4)]", [{"$tuple": [1, 2]}, {"$tuple": [3, 4]}]),
        ("list-array-0d", "[0-d int32 array]", [array_of(np.int32(1))]),
        ("list-arrays", "[int32 array, int32 array]", [array_of([1, 2], "int32")] * 2),
        (
            "list-arrays-mixed",
            "[int32 array, float64 array]",
            [array_of([1, 2], "int32"), array_of(np.array([1.5, 2.5]))],
        ),
        (
            "list-arrays-ragged",
            "[array of 1, array of 2]",
            [array_of([1], "int32"), array_of([1, 2], "int32")],
        ),
        ("list-array-list", "[int32 array, [3, 4]]", [array_of([1, 2], "int32"), [3, 4]]),
        (
            "list-scalars",
            "[float32 scalar, int64 scalar]",
            [scalar_of(np.float32(1.5)), scalar_of(np.int64(2))],
        ),
        ("list-int64-300", "[int64 scalar 300]", [scalar_of(np.int64(300))]),
        (
            "list-object-array-0d",
            "[0-d object array of bytes]",
            [object_array([], byte_string(b"x"))],
        ),
        ("list-bytearray", "[bytearray(b'ab')]", [python_object("bytearray", byte_string(b"ab"))]),
        ("list-dict", "[{}]", [{"$dict": []}]),
        ("list-object", "[object()]", [python_object("object")]),
    )
    yield from rows


def _tuples() -> Iterator[Kind]:
    yield "tuple-empty", "()", {"$tuple": []}
    yield "tuple-ints", "(1, 2)", {"$tuple": [1, 2]}
    yield "tuple-nested", "((1, 2), (3, 4))", {"$tuple": [{"$tuple": [1, 2]}, {"$tuple": [3, 4]}]}
    yield "tuple-str", "('a', 'b')", {"$tuple": ["a", "b"]}
    point: Json = {"$namedtuple": {"type": "Point", "fields": ["x", "y"], "values": [1, 2]}}
    yield "namedtuple", "Point(x=1, y=2)", point
    yield "range", "range(3)", python_object("range", 3)
    yield "range-empty", "range(0)", python_object("range", 0)
    yield "deque", "deque([1, 2])", python_object("deque", [1, 2])
    yield "user-list", "UserList([1, 2])", python_object("user_list", [1, 2])


def _objects() -> Iterator[Kind]:
    rows: tuple[Kind, ...] = (
        ("set", "{1}", {"$set": [1]}),
        ("set-empty", "set()", {"$set": []}),
        ("frozenset", "frozenset([1])", python_object("frozenset", [1])),
        ("dict", "{'a': 1}", {"$dict": [["a", 1]]}),
        ("dict-empty", "{}", {"$dict": []}),
        ("generator", "a generator", {"$generator": [1, 2]}),
        ("object", "object()", python_object("object")),
        ("function", "a function", {"$fn": {"params": [], "returns": 1}}),
        ("ellipsis", "...", python_object("ellipsis")),
        ("slice", "slice(1)", {"$slice": [NOTHING, 1, NOTHING]}),
        ("decimal", "Decimal('1.5')", python_object("decimal", "1.5")),
        ("decimal-nan", "Decimal('nan')", python_object("decimal", "nan")),
        ("list-decimal", "[Decimal('1.5')]", [python_object("decimal", "1.5")]),
        ("fraction", "Fraction(1, 2)", python_object("fraction", 1, 2)),
        ("float-like", "an object with __float__", python_object("float_like", 1.5)),
        ("index-like", "an object with __index__", python_object("index_like", 3)),
        (
            "array-like",
            "an object with __array__ (float32)",
            python_object("array_like", array_of([1.5, 2.5], "float32")),
        ),
    )
    yield from rows
