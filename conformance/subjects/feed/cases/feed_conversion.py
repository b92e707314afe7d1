"""Vectors of FEED: what a fed Python value or numpy array becomes in a tensor of a dtype."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import ml_dtypes
import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, form
from sessrun.conformance.subjects.fetch.cases.fetch import floats, ints, texts
from sessrun.conformance.subjects.fetch.cases.fetch_nested import longs
from sessrun.spec.forms import Json

#: A fed value and what it becomes.
#: Fed values, and what they must become.
Pairs: TypeAlias = Sequence[tuple[Recordable, Recordable]]


def becomes(
    c: ApiAuthor, dtype: str, pairs: Pairs, shape: Sequence[int | None] | None = None
) -> None:
    """Record that each value, fed to a placeholder of the dtype, is fetched as its pair says."""
    y, p, sess = _identity(c, dtype, shape)
    for value, wanted in pairs:
        c.check(sess.run(y, {p: value}), wanted)


def refused(
    c: ApiAuthor, error: str, dtype: str, values: Iterable[Recordable], good: Recordable
) -> None:
    """Record that each value is refused with this class of error; then `good` is fed."""
    y, p, sess = _identity(c, dtype, None)
    for value in values:
        c.raises(error, lambda value=value: sess.run(y, {p: value}))  # type: ignore[misc]
    sess.run(y, {p: good})


def _identity(
    c: ApiAuthor, dtype: str, shape: Sequence[int | None] | None
) -> tuple[Symbol, Symbol, Symbol]:
    p = c.tf.placeholder(getattr(c.tf, dtype), shape)
    return c.tf.identity(p), p, c.tf.Session()


def python_value(c: ApiAuthor, name: str, *args: Recordable) -> Symbol:
    """Record the making of a Python value that a case names."""
    return c.do({"$py": name, "args": [form(arg) for arg in args]})


def array(c: ApiAuthor, dtype: str, items: Sequence[Recordable]) -> Symbol:
    """Record the making of a numpy array of rank 1 of any numpy dtype."""
    body: dict[str, Json] = {
        "dtype": dtype,
        "shape": [len(items)],
        "items": [form(item) for item in items],
    }
    return c.do({"$numpy": body})


# --- text ---------------------------------------------------------------------------------


@api_case("FEED-034", title="A fed str is its UTF-8, alone and in lists.")
def a_str_is_fed_as_utf8(c: ApiAuthor) -> None:
    pairs: Pairs = [
        ("a", b"a"),
        ("", b""),
        ("\u00e9\u65e5\U0001f600", b"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80"),
        (["a", "\u00e9"], texts(b"a", b"\xc3\xa9")),
        (["\u00e9", b"\xe9"], texts(b"\xc3\xa9", b"\xe9")),
    ]
    becomes(c, "string", pairs)


@api_case("FEED-034", title="The str elements of numpy arrays are fed as their UTF-8.")
def str_elements_are_fed_as_utf8(c: ApiAuthor) -> None:
    wanted = texts(b"a", b"\xc3\xa9\x00b")
    values = [array(c, dtype, ["a", "\u00e9\0b"]) for dtype in ("O", "U4")]
    becomes(c, "string", [(value, wanted) for value in values])


@api_case("FEED-052", title="A Python int or bool is no value of a string tensor.")
def an_int_is_no_string(c: ApiAuthor) -> None:
    refused(c, "TypeError", "string", (5, 0, -1, True), "5")


@api_case("FEED-053", title="Elements of a fixed-width bytes array lose their trailing NULs.")
def fixed_width_bytes_lose_trailing_nuls(c: ApiAuthor) -> None:
    becomes(c, "string", [(array(c, "S4", [b"a\0\0", b"a\0b", b""]), texts(b"a", b"a\0b", b""))])


@api_case("FEED-046", title="Text that spells a number is fed as that number.")
def text_that_spells_a_number_is_that_number(c: ApiAuthor) -> None:
    for dtype, kind in (("float32", np.float32), ("float64", np.float64)):
        pairs: list[tuple[str | bytes, float]] = [
            ("1.5", 1.5),
            ("-2", -2.0),
            ("1e3", 1000.0),
            (b"0.25", 0.25),
            ("inf", math.inf),
        ]
        becomes(c, dtype, [(text, kind(number)) for text, number in pairs])
        becomes(c, dtype, [(["1", "2.5"], np.array([1, 2.5], kind))])


@api_case("FEED-047", title="Text that spells no number is a ValueError.")
def text_that_spells_no_number_is_refused(c: ApiAuthor) -> None:
    for dtype in ("float32", "float64"):
        refused(c, "ValueError", dtype, ("a", "", "1.5x", "1,5", ["1", "b"], b"one"), 1.5)
    for dtype in ("int32", "uint8", "int64"):
        refused(c, "ValueError", dtype, ("a", "1.5", ["7", "x"]), 7)


@api_case("FEED-047", title="Text that spells no int is a ValueError for each integer dtype.")
def text_that_spells_no_int_is_refused(c: ApiAuthor) -> None:
    for dtype in ("int8", "int16", "uint16", "uint32", "uint64"):
        refused(c, "ValueError", dtype, ("a", "1e3", b"0x1", ["7", ""]), 7)


# --- None and bools -----------------------------------------------------------------------


@api_case("FEED-048", title="None fed to a float tensor is NaN, alone and in a list.")
def none_is_nan(c: ApiAuthor) -> None:
    for dtype, kind in (("float32", np.float32), ("float64", np.float64)):
        pairs = [(None, kind(math.nan)), ([None, 1.0], np.array([math.nan, 1], kind))]
        becomes(c, dtype, pairs)


@api_case("FEED-049", title="None fed to an integer tensor is a TypeError.")
def none_is_no_integer(c: ApiAuthor) -> None:
    for dtype in ("int32", "int64", "uint8"):
        refused(c, "TypeError", dtype, (None, [None], [1, None]), [1])


@api_case("FEED-049", title="None fed to a tensor of any other integer dtype is a TypeError.")
def none_is_no_other_integer(c: ApiAuthor) -> None:
    for dtype in ("int8", "int16", "uint16", "uint32", "uint64"):
        refused(c, "TypeError", dtype, (None, [1, None]), [1])


@api_case("FEED-050", title="True and False fed to a number tensor are 1 and 0.")
def bools_are_one_and_zero(c: ApiAuthor) -> None:
    for kind in (np.float32, np.int32, np.uint8, np.complex64):
        both = np.array([1, 0], kind)
        pairs: Pairs = [
            (True, kind(1)),
            (False, kind(0)),
            ([True, False], both),
            (np.bool_(True), kind(1)),
            (np.array([True, False]), both),
        ]
        becomes(c, kind.__name__, pairs)


@api_case("FEED-050", title="Bools are 1 and 0 in the other number dtypes.")
def bools_are_one_and_zero_in_other_dtypes(c: ApiAuthor) -> None:
    small: list[np.dtype] = [np.dtype(name) for name in ("i1", "i2", "i8", "u2", "u4", "u8")]
    large: list[np.dtype] = [np.dtype(name) for name in ("f2", "f8", "c16", ml_dtypes.bfloat16)]
    for dtype in small + large:
        both = np.array([1, 0], dtype)
        becomes(c, dtype.name, [(True, both[0]), (False, both[1]), ([True, False], both)])


@api_case("FEED-051", title="Numbers in lists and arrays fed to a bool tensor are True unless 0.")
def numbers_are_true_unless_zero(c: ApiAuthor) -> None:
    pairs: Pairs = [
        ([0, 1, 2, -3], np.array([False, True, True, True])),
        ([0.0, -0.0, 0.5, math.nan], np.array([False, False, True, True])),
        (np.int64(2), np.bool_(True)),
        (np.float32(0), np.bool_(False)),
        (ints([0, 256]), np.array([False, True])),
        (floats([[0, 1e-30]]), np.array([[False, True]])),
    ]
    becomes(c, "bool", pairs)


# --- integers -----------------------------------------------------------------------------


@api_case("FEED-041", title="A Python int that the dtype cannot hold is a TypeError.")
def an_int_out_of_range_is_refused(c: ApiAuthor) -> None:
    refused(c, "TypeError", "int8", (300, 128, -129), -128)
    refused(c, "TypeError", "uint8", (256, -1), 255)
    refused(c, "TypeError", "int32", (2**31, -(2**31) - 1, 2**40), -(2**31))
    refused(c, "TypeError", "bool", (2, -1), 1)


@api_case("FEED-041", title="An int that one of the other integer dtypes cannot hold is refused.")
def an_int_out_of_other_ranges_is_refused(c: ApiAuthor) -> None:
    refused(c, "TypeError", "int16", (2**15, -(2**15) - 1), -(2**15))
    refused(c, "TypeError", "uint16", (2**16, -1), 2**16 - 1)
    refused(c, "TypeError", "uint32", (2**32, -1, 2**63 - 1), 2**32 - 1)
    refused(c, "TypeError", "uint64", (-1, -(2**63)), 2**63 - 1)


@api_case("FEED-042", title="Integers of lists, arrays and numpy scalars wrap around.")
def integers_of_lists_and_arrays_wrap(c: ApiAuthor) -> None:
    fours = (np.int64(300), np.array(300), np.array(-212, np.int16))
    becomes(c, "int8", [(value, np.int8(44)) for value in fours])
    becomes(c, "int8", [([300, -129], np.array([44, 127], np.int8))])
    becomes(c, "uint8", [([-1, 256], np.array([255, 0], np.uint8))])
    becomes(c, "uint8", [(longs([2**40 + 7]), np.array([7], np.uint8))])
    becomes(c, "int32", [([2**32 + 5, -(2**31) - 1], ints([5, 2**31 - 1]))])


@api_case("FEED-042", title="Integers of up to 64 bits wrap around in every integer dtype.")
def integers_of_64_bits_wrap(c: ApiAuthor) -> None:
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        ones = np.array([-1]).astype(name)
        pairs: Pairs = [
            ([-1], ones),
            (np.array([2**64 - 1], np.uint64), ones),
            (np.int64(-1), ones[0]),
            ([-(2**63)], np.array([-(2**63)]).astype(name)),
        ]
        becomes(c, name, pairs)


@api_case("FEED-042", title="The largest of 64 bits wraps around in a list.", release={"numpy": 2})
def the_largest_integer_wraps_in_a_list(c: ApiAuthor) -> None:
    for name in ("int8", "int32", "int64", "uint8", "uint64"):
        becomes(
            c, name, [([2**64 - 1, 2**63], np.array([2**64 - 1, 2**63], np.uint64).astype(name))]
        )


@api_case("FEED-043", title="Floats fed to an integer tensor are truncated towards zero.")
def floats_are_truncated(c: ApiAuthor) -> None:
    for kind in (np.int32, np.int8, np.int64):
        pairs = [(1.7, kind(1)), (-1.7, kind(-1)), (-0.5, kind(0))]
        becomes(c, kind.__name__, pairs)
        values = [1.9, -1.9, 2.5, -2.5, 0.999]
        wanted = np.array([1, -1, 2, -2, 0], kind)
        lists: Pairs = [(values, wanted), (np.array(values), wanted), (floats(values), wanted)]
        becomes(c, kind.__name__, lists)


@api_case("FEED-043", title="Floats fed to tensors of the other integer dtypes are truncated.")
def floats_are_truncated_in_other_dtypes(c: ApiAuthor) -> None:
    for name in ("int16", "uint8", "uint16", "uint32", "uint64"):
        wanted = np.array([1, 2, 0], name)
        pairs: Pairs = [(1.7, wanted[0]), ([1.9, 2.5, -0.5], wanted)]
        becomes(c, name, [*pairs, (np.array([1.9, 2.5, -0.5]), wanted)])


# --- floats -------------------------------------------------------------------------------


@api_case("FEED-044", title="Numbers that a float dtype lacks are rounded to the nearest.")
def numbers_are_rounded_to_the_nearest(c: ApiAuthor) -> None:
    pairs = [(16777219.0, 16777220.0), (1e-46, 0.0), (1e39, math.inf)]
    becomes(c, "float32", [(value, np.float32(wanted)) for value, wanted in pairs])
    becomes(c, "float32", [([16777217, 16777219], floats([16777216, 16777220]))])
    halves = np.array([2048, 2052, math.inf], np.float16)
    becomes(c, "float16", [([2049, 2051, 70000], halves), (floats([2049, 2051, 70000]), halves)])


@api_case("FEED-044", title="An int that a float dtype lacks is rounded.", release={"numpy": 2})
def an_int_is_rounded_to_the_nearest(c: ApiAuthor) -> None:
    becomes(c, "float32", [(16777217, np.float32(16777216))])


@api_case("FEED-044", title="A float in a list fed to bfloat16 is rounded to its eight bits.")
def floats_are_rounded_to_bfloat16(c: ApiAuthor) -> None:
    wanted = np.array([1.0, 1.0078125, 256.0, 260.0], ml_dtypes.bfloat16)
    values = [1.00390625, 1.005, 257.0, 259.0]
    becomes(c, "bfloat16", [(values, wanted), (floats(values), wanted)])


@api_case(
    "FEED-045",
    title="Complex numbers fed to a real tensor lose their imaginary part.",
    release={"numpy": 2},
)
def complex_numbers_lose_their_imaginary_part(c: ApiAuthor) -> None:
    for kind in (np.float32, np.float64, np.float16):
        pairs: Pairs = [(1.5 + 2j, kind(1.5)), (3j, kind(0)), ([1 + 1j, 2], np.array([1, 2], kind))]
        becomes(c, kind.__name__, pairs)
        becomes(c, kind.__name__, [(np.array([4 - 5j], np.complex64), np.array([4], kind))])


# --- structures and arrays ----------------------------------------------------------------


@api_case("FEED-037", title="A ragged nested list is a ValueError.")
def a_ragged_list_is_refused(c: ApiAuthor) -> None:
    ragged: Sequence[Recordable] = ([[1], [2, 3]], [1, [2]], [[1, 2], []], [[[1]], [[2], [3]]])
    for dtype in ("float32", "int64"):
        refused(c, "ValueError", dtype, ragged, [[1], [2]])


@api_case("FEED-037", title="A ragged nested list is no value of smaller or complex dtypes.")
def a_ragged_list_is_refused_by_other_dtypes(c: ApiAuthor) -> None:
    for dtype in ("bool", "int8", "uint16", "float16", "float64", "bfloat16", "complex64"):
        refused(c, "ValueError", dtype, ([[1], [2, 3]], [1, [2]]), [[1], [1]])


@api_case("FEED-040", title="Transposed, strided and reversed arrays are fed by their values.")
def views_are_fed_by_their_values(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32)
    same, doubled = c.tf.identity(p), p + p
    sess = c.tf.Session()
    base = floats([[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]])
    wanted = {"transposed": base.T, "strided": base[::2], "reversed": base[::-1]}
    wanted |= {"fortran": base, "broadcast": np.stack([base, base])}
    for layout, values in wanted.items():
        view = c.do({"$view": {"of": form(base), "as": layout}})
        plain = np.array(values, order="C")
        c.check(sess.run([same, doubled], {p: view}), [plain, plain * 2])


@api_case("FEED-040", title="Byte-swapped and read-only arrays are fed by their values.")
def swapped_and_readonly_arrays_are_fed_by_their_values(c: ApiAuthor) -> None:
    for dtype, values in (("float32", floats([1.5, -2.5])), ("int64", longs([1, 2**40]))):
        for layout in ("big-endian", "readonly"):
            view = c.do({"$view": {"of": form(values), "as": layout}})
            becomes(c, dtype, [(view, values)])


@api_case("FEED-054", title="Nested lists and tuples are fed as the array they stack to.")
def nested_sequences_are_stacked(c: ApiAuthor) -> None:
    matrix = ints([[1, 2], [3, 4]])
    pairs: Pairs = [
        ([[1, 2], [3, 4]], matrix),
        (((1, 2), (3, 4)), matrix),
        ([(1, 2), [3, 4]], matrix),
        ([], ints([])),
        ([[]], ints([[]])),
        ([[[5]]], ints([[[5]]])),
    ]
    becomes(c, "int32", pairs)


@api_case("FEED-054", title="Ranges and lists of numpy values are fed as the array they stack to.")
def ranges_and_numpy_items_are_stacked(c: ApiAuthor) -> None:
    pairs: Pairs = [
        (python_value(c, "range", 1, 6, 2), ints([1, 3, 5])),
        ([np.int32(1), np.int64(2), 3], ints([1, 2, 3])),
        ([ints([1, 2]), ints([3, 4])], ints([[1, 2], [3, 4]])),
        ([np.array(7), np.array(8)], ints([7, 8])),
    ]
    becomes(c, "int32", pairs)


@api_case("FEED-055", title="An object with __array__ is fed as the array it gives.")
def an_object_that_gives_an_array_is_fed(c: ApiAuthor) -> None:
    matrix = [[1.5, 2.5], [3.5, 4.5]]
    becomes(c, "float32", [(python_value(c, "array_like", matrix), floats(matrix))], [2, 2])
    becomes(c, "int32", [(python_value(c, "array_like", [1, 2, 3]), ints([1, 2, 3]))])
    p = c.tf.placeholder(c.tf.float32, [3])
    sess = c.tf.Session()
    wrong = python_value(c, "array_like", [1.0, 2.0])
    c.raises("ValueError", lambda: sess.run(c.tf.negative(p), {p: wrong}))


# --- the table ----------------------------------------------------------------------------


@api_case("FEED-063", title="Arrays of objects or times and buffers become what the table says.")
def odd_arrays_become_what_the_table_says(c: ApiAuthor) -> None:
    pairs: Pairs = [
        (array(c, "O", [1.5, 2, True]), floats([1.5, 2, 1])),
        (array(c, "m8[s]", [5]), floats([5])),
        (array(c, "M8[D]", ["1970-01-03"]), floats([2])),
        (python_value(c, "bytearray", b"ab"), floats([97, 98])),
        (python_value(c, "array", "d", [1.5, -2.5]), floats([1.5, -2.5])),
        (python_value(c, "memoryview", floats([[1.5, 2.5]])), floats([[1.5, 2.5]])),
        (python_value(c, "masked", floats([1, 2]), [False, True]), floats([1, 2])),
    ]
    becomes(c, "float32", pairs)


@api_case("FEED-063", title="Objects that hold no number are TypeErrors.")
def objects_without_a_number_are_refused(c: ApiAuthor) -> None:
    for dtype in ("float32", "int32"):
        odd = [python_value(c, "object"), python_value(c, "ellipsis")]
        refused(c, "TypeError", dtype, [{}, {"a": 1}, {1, 2}, *odd], 1)
