"""`RecordInput`: records of many files in random order. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import reshape, split
from sessrun.reference.build.build import apply_op
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.state.input.record_options import TFRecordOptions

__all__ = ["RecordInput"]


class RecordInput:
    """Batches of records of all files whose names match, each record once an epoch.

    Args:
      file_pattern: of the files' names.
      batch_size: how many records a batch has.
      buffer_size: among how many records the next one is drawn.
      parallelism: how many files are read at once.
      shift_ratio: the fraction of the files by which the first one is shifted in every epoch.
      seed: of the order.
      name: the operation's name.
      batches: how many batches are given at once, each as a list of scalars; None for one alone.
      compression_type: of the files, as `TFRecordOptions` take it.

    """

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: Any = None,
    ) -> None:
        self._batch_size = batch_size if batches is None else batch_size * batches
        self._batches = batches
        self._name = name
        self._attrs = {
            "file_pattern": file_pattern,
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "file_shuffle_shift_ratio": shift_ratio,
            "batch_size": self._batch_size,
            "file_random_seed": seed,
            "compression_type": TFRecordOptions.get_compression_type_string(
                TFRecordOptions(compression_type)
            ),
        }

    def get_yield_op(self) -> Tensor | list[list[Tensor]]:
        """The records of a batch, string [batch_size], or a list of scalars for each batch."""
        records = apply_op("RecordInput", {}, self._attrs, self._name).outputs[0]
        if self._batches is None:
            return records
        with name_scope(self._name):
            batches: list[list[Tensor]] = [[] for _ in range(self._batches)]
            for index, record in enumerate(split(records, self._batch_size, 0)):
                batches[index % self._batches].append(reshape(record, []))
            return batches
