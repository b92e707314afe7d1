"""Kernels of whole texts: in another encoding, or joined by segments."""

from __future__ import annotations

import codecs
import itertools
import operator
from typing import Any, Final

from sessrun.reference.behaviour import as_text
from sessrun.reference.kernels.host import ints, scalar_int, string_array
from sessrun.reference.kernels.registry import Bind, KernelError, binder, kernel

__all__: list[str] = []

_CPU: Final = ("CPU",)
_INVALID: Final = 3
_OUTPUTS: Final = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
#: Control characters of ASCII.
_CONTROLS: Final = frozenset(map(chr, range(32)))


@binder("UnicodeTranscode", devices=_CPU)
def unicode_transcode(bind: Bind) -> Any:
    """The text of each string in another encoding, what is none of it replaced or left out."""
    attrs = bind.attrs
    source, target = as_text(attrs["input_encoding"]), as_text(attrs["output_encoding"])
    errors, mark = as_text(attrs["errors"]), chr(attrs["replacement_char"])
    controls = attrs["replace_control_characters"]

    def transcode(item: bytes, decoder: str) -> bytes:
        found = item.decode(decoder, "strict" if errors == "strict" else "replace")
        if errors != "strict":
            found = found.replace("\ufffd", "" if errors == "ignore" else mark)
        if controls:
            instead = "" if errors == "ignore" else mark
            found = "".join(instead if char in _CONTROLS else char for char in found)
        return found.encode(_OUTPUTS[target], "replace")

    def compute(strings: Any) -> Any:
        try:
            decoder = codecs.lookup(source).name
            items = [transcode(item, decoder) for item in strings.reshape(-1).tolist()]
        except LookupError:
            raise KernelError(
                _INVALID, f"Could not create converter for input encoding: {source}"
            ) from None
        except UnicodeDecodeError:
            raise KernelError(_INVALID, "Invalid formatting on input string") from None
        return string_array(items, strings.shape)

    return compute


@kernel("UnsortedSegmentJoin", devices=_CPU)
def unsorted_segment_join(
    _: Any, inputs: Any, segment_ids: Any, num_segments: Any, *, separator: Any
) -> Any:
    """The strings of each segment joined in their order."""
    count = scalar_int(num_segments)
    if count < 0:
        raise KernelError(_INVALID, f"Number of segments must be non-negative, is {count}")
    if inputs.shape[: segment_ids.ndim] != segment_ids.shape:
        raise KernelError(_INVALID, f"inputs.shape = {list(inputs.shape)} does not start with "
                          f"segment_ids.shape = {list(segment_ids.shape)}")  # fmt: skip
    inner = inputs.shape[segment_ids.ndim :]
    width = 1
    for size in inner:
        width *= size
    parts: list[list[bytes]] = [[] for _ in range(count * width)]
    items = inputs.reshape(-1).tolist()
    for place, segment in enumerate(ints(segment_ids)):
        if not 0 <= segment < count:
            raise KernelError(_INVALID, f"segment_ids must be in [0, {count}), is {segment}")
        for column in range(width):
            parts[segment * width + column].append(items[place * width + column])
    glue = separator if isinstance(separator, bytes) else separator.encode()
    # As TensorFlow has it, empty strings at the beginning are not separated from what follows.
    joined = (glue.join(itertools.dropwhile(operator.not_, part)) for part in parts)
    return string_array(joined, (count, *inner))
