"""Faults of strings."""

from __future__ import annotations

import dataclasses

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.domains.base import Arguments
from sessrun.spec.rules.domains.records import message
from sessrun.spec.rules.domains.strings import text_scalar, text_vector
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid
from sessrun.spec.rules.faults.elementwise import reduction_axis

__all__: list[str] = []


@fault
def not_numerals(draw: Draw, x: str) -> Fault:
    """A text that says no number."""
    text = draw.random.choice([b"", b"abc", b"1x", b"--1", b"1 2"])
    return Fault(draw.arguments(**{x: text_vector(b"1", text)}), seen="run")


@fault
def not_web_safe(draw: Draw, x: str) -> Fault:
    """A text with a letter that is not of the web-safe alphabet, or cut short."""
    text = draw.random.choice([b"ab+/", b"a b=", b"a", b"YW=", b"YWJj=="])
    return Fault(draw.arguments(**{x: text_vector(text)}), seen="run")


@fault
def part_range(draw: Draw, x: str, pos: str, length: str) -> Fault:
    """A position beyond the string."""
    position = draw.random.choice([4, -4])
    arguments = Arguments({x: text_vector(b"abc"), length: draw.integers(length, 1)}, draw.attrs)
    return changed(draw, arguments, "run", **{pos: draw.integers(pos, position)})


@fault
def split_rows(draw: Draw, splits: str) -> Fault:
    """Splits that do not begin with 0, or end elsewhere than the values, or fall."""
    arguments = valid(draw)
    last = int(arguments.inputs[splits][-1])
    wrong = draw.random.choice(([1, last], [0, last + 1], [0, last, last - 1, last], [-1, last]))
    return changed(draw, arguments, "run", **{splits: draw.integers(splits, wrong)})


@fault
def uneven_bytes(draw: Draw, x: str) -> Fault:
    """Strings of which one is longer, or whose length is no multiple of an element's."""
    draw.attrs["out_type"] = draw.random.choice(("int32", "float64", "uint16"))
    texts = draw.random.choice(((b"12345678", b"123456789abcdefg"), (b"123",)))
    return Fault(draw.arguments(**{x: text_vector(*texts)}), seen="run")


@fault
def uneven_length(draw: Draw, x: str, length: str) -> Fault:
    """A length that is no multiple of an element's, or not above 0."""
    draw.attrs["out_type"] = draw.random.choice(("int32", "float64", "uint16"))
    wrong = draw.random.choice((0, -8, 3))
    arguments = draw.arguments(
        **{x: text_vector(b"12345678"), length: draw.integers(length, wrong)}
    )
    return Fault(arguments, seen="values" if wrong else "run")


@fault
def broken_pattern(draw: Draw, x: str, pattern: str = "") -> Fault:
    """A pattern that is not closed, or repeats nothing; an input if it is named."""
    del x
    broken = draw.random.choice(("(a", "[a", "*", "a)", "a++", r"\p{Zz}", "a{2000}"))
    arguments = valid(draw)
    if not pattern:
        return Fault(
            Arguments(arguments.inputs, {**arguments.attrs, "pattern": broken}), seen="run"
        )
    return changed(draw, arguments, "run", **{pattern: text_scalar(broken.encode())})


@fault
def unknown_value(draw: Draw, attr: str, value: str) -> Fault:
    """Valid arguments but for an attribute of text."""
    arguments = valid(draw)
    return Fault(Arguments(arguments.inputs, {**arguments.attrs, attr: value}), seen="run")


@fault
def wrong_key(draw: Draw, key: str) -> Fault:
    """A key of another number of words than two."""
    arguments = valid(draw)
    words = [1] * draw.random.choice((0, 1, 3))
    return Fault(Arguments(arguments.inputs, {**arguments.attrs, key: words}), seen="run")


@fault
def undecodable(draw: Draw, x: str) -> Fault:
    """A text that is none of its encoding, where that is an error."""
    arguments = valid(draw)
    attrs = {**arguments.attrs, "input_encoding": "UTF-8", "errors": "strict"}
    text = draw.random.choice((b"\xff", b"a\xe2\x82", b"\xc0\x80"))
    return Fault(Arguments({**arguments.inputs, x: text_vector(b"plain", text)}, attrs), seen="run")


@fault
def not_packed(draw: Draw, x: str) -> Fault:
    """Bytes that were never compressed."""
    draw.attrs["compression_type"] = draw.random.choice(("ZLIB", "GZIP"))
    attrs = dict(draw.attrs)
    return Fault(Arguments({x: text_vector(b"these are plain bytes")}, attrs), (15,), "run")


@fault
def no_such_axis(draw: Draw, x: str, indices: str) -> Fault:
    """An axis to join along that there is not, which is out of range in a run."""
    return dataclasses.replace(reduction_axis(draw, x, indices), codes=(11,))


@fault
def no_message(draw: Draw, x: str) -> Fault:
    """Bytes that are no message, of tensors or in JSON."""
    arguments = valid(draw)
    wrong = np.full_like(arguments.inputs[x], b"no message")
    if not wrong.size:
        wrong = np.full((1, 3), b"no message", object)
    return changed(draw, arguments, "run", **{x: wrong})


@fault
def other_dtype(draw: Draw, x: str) -> Fault:
    """The message of a tensor of integers where complex numbers are wanted."""
    content = message(np.arange(2, dtype=np.int16), "int16")
    draw.attrs["out_type"] = "complex64"
    return Fault(draw.arguments(**{x: text_scalar(content)}), seen="run")


@fault
def missing_field(draw: Draw, records: str, defaults: str) -> Fault:
    """A line of a field too few or too many, or of one that says no number."""
    draw.attrs |= {"OUT_TYPE": ("int32", "string"), "use_quote_delim": True}
    line = draw.random.choice((b"1", b"1,a,2", b"x,a", b'1,"a', b",a"))
    given = [np.zeros(0, np.int32), np.zeros(0, object)]
    lines = text_vector(b"1,a", line)
    return Fault(draw.arguments(**{records: lines, defaults: given}), seen="run")


@fault
def no_fraction(draw: Draw, x: str) -> Fault:
    """Whole numbers or bools to be written with a precision, or with an exponent."""
    draw.attrs["T"] = draw.random.choice(("int32", "uint8", "bool"))
    wrong = draw.random.choice(({"precision": 0}, {"scientific": True}, {"shortest": True}))
    attrs = {**draw.attrs, "scientific": False, "shortest": False, **wrong}
    return Fault(Arguments({x: draw.tensor(x, (2,), "small")}, attrs), seen="run")


@fault
def scalar_data(draw: Draw, data: str, method: str) -> Fault:
    """A number where rows must be."""
    arguments = valid(draw)
    draw.attrs["T"] = "int32"
    return Fault(draw.arguments(**{data: np.array(7, "int32"), method: arguments.inputs[method]}))


@fault
def other_method(draw: Draw, method: str) -> Fault:
    """An unknown method, or two methods."""
    one = draw.chance(0.5)
    wrong = text_scalar(b"md5") if one else text_vector(b"farmhash64", b"farmhash64")
    return changed(draw, valid(draw), "values" if one else "shapes", **{method: wrong})
