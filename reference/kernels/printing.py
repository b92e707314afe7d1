"""Kernels that print tensors: `Assert`, `Print`, `PrintV2`, `StringFormat`.

TensorFlow formats a tensor in two ways. Messages have its first elements, dimension by dimension;
`StringFormat` has the first and the last elements of each dimension, in lines.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel

_DOUBLE_BYTES: Final = 8
_NAMED_ESCAPES: Final = {
    0x0A: b"\\n",
    0x0D: b"\\r",
    0x09: b"\\t",
    0x22: b'\\"',
    0x27: b"\\'",
    0x5C: b"\\\\",
}
_CONTROL: Final = frozenset({*range(0x20), 0x7F})


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _escaped(item: bytes) -> str:
    """The bytes with escapes as in C; only ASCII characters are kept."""
    parts = [
        _NAMED_ESCAPES.get(byte) or (b"\\%03o" % byte if byte in _CONTROL else bytes([byte]))
        for byte in item
    ]
    return b"".join(parts).decode("utf-8", "surrogateescape")


def _shower(array: Array) -> Callable[[Any], str]:
    """The function that formats an element of this array."""
    kind = array.dtype.kind
    if kind == "O":
        return _escaped
    if kind == "b":
        return lambda item: "1" if item else "0"
    if kind in "iu":
        return lambda item: str(int(item))
    if kind == "c":
        return lambda _: "?"
    is_double = array.dtype.itemsize == _DOUBLE_BYTES
    few, enough = (15, 17) if is_double else (6, 9)

    def number(item: float) -> str:
        short = f"{float(item):.{few}g}"
        again = float(short) if is_double else HOST.float32(short)
        return short if again == item or HOST.isnan(item) else f"{float(item):.{enough}g}"

    return number


# --- the first elements ---------------------------------------------------------------------


def _summary(array: Array, count: int) -> str:
    """The first `count` elements, dimension by dimension; all of them if it is negative."""
    limit = array.size if count < 0 else min(count, array.size)
    show = _shower(array)
    is_dotted = limit or array.dtype.kind != "b"  # so TensorFlow has it
    more = "..." if array.size > limit and is_dotted else ""
    if array.ndim == 0:
        return (show(array.item()) if limit else "") + more
    shown, _ = _first(array, show, limit)
    return shown + more


def _first(array: Array, show: Callable[[Any], str], left: int) -> tuple[str, int]:
    """The text of at most `left` elements of an array, and how many of these remain."""
    if array.ndim == 1:
        items = [show(item) for item in array[:left].tolist()]
        return " ".join(items), left - len(items)
    parts = []
    for row in array:
        if left <= 0:
            break
        shown, after = _first(row, show, left)
        cut = "..." if row.ndim == 1 and after == 0 and left < len(row) else ""
        parts.append(f"[{shown}{cut}]")
        left = after
    return "".join(parts), left


@kernel("Assert", devices=("CPU",))
def assert_(_: ArrayModule, condition: Array, *data: Array, summarize: int) -> None:
    """An error that shows the data unless the condition holds."""
    require_rank(0, condition=condition)
    if not condition:
        shown = " ".join(f"[{_summary(_array(item), summarize)}]" for item in data)
        raise InvalidArgument(f"assertion failed: {shown}")


def _array(item: Array | bytes) -> Array:
    return string_array([item], ()) if isinstance(item, bytes) else item


@binder("Print", devices=("CPU",))
def print_(bind: Bind) -> KernelFunction:
    """The input; prints the data to the error stream, in the first `first_n` runs or in all."""
    attrs = bind.attrs
    message, count, often = _text(attrs["message"]), attrs["summarize"], attrs["first_n"]
    done = 0

    def compute(x: Array, *data: Array) -> Array:
        nonlocal done
        if often < 0 or done < often:
            done += 1
            shown = "".join(f"[{_summary(_array(item), count)}]" for item in data)
            text = f"{message}{shown}\n".encode("utf-8", "surrogateescape")
            sys.stderr.write(text.decode("utf-8", "replace"))
        return x

    return compute


# --- the first and the last elements --------------------------------------------------------


def _formatted(array: Array, ends: int) -> str:
    """The tensor in lines, with `ends` elements at both ends of each dimension; all if negative."""
    if array.size == 0 and array.dtype.kind == "b":
        return ""  # as TensorFlow formats empty bools, and nothing else
    if array.size == 0 and array.ndim:
        ends = 0
    elif ends < 0:
        ends = array.size
    show = _shower(array)
    if array.dtype.kind == "O":
        quoted = show
        show = lambda item: f'"{quoted(item)}"'  # noqa: E731 - adds quotes to `show`
    return _lines(array, show, ends, array.ndim)


def _lines(array: Array, show: Callable[[Any], str], ends: int, rank: int) -> str:
    if array.ndim == 0:
        return show(array.item())
    depth, count = rank - array.ndim, len(array)
    first = min(ends, count)
    last = max(count - ends, first)
    last_axis = array.ndim == 1
    gap = " " if last_axis else "\n" * (array.ndim - 1) + " " * (depth + 1)
    pieces = [_lines(array[i, ...], show, ends, rank) for i in range(first)]
    shown = gap.join(pieces)
    if last > first:
        shown += gap + "..."
    for i in range(last, count):
        shown += gap + _lines(array[i, ...], show, ends, rank)
    return f"[{shown}]"


@kernel("StringFormat", devices=("CPU",))
def string_format(
    _: ArrayModule, *inputs: Array, template: str, placeholder: str, summarize: int
) -> Array:
    """The template with the placeholders replaced by tensors."""
    pieces = _text(template).split(_text(placeholder))
    if len(pieces) - 1 != len(inputs):
        raise InvalidArgument(
            f"StringFormat: the template has another number of placeholders than inputs: "
            f"{len(pieces) - 1} vs {len(inputs)}"
        )
    shown = [pieces[0]]
    for item, piece in zip(inputs, pieces[1:], strict=True):
        shown += [_formatted(_array(item), summarize), piece]
    return string_array(["".join(shown).encode("utf-8", "surrogateescape")], ())


@kernel("PrintV2", devices=("CPU",))
def print_v2(_: ArrayModule, text: Array, *, output_stream: str, end: str) -> None:
    """Writes a scalar string to a stream, a file or the log."""
    require_rank(0, text=text)
    stream, shown = _text(output_stream), _text(text.item()) + _text(end)
    if stream.startswith("file://"):
        with Path(stream.removeprefix("file://")).open("a", encoding="utf-8") as file:
            file.write(shown)
    elif stream.startswith("log("):
        level = stream.removeprefix("log(").removesuffix(")").upper()
        logging.getLogger("sessrun").log(getattr(logging, level), "%s", shown)
    else:
        target = sys.stdout if stream == "stdout" else sys.stderr
        target.write(shown)
        target.flush()
