"""Initializers that load rows or columns from a checkpoint whose vocabulary was another one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple, Self

from sessrun.reference.api.ops.array_ops import concat
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.variables.init_ops import TruncatedNormal, Zeros
from sessrun.reference.api.variables.partition_layout import PartitionInfo
from sessrun.reference.base.dtypes import DType, float32, int64
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["embedding_initializer", "matrix_initializer"]


class _Vocabulary(NamedTuple):
    new_vocab: str | Tensor
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str | Tensor | None
    old_vocab_size: int
    backup_initializer: Callable[..., Tensor] | None
    axis: int


@public("train.VocabInfo")
class VocabInfo(_Vocabulary):
    """The new and the old vocabulary of a variable, for warm starts.

    Args:
      new_vocab: the path of the new vocabulary's file.
      new_vocab_size: how many words of the new vocabulary are used.
      num_oov_buckets: how many rows follow for words outside of the vocabulary.
      old_vocab: the path of the vocabulary's file at the time of the checkpoint.
      old_vocab_size: how many words of the old vocabulary were used; all if negative.
      backup_initializer: the initializer of rows without an old word; zeros if None.
      axis: the axis of the variable with the words: 0 or 1.

    Raises:
      ValueError: `axis` is another one.

    """

    __slots__ = ()

    def __new__(
        cls,
        new_vocab: str | Tensor,
        new_vocab_size: int,
        num_oov_buckets: int,
        old_vocab: str | Tensor,
        old_vocab_size: int = -1,
        backup_initializer: Callable[..., Tensor] | None = None,
        axis: int = 0,
    ) -> Self:
        if axis not in {0, 1}:
            raise ValueError(
                "The only supported values for the axis argument are 0 and 1.  Provided axis: "
                f"{axis}"
            )
        return super().__new__(
            cls,
            new_vocab,
            new_vocab_size,
            num_oov_buckets,
            old_vocab,
            old_vocab_size,
            backup_initializer,
            axis,
        )


@dataclass(frozen=True)
class _Axis:
    """One axis of a matrix, with the new and the old vocabulary if they differ.

    `extra` rows or columns follow for words that are not in the vocabulary.
    """

    name: str
    size: int
    new: Any
    old: Any
    extra: int
    old_size: int = -1

    def check(self) -> None:
        if self.extra < 0:
            raise ValueError(f"num_{self.name}_oov_buckets must be >= 0, but received {self.extra}")
        if bool(self.old) != bool(self.new):
            raise ValueError(
                f"old_{self.name}_vocab_file and new_{self.name}_vocab_file must both be specified "
                f"or left unspecified. old_{self.name}_vocab_file='{self.old}', "
                f"new_{self.name}_vocab_file='{self.new}'"
            )

    def lines(self, first: int) -> tuple[Tensor, Tensor]:
        """The old line numbers of the words from `first` on, and how many words have one."""
        attrs = {
            "new_vocab_offset": first,
            "num_new_vocab": self.size,
            "old_vocab_size": self.old_size,
        }
        files = {"new_vocab_file": self.new, "old_vocab_file": self.old}
        remapping, count = apply_op("GenerateVocabRemapping", files, attrs).outputs
        return remapping, count


@dataclass(frozen=True)
class _Source:
    """A matrix in a checkpoint."""

    path: Any
    name: Any
    rows_at_once: int


def _loaded(
    source: _Source, first: int, rows: _Axis, columns: _Axis, initializer: Callable[..., object]
) -> Tensor:
    """A matrix of float32 from the checkpoint: the rows from `first` on, and every column."""
    for axis in (rows, columns):
        axis.check()
    if not (rows.new or columns.new):
        raise ValueError(
            "Must provide either row or column vocab files. If no remapping is necessary, consider "
            "using `tf.contrib.framework.init_from_checkpoint` instead."
        )
    row_count: int | Tensor = rows.size
    if rows.new:
        old_rows, row_count = rows.lines(first)
    else:
        old_rows = range_(first, first + rows.size, dtype=int64)
    old_columns: Any = []
    column_count: int | Tensor = columns.size
    if columns.new:
        old_columns, column_count = columns.lines(0)
    missing = rows.size * columns.size - row_count * column_count
    result = apply_op(
        "LoadAndRemapMatrix",
        {
            "ckpt_path": source.path,
            "old_tensor_name": source.name,
            "row_remapping": old_rows,
            "col_remapping": old_columns,
            "initializing_values": initializer([missing, 1]),
        },
        {
            "num_rows": rows.size,
            "num_cols": columns.size,
            "max_rows_in_memory": source.rows_at_once,
        },
    ).outputs[0]
    if rows.extra > 0:
        more = convert_to_tensor(initializer([rows.extra, columns.size]))
        result = concat([result, more], 0)
    if columns.extra > 0:
        more = convert_to_tensor(initializer([rows.size + rows.extra, columns.extra]))
        result = concat([result, more], 1)
    return result


def matrix_initializer(
    ckpt_path: str | bytes | PathLike[str],
    old_tensor_name: str,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: str | Tensor | None = None,
    new_row_vocab_file: str | Tensor | None = None,
    old_col_vocab_file: str | Tensor | None = None,
    new_col_vocab_file: str | Tensor | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: object = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Tensor]:
    """An initializer of a matrix of float32, or of parts of its rows.

    Args:
      ckpt_path: a checkpoint.
      old_tensor_name: a matrix of float32 in it.
      new_row_vocab_size: how many rows have words.
      new_col_vocab_size: how many columns have.
      old_row_vocab_size: how many rows had words; all of the file's if negative.
      old_row_vocab_file: the words of the rows then, one a line, or None.
      new_row_vocab_file: the words of the rows now, or None.
      old_col_vocab_file: the words of the columns then, or None.
      new_col_vocab_file: the words of the columns now, or None.
      num_row_oov_buckets: how many rows follow for other words.
      num_col_oov_buckets: how many columns follow.
      initializer: for words that are not in the checkpoint; zeros if None.
      max_rows_in_memory: how many rows are read at once; all if not positive.

    Raises:
      TypeError: `initializer` cannot be called; later, the dtype is not float32.
      ValueError: later, if it is called for a shape that does not fit, or files are missing.

    """
    initializer = Zeros() if initializer is None else initializer
    if not callable(initializer):
        raise TypeError(
            f"initializer must be callable, instead of being {initializer} of type "
            f"{type(initializer)}."
        )
    rows = _Axis(
        "row",
        new_row_vocab_size,
        new_row_vocab_file,
        old_row_vocab_file,
        num_row_oov_buckets,
        old_row_vocab_size,
    )
    columns = _Axis(
        "col", new_col_vocab_size, new_col_vocab_file, old_col_vocab_file, num_col_oov_buckets
    )
    source = _Source(ckpt_path, old_tensor_name, max_rows_in_memory)

    def initialize(
        shape: Sequence[int], dtype: DType = float32, partition_info: PartitionInfo | None = None
    ) -> Tensor:
        _check(shape, dtype, columns)
        first = 0 if partition_info is None else partition_info.single_offset(shape)
        if first + shape[0] > rows.size + rows.extra:
            raise ValueError(
                f"Trying to initialize {shape[0]} additional rows after {first} rows have already "
                "been initialized, which would exceed expected total row count of "
                f"new_row_vocab_size ({rows.size}) + num_row_oov_buckets ({rows.extra}) = "
                f"{rows.size + rows.extra}."
            )
        extra = min(shape[0], max(0, first + shape[0] - rows.size))
        if first > rows.size:  # nothing but rows for other words
            result: Tensor = initializer(shape)
            return result
        part = replace(rows, size=shape[0] - extra, extra=extra)
        return _loaded(source, first, part, columns, initializer)

    return initialize


def _check(shape: Sequence[int], dtype: DType, columns: _Axis) -> None:
    if dtype != float32:
        raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    if shape[0] <= 0:
        raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
    if shape[1] != columns.size + columns.extra:
        raise ValueError(
            f"Expected 2nd dim of shape to be new_col_vocab_size ({columns.size}) + "
            f"num_col_oov_buckets ({columns.extra}) = {columns.size + columns.extra}, but received "
            f"shape: {shape}"
        )


def embedding_initializer(
    ckpt_path: str | bytes | PathLike[str],
    embedding_tensor_name: str,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: str | Tensor,
    new_vocab_file: str | Tensor,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: object = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Tensor]:
    """An initializer of embeddings: as `matrix_initializer`, with words for the rows alone.

    What is new is drawn from a truncated normal distribution, unless another initializer is given.
    """
    if initializer is None:
        initializer = TruncatedNormal(stddev=1.0 / math.sqrt(embedding_dim))
    return matrix_initializer(
        ckpt_path,
        embedding_tensor_name,
        new_vocab_size,
        embedding_dim,
        old_vocab_size,
        old_vocab_file,
        new_vocab_file,
        num_row_oov_buckets=num_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )
