"""Functions that parse SequenceExamples: `tf.io.parse_sequence_example`. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.input.parsing_features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
    wanted,
)
from sessrun.reference.api.input.parsing_ops import dense_default, scalar_string
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

_NO_STRINGS: Final = np.empty(0, object)
Parsed = dict[str, Tensor | SparseTensor]


@public("io.parse_sequence_example")
def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, object] | None = None,
    sequence_features: Mapping[str, object] | None = None,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Parsed, Parsed, Parsed]:
    """The features of serialized SequenceExamples.

    Args:
      serialized: a vector of strings, or a scalar.
      context_features: by name FixedLenFeature or VarLenFeature: features of the sequence.
      sequence_features: by name FixedLenSequenceFeature or VarLenFeature: feature lists.
      example_names: names of the examples, for messages.
      name: the operations' name.

    Returns:
      The context features, the feature lists, and how many steps an example has of those
      that are not sparse; by name.

    Raises:
      ValueError: no feature is requested, or a feature spec is invalid.

    """
    _check(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        return _parsed(serialized, context_features, sequence_features, example_names, name)


@public("io.parse_single_sequence_example", "parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, object] | None = None,
    sequence_features: Mapping[str, object] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Parsed, Parsed]:
    """The features of one serialized SequenceExample.

    Args:
      serialized: a scalar string.
      context_features: as of `parse_sequence_example`.
      sequence_features: as of `parse_sequence_example`.
      example_name: a scalar, the example's name.
      name: the operations' name.

    Returns:
      The context features, and the feature lists; by name.

    Raises:
      ValueError: as of `parse_sequence_example`, or `serialized` is not a scalar.

    """
    _check(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        with name_scope(None, "ParseSingleExample", [serialized, example_name]):
            given = scalar_string(convert_to_tensor(serialized, dtypes.string, name="serialized"))
        parsed = _parsed(given, context_features, sequence_features, example_name, name)
        return parsed[0], parsed[1]


def _check(context: Mapping[str, object] | None, lists: Mapping[str, object] | None) -> None:
    if not (context or lists):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one "
            "should have values."
        )
    for features, dense in ((context, FixedLenFeature), (lists, FixedLenSequenceFeature)):
        for key, feature in (features or {}).items():
            if not isinstance(feature, dense | VarLenFeature):
                raise ValueError(  # noqa: TRY004 - TensorFlow's class
                    f"Unsupported {type(feature).__name__} {feature} for key {key!r}"
                )


def _parsed(
    serialized: TensorLike,
    context: Mapping[str, object] | None,
    lists: Mapping[str, object] | None,
    names: object,
    name: str | None,
) -> tuple[Parsed, Parsed, Parsed]:
    context_wanted = wanted(context or {})
    sparse, dense = _wanted_lists(lists or {})
    with name_scope(name, "ParseSequenceExample", [serialized, names]):
        given = convert_to_tensor(serialized, dtypes.string, name="serialized")
        inputs = {
            "serialized": given,
            "debug_name": _NO_STRINGS if names is None else names,
            "context_sparse_keys": list(context_wanted.sparse) or _NO_STRINGS,
            "context_dense_keys": list(context_wanted.dense) or _NO_STRINGS,
            "context_ragged_keys": _NO_STRINGS,
            "feature_list_sparse_keys": list(sparse) or _NO_STRINGS,
            "feature_list_dense_keys": list(dense) or _NO_STRINGS,
            "feature_list_ragged_keys": _NO_STRINGS,
            "feature_list_dense_missing_assumed_empty": np.array(
                [feature.allow_missing for feature in dense.values()], bool
            ),
            "context_dense_defaults": [
                dense_default(key, *spec) for key, spec in context_wanted.dense.items()
            ],
        }
        attrs = {
            "Ncontext_sparse": len(context_wanted.sparse),
            "context_sparse_types": list(context_wanted.sparse.values()),
            "context_dense_shapes": [shape for shape, _, _ in context_wanted.dense.values()],
            "Nfeature_list_sparse": len(sparse),
            "feature_list_sparse_types": list(sparse.values()),
            "Nfeature_list_dense": len(dense),
            "feature_list_dense_types": [dtypes.as_dtype(spec.dtype) for spec in dense.values()],
            "feature_list_dense_shapes": [TensorShape(spec.shape) for spec in dense.values()],
        }
        outputs = list(apply_op("ParseSequenceExampleV2", inputs, attrs, name).outputs)
    parsed = _Outputs(outputs)
    in_context = {**parsed.sparse(context_wanted.sparse), **parsed.dense(context_wanted.dense)}
    in_lists = {**parsed.sparse(sparse), **parsed.dense(dense)}
    return in_context, in_lists, parsed.dense(dense)


def _wanted_lists(
    lists: Mapping[str, Any],
) -> tuple[dict[str, DType], dict[str, FixedLenSequenceFeature]]:
    """The dtypes of sparse lists, and the dense ones, in order.

    Raises:
      ValueError: a spec lacks a dtype or a shape.

    """
    sparse: dict[str, DType] = {}
    dense: dict[str, FixedLenSequenceFeature] = {}
    for key in sorted(lists):
        feature = lists[key]
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}. Received feature={feature}")
        if isinstance(feature, VarLenFeature):
            sparse[key] = dtypes.as_dtype(feature.dtype)
        elif feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}. Received feature={feature}")
        else:
            dense[key] = feature
    return sparse, dense


class _Outputs:
    """Takes an operation's outputs one group after the other.

    Args:
      outputs: all of them.

    """

    def __init__(self, outputs: list[Tensor]) -> None:
        self._left = outputs

    def _take(self, count: int) -> list[Tensor]:
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def sparse(self, keys: Mapping[str, object]) -> Parsed:
        """The next SparseTensors: all indices, all values, all shapes."""
        parts = [self._take(len(keys)) for _ in range(3)]
        return {
            key: SparseTensor(*components) for key, *components in zip(keys, *parts, strict=True)
        }

    def dense(self, keys: Mapping[str, object]) -> Parsed:
        """The next tensors."""
        return dict(zip(keys, self._take(len(keys)), strict=True))
