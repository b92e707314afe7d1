"""Value domains of strings."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__ = ["drawn_texts", "text_scalar", "text_tensor", "text_vector"]


def text_tensor(items: Sequence[bytes], shape: tuple[int, ...]) -> np.ndarray:
    """A tensor of strings from its elements in C order."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)


def text_scalar(item: bytes) -> np.ndarray:
    """A string as a tensor."""
    return text_tensor([item], ())


def text_vector(*items: bytes) -> np.ndarray:
    """A vector of strings."""
    return text_tensor(items, (len(items),))


def _random_texts(draw: Draw, shape: tuple[int, ...], least: int, most: int) -> np.ndarray:
    """A tensor of strings of random bytes, as many in each as from least to most."""
    count = int(np.prod(shape, dtype=np.int64))
    sizes = [draw.random.randint(least, most) for _ in range(count)]
    return text_tensor([draw.random.randbytes(size) for size in sizes], shape)


def drawn_texts(draw: Draw, some: Sequence[bytes], shape: tuple[int, ...]) -> np.ndarray:
    """A tensor of strings that are drawn from a few."""
    count = int(np.prod(shape, dtype=np.int64))
    return text_tensor(draw.random.choices(some, k=count), shape)


@domain
def joined_strings(draw: Draw, inputs: str) -> Arguments:
    """One to four string tensors of one shape, some of them scalars; a separator."""
    shape = draw.shape(0, 3)
    draw.attrs["separator"] = draw.random.choice(["", ",", " - "])
    shapes = [shape if draw.chance(0.7) else () for _ in range(draw.random.randint(1, 4))]
    return draw.arguments(**{inputs: [draw.tensor(inputs, one) for one in shapes]})


_NUMERALS = (
    b"0",
    b"7",
    b"-12",
    b" 42 ",
    b"1.5",
    b"-2e3",
    b"inf",
    b"-inf",
    b"nan",
    b"  3.25\n",
    b"0x1F",
    b"-0x.8p3",
)


@domain
def numerals(draw: Draw, x: str) -> Arguments:
    """Texts of numbers that the output's dtype can hold."""
    kind = BY_NAME[draw.attrs["out_type"]].kind
    choices = {
        "float": _NUMERALS,
        "int": (b"0", b"7", b"-12", b" 42 ", b"2147483647"),
        "uint": (b"0", b"7", b" 42 ", b"4294967295"),
    }[kind]
    shape = draw.shape(0, 3)
    return draw.arguments(**{x: drawn_texts(draw, choices, shape)})


def _element_size(draw: Draw, left_out: set[str], instead: str) -> int:
    """Bytes of an element of the output, whose dtype is another one if it is left out."""
    if draw.attrs["out_type"] in left_out:
        draw.attrs["out_type"] = instead
    return BY_NAME[draw.attrs["out_type"]].itemsize


@domain
def raw_bytes(draw: Draw, x: str) -> Arguments:
    """Strings of one length, a multiple of the output's element size.

    Left out: bool, whose bytes other than 0 and 1 are undefined.
    """
    size = _element_size(draw, {"bool"}, "uint8") * draw.random.randint(1, 3)
    return draw.arguments(**{x: _random_texts(draw, draw.shape(0, 2, 1), size, size)})


@domain
def padded_bytes(draw: Draw, x: str, length: str) -> Arguments:
    """Strings of any lengths, and the length that each is cut or filled up to.

    Left out: halves, which TensorFlow's CPU does not decode so.
    """
    size = _element_size(draw, {"bfloat16", "float16"}, "float32")
    texts = _random_texts(draw, draw.shape(1, 2, 1), 0, 3 * size)
    wanted = draw.integers(length, size * draw.random.randint(1, 3))
    return draw.arguments(**{x: texts, length: wanted})


@domain
def hashed_text(draw: Draw, x: str) -> Arguments:
    """Bytes of any length, a number of buckets, and a key if the operation has one."""
    shape = draw.shape(0, 2)
    draw.attrs["num_buckets"] = draw.random.choice([1, 2, 7, 1000, 2**31, 2**63 - 1])
    if any(attr.name == "key" for attr in draw.operation.attrs):
        draw.attrs["key"] = [draw.random.randint(-(2**63), 2**63 - 1) for _ in range(2)]
    return draw.arguments(**{x: _random_texts(draw, shape, 0, 100)})


@domain
def rows_of_any(draw: Draw, data: str, method: str) -> Arguments:
    """Rows of numbers, or of one string or more: TensorFlow does not say what none give."""
    kinds = ["bool", "uint8", "int32", "int64", "bfloat16", "float32", "complex64", "string"]
    kind = draw.attrs["T"] = draw.random.choice(kinds)
    rows = draw.dim(0)
    if kind != "string":
        values = draw.values(kind, (rows, *draw.shape(0, 2)))
    else:
        shape = (rows, *[draw.dim(1) for _ in range(draw.random.randint(0, 2))])
        values = _random_texts(draw, shape, 0, 100)
    return draw.arguments(**{data: values, method: text_scalar(b"farmhash64")})


@domain
def parts(draw: Draw, x: str, pos: str, length: str) -> Arguments:
    """ASCII strings, positions in each and lengths, as tensors of one shape or scalars."""
    shape = draw.shape(0, 2)
    words = drawn_texts(draw, (b"tensor", b"abcdef", b"a long string"), shape)
    where = shape if draw.chance(0.5) else ()
    count = int(np.prod(where, dtype=np.int64))
    starts = [draw.random.randint(-6, 6) for _ in range(count)]
    lengths = [draw.random.randint(0, 8) for _ in range(count)]
    return draw.arguments(
        **{
            x: words,
            pos: draw.integers(pos, starts).reshape(where),
            length: draw.integers(length, lengths).reshape(where),
        }
    )


@domain
def join_reduction(draw: Draw, x: str, indices: str) -> Arguments:
    """String tensors without empty dimensions, axes in any order, a separator."""
    shape = draw.shape(0, 3, 1)
    axes = draw.random.sample(range(len(shape)), draw.random.randint(0, len(shape)))
    axes = [i - len(shape) if draw.chance(0.3) else i for i in axes]
    draw.attrs["separator"] = draw.random.choice(["", "+"])
    return draw.arguments(**{x: draw.tensor(x, shape), indices: draw.integers(indices, axes)})


@domain
def web_safe_text(draw: Draw, x: str) -> Arguments:
    """Texts that are base64 with the web-safe letters, padded or not."""
    shape = draw.shape(0, 3)
    items = []
    for _ in range(int(np.prod(shape, dtype=np.int64))):
        text = base64.urlsafe_b64encode(draw.random.randbytes(draw.random.randint(0, 7)))
        items.append(text if draw.chance(0.5) else text.rstrip(b"="))
    return draw.arguments(**{x: text_tensor(items, shape)})


@domain
def joined_segments(draw: Draw, inputs: str, segment_ids: str, num_segments: str) -> Arguments:
    """Strings, ids in any order, and how many segments."""
    shape = draw.shape(1, 3, 1)
    ranks = draw.random.randint(1, len(shape))
    count = draw.random.randint(1, 5)
    number = int(np.prod(shape[:ranks]))
    ids = [draw.random.randint(0, count - 1) for _ in range(number)]
    draw.attrs["separator"] = draw.random.choice(("", ", "))
    return draw.arguments(
        **{
            inputs: draw.tensor(inputs, shape),
            segment_ids: draw.integers(segment_ids, ids).reshape(shape[:ranks]),
            num_segments: draw.integers(num_segments, count),
        }
    )


@domain
def transcoded(draw: Draw, text: str) -> Arguments:
    """Texts, of which some are in no encoding, and three encodings."""
    draw.attrs |= {
        "input_encoding": draw.random.choice(("UTF-8", "US-ASCII", "ISO-8859-1")),
        "errors": draw.random.choice(("replace", "ignore")),
        "replacement_char": draw.random.choice((65533, 63)),
    }
    return draw.arguments(**{text: draw.tensor(text, draw.shape())})


_TEXTS = (
    b"",
    b"plain",
    "\u00e4\u20ac\U00010437".encode(),
    b"a\xf0\x90b",
    b"\x00\xff\n",
    b"\xe2\x82",
)


@domain
def encoded_texts(draw: Draw, text: str) -> Arguments:
    """Texts in four encodings, of which some are in none.

    Left out: places beside splits of int32, at which TensorFlow ends the process.
    """
    if len(draw.operation.outputs) > 2:
        draw.attrs["Tsplits"] = "int64"
    draw.attrs |= {
        "input_encoding": draw.random.choice(("UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16-BE")),
        "errors": draw.random.choice(("replace", "ignore")),
        "replacement_char": draw.random.choice((65533, 63)),
    }
    return draw.arguments(**{text: drawn_texts(draw, _TEXTS, draw.shape())})


def _splits(draw: Draw, count: int) -> list[int]:
    """Rising numbers from 0 to the count."""
    inner = sorted(draw.random.randint(0, count) for _ in range(draw.random.randint(0, 3)))
    return [0, *inner, count]


@domain
def point_rows(draw: Draw, values: str, splits: str) -> Arguments:
    """Rows of code points, of which some are none.

    Until 2.19 TensorFlow wrote half a surrogate pair where it was to be ignored, and replaced
    U+FFFF and the other noncharacters: neither is drawn there.
    """
    draw.attrs |= {"errors": draw.random.choice(("replace", "ignore")), "replacement_char": 63}
    some = [65, 0, 0xE4, 0x20AC, 0x1F600, -1, 0x110000]
    some.append(0xD800 if draw.attrs["errors"] == "replace" else 0xFFFF)
    points = [draw.random.choice(some) for _ in range(draw.random.randint(0, 8))]
    return draw.arguments(
        **{
            values: draw.integers(values, np.array(points, np.int64)),
            splits: draw.integers(splits, _splits(draw, len(points))),
        }
    )


@domain
def points(draw: Draw, values: str) -> Arguments:
    """Code points, and numbers that are none."""
    shape = draw.shape()
    numbers = [
        draw.random.randint(-1, draw.random.choice((300, 0x3200, 0x110001)))
        for _ in range(int(np.prod(shape)))
    ]
    return draw.arguments(
        **{values: draw.integers(values, np.array(numbers, np.int64)).reshape(shape)}
    )


@domain
def string_rows(draw: Draw, data: str, splits: str) -> Arguments:
    """Rows of strings, and what is made of them."""
    draw.attrs |= {
        "separator": draw.random.choice((" ", "", "||")),
        "left_pad": draw.random.choice(("", "<")),
        "right_pad": ">",
        "pad_width": draw.random.randint(0, 3),
        "ngram_widths": tuple(draw.random.randint(1, 5) for _ in range(draw.random.randint(1, 3))),
    }
    count = draw.random.randint(0, 7)
    return draw.arguments(
        **{
            data: draw.tensor(data, (count,)),
            splits: draw.integers(splits, _splits(draw, count)),
        }
    )
