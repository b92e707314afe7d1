"""The backends of a measurement, and the device of its graphs, as they are given."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.cli.failure import UserError

__all__ = ["check_backends"]


def check_backends(backends: Sequence[str], device: str) -> None:
    """Refuse a device that is none, and a backend that is named twice.

    Raises:
      UserError: which.

    """
    from sessrun.spec import devices

    try:
        devices.parse(device)
    except devices.DeviceNameError as error:
        raise UserError(f"--device: {error}") from error
    if len(set(backends)) < len(backends):
        raise UserError(f"a backend is named twice: {', '.join(backends)}")
