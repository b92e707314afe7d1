"""`tf.train.Example`, `SequenceExample` and the messages of their parts."""

from __future__ import annotations

from sessrun.reference.public import public
from sessrun.spec.proto import input_pb2

for _name in (
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
):
    public(f"train.{_name}")(getattr(input_pb2, _name))
