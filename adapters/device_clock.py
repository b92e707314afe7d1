"""The clock of a backend's device for benchmarks: waits, and times between events."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["DeviceClock"]


class DeviceClock(Protocol):
    """A device's own clock, which a backend offers that knows on which stream it computes."""

    def settle(self) -> None:
        """Wait until all that was started on the device is done."""

    def mark(self) -> Any:
        """An event that the device reaches after all work that was started before."""

    def seconds(self, first: Any, last: Any) -> float:
        """The time between two marks in seconds; the device has settled."""
