"""Device names: the grammar, merging, and the full names of devices; the one such table.

    /job:worker/replica:0/task:1/device:GPU:0

Every part may be missing; `/cpu:0` and `/gpu:0` are short for `/device:CPU:0`; an index may be
`*` (any). Source: TensorFlow's documentation of `tf.device` and what 2.21 accepts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["DeviceName", "DeviceNameError", "full_name", "kind_of", "listing", "parse"]

#: Kinds that may stand without `device:`, in any case.
_SHORT: Final = frozenset({"CPU", "GPU", "TPU", "CUSTOM"})
#: Kinds that `device:` may be followed by in lower case; any other is kept as it is written.
_LOWER: Final = frozenset({"cpu", "gpu"})


class DeviceNameError(ValueError):
    """A text is no device name."""


@dataclass(frozen=True, slots=True)
class DeviceName:
    """A device name, full or partial.

    Attributes:
      job: name of the job, or None.
      replica: number of the replica, or None.
      task: number of the task, or None.
      kind: `CPU`, `GPU`, ..., or None.
      index: number of the device of its kind in its task, or None for any.

    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    kind: str | None = None
    index: int | None = None

    def __str__(self) -> str:
        """The canonical text; empty if every part is missing."""
        parts = []
        if self.job is not None:
            parts.append(f"/job:{self.job}")
        if self.replica is not None:
            parts.append(f"/replica:{self.replica}")
        if self.task is not None:
            parts.append(f"/task:{self.task}")
        if self.kind is not None:
            parts.append(f"/device:{self.kind}:{'*' if self.index is None else self.index}")
        return "".join(parts)

    def over(self, outer: DeviceName) -> DeviceName:
        """The name with the parts it lacks taken from `outer`."""
        return DeviceName(
            job=outer.job if self.job is None else self.job,
            replica=outer.replica if self.replica is None else self.replica,
            task=outer.task if self.task is None else self.task,
            kind=outer.kind if self.kind is None else self.kind,
            index=outer.index if self.index is None else self.index,
        )

    def merged(self, other: DeviceName, *, soft: bool = False) -> DeviceName | None:
        """The name that asks for what both ask for; None if they contradict each other.

        With `soft` a contradiction about the kind, or the index, asks for none.
        """
        pairs = ((self.job, other.job), (self.replica, other.replica), (self.task, other.task))
        if any(None not in pair and pair[0] != pair[1] for pair in pairs):
            return None
        both = self.over(other)
        if None not in {self.kind, other.kind} and self.kind != other.kind:
            return both.without_kind() if soft else None
        if None not in {self.index, other.index} and self.index != other.index:
            return replace(both, index=None) if soft else None
        return both

    def matches(self, full: DeviceName) -> bool:
        """Whether the device of the full name `full` is one that this name asks for."""
        return all(
            wanted is None or wanted == has
            for wanted, has in (
                (self.job, full.job),
                (self.replica, full.replica),
                (self.task, full.task),
                (self.kind, full.kind),
                (self.index, full.index),
            )
        )

    def without_kind(self) -> DeviceName:
        """The same task, any device of it: what soft placement looks at."""
        return replace(self, kind=None, index=None)


def parse(text: str) -> DeviceName:
    """The device name that a text says.

    Raises:
      DeviceNameError: it says none: an unknown part, two devices, a number that is none.

    """
    fields: dict[str, str | int | None] = {}
    for part in text.split("/"):
        if part:
            _add(part.split(":"), fields, text)
    return DeviceName(**fields)  # type: ignore[arg-type]  # `_add` sets each by its type


def _add(words: list[str], fields: dict[str, str | int | None], text: str) -> None:
    key, *values = words
    if key in {"job", "replica", "task"} and len(values) == 1:
        fields[key] = values[0] if key == "job" else _number(values[0], text)
        return
    if key.upper() in _SHORT and len(values) <= 1:
        values = [key.upper(), *values]
    elif not key:
        return
    elif key != "device" or len(values) != 2:
        raise DeviceNameError(
            f"Unknown attribute {key!r} is encountered while parsing the device spec: {text!r}."
        )
    if "kind" in fields:
        raise DeviceNameError(
            f"Multiple device types are not allowed while parsing the device spec: {text}."
        )
    fields["kind"] = kind_of(values[0])
    fields["index"] = None if values[1:] in ([], ["*"]) else _number(values[1], text)


def kind_of(text: str) -> str:
    """A device's kind as names have it: `cpu` and `gpu` in capitals, any other as it is."""
    return text.upper() if text in _LOWER else text


def _number(digits: str, text: str) -> int:
    """Whatever Python reads as a whole number, as TensorFlow does, even one below zero."""
    try:
        return int(digits)
    except ValueError:
        raise DeviceNameError(
            f"invalid literal for int() with base 10: {digits!r} in the device spec {text!r}"
        ) from None


def full_name(kind: str, index: int) -> DeviceName:
    """The full name of a device of an in-process session."""
    return DeviceName("localhost", 0, 0, kind, index)


def listing(names: Iterable[DeviceName]) -> str:
    """The names as placement errors print them: sorted, in brackets."""
    return f"[ {', '.join(sorted(map(str, names)))} ]"
