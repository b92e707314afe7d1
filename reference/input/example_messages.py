"""`tf.train.Example` and what it is made of, and the messages of summaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessrun.spec.proto import input_pb2

__all__ = ["EXPORTS"]

EXPORTS: Final[Mapping[str, Any]] = {
    f"{group}{name}": getattr(input_pb2, name)
    for group, names in (
        ("train.", "BytesList Example Feature FeatureList FeatureLists Features"),
        ("train.", "FloatList Int64List SequenceExample"),
        ("", "HistogramProto Summary SummaryMetadata"),
        ("summary.", "Summary SummaryDescription"),
    )
    for name in names.split()
}  # fmt: skip
