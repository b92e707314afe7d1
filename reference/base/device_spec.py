"""`tf.DeviceSpec`: a device name in parts; and functions that complete devices of operations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, TypeGuard

from sessrun.reference.public import public
from sessrun.spec import devices
from sessrun.spec.devices import DeviceName
from sessrun.spec.proto import NodeDef

__all__ = [
    "DeviceSpecV1",
    "DeviceSpecV2",
    "MergeDevice",
    "canonical_name",
    "check_valid",
    "is_device_spec",
    "merge_device",
]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _kind(value: object) -> str | None:
    return None if value is None else devices.kind_of(str(value))


def _part(field: str, convert: Callable[[Any], Any], *, settable: bool = False) -> Any:
    """A property: a field of the name; a value that a program sets is converted first."""

    def get(spec: DeviceSpecV2) -> str | int | None:
        value: str | int | None = getattr(spec._name, field)  # noqa: SLF001 - a property of that class
        return value

    def put(spec: DeviceSpecV2, value: Any) -> None:
        spec._name = replace(spec._name, **{field: convert(value)})  # noqa: SLF001 - the same

    return property(get, put if settable else None)


class DeviceSpecV2:
    """An immutable device name, full or partial; every part may be None.

    Attributes:
      job: name of the job.
      replica: number of the replica.
      task: number of the task.
      device_type: `CPU`, `GPU`, ...; `cpu` and `gpu` become capitals.
      device_index: number of the device of its type.

    """

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self._name = DeviceName(
            _text(job), _number(replica), _number(task), _kind(device_type), _number(device_index)
        )

    job = _part("job", _text)
    replica = _part("replica", _number)
    task = _part("task", _number)
    device_type = _part("kind", _kind)
    device_index = _part("index", _number)

    @classmethod
    def from_string(cls, spec: str | None) -> Self:
        """The parts of a device name; None has no parts.

        Raises:
          ValueError: the text is no device name.

        """
        return cls._of(devices.parse("" if spec is None else spec))

    @classmethod
    def _of(cls, name: DeviceName) -> Self:
        return cls(name.job, name.replica, name.task, name.kind, name.index)

    def parse_from_string(self, spec: str | None) -> Self:
        """The same as `from_string`; this object does not change."""
        return self.from_string(spec)

    def make_merged_spec(self, dev: DeviceSpecV2) -> Self:
        """A new spec: the parts of `dev`, and of this one where `dev` has None."""
        return self._of(_parts(dev).over(self._name))

    def replace(self, **parts: str | int | None) -> Self:
        """A new spec with some parts replaced; None removes a part.

        Raises:
          TypeError: no part has that name.

        """
        held = {
            "job": self.job,
            "replica": self.replica,
            "task": self.task,
            "device_type": self.device_type,
            "device_index": self.device_index,
        }
        return type(self)(**{**held, **parts})

    def to_string(self) -> str:
        """The device name."""
        return str(self._name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return (
            f"<DeviceSpec(job={self.job}, replica={self.replica}, task={self.task}, "
            f"device_type={self.device_type}, device_index={self.device_index})>"
        )


@public("DeviceSpec")
class DeviceSpecV1(DeviceSpecV2):
    """A device name, full or partial, whose parts a program can set."""

    job = _part("job", _text, settable=True)
    replica = _part("replica", _number, settable=True)
    task = _part("task", _number, settable=True)
    device_type = _part("kind", _kind, settable=True)
    device_index = _part("index", _number, settable=True)

    def parse_from_string(self, spec: str | None) -> Self:
        """Set all parts to those of a device name; ValueError if the text is not a device name."""
        self._name = devices.parse("" if spec is None else spec)
        return self

    def merge_from(self, dev: DeviceSpecV2) -> None:
        """Set the parts that `dev` has."""
        self._name = _parts(dev).over(self._name)


def _parts(spec: DeviceSpecV2) -> DeviceName:
    return DeviceName(spec.job, spec.replica, spec.task, spec.device_type, spec.device_index)


def is_device_spec(obj: object) -> TypeGuard[DeviceSpecV2]:
    """Whether an object is a DeviceSpec."""
    return isinstance(obj, DeviceSpecV2)


def canonical_name(device: str | DeviceSpecV2 | None) -> str:
    """A device name, or DeviceSpec, with its parts in their order; empty for None.

    Raises:
      ValueError: `device` is not a device name.

    """
    if device is None:
        return ""
    return device.to_string() if isinstance(device, DeviceSpecV2) else str(devices.parse(device))


def check_valid(spec: str) -> None:
    """Raise ValueError if `spec` is no device name."""
    devices.parse(spec)


class MergeDevice:
    """A function for `tf.device`, which completes the device of an operation by a given one."""

    def __init__(self, spec: str | DeviceSpecV2 | None) -> None:
        self._name = devices.parse(canonical_name(spec))

    def __call__(self, node_def: NodeDef) -> DeviceSpecV1:
        """The device of an operation or NodeDef, completed."""
        own = devices.parse(node_def.device or "")
        return DeviceSpecV1._of(own.over(self._name))  # noqa: SLF001 - as DeviceSpec does it

    def shortcut_string_merge(self, node_def: NodeDef) -> str:
        """The same as text."""
        return self(node_def).to_string()

    @property
    def is_null_merge(self) -> bool:
        """Whether no device is changed."""
        return not str(self._name)

    def __repr__(self) -> str:
        return f"{super().__repr__()} (spec: {self._name})"


@functools.cache
def _merging(name: str) -> MergeDevice:
    return MergeDevice(name)


def merge_device(spec: str | DeviceSpecV2 | None) -> MergeDevice:
    """The function that completes devices by a device name or DeviceSpec; always the same one.

    Raises:
      ValueError: `spec` is not a device name.

    """
    return _merging(canonical_name(spec))
