"""Assertions about protobuf messages."""

from __future__ import annotations

import difflib
import math
import unittest
from collections.abc import Iterator
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.graph import version

__all__ = ["ProtoAssertions"]

#: How many decimal places of a number count.
_PLACES = {FieldDescriptor.TYPE_FLOAT: 6, FieldDescriptor.TYPE_DOUBLE: 7}


class ProtoAssertions(unittest.TestCase):
    """A TestCase that compares messages."""

    def assertProtoEquals(
        self,
        expected_message_maybe_ascii: Message | str,
        validate_message: Any,
        msg: str | None = None,
        relative_tolerance: float | None = None,
    ) -> None:
        """Fail unless a message is as expected; numbers count to 6 (float) or 7 (double) places.

        Args:
          expected_message_maybe_ascii: a message of the same class, or its text form.
          validate_message: the message.
          msg: what to say besides, on failure.
          relative_tolerance: how far numbers may be apart, relative to the larger one.

        """
        expected = expected_message_maybe_ascii
        if isinstance(expected, str | bytes):
            expected = text_format.Merge(expected, type(validate_message)())
        elif not isinstance(expected, type(validate_message)):
            kinds = f"{type(expected)} and {type(validate_message)}"
            self.fail(f"Can't compare protos of type {kinds}.")
        self._AssertProtoEquals(expected, validate_message, msg, relative_tolerance)

    def assertProtoEqualsVersion(
        self,
        expected: str,
        actual: TensorLike,
        producer: int = version.GRAPH_DEF_VERSION,
        min_consumer: int = version.GRAPH_DEF_VERSION_MIN_CONSUMER,
        msg: str | None = None,
    ) -> None:
        """Fail unless a GraphDef is as this text form says, and of these versions."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }};\n"
        self.assertProtoEquals(versions + expected, actual, msg=msg)

    def _AssertProtoEquals(
        self,
        a: Message,
        b: Message,
        msg: str | None = None,
        relative_tolerance: float | None = None,
    ) -> None:
        if a == b:
            return
        expected, actual = _rounded(a), _rounded(b)
        if relative_tolerance is not None:
            _adopt_near_numbers(expected, actual, relative_tolerance)
        texts = [
            text_format.MessageToString(message).splitlines() for message in (expected, actual)
        ]
        if texts[0] != texts[1]:
            lines = difflib.unified_diff(texts[0], texts[1], "expected", "found", lineterm="")
            self.fail(self._formatMessage(msg, "Messages differ:\n" + "\n".join(lines)))


def _rounded(message: Message) -> Message:
    """A copy whose floats are rounded to their significant digits."""
    copy = type(message)()
    copy.CopyFrom(message)
    for part in _parts(copy):
        for field, value in part.ListFields():
            places = _PLACES.get(field.type)
            if places is not None:
                _set(part, field, [round(number, places) for number in _many(value)])
    return copy


def _parts(message: Message) -> Iterator[Message]:
    """The message and every message in it."""
    yield message
    for field, value in message.ListFields():
        for inner in _messages(field, value):
            yield from _parts(inner)


def _messages(field: FieldDescriptor, value: Any) -> list[Message]:
    """The messages of a field: none, one, a list's or a map's."""
    kind = field.message_type
    if kind is None:
        return []
    if kind.GetOptions().map_entry:
        is_message = kind.fields_by_name["value"].message_type is not None
        return [value[key] for key in sorted(value)] if is_message else []
    return _many(value)


def _adopt_near_numbers(expected: Message, actual: Message, tolerance: float) -> None:
    """Put the expected numbers into `found` where its own are near."""
    for (field, wanted), (other, value) in zip(
        expected.ListFields(), actual.ListFields(), strict=False
    ):
        if field.number != other.number:
            return  # one has a field that the other lacks: they differ anyway
        if field.type in _PLACES:
            numbers, nears = _many(value), _many(wanted)
            for index, (near, number) in enumerate(zip(nears, numbers, strict=False)):
                if _is_near(near, number, tolerance):
                    numbers[index] = near
            _set(actual, field, numbers)
        for pair in zip(_messages(field, wanted), _messages(field, value), strict=False):
            _adopt_near_numbers(*pair, tolerance)


def _is_near(a: float, b: float, tolerance: float) -> bool:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def _many(value: Any) -> list[Any]:
    """The values of a field, of one that is not repeated too."""
    return [value] if isinstance(value, int | float | Message) else list(value)


def _set(message: Message, field: FieldDescriptor, values: list[object]) -> None:
    """Give a field of numbers these values."""
    if isinstance(getattr(message, field.name), int | float):
        setattr(message, field.name, values[0])
    else:
        del getattr(message, field.name)[:]
        getattr(message, field.name).extend(values)
