"""Device names: the grammar, merging, and the full names of devices; the one such table.

    /job:worker/replica:0/task:1/device:GPU:0

Every part may be missing; `/cpu:0` and `/gpu:0` are short for `/device:CPU:0`; an index may be
`*` (any). Source: TensorFlow's documentation of `tf.device` and what 2.21 accepts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["DeviceName", "DeviceNameError", "full_name", "listing", "parse"]

_SHORT: Final = frozenset({"CPU", "GPU"})


class DeviceNameError(ValueError):
    """A text is no device name."""


@dataclass(frozen=True, slots=True)
class DeviceName:
    """A device name, full or partial.

    Attributes:
      job: name of the job, or None.
      replica: number of the replica, or None.
      task: number of the task, or None.
      kind: `CPU`, `GPU`, ... in capitals, or None.
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

    def matches(self, full: DeviceName) -> bool:
        """Whether the device of the full name `full` is one that this name asks for."""
        return all(
            wanted is None or wanted == has
            for wanted, has in (
                (self.job, full.job), (self.replica, full.replica), (self.task, full.task),
                (self.kind, full.kind), (self.index, full.index),
            )
        )  # fmt: skip

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
        values = [key, *values]
    elif key != "device" or len(values) not in {1, 2}:
        raise DeviceNameError(
            f"Unknown attribute {key!r} is encountered while parsing the device spec: {text!r}."
        )
    if "kind" in fields:
        raise DeviceNameError(
            f"Multiple device types are not allowed while parsing the device spec: {text}."
        )
    fields["kind"] = values[0].upper()
    fields["index"] = None if values[1:] in ([], ["*"]) else _number(values[1], text)


def _number(digits: str, text: str) -> int:
    if not digits.isascii() or not digits.isdigit():
        raise DeviceNameError(f"{digits!r} is no number in the device spec: {text!r}")
    return int(digits)


def full_name(kind: str, index: int) -> DeviceName:
    """The full name of a device of an in-process session."""
    return DeviceName("localhost", 0, 0, kind, index)


def listing(names: Iterable[DeviceName]) -> str:
    """The names as placement errors print them: sorted, in brackets."""
    return f"[ {', '.join(sorted(map(str, names)))} ]"
