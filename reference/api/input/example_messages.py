"""`tf.train.Example` and what it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessrun.spec.proto import input_pb2

__all__ = ["EXPORTS"]

EXPORTS: Final[Mapping[str, Any]] = {
    f"train.{name}": getattr(input_pb2, name)
    for name in (
        "BytesList",
        "Example",
        "Feature",
        "FeatureList",
        "FeatureLists",
        "Features",
        "FloatList",
        "Int64List",
        "SequenceExample",
    )
}
