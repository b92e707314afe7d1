"""Faults of READERS: keys, records, ends of files, what a reader keeps."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sessrun.conformance.faulty.computing import array
from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.overlapping import notes
from sessrun.conformance.faulty.run_fragments import Base, editing, elements, fed, needed, running
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import FeedDict, Feeds, Fetches, Graph, Operation, Session, Value
from sessrun.spec.proto.graph_pb2 import GraphDef

_READS = frozenset({"ReaderReadV2", "ReaderReadUpToV2"})


def _operation(element: Any) -> Operation:
    """The operation of a fetched element; for an Identity, the operation of its input."""
    op = getattr(element, "op", element)
    return op.inputs[0].op if op.type == "Identity" else op


def _producer(element: Any) -> tuple[Operation, int]:
    """The operation and the output index of a fetched tensor, or of the input of an Identity."""
    if getattr(element, "op", element).type == "Identity":
        element = element.op.inputs[0]
    return element.op, element.value_index


def _ops(session: Session, fetches: Fetches, *types: str) -> list[Operation]:
    ops = [_operation(element) for element in elements(session, fetches)]
    return [op for op in ops if op.type in types]


def _kind(op: Operation) -> str:
    """The type of the reader that an operation works on."""
    return str(op.inputs[0].op.type)


def _changed(
    tf: Namespace, kind: str, number: int, change: Callable[[Operation, bytes], bytes]
) -> Namespace:
    """The namespace in which `change(op, value)` replaces each key or each value that is read.

    Args:
      tf: the conforming namespace.
      kind: the type of the reader.
      number: 0 for keys, 1 for values.
      change: from the reading operation and a value, as bytes, to another.

    """

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        values = base(fetches)
        if not isinstance(fetches, list):
            return values
        for position, element in enumerate(elements(session, fetches)):
            op, index = _producer(element) if hasattr(element, "op") else (element, 0)
            if op.type in _READS and index == number and _kind(op) == kind:
                records = array(values[position])
                flat = [change(op, item) for item in records.reshape(-1).tolist()]
                values[position] = (
                    np.array(flat[0], object) if records.ndim == 0 else np.array(flat, object)
                )
        return values

    return running(tf, run)


def _without(tf: Namespace, op_type: str, **values: Value) -> Namespace:
    """The namespace that sets these attributes of the nodes of a type when it imports them."""

    def change(graph: GraphDef) -> None:
        for node in graph.node:
            if node.op == op_type:
                for name, value in values.items():
                    kind = "s" if isinstance(value, bytes) else "i"
                    setattr(node.attr[name], kind, value)

    return editing(tf, change)


def _recoded(
    tf: Namespace, types: frozenset[str], error: str, other: str, words: str = ""
) -> Namespace:
    """The namespace in which these operations raise `other` where they raise `error`."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        try:
            return base(fetches)
        except getattr(tf.errors, error) as raised:
            if words not in raised.message or not _ops(session, fetches, *types):
                raise
            raise getattr(tf.errors, other)(None, None, raised.message) from raised

    return running(tf, run)


def _asked(tf: Namespace, session: Session, like: Operation, op_type: str, **more: Argument) -> Any:
    """The value of another operation on the reader of `like`, in a run that no fault changes."""
    with session.graph.as_default(), tf.control_dependencies(None):
        result = getattr(tf.raw_ops, op_type)(reader_handle=like.inputs[0], **more)
        return tf.Session.run(session, result)


@fault("READERS-001", "The key of a whole file is its name without the folder.")
def whole_files_have_bare_names(tf: Namespace) -> Namespace:
    """Leave out the folder."""
    return _changed(tf, "WholeFileReaderV2", 0, lambda _, key: key.rpartition(b"/")[2])


def _numbered(key: bytes, change: Callable[[int], int]) -> bytes:
    name, _, number = key.rpartition(b":")
    return b"%s:%d" % (name, change(int(number)))


@fault("READERS-002", "The second line of a file has the number of the first.")
def second_lines_are_numbered_1(tf: Namespace) -> Namespace:
    """Replace the line number 2 in keys by 1."""

    def change(_: Operation, key: bytes) -> bytes:
        return _numbered(key, lambda number: 1 if number == 2 else number)

    return _changed(tf, "TextLineReaderV2", 0, change)


@fault("READERS-003", "Carriage returns are no part of a line, wherever they are.")
def carriage_returns_go(tf: Namespace) -> Namespace:
    """Remove every carriage return from the lines."""

    def change(op: Operation, line: bytes) -> bytes:
        del op
        return line.replace(b"\r", b"")

    return _changed(tf, "TextLineReaderV2", 1, change)


@fault("READERS-004", "A TextLineReader gives the header lines, too.")
def headers_are_lines(tf: Namespace) -> Namespace:
    """Import the reader without `skip_header_lines`."""
    return _without(tf, "TextLineReaderV2", skip_header_lines=0)


@fault("READERS-005", "A footer is read as records.")
def footers_are_records(tf: Namespace) -> Namespace:
    """Import the reader without `footer_bytes`."""
    return _without(tf, "FixedLengthRecordReaderV2", footer_bytes=0)


@fault("READERS-006", "A file whose last fixed-length record is cut off fails at its end.")
def remainders_fail(tf: Namespace) -> Namespace:
    """Raise DataLossError where bytes are left."""

    def left(op: Operation, key: bytes) -> int:
        attrs = op.inputs[0].op
        if attrs.get_attr("hop_bytes") or attrs.get_attr("encoding"):
            return 0
        around = attrs.get_attr("header_bytes") + attrs.get_attr("footer_bytes")
        size = Path(os.fsdecode(key.rpartition(b":")[0])).stat().st_size
        return int((size - around) % attrs.get_attr("record_bytes"))

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        reads = [op for op in _ops(session, fetches, *_READS) if "Fixed" in _kind(op)]
        kept = notes(session, "last_keys", dict)
        try:
            values = base(fetches)
        except tf.errors.OutOfRangeError as error:
            if reads and left(reads[0], kept.get(reads[0], b"/:")):
                raise tf.errors.DataLossError(None, None, "a record is cut off") from error
            raise
        for element, value in zip(elements(session, fetches), values, strict=True) if reads else ():
            if _producer(element) == (reads[0], 0) and reads[0].type == "ReaderReadV2":
                kept[reads[0]] = array(value).item()
        return values

    return running(tf, run)


@fault("READERS-007", "Fixed-length records follow each other, whatever `hop_bytes` says.")
def hops_are_ignored(tf: Namespace) -> Namespace:
    """Import the reader without `hop_bytes`."""
    return _without(tf, "FixedLengthRecordReaderV2", hop_bytes=0)


@fault("READERS-008", "Fixed-length records are those of the compressed bytes.")
def encodings_are_ignored(tf: Namespace) -> Namespace:
    """Import the reader without `encoding`."""
    return _without(tf, "FixedLengthRecordReaderV2", encoding=b"")


@fault("READERS-009", "The key of a record has where its data begins.")
def records_begin_at_their_data(tf: Namespace) -> Namespace:
    """Add the 12 bytes of the header to the offset in the key, in uncompressed files."""

    def change(op: Operation, key: bytes) -> bytes:
        if op.inputs[0].op.get_attr("compression_type"):
            return key
        return _numbered(key, lambda offset: offset + 12)

    return _changed(tf, "TFRecordReaderV2", 0, change)


@fault("READERS-010", "Compressed record files are read as they are.")
def compression_is_ignored(tf: Namespace) -> Namespace:
    """Import the reader without `compression_type`."""
    return _without(tf, "TFRecordReaderV2", compression_type=b"")


@fault("READERS-011", "A record file that is cut off ends where it is.")
def cut_files_end(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError."""
    return _recoded(tf, _READS, "DataLossError", "OutOfRangeError", "truncated")


@fault("READERS-012", "A damaged record file ends before the damage.")
def damaged_files_end(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError."""
    return _recoded(tf, _READS, "DataLossError", "OutOfRangeError", "corrupted")


@fault("READERS-013", "The values of an IdentityReader are empty.")
def identities_are_empty(tf: Namespace) -> Namespace:
    """Keep only the keys."""
    return _changed(tf, "IdentityReaderV2", 1, lambda *_: b"")


@fault("READERS-014", "A reader at the end of its queue is cancelled when it goes on.")
def ended_readers_are_cancelled(tf: Namespace) -> Namespace:
    """Raise CancelledError for the second read after the end."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        ended = notes(session, "ended", set)
        try:
            return base(fetches)
        except tf.errors.OutOfRangeError as raised:
            handles = {op.inputs[0] for op in _ops(session, fetches, *_READS)}
            if handles & ended:
                raise tf.errors.CancelledError(None, None, raised.message) from raised
            ended |= handles
            raise

    return running(tf, run)


@fault("READERS-015", "A run without readers has every reader begin anew.")
def other_runs_reset(tf: Namespace) -> Namespace:
    """Reset all readers in a run without readers and queues."""

    def run(session: Session, base: Base, fetches: Fetches, feeds: Feeds) -> Value:
        executed = needed(elements(session, fetches), fed(session, feeds))
        if not any(op.type.startswith(("Reader", "Queue")) for op in executed):
            for op in session.graph.get_operations():
                if op.type == "ReaderReadV2":
                    _asked(tf, session, op, "ReaderResetV2")
        return base(fetches)

    return running(tf, run)


@fault("READERS-016", "The sessions of a Graph share its readers.")
def sessions_share_readers(tf: Namespace) -> Namespace:
    """Run operations on readers in the graph's first session."""
    firsts: dict[Graph, Session] = {}

    def run(session: Session, base: Base, fetches: Fetches, feeds: Feeds) -> Value:
        first = firsts.setdefault(session.graph, session)
        executed = needed(elements(session, fetches), fed(session, feeds))
        readers = any(op.type == "TextLineReaderV2" for op in session.graph.get_operations())
        if first is session or not readers or not any("Queue" in op.type for op in executed):
            return base(fetches)
        return tf.Session.run(first, fetches, feeds)

    return running(tf, run)


@fault("READERS-017", "Readers of one shared name are readers of their own.")
def shared_readers_are_their_own(tf: Namespace) -> Namespace:
    """Import readers without `shared_name`."""

    def change(graph: GraphDef) -> None:
        for node in graph.node:
            if node.op.endswith("ReaderV2"):
                node.attr["shared_name"].s = b""

    return editing(tf, change)


@fault("READERS-018", "Records of several files come together.")
def batches_cross_files(tf: Namespace) -> Namespace:
    """Repeat the read until there are enough records, or no more."""

    def run(session: Session, base: Base, fetches: Fetches, feeds: FeedDict) -> Value:
        values = base(fetches)
        reads = _ops(session, fetches, "ReaderReadUpToV2")
        if not reads or _kind(reads[0]) != "TextLineReaderV2":
            return values
        wanted = int(next(iter(feeds.values())))
        while len(values[0]) < wanted:
            try:
                more = base(fetches)
            except tf.errors.OutOfRangeError:
                break
            values = [np.concatenate(pair) for pair in zip(values, more, strict=True)]
        return values

    return running(tf, run)


@fault("READERS-019", "Records that were taken together are not counted.")
def batches_are_not_counted(tf: Namespace) -> Namespace:
    """Subtract the records of ReaderReadUpTo from the number of records produced."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        values = base(fetches)
        uncounted = notes(session, "uncounted", list)
        for index, element in enumerate(elements(session, fetches)):
            op = _operation(element)
            if op.type == "ReaderReadUpToV2":
                uncounted.append(len(values[index]))
            elif op.type == "ReaderNumRecordsProducedV2":
                values[index] = np.int64(values[index] - sum(uncounted))
        return values

    return running(tf, run)


@fault("READERS-020", "A whole file counts once the next one is begun.")
def files_count_late(tf: Namespace) -> Namespace:
    """Subtract one from the work units that a WholeFileReader has completed."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        values = base(fetches)
        for index, element in enumerate(elements(session, fetches)):
            op = _operation(element)
            if op.type == "ReaderNumWorkUnitsCompletedV2" and "Whole" in _kind(op):
                values[index] = np.int64(max(0, values[index] - 1))
        return values

    return running(tf, run)
