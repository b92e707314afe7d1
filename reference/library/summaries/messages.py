"""The messages of summaries and event files, under their public names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessrun.spec.proto import summary_pb2

__all__ = ["EXPORTS"]

EXPORTS: Final[Mapping[str, Any]] = {
    f"{group}{name}": getattr(summary_pb2, name)
    for group, names in (
        ("", "Event HistogramProto LogMessage SessionLog Summary SummaryMetadata"),
        ("summary.", "Event SessionLog Summary SummaryDescription TaggedRunMetadata"),
    )
    for name in names.split()
}
