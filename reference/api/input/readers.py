"""Readers, resources of a graph that read records of files: `tf.TextLineReader` and others.

Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.queues.queues import QueueBase
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.state.input.record_options import TFRecordOptions

__all__ = [
    "FixedLengthRecordReader",
    "IdentityReader",
    "ReaderBase",
    "TFRecordReader",
    "TextLineReader",
    "WholeFileReader",
]


@public("ReaderBase")
class ReaderBase:
    """A reader: a handle, and methods that build operations on it.

    Args:
      reader_ref: the reader's resource tensor.
      supports_serialize: whether `serialize_state` works for this kind of reader.

    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The reader's resource tensor."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether `serialize_state` works for this kind of reader."""
        return self._supports_serialize

    def _apply(self, op_type: str, name: str | None, **more: object) -> Operation:
        return apply_op(op_type, {"reader_handle": self._reader_ref, **more}, {}, name)

    def read(self, queue: object, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The next record; the name of the next file is taken from the queue when one is needed.

        Args:
          queue: a queue of strings, or its resource tensor.
          name: the operation's name.

        Returns:
          Two scalar string tensors: key and value.

        """
        results: tuple[Tensor, Tensor] = wrapper("ReaderReadV2")(
            reader_handle=self._reader_ref, queue_handle=_handle(queue), name=name
        )
        return results

    def read_up_to(
        self, queue: object, num_records: TensorLike, name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The next records, of one file at most.

        Args:
          queue: a queue of strings, or its resource tensor.
          num_records: how many at most, an int64 scalar.
          name: the operation's name.

        Returns:
          Two string vectors: keys and values.

        """
        results: tuple[Tensor, Tensor] = wrapper("ReaderReadUpToV2")(
            reader_handle=self._reader_ref,
            queue_handle=_handle(queue),
            num_records=num_records,
            name=name,
        )
        return results

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records it has given: an int64 scalar."""
        return self._apply("ReaderNumRecordsProducedV2", name).outputs[0]

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files it has read to their ends: an int64 scalar."""
        return self._apply("ReaderNumWorkUnitsCompletedV2", name).outputs[0]

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Its state, a string scalar; UnimplementedError in a run unless `supports_serialize`."""
        return self._apply("ReaderSerializeStateV2", name).outputs[0]

    def restore_state(self, state: TensorLike, name: str | None = None) -> Operation:
        """Restore a state that `serialize_state` of a reader of the same kind returned."""
        return self._apply("ReaderRestoreStateV2", name, state=state)

    def reset(self, name: str | None = None) -> Operation:
        """Restore the initial state."""
        return self._apply("ReaderResetV2", name)


def _handle(queue: Any) -> Tensor:
    return queue.queue_ref if isinstance(queue, QueueBase) else queue


@public("WholeFileReader")
class WholeFileReader(ReaderBase):
    """A reader whose records are whole files; the key is the file's name, the value its content."""

    def __init__(self, name: str | None = None) -> None:
        op = apply_op("WholeFileReaderV2", {}, {}, name)
        super().__init__(op.outputs[0], supports_serialize=True)


@public("TextLineReader")
class TextLineReader(ReaderBase):
    """A reader whose records are lines; the key is `file:number`, with lines counted from 1.

    Args:
      skip_header_lines: how many lines are skipped at the beginning of a file.
      name: the operation's name.

    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        attrs = {"skip_header_lines": skip_header_lines or 0}
        super().__init__(apply_op("TextLineReaderV2", {}, attrs, name).outputs[0])


@public("FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """A reader of records of equal length; the key is `file:number`, with records counted from 0.

    Args:
      record_bytes: the length of a record.
      header_bytes: how many bytes stand before the first record of a file.
      footer_bytes: how many bytes stand after the last record.
      hop_bytes: the distance between the beginnings of two records; `record_bytes` if 0.
      name: the operation's name.
      encoding: how the files are compressed: "ZLIB", "GZIP" or "".

    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        attrs = {
            "record_bytes": record_bytes,
            "header_bytes": header_bytes or 0,
            "footer_bytes": footer_bytes or 0,
            "hop_bytes": hop_bytes or 0,
            "encoding": encoding or "",
        }
        super().__init__(apply_op("FixedLengthRecordReaderV2", {}, attrs, name).outputs[0])


@public("TFRecordReader")
class TFRecordReader(ReaderBase):
    """A reader of record files; a record's key is `file:offset`.

    Args:
      name: the operation's name.
      options: TFRecordOptions, or the name of a compression.

    Raises:
      ValueError: there is no such compression.

    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        kind = TFRecordOptions.get_compression_type_string(options)
        op = apply_op("TFRecordReaderV2", {}, {"compression_type": kind}, name)
        super().__init__(op.outputs[0])


@public("IdentityReader")
class IdentityReader(ReaderBase):
    """A reader whose records are what the queue gives, key and value both."""

    def __init__(self, name: str | None = None) -> None:
        op = apply_op("IdentityReaderV2", {}, {}, name)
        super().__init__(op.outputs[0], supports_serialize=True)
