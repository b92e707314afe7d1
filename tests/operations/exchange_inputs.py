"""Graphs for the operations of files, readers and what records hold."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.sparse_ops import deserialize_sparse

#: Where the graphs write and read; both sides find the same there.
FOLDER = Path(tempfile.mkdtemp(prefix="sessrun-exchange-"))
READERS = (
    "IdentityReaderV2 WholeFileReaderV2 TextLineReaderV2 FixedLengthRecordReaderV2 "
    "TFRecordReaderV2 ReaderReadV2 ReaderReadUpToV2 ReaderNumRecordsProducedV2 "
    "ReaderNumWorkUnitsCompletedV2 ReaderSerializeStateV2 ReaderRestoreStateV2 ReaderResetV2"
)
KINDS: dict[str, Callable[[], Any]] = {
    "identity": tf.IdentityReader,
    "whole": tf.WholeFileReader,
    "text": lambda: tf.TextLineReader(skip_header_lines=1),
    "fixed": lambda: tf.FixedLengthRecordReader(3, 1, 2, 4),
    "records": lambda: tf.TFRecordReader(options="GZIP"),
}


def files() -> None:
    """A file written, found and read."""
    path = str(FOLDER / "written" / "file")
    tf.group(tf.write_file(path, "some text\n"), name="write")
    tf.identity(tf.read_file(path), name="read")
    tf.identity(tf.matching_files([path[:-2] + "*", "/nowhere/*"]), name="found")


def drawn_records() -> None:
    """A record of a file of one, drawn twice."""
    path = str(FOLDER / "one-record")
    with tf.io.TFRecordWriter(path, "ZLIB") as writer:
        writer.write(b"only")
    options = {"file_buffer_size": 1, "batch_size": 2, "compression_type": "ZLIB"}
    tf.identity(tf.raw_ops.RecordInput(file_pattern=path, **options), name="drawn")


def readers() -> None:
    """Two files read by a reader of each kind."""
    with tf.io.TFRecordWriter(str(FOLDER / "records"), "GZIP") as writer:
        for record in (b"one", b"", b"three"):
            writer.write(record)
    (FOLDER / "text").write_bytes(b"a\nbcd\r\nefg\n\nhij")
    for kind, make in KINDS.items():
        path = str(FOLDER / ("records" if kind == "records" else "text"))
        queue = tf.FIFOQueue(9, tf.string, [()])
        reader = make()
        tf.group(queue.enqueue_many([[path, path]]), name=f"fill_{kind}")
        for name, value in zip(("key", "value"), reader.read(queue), strict=True):
            tf.identity(value, name=f"{name}_{kind}")
        for name, value in zip(("keys", "values"), reader.read_up_to(queue, 9), strict=True):
            tf.identity(value, name=f"{name}_{kind}")
        tf.identity(reader.num_records_produced(), name=f"produced_{kind}")
        tf.identity(reader.num_work_units_completed(), name=f"finished_{kind}")
        tf.group(reader.reset(), name=f"reset_{kind}")
        if reader.supports_serialize:
            state = reader.serialize_state()
            tf.identity(state, name=f"state_{kind}")
            tf.group(reader.restore_state(state), name=f"restore_{kind}")


def reading(kind: str) -> tuple[tuple[str, ...], ...]:
    """The runs of one reader."""
    counts = (f"produced_{kind}:0", f"finished_{kind}:0")
    state: tuple[tuple[str, ...], ...] = ()
    if kind in {"identity", "whole"}:
        state = ((f"state_{kind}:0",), (f"restore_{kind}",), counts)
    return (
        (f"fill_{kind}",),
        (f"key_{kind}:0", f"value_{kind}:0"),
        counts,
        *state,
        (f"keys_{kind}:0", f"values_{kind}:0"),
        counts,
        (f"reset_{kind}",),
        counts,
    )


def encoded() -> None:
    """Lines of fields, compressed strings, serialized tensors."""
    lines = tf.constant(["1,a,2.5", ',"b,",'])
    for place, column in enumerate(tf.decode_csv(lines, [[7], ["z"], [0.5]])):
        tf.identity(column, name=f"column_{place}")
    tf.identity(tf.io.decode_compressed(zlib.compress(b"text"), "ZLIB"), name="inflated")
    data = tf.serialize_tensor(tf.constant([[1.5, 2.5]]))
    tf.identity(data, name="serialized")
    tf.identity(tf.parse_tensor(data, tf.float32), name="parsed")


def examples() -> None:
    """Examples parsed to tensors, sparse ones, and a sparse one made of two features."""
    example = tf.train.Example()
    for key, values in (("index", [3, 1]), ("number", [5])):
        example.features.feature[key].int64_list.value.extend(values)
    example.features.feature["value"].float_list.value.extend([1.5, 2.5])
    data = [example.SerializeToString()] * 2
    parsed = tf.parse_example(
        data,
        {
            "number": tf.FixedLenFeature([], tf.int64),
            "missing": tf.FixedLenFeature([2], tf.string, ["x", "y"]),
            "rows": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
            "index": tf.VarLenFeature(tf.int64),
            "merged": tf.SparseFeature("index", "value", tf.float32, 9),
        },
    )
    for key in ("number", "missing", "rows"):
        tf.identity(parsed[key], name=key)
    for key in ("index", "merged"):
        for part in ("indices", "values", "dense_shape"):
            tf.identity(getattr(parsed[key], part), name=f"{key}_{part}")
    rows = tf.raw_ops.ParseExampleV2(
        serialized=data,
        names=np.empty(0, object),
        sparse_keys=np.empty(0, object),
        dense_keys=np.empty(0, object),
        ragged_keys=["index"],
        dense_defaults=[],
        num_sparse=0,
        sparse_types=[],
        ragged_value_types=[tf.int64],
        ragged_split_types=[tf.int32],
        dense_shapes=[],
    )
    tf.identity(rows.ragged_values[0], name="row_values")
    tf.identity(rows.ragged_row_splits[0], name="row_splits")


def sequences() -> None:
    """SequenceExamples, Examples of JSON, strings padded to numbers."""
    story = tf.train.SequenceExample()
    story.context.feature["id"].int64_list.value.append(5)
    for values in ([1.5], [2.5, 3.5]):
        story.feature_lists.feature_list["steps"].feature.add().float_list.value.extend(values)
        story.feature_lists.feature_list["marks"].feature.add().int64_list.value.append(7)
    context, lists, lengths = tf.io.parse_sequence_example(
        [story.SerializeToString(), b""],
        {"id": tf.FixedLenFeature([], tf.int64, 4)},
        {
            "steps": tf.VarLenFeature(tf.float32),
            "marks": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        },
    )
    tf.identity(context["id"], name="id")
    tf.identity(lists["marks"], name="marks")
    tf.identity(lengths["marks"], name="lengths")
    for part in ("indices", "values", "dense_shape"):
        tf.identity(getattr(lists["steps"], part), name=f"steps_{part}")
    text = '{"features": {"feature": {"n": {"int64List": {"value": ["3"]}}}}}'
    made = tf.io.decode_json_example([text])  # whose numbers TensorFlow does not pack
    tf.identity(tf.parse_example(made, {"n": tf.FixedLenFeature([], tf.int64)})["n"], name="json")
    padded = tf.raw_ops.DecodePaddedRaw(input_bytes=["abc"], fixed_length=4, out_type=tf.int16)
    tf.identity(padded, name="padded")


def sparse() -> None:
    """Sparse tensors as bytes and back, and kept by number."""
    whole = tf.SparseTensor(
        np.array([[0, 1], [1, 0]], np.int64), [1.5, 2.5], np.array([2, 3], np.int64)
    )
    one, rows = tf.serialize_sparse(whole), tf.serialize_many_sparse(whole)
    again = [deserialize_sparse(one, tf.float32), tf.deserialize_many_sparse(rows, tf.float32)]
    parts = {
        "sparse_indices": whole.indices,
        "sparse_values": whole.values,
        "sparse_shape": whole.dense_shape,
        "shared_name": "kept",
    }
    many = tf.raw_ops.AddManySparseToTensorsMap(**parts)
    row = tf.SparseTensor(np.array([[1]], np.int64), [3.5], np.array([3], np.int64))
    with tf.control_dependencies([many]):
        single = tf.raw_ops.AddSparseToTensorsMap(
            sparse_indices=row.indices,
            sparse_values=row.values,
            sparse_shape=row.dense_shape,
            shared_name="kept",
        )
    taken = tf.raw_ops.TakeManySparseFromTensorsMap(
        sparse_handles=tf.concat([many, [single]], 0), dtype=tf.float32, shared_name="kept"
    )
    for index, found in enumerate([*again[0].parts(), *again[1].parts(), *taken, one, rows]):
        tf.identity(found, name=f"sparse_{index}")


SPARSE = (
    "SerializeSparse SerializeManySparse DeserializeSparse DeserializeManySparse "
    "AddSparseToTensorsMap AddManySparseToTensorsMap TakeManySparseFromTensorsMap"
)
_SPARSE = tuple(
    f"{key}_{part}:0"
    for key in ("index", "merged")
    for part in ("indices", "values", "dense_shape")
)

INPUTS: tuple[tuple[str, Callable[[], None], tuple[tuple[str, ...], ...]], ...] = (
    ("ReadFile WriteFile MatchingFiles", files, (("write",), ("read:0",), ("found:0",))),
    ("RecordInput", drawn_records, (("drawn:0",), ("drawn:0",))),
    (READERS, readers, tuple(run for kind in KINDS for run in reading(kind))),
    (
        "DecodeCSV DecodeCompressed SerializeTensor ParseTensor",
        encoded,
        (("column_0:0", "column_1:0", "column_2:0"), ("inflated:0", "serialized:0", "parsed:0")),
    ),
    (
        "ParseExampleV2 SparseReorder",
        examples,
        (("number:0", "missing:0", "rows:0"), _SPARSE, ("row_values:0", "row_splits:0")),
    ),
    (
        "ParseSequenceExampleV2 DecodeJSONExample DecodePaddedRaw",
        sequences,
        (
            (
                "id:0",
                "marks:0",
                "lengths:0",
                "steps_indices:0",
                "steps_values:0",
                "steps_dense_shape:0",
            ),
            ("json:0", "padded:0"),
        ),
    ),
    (SPARSE, sparse, (tuple(f"sparse_{index}:0" for index in range(11)),)),
)
