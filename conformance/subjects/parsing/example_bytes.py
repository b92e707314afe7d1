"""Serialized Examples and SequenceExamples, the same bytes each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sessrun.spec.proto.input_pb2 import Example, Feature, SequenceExample

__all__ = ["example", "feature", "sequence_example"]

#: The values of a feature, of one kind.
Values = Sequence[bytes | float | int]


def feature(values: Values | None) -> Feature:
    """A Feature of the kind of its first value (bytes, float or int); None makes an empty one."""
    message = Feature()
    if values is None:
        return message
    kind = type(values[0]) if values else int
    lists: dict[type, Any] = {
        bytes: message.bytes_list,
        float: message.float_list,
        int: message.int64_list,
    }
    lists[kind].SetInParent()
    lists[kind].value.extend(values)
    return message


def example(features: Mapping[str, Values | None]) -> bytes:
    """A serialized Example."""
    message = Example()
    message.features.SetInParent()
    for name, values in features.items():
        message.features.feature[name].CopyFrom(feature(values))
    return message.SerializeToString(deterministic=True)


def sequence_example(
    context: Mapping[str, Values | None],
    lists: Mapping[str, Sequence[Values]],
) -> bytes:
    """A serialized SequenceExample.

    Args:
      context: the features of the whole.
      lists: the feature lists, the values of each step; steps without any are of the kind of
        those that have some.

    """
    message = SequenceExample()
    for name, values in context.items():
        message.context.feature[name].CopyFrom(feature(values))
    for name, steps in lists.items():
        steps_of_name = message.feature_lists.feature_list[name]
        steps_of_name.SetInParent()
        kind = next((step[0] for step in steps if step), 0)
        for step in steps:
            one = feature(step or [kind])
            if not step:
                getattr(one, one.WhichOneof("kind")).ClearField("value")
            steps_of_name.feature.append(one)
    return message.SerializeToString(deterministic=True)
