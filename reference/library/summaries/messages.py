"""The messages of summaries and event files, under their public names."""

from __future__ import annotations

from sessrun.reference.public import public
from sessrun.spec.proto import summary_pb2

for _name in ("Event", "HistogramProto", "LogMessage", "SessionLog", "Summary", "SummaryMetadata"):
    public(_name)(getattr(summary_pb2, _name))
for _name in ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"):
    public(f"summary.{_name}")(getattr(summary_pb2, _name))
