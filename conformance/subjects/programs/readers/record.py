"""Programs of record files outside of graphs: options, writing, reading, errors."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]

RECORDS = [b"first", b"second" * 10, b"", b"third"]
KINDS = ("", "GZIP", "ZLIB")


def _options(tf):
    options, kinds = tf.io.TFRecordOptions, tf.io.TFRecordCompressionType
    given = [
        None,
        "",
        "GZIP",
        "ZLIB",
        "gzip",
        "NONE",
        b"GZIP",
        7,
        kinds.NONE,
        kinds.GZIP,
        kinds.ZLIB,
    ]
    instance = options("GZIP", compression_level=9)
    return [
        attempt(*(lambda kind=kind: options.get_compression_type_string(kind) for kind in given)),
        attempt(*(lambda kind=kind: options(kind).compression_type for kind in given)),
        dict(options.compression_type_map),
        {name: value for name, value in vars(instance).items() if not name.startswith("_")},
    ]


def _written(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/file"
        writer = tf.io.TFRecordWriter(path)
        outcomes = attempt(
            *(
                lambda item=item: writer.write(item)
                for item in (b"a", "b", "é", bytearray(b"c"), memoryview(b"d"), 3, None)
            )
        )
        writer.flush()
        size = Path(path).stat().st_size
        outcomes += attempt(
            writer.close,
            writer.close,
            lambda: writer.write(b"x"),
            writer.flush,
            lambda: tf.io.TFRecordWriter(f"{folder}/no/file"),
            lambda: tf.io.TFRecordWriter(folder),
            lambda: tf.io.TFRecordWriter(path, "gzip"),
            lambda: tf.io.TFRecordWriter(Path(path)),
            lambda: tf.io.tf_record_iterator(f"{folder}/no"),
            lambda: tf.io.tf_record_iterator(Path(path)),
            lambda: list(tf.python_io.tf_record_iterator(path)),
            lambda: list(tf.python_io.tf_record_iterator(path.encode())),
            lambda: list(tf.io.tf_record_iterator(folder)),
        )
        return [outcomes, size]


def _bytes(tf):
    """The bytes of files with every compression."""
    settings = [
        {},
        {"compression_level": 1},
        {"compression_level": 9},
        {"compression_strategy": 2},
        {"window_bits": 10},
        {"mem_level": 3},
        {"flush_mode": 2, "input_buffer_size": 100},
    ]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        for kind in KINDS:
            for setting in settings:
                options = tf.io.TFRecordOptions(kind, **setting)
                with tf.io.TFRecordWriter(str(path), options) as writer:
                    for record in RECORDS * 30:
                        writer.write(record)
                    writer.flush()
                    writer.write(b"x" * 300_000)
                results.append(path.read_bytes())
    return results


def _damaged(tf):
    """The records of files that are truncated, changed, or followed by other bytes."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"

        def read(kind: str):
            records: list[bytes] = []

            def read_all() -> None:
                for record in tf.io.tf_record_iterator(str(path), tf.io.TFRecordOptions(kind)):
                    records.append(record)  # noqa: PERF402 - those before an error are kept

            return [attempt(read_all), records]

        for kind in KINDS:
            with tf.io.TFRecordWriter(str(path), kind) as writer:
                for record in RECORDS:
                    writer.write(record)
            data = path.read_bytes()
            changed = [data[:length] for length in range(len(data))]
            changed += [
                data[:position] + bytes([data[position] ^ 16]) + data[position + 1 :]
                for position in range(len(data))
            ]
            for content in (*changed, data + data, data + b"junkjunkjunkjunkjunk"):
                path.write_bytes(content)
                results.append(read(kind))
            path.write_bytes(data)
            results.append([read(other) for other in KINDS])
    return results


def _drawn(tf):
    """`RecordInput` over three files: every record once in an epoch of two batches."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(3):
            with tf.io.TFRecordWriter(f"{folder}/file{number}") as writer:
                for index in range(4):
                    writer.write(b"%d" % (4 * number + index))
        options = {"file_buffer_size": 5, "file_shuffle_shift_ratio": 0.4}
        batch = tf.raw_ops.RecordInput(file_pattern=f"{folder}/file*", batch_size=6, **options)
        with tf.Session() as sess:
            batches = [sorted([*sess.run(batch), *sess.run(batch)]) for _ in range(3)]

        def refused(**wrong):
            given = {"file_pattern": f"{folder}/none", **options, **wrong}
            with tf.Session() as sess:
                return sess.run(tf.raw_ops.RecordInput(**given))

        return [
            batch,
            batches,
            attempt(
                refused,
                lambda: refused(batch_size=-1),
                lambda: refused(file_parallelism=-1),
                lambda: refused(batch_size=0),
            ),
        ]


BEHAVIOURS = {
    f"records_{function.__name__.strip('_')}": function
    for function in (_options, _written, _bytes, _damaged, _drawn)
}
