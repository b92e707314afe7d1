"""`tf.DeviceSpec`: a device name in parts that a program can change."""

from __future__ import annotations

from typing import Any

from sessrun.spec import devices

__all__ = ["DeviceSpec"]


class DeviceSpec:
    """A device name, full or partial; every part may be None.

    Attributes:
      job: name of the job.
      replica: number of the replica.
      task: number of the task.
      device_type: `CPU`, `GPU`, ...
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
        self.job = job
        self.replica = None if replica is None else int(replica)
        self.task = None if task is None else int(task)
        self.device_type = device_type
        self.device_index = None if device_index is None else int(device_index)

    @property
    def device_type(self) -> str | None:
        """The kind of device; `cpu` and `gpu` become capitals."""
        return self._device_type

    @device_type.setter
    def device_type(self, device_type: str | None) -> None:
        self._device_type = None if device_type is None else devices.kind_of(device_type)

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """The parts of a device name.

        Raises:
          ValueError: it is none.

        """
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Take over the parts of a device name; ValueError if it is none."""
        self._take(devices.parse(spec))
        return self

    def merge_from(self, dev: Any) -> None:
        """Take over the parts that the other DeviceSpec has."""
        self._take(_name(dev).over(_name(self)))

    def make_merged_spec(self, dev: Any) -> DeviceSpec:
        """A new DeviceSpec: this one with the parts that the other has."""
        return DeviceSpec.from_string(str(_name(dev).over(_name(self))))

    def replace(self, **parts: Any) -> DeviceSpec:
        """A new DeviceSpec: this one with these parts; None takes a part away.

        Raises:
          TypeError: there is no such part.

        """
        held = {
            "job": self.job, "replica": self.replica, "task": self.task,
            "device_type": self.device_type, "device_index": self.device_index,
        }  # fmt: skip
        return DeviceSpec(**{**held, **parts})

    def _take(self, name: devices.DeviceName) -> None:
        self.job, self.replica, self.task = name.job, name.replica, name.task
        self.device_type, self.device_index = name.kind, name.index

    def to_string(self) -> str:
        """The device name."""
        return str(_name(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and _name(self) == _name(other)

    def __hash__(self) -> int:
        return hash(_name(self))

    def __repr__(self) -> str:
        return (
            f"<DeviceSpec(job={self.job}, replica={self.replica}, task={self.task}, "
            f"device_type={self.device_type}, device_index={self.device_index})>"
        )


def _name(spec: Any) -> devices.DeviceName:
    return devices.DeviceName(
        spec.job, spec.replica, spec.task, spec.device_type, spec.device_index
    )
