"""The values whose feeding `feed_probe` observes: id, title and expression of each kind.

The expressions are of the case language (`spec/cases/expressions.py`), so that a case can feed
what the table was measured with. Ids are stable: other files cite them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.dtypes import DTYPES, DTypeRow

__all__ = ["Kind", "kinds"]

#: (id, title, expression)
Kind = tuple[str, str, Any]

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
_NOTHING: Final = {"$none": True}


def kinds() -> list[Kind]:
    """Every kind of value, in the table's order; the ids are unique."""
    return [
        *_ints(),
        *_floats(),
        *_texts(),
        *_lists(),
        *_tuples(),
        *_odd_objects(),
        *_numpy_scalars(),
        *_arrays(),
        *_layouts(),
        *_object_arrays(),
        *_foreign_arrays(),
        *_buffers(),
    ]


def _int(value: int) -> Any:
    return value if abs(value) < 2**53 else {"$int": str(value)}


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
        yield f"int-{_int_name(value)}", f"int {_brief(value)}", _int(value)
    for value in _LISTED_INTS:
        yield f"list-int-{_int_name(value)}", f"list of int {_brief(value)}", [_int(value)]
    yield "int-enum", "IntEnum member 1", _py("int_enum", 1)
    yield "int-enum-300", "IntEnum member 300", _py("int_enum", 300)


def _brief(value: int) -> str:
    if value.bit_length() <= 64:
        return str(value)
    sign = "-" if value < 0 else ""
    return str(value) if value == 2**64 else f"{sign}10**{len(str(abs(value))) - 1}"


def _float(text: str) -> Any:
    return {"$float": text}


def _floats() -> Iterator[Kind]:
    for text in _FLOATS:
        yield f"float-{text}", f"float {text}", _float(text)
    for text in ("1.5", "-0.0", "300.7", "3e9", "1e40", "nan", "inf"):
        yield f"list-float-{text}", f"list of float {text}", [_float(text)]
    for name, parts in (
        ("1+2j", ("1", "2")),
        ("1+0j", ("1", "0")),
        ("0+1j", ("0", "1")),
        ("nan+1j", ("nan", "1")),
        ("1e40+1j", ("1e40", "1")),
    ):
        yield f"complex-{name}", f"complex {name}", {"$complex": list(parts)}
    yield "list-complex", "list of complex", [{"$complex": ["1", "2"]}, {"$complex": ["3", "0"]}]


def _bytes(value: bytes) -> Any:
    return {"$bytes": base64.b64encode(value).decode()}


def _texts() -> Iterator[Kind]:
    for name, text in _STRINGS:
        yield f"str-{name}", f"str {text!a}", text
    for name, text in _STRINGS:
        if name in {"integer", "decimal", "letter", "non-ascii", "surrogate", "trailing-nul"}:
            yield f"list-str-{name}", f"list of str {text!a}", [text]
    for name, octets in _BYTES:
        yield f"bytes-{name}", f"bytes {octets!r}", _bytes(octets)
    for name, octets in _BYTES:
        if name in {"integer", "letter", "trailing-nul", "not-utf8"}:
            yield f"list-bytes-{name}", f"list of bytes {octets!r}", [_bytes(octets)]
    yield "none", "None", _NOTHING
    yield "list-none", "[None]", [_NOTHING]


def _lists() -> Iterator[Kind]:
    yield from (
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
        ("list-deep", "1 in 32 lists", _nest(32)),
        ("list-deep-str", "'a' in 32 lists", _nest(32, "a")),
        ("list-int-float", "[1, 2.5]", [1, 2.5]),
        ("list-bool-int", "[True, 2]", [True, 2]),
        ("list-int-complex", "[1, 1+2j]", [1, {"$complex": ["1", "2"]}]),
        ("list-int-str", "[1, 'a']", [1, "a"]),
        ("list-int-digits", "[1, '2']", [1, "2"]),
        ("list-int-none", "[1, None]", [1, _NOTHING]),
        ("list-float-none", "[1.5, None]", [1.5, _NOTHING]),
        ("list-str-none", "['a', None]", ["a", _NOTHING]),
        ("list-str-bytes", "['a', b'b']", ["a", _bytes(b"b")]),
        ("list-bytes-int", "[b'a', 1]", [_bytes(b"a"), 1]),
        ("list-big-mixed", "[1, 2**64]", [1, _int(2**64)]),
        ("list-signed-unsigned", "[-1, 2**63]", [-1, _int(2**63)]),
        ("list-str-list", "[[1, 2], 'ab']", [[1, 2], "ab"]),
        ("list-tuples", "[(1, 2), (3, 4)]", [{"$tuple": [1, 2]}, {"$tuple": [3, 4]}]),
        ("list-array-0d", "[0-d int32 array]", [_array(np.int32(1))]),
        ("list-arrays", "[int32 array, int32 array]", [_array([1, 2], "int32")] * 2),
        (
            "list-arrays-mixed",
            "[int32 array, float64 array]",
            [_array([1, 2], "int32"), _array(np.array([1.5, 2.5]))],
        ),
        (
            "list-arrays-ragged",
            "[array of 1, array of 2]",
            [_array([1], "int32"), _array([1, 2], "int32")],
        ),
        ("list-array-list", "[int32 array, [3, 4]]", [_array([1, 2], "int32"), [3, 4]]),
        (
            "list-scalars",
            "[float32 scalar, int64 scalar]",
            [_scalar(np.float32(1.5)), _scalar(np.int64(2))],
        ),
        ("list-int64-300", "[int64 scalar 300]", [_scalar(np.int64(300))]),
        ("list-object-array-0d", "[0-d object array of bytes]", [_objects([], _bytes(b"x"))]),
        ("list-bytearray", "[bytearray(b'ab')]", [_py("bytearray", _bytes(b"ab"))]),
        ("list-dict", "[{}]", [{"$dict": []}]),
        ("list-object", "[object()]", [_py("object")]),
    )


def _nest(depth: int, value: Any = 1) -> Any:
    """`value` in `depth` lists; TensorFlow dies of a string tensor of more than 32 dimensions."""
    for _ in range(depth):
        value = [value]
    return value


def _tuples() -> Iterator[Kind]:
    yield "tuple-empty", "()", {"$tuple": []}
    yield "tuple-ints", "(1, 2)", {"$tuple": [1, 2]}
    yield "tuple-nested", "((1, 2), (3, 4))", {"$tuple": [{"$tuple": [1, 2]}, {"$tuple": [3, 4]}]}
    yield "tuple-str", "('a', 'b')", {"$tuple": ["a", "b"]}
    point = {"$namedtuple": {"type": "Point", "fields": ["x", "y"], "values": [1, 2]}}
    yield "namedtuple", "Point(x=1, y=2)", point
    yield "range", "range(3)", _py("range", 3)
    yield "range-empty", "range(0)", _py("range", 0)
    yield "deque", "deque([1, 2])", _py("deque", [1, 2])
    yield "user-list", "UserList([1, 2])", _py("user_list", [1, 2])


def _py(name: str, *args: Any) -> Any:
    return {"$py": name, "args": list(args)} if args else {"$py": name}


def _odd_objects() -> Iterator[Kind]:
    yield from (
        ("set", "{1}", {"$set": [1]}),
        ("set-empty", "set()", {"$set": []}),
        ("frozenset", "frozenset([1])", _py("frozenset", [1])),
        ("dict", "{'a': 1}", {"$dict": [["a", 1]]}),
        ("dict-empty", "{}", {"$dict": []}),
        ("generator", "a generator", {"$generator": [1, 2]}),
        ("object", "object()", _py("object")),
        ("function", "a function", {"$fn": {"params": [], "returns": 1}}),
        ("ellipsis", "...", _py("ellipsis")),
        ("slice", "slice(1)", {"$slice": [_NOTHING, 1, _NOTHING]}),
        ("decimal", "Decimal('1.5')", _py("decimal", "1.5")),
        ("decimal-nan", "Decimal('nan')", _py("decimal", "nan")),
        ("list-decimal", "[Decimal('1.5')]", [_py("decimal", "1.5")]),
        ("fraction", "Fraction(1, 2)", _py("fraction", 1, 2)),
        ("float-like", "an object with __float__", _py("float_like", 1.5)),
        ("index-like", "an object with __index__", _py("index_like", 3)),
        (
            "array-like",
            "an object with __array__ (float32)",
            _py("array_like", _array([1.5, 2.5], "float32")),
        ),
    )


def _array(value: Any, dtype: str | None = None) -> Any:
    return {"$array": tensors.encode(np.asarray(value, dtype))}


def _scalar(value: Any) -> Any:
    return {"$scalar": tensors.encode(value)}


def _numpy(dtype: Any, shape: list[int], *items: Any) -> Any:
    return {"$numpy": {"dtype": dtype, "shape": shape, "items": list(items)}}


def _element(array: Any) -> Any:
    """The numpy scalar in a 0-d array."""
    return {"$item": [array, {"$tuple": []}]}


def _numpy_scalars() -> Iterator[Kind]:
    for row in DTYPES:
        if row.kind not in {"resource", "variant", "string", "quantized"}:
            yield f"scalar-{row.name}", f"{row.name} scalar 1", _scalar(np.dtype(row.numpy).type(1))
    for dtype, text in (
        ("int64", "-1"),
        ("int64", "300"),
        ("int64", "16777217"),
        ("uint64", str(2**64 - 1)),
        ("int32", "2"),
        ("float32", "nan"),
        ("float32", "1.5"),
        ("float64", "1.5"),
        ("float64", "nan"),
        ("float64", "1e40"),
        ("float64", "-1.5"),
        ("float16", "inf"),
    ):
        value = np.dtype(dtype).type(text)
        yield f"scalar-{dtype}-{text}", f"{dtype} scalar {text}", _scalar(value)
    yield "scalar-bool-false", "bool scalar False", _scalar(np.False_)
    yield "scalar-str", "np.str_('a')", _element(_numpy("U1", [], "a"))
    yield "scalar-bytes", "np.bytes_(b'a')", _element(_numpy("S1", [], _bytes(b"a")))
    yield "scalar-str-digits", "np.str_('1.5')", _element(_numpy("U3", [], "1.5"))
    yield "scalar-longdouble", "longdouble scalar 1.5", _element(_numpy("longdouble", [], 1.5))
    yield "scalar-void", "np.void of a struct", _element(_pair([]))
    yield "scalar-datetime64", "datetime64('2020-01-02')", _py("datetime64", "2020-01-02")
    yield "scalar-datetime64-nat", "datetime64('NaT')", _py("datetime64", "NaT")
    yield "scalar-timedelta64", "timedelta64(5, 's')", _py("timedelta64", 5, "s")


def _pair(shape: list[int]) -> Any:
    return _numpy([["a", "i4"], ["b", "f4"]], shape, {"$tuple": [1, 2.5]})


def _sample(row: DTypeRow, shape: tuple[int, ...]) -> np.ndarray:
    """An array with something of everything its dtype holds: signs, fractions, text."""
    count = int(np.prod(shape))
    if row.kind == "string":
        strings = np.empty(count, dtype=object)
        strings[:] = [f"s{index}".encode() for index in range(count)]
        return strings.reshape(shape)
    step = {"float": 1.5, "complex": 1.5 - 2j}.get(row.kind, 1)
    sign = 1 if row.kind in {"uint", "bool"} or row.name.startswith("quint") else -1
    values = [step * (index + 1) * (sign if index % 2 else 1) for index in range(count)]
    if row.kind == "bool":
        values = [index % 2 == 0 for index in range(count)]
    return np.array(values).astype(np.dtype(row.numpy)).reshape(shape)


def _arrays() -> Iterator[Kind]:
    for row in DTYPES:
        if row.numpy is None:
            continue
        for rank, shape in enumerate(((), (3,), (2, 2))):
            title = f"{row.name} array of shape {list(shape)}"
            yield f"array-{row.name}-{rank}d", title, _array(_sample(row, shape))
    for dtype, text in (
        ("int64", "300"),
        ("int64", "-1"),
        ("int32", "2"),
        ("int64", str(2**40)),
        ("uint64", str(2**64 - 1)),
        ("float64", "nan"),
        ("float64", "300.7"),
        ("float64", "3e9"),
        ("float64", "1e40"),
        ("float32", "nan"),
        ("float32", "inf"),
        ("float32", "-1.0"),
    ):
        value = np.full((), np.dtype(dtype).type(text))
        yield f"array-{dtype}-0d-{text}", f"0-d {dtype} array {text}", _array(value)
        yield f"array-{dtype}-1d-{text}", f"{dtype} array [{text}] * 9", _array([value[()]] * 9)


def _layouts() -> Iterator[Kind]:
    for name in ("float32", "int32", "string"):
        row = next(row for row in DTYPES if row.name == name)
        for layout in ("fortran", "transposed", "reversed", "strided", "readonly", "broadcast"):
            form = {"$view": {"of": _array(_sample(row, (3, 2))), "as": layout}}
            yield f"view-{layout}-{name}", f"{name} array, {layout}", form
        for shape in ((0,), (0, 3), (2, 0)):
            size = "x".join(map(str, shape))
            title = f"empty {name} array of shape {list(shape)}"
            yield f"array-empty-{name}-{size}", title, _array(_sample(row, shape))
    for name in ("float32", "float64", "int32", "int64", "uint16", "complex64"):
        row = next(row for row in DTYPES if row.name == name)
        form = {"$view": {"of": _array(_sample(row, (3,))), "as": "big-endian"}}
        yield f"view-big-endian-{name}", f"big-endian {name} array", form


def _objects(shape: list[int], *items: Any) -> Any:
    return _numpy("O", shape, *items)


def _object_arrays() -> Iterator[Kind]:
    yield from (
        ("objects-ints", "object array of ints", _objects([2], 1, 2)),
        ("objects-int-300", "object array of int 300", _objects([1], 300)),
        ("objects-int-2p64", "object array of int 2**64", _objects([1], _int(2**64))),
        ("objects-floats", "object array of floats", _objects([2], 1.5, 2.5)),
        ("objects-nan", "object array of nan", _objects([1], _float("nan"))),
        ("objects-bools", "object array of bools", _objects([2], True, False)),
        ("objects-str", "object array of str", _objects([2], "a", "é")),
        ("objects-str-0d", "0-d object array of str", _objects([], "a")),
        ("objects-digits", "object array of str '1'", _objects([1], "1")),
        ("objects-bytes", "object array of bytes", _objects([2], _bytes(b"a"), _bytes(b"\0b\0"))),
        ("objects-bytes-0d", "0-d object array of bytes", _objects([], _bytes(b"a"))),
        (
            "objects-bytes-2d",
            "2-d object array of bytes",
            _objects([1, 2], _bytes(b"a"), _bytes(b"b")),
        ),
        ("objects-none", "object array of None", _objects([1], _NOTHING)),
        ("objects-str-none", "object array of str and None", _objects([2], "a", _NOTHING)),
        ("objects-mixed", "object array of int and str", _objects([2], 1, "a")),
        ("objects-lists", "object array of lists", _objects([2], [1], [2, 3])),
        ("objects-arrays", "object array of arrays", _objects([1], _array([1, 2], "int32"))),
        ("objects-empty", "empty object array", _objects([0])),
        ("objects-surrogate", "object array of a lone surrogate", _objects([1], "\ud800")),
    )


def _foreign_arrays() -> Iterator[Kind]:
    yield from (
        ("fixed-bytes", "S3 array", _numpy("S3", [2], _bytes(b"a"), _bytes(b"bcd"))),
        (
            "fixed-bytes-nul",
            "S3 array with NULs",
            _numpy("S3", [2], _bytes(b"a\0\0"), _bytes(b"a\0b")),
        ),
        ("fixed-bytes-digits", "S3 array of digits", _numpy("S3", [1], _bytes(b"1.5"))),
        ("fixed-bytes-0d", "0-d S3 array", _numpy("S3", [], _bytes(b"abc"))),
        ("fixed-str", "U3 array", _numpy("U3", [2], "a", "é日b")),
        ("fixed-str-nul", "U3 array with NULs", _numpy("U3", [2], "a\0\0", "a\0b")),
        ("fixed-str-digits", "U3 array of digits", _numpy("U3", [1], "1.5")),
        ("fixed-str-int", "U3 array of an integer", _numpy("U3", [1], "7")),
        ("fixed-str-0d", "0-d U3 array", _numpy("U3", [], "abc")),
        ("fixed-str-empty", "empty U3 array of shape [0, 2]", _numpy("U3", [0, 2])),
        ("variable-str", "StringDType array", _numpy("StringDType", [2], "a", "é")),
        ("struct", "structured array", _pair([1])),
        (
            "struct-one-field",
            "structured array of one field",
            _numpy([["x", "i4"]], [1], {"$tuple": [1]}),
        ),
        ("recarray", "record array", {"$view": {"of": _pair([1]), "as": "recarray"}}),
        ("datetime64", "datetime64[D] array", _numpy("M8[D]", [1], "1970-01-03")),
        ("timedelta64", "timedelta64[s] array", _numpy("m8[s]", [1], 5)),
        ("longlong", "longlong array", _numpy("longlong", [2], 1, -2)),
        ("ulonglong", "ulonglong array", _numpy("ulonglong", [2], 1, 2)),
        ("longdouble", "longdouble array", _numpy("longdouble", [2], 1.5, -2.5)),
        ("clongdouble", "clongdouble array", _numpy("clongdouble", [1], {"$complex": ["1", "2"]})),
        ("matrix", "np.matrix", _py("matrix", _array([[1, 2]], "float32"))),
        ("masked", "masked int64 array", _py("masked", [1, 2], [False, True])),
        (
            "masked-float",
            "masked float32 array",
            _py("masked", _array([1, 2], "float32"), [False, True]),
        ),
    )


def _buffers() -> Iterator[Kind]:
    yield "bytearray", "bytearray(b'ab')", _py("bytearray", _bytes(b"ab"))
    yield "memoryview", "memoryview(b'ab')", _py("memoryview", _bytes(b"ab"))
    wide = _py("memoryview", _array([[1.5, 2.5]], "float32"))
    yield "memoryview-float", "memoryview of a float32 array", wide
    for code, items in (
        ("b", [-1, 2]),
        ("i", [-1, 2]),
        ("q", [-1, 2**33]),
        ("f", [1.5]),
        ("d", [1.5, -2.5]),
    ):
        yield f"array-array-{code}", f"array.array({code!r}, {items})", _py("array", code, items)
