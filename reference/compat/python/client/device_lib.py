"""`device_lib.list_local_devices`: the devices that sessions of this process can have."""

from __future__ import annotations

from typing import Any

from sessrun.reference import errors
from sessrun.reference.devices.devices import local_devices
from sessrun.reference.devices.physical import default_config
from sessrun.spec.proto import ConfigProto, DeviceAttributes

__all__ = ["list_local_devices"]


def list_local_devices(session_config: ConfigProto | None = None) -> list[DeviceAttributes]:
    """The devices of a session, with short names.

    Args:
      session_config: the session's ConfigProto, or None.

    Raises:
      AttributeError: `session_config` is not a message.
      RuntimeError: there would be none.

    """
    config = default_config()
    if session_config is not None:
        config = ConfigProto.FromString(session_config.SerializeToString())
    try:
        devices = local_devices(config)
    except errors.OpError as error:
        raise RuntimeError(error.message) from error
    return [_described(device) for device in devices]


def _described(device: Any) -> DeviceAttributes:
    described = DeviceAttributes(
        name=device.name[device.name.index("/device:") :],
        device_type=device.kind,
        memory_limit=device.memory,
        incarnation=device.incarnation % 2**64,  # there it is unsigned
        physical_device_desc=device.description,
        xla_global_id=-1,
    )
    described.locality.SetInParent()
    return described
