"""RaggedTensorValue: what a fetch of a ragged tensor gives. Source: TF 2.21."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sessrun.reference.graph.tensor import Tensor

__all__ = ["RaggedTensorValue", "Rows"]


class Rows:
    """Properties of ragged tensors and their values, computed from `values` and `row_splits`."""

    @property
    def flat_values(self: Any) -> Any:
        """The innermost values."""
        inner = self.values
        return inner.flat_values if isinstance(inner, Rows) else inner

    @property
    def nested_row_splits(self: Any) -> tuple[Tensor, ...]:
        """The splits of every ragged dimension, outermost first."""
        inner = self.values
        more = inner.nested_row_splits if isinstance(inner, Rows) else ()
        return (self.row_splits, *more)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are ragged."""
        return len(self.nested_row_splits)


class RaggedTensorValue(Rows):
    """The value of a fetched RaggedTensor.

    Args:
      values: an array, or another such value.
      row_splits: where the rows begin, and the last one ends, among the values.

    Attributes:
      values: as given.
      row_splits: as given.

    """

    def __init__(self, values: np.ndarray | RaggedTensorValue, row_splits: np.ndarray) -> None:
        self.values = values
        self.row_splits = row_splits

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the innermost values."""
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape; ragged dimensions are None."""
        return (len(self.row_splits) - 1, None, *self.values.shape[1:])

    def to_list(self) -> list[object]:
        """The rows as lists."""
        inner = self.values
        items = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        splits = [int(split) for split in self.row_splits]
        return [items[begin:end] for begin, end in pairwise(splits)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"
