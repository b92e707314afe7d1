"""The numpy values and buffers in the table of what placeholders accept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sessrun.spec.dtypes import DTYPES, DTypeRow
from sessrun.spec.tables.feed_expressions import (
    NOTHING,
    Kind,
    array_of,
    byte_string,
    element_of,
    floating,
    integer,
    numpy_array,
    object_array,
    python_object,
    scalar_of,
    struct_array,
)

__all__ = ["numpy_values"]


def numpy_values() -> Iterator[Kind]:
    """Kinds of numpy scalars, arrays and buffers, in the table's order."""
    yield from _scalars()
    yield from _arrays()
    yield from _layouts()
    yield from _object_arrays()
    yield from _foreign_arrays()
    yield from _buffers()


def _scalars() -> Iterator[Kind]:
    for row in DTYPES:
        if row.kind not in {"resource", "variant", "string", "quantized"}:
            yield (
                f"scalar-{row.name}",
                f"{row.name} scalar 1",
                scalar_of(np.dtype(row.numpy).type(1)),
            )
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
        yield f"scalar-{dtype}-{text}", f"{dtype} scalar {text}", scalar_of(value)
    yield "scalar-bool-false", "bool scalar False", scalar_of(np.False_)
    yield "scalar-str", "np.str_('a')", element_of(numpy_array("U1", [], "a"))
    yield "scalar-bytes", "np.bytes_(b'a')", element_of(numpy_array("S1", [], byte_string(b"a")))
    yield "scalar-str-digits", "np.str_('1.5')", element_of(numpy_array("U3", [], "1.5"))
    yield (
        "scalar-longdouble",
        "longdouble scalar 1.5",
        element_of(numpy_array("longdouble", [], 1.5)),
    )
    yield "scalar-void", "np.void of a struct", element_of(struct_array([]))
    yield "scalar-datetime64", "datetime64('2020-01-02')", python_object("datetime64", "2020-01-02")
    yield "scalar-datetime64-nat", "datetime64('NaT')", python_object("datetime64", "NaT")
    yield "scalar-timedelta64", "timedelta64(5, 's')", python_object("timedelta64", 5, "s")


def _sample(row: DTypeRow, shape: tuple[int, ...]) -> np.ndarray:
    """An array with values of all sorts that its dtype has: both signs, fractions, text."""
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
            yield f"array-{row.name}-{rank}d", title, array_of(_sample(row, shape))
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
        yield f"array-{dtype}-0d-{text}", f"0-d {dtype} array {text}", array_of(value)
        yield f"array-{dtype}-1d-{text}", f"{dtype} array [{text}] * 9", array_of([value[()]] * 9)


def _layouts() -> Iterator[Kind]:
    for name in ("float32", "int32", "string"):
        row = next(row for row in DTYPES if row.name == name)
        for layout in ("fortran", "transposed", "reversed", "strided", "readonly", "broadcast"):
            form = {"$view": {"of": array_of(_sample(row, (3, 2))), "as": layout}}
            yield f"view-{layout}-{name}", f"{name} array, {layout}", form
        for shape in ((0,), (0, 3), (2, 0)):
            size = "x".join(map(str, shape))
            title = f"empty {name} array of shape {list(shape)}"
            yield f"array-empty-{name}-{size}", title, array_of(_sample(row, shape))
    for name in ("float32", "float64", "int32", "int64", "uint16", "complex64"):
        row = next(row for row in DTYPES if row.name == name)
        form = {"$view": {"of": array_of(_sample(row, (3,))), "as": "big-endian"}}
        yield f"view-big-endian-{name}", f"big-endian {name} array", form


def _object_arrays() -> Iterator[Kind]:
    yield from (
        ("objects-ints", "object array of ints", object_array([2], 1, 2)),
        ("objects-int-300", "object array of int 300", object_array([1], 300)),
        ("objects-int-2p64", "object array of int 2**64", object_array([1], integer(2**64))),
        ("objects-floats", "object array of floats", object_array([2], 1.5, 2.5)),
        ("objects-nan", "object array of nan", object_array([1], floating("nan"))),
        ("objects-bools", "object array of bools", object_array([2], True, False)),
        ("objects-str", "object array of str", object_array([2], "a", "é")),
        ("objects-str-0d", "0-d object array of str", object_array([], "a")),
        ("objects-digits", "object array of str '1'", object_array([1], "1")),
        (
            "objects-bytes",
            "object array of bytes",
            object_array([2], byte_string(b"a"), byte_string(b"\0b\0")),
        ),
        ("objects-bytes-0d", "0-d object array of bytes", object_array([], byte_string(b"a"))),
        (
            "objects-bytes-2d",
            "2-d object array of bytes",
            object_array([1, 2], byte_string(b"a"), byte_string(b"b")),
        ),
        ("objects-none", "object array of None", object_array([1], NOTHING)),
        ("objects-str-none", "object array of str and None", object_array([2], "a", NOTHING)),
        ("objects-mixed", "object array of int and str", object_array([2], 1, "a")),
        ("objects-lists", "object array of lists", object_array([2], [1], [2, 3])),
        ("objects-arrays", "object array of arrays", object_array([1], array_of([1, 2], "int32"))),
        ("objects-empty", "empty object array", object_array([0])),
        ("objects-surrogate", "object array of a lone surrogate", object_array([1], "\ud800")),
    )


def _foreign_arrays() -> Iterator[Kind]:
    yield from (
        ("fixed-bytes", "S3 array", numpy_array("S3", [2], byte_string(b"a"), byte_string(b"bcd"))),
        (
            "fixed-bytes-nul",
            "S3 array with NULs",
            numpy_array("S3", [2], byte_string(b"a\0\0"), byte_string(b"a\0b")),
        ),
        ("fixed-bytes-digits", "S3 array of digits", numpy_array("S3", [1], byte_string(b"1.5"))),
        ("fixed-bytes-0d", "0-d S3 array", numpy_array("S3", [], byte_string(b"abc"))),
        ("fixed-str", "U3 array", numpy_array("U3", [2], "a", "é日b")),
        ("fixed-str-nul", "U3 array with NULs", numpy_array("U3", [2], "a\0\0", "a\0b")),
        ("fixed-str-digits", "U3 array of digits", numpy_array("U3", [1], "1.5")),
        ("fixed-str-int", "U3 array of an integer", numpy_array("U3", [1], "7")),
        ("fixed-str-0d", "0-d U3 array", numpy_array("U3", [], "abc")),
        ("fixed-str-empty", "empty U3 array of shape [0, 2]", numpy_array("U3", [0, 2])),
        ("variable-str", "StringDType array", numpy_array("StringDType", [2], "a", "é")),
        ("struct", "structured array", struct_array([1])),
        (
            "struct-one-field",
            "structured array of one field",
            numpy_array([["x", "i4"]], [1], {"$tuple": [1]}),
        ),
        ("recarray", "record array", {"$view": {"of": struct_array([1]), "as": "recarray"}}),
        ("datetime64", "datetime64[D] array", numpy_array("M8[D]", [1], "1970-01-03")),
        ("timedelta64", "timedelta64[s] array", numpy_array("m8[s]", [1], 5)),
        ("longlong", "longlong array", numpy_array("longlong", [2], 1, -2)),
        ("ulonglong", "ulonglong array", numpy_array("ulonglong", [2], 1, 2)),
        ("longdouble", "longdouble array", numpy_array("longdouble", [2], 1.5, -2.5)),
        (
            "clongdouble",
            "clongdouble array",
            numpy_array("clongdouble", [1], {"$complex": ["1", "2"]}),
        ),
        ("matrix", "np.matrix", python_object("matrix", array_of([[1, 2]], "float32"))),
        ("masked", "masked int64 array", python_object("masked", [1, 2], [False, True])),
        (
            "masked-float",
            "masked float32 array",
            python_object("masked", array_of([1, 2], "float32"), [False, True]),
        ),
    )


def _buffers() -> Iterator[Kind]:
    yield "bytearray", "bytearray(b'ab')", python_object("bytearray", byte_string(b"ab"))
    yield "memoryview", "memoryview(b'ab')", python_object("memoryview", byte_string(b"ab"))
    wide = python_object("memoryview", array_of([[1.5, 2.5]], "float32"))
    yield "memoryview-float", "memoryview of a float32 array", wide
    for code, items in (
        ("b", [-1, 2]),
        ("i", [-1, 2]),
        ("q", [-1, 2**33]),
        ("f", [1.5]),
        ("d", [1.5, -2.5]),
    ):
        yield (
            f"array-array-{code}",
            f"array.array({code!r}, {items})",
            python_object("array", code, items),
        )
