"""Programs of readers and of file operations: records, order, errors."""

from __future__ import annotations

import contextlib
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]

#: The folder of the files, below a new current folder: their paths are keys, which must not vary.
FOLDER = Path("files")


@contextmanager
def _folder(**contents: bytes) -> Iterator[Callable[[str], str]]:
    """A folder of files; yields the function from their names to their paths."""
    with tempfile.TemporaryDirectory() as current, contextlib.chdir(current):
        FOLDER.mkdir()
        for name, content in contents.items():
            (FOLDER / name).write_bytes(content)
        yield lambda name: str(FOLDER / name)


def _runs(tf, make: Action, files: Sequence[str], steps: str):
    """A reader's values step by step: r read, u up to 3, p produced, w work units, s state, x."""
    with tf.Graph().as_default():
        reader = make()
        queue = tf.FIFOQueue(20, [tf.string], shapes=[()])
        wants = {
            "r": list(reader.read(queue)),
            "u": list(reader.read_up_to(queue, 3)),
            "p": reader.num_records_produced(),
            "w": reader.num_work_units_completed(),
            "s": reader.serialize_state(),
            "x": reader.reset(),
        }
        with tf.Session() as session:
            session.run(queue.enqueue_many([list(files)]))
            session.run(queue.close())
            return attempt(*(lambda step=step: session.run(wants[step]) for step in steps))


TEXT = {"a": b"l1\nl2\r\r\n\nl\r4\r", "b": b"x\ny\n", "e": b""}


def _entire_files(tf):
    with _folder(**TEXT) as path:
        files = [path("a"), path("e"), path("b")]
        return [
            _runs(tf, tf.WholeFileReader, files, "spwrspwurrpwsxpwr"),
            _runs(tf, tf.WholeFileReader, [path("no"), path("b")], "rrpw"),
            _runs(tf, tf.WholeFileReader, [path("."), path("b")], "rpw"),
            _runs(tf, tf.IdentityReader, files, "psrsupsrps"),
        ]


def _lines(tf):
    with _folder(**TEXT) as path:
        files = [path("a"), path("e"), path("b")]
        return [
            _runs(tf, tf.TextLineReader, files, "rwrrrpwrwrwrpwxpwr"),
            _runs(tf, tf.TextLineReader, files, "upwupwupwu"),
            *(
                _runs(tf, lambda n=n: tf.TextLineReader(skip_header_lines=n), files, "rrrrrp")
                for n in (1, 3, 9)
            ),
            _runs(tf, tf.TextLineReader, [path("no"), path("b")], "rwrwrrp"),
            _runs(tf, tf.TextLineReader, files, "srrxpwrr"),
        ]


def _fixed_lengths(tf):
    plain = b"HHaaabbbcccFF"
    packed = zlib.compress(plain)
    sizes = [
        {"record_bytes": 3},
        {"record_bytes": 3, "header_bytes": 2, "footer_bytes": 2},
        {"record_bytes": 3, "header_bytes": 2, "footer_bytes": 2, "hop_bytes": 1},
        {"record_bytes": 3, "hop_bytes": 5},
        {"record_bytes": 3, "header_bytes": 20},
        {"record_bytes": 13},
        {"record_bytes": 14},
        {"record_bytes": -1},
        {"record_bytes": 3, "header_bytes": -1},
        {"record_bytes": 3, "hop_bytes": -1},
        {"record_bytes": 3, "footer_bytes": -2},
    ]
    with _folder(f=plain, g=plain[:-1], h=b"H", z=packed) as path:
        results = []
        for size in sizes:
            make = lambda size=size: tf.FixedLengthRecordReader(**size)  # noqa: E731
            results.append(_runs(tf, make, [path("f"), path("g"), path("h")], "rrrrrpwuuuuuupw"))
            zipped = lambda size=size: tf.FixedLengthRecordReader(encoding="ZLIB", **size)  # noqa: E731
            results.append(_runs(tf, zipped, [path("z")], "rrrrrrrrpw"))
        wrong = lambda: tf.FixedLengthRecordReader(3, encoding="GZIP")  # noqa: E731
        return [*results, _runs(tf, wrong, [path("f")], "r")]


def _record_files(tf):
    with _folder() as path:
        for name in ("plain", "GZIP", "ZLIB"):
            kind = "" if name == "plain" else name
            with tf.io.TFRecordWriter(path(name), kind) as writer:
                for record in (b"one", b"two" * 99, b"", b"three"):
                    writer.write(record)
        data = (FOLDER / "plain").read_bytes()
        damaged = bytearray(data)
        damaged[20] ^= 1
        for name, content in (("cut", data[:-3]), ("short", data[:-20]), ("bad", bytes(damaged))):
            (FOLDER / name).write_bytes(content)
        return [
            *(
                _runs(tf, tf.TFRecordReader, [path(name), path("plain")], steps)
                for name in ("plain", "cut", "short", "bad", "GZIP", "no")
                for steps in ("rrrwrwrrpwrx", "upwupwxr")
            ),
            *(
                _runs(
                    tf, lambda kind=kind: tf.TFRecordReader(options=kind), [path(name)], "rrrrrpw"
                )
                for kind in ("GZIP", "ZLIB")
                for name in ("GZIP", "ZLIB")
            ),
            attempt(lambda: tf.TFRecordReader(options="gzip")),
        ]


def _states(tf):
    states = [
        b"",
        b"\x08\x01\x10\x01\x18\x01\x22\x01a",
        b"bogus",
        b"\x08\x05",
        b"\x08\x01\x10\x02\x18\x03",
        b"\x08\x02\x10\x02\x18\x03",
        b"\x08\x02\x10\x01\x18\x03\x22\x01a",
        [b""],
    ]
    outcomes = []
    for make in (tf.IdentityReader, tf.WholeFileReader, tf.TextLineReader):
        reader = make()
        given = tf.placeholder(tf.string)
        restore, state = reader.restore_state(given), reader.serialize_state()
        counts = [reader.num_records_produced(), reader.num_work_units_completed()]
        with tf.Session() as session:
            for text in states:
                wants = [(restore, {given: text}), (state, {}), (counts, {})]
                outcomes.append(attempt(*(lambda want=want: session.run(*want) for want in wants)))
        outcomes += [[reader.supports_serialize], reader.reader_ref]
    return outcomes


def _queues(tf):
    """Queues of other dtypes and shapes than readers accept, and one that is empty for a while."""
    reader = tf.IdentityReader()
    numbers = tf.FIFOQueue(9, [tf.int32], [()])
    pairs, rows = tf.FIFOQueue(9, [tf.string, tf.string]), tf.FIFOQueue(9, [tf.string])
    queue, empty = tf.FIFOQueue(9, [tf.string], [()]), tf.FIFOQueue(9, [tf.string], [()])
    timed = tf.RunOptions(timeout_in_ms=300)
    wants = [reader.read(queue) for queue in (numbers, pairs, rows)]
    wants += [reader.read_up_to(queue, count) for count in (0, 2, 9)]
    with tf.Session() as session:
        session.run([numbers.enqueue(1), pairs.enqueue(["a", "b"]), rows.enqueue([["a", "b"]])])
        session.run(queue.enqueue_many([["a", "b", "c"]]))
        outcomes = attempt(*(lambda want=want: list(session.run(want)) for want in wants))
        waited = attempt(lambda: session.run(reader.read(empty), options=timed))
        together = session.run([*reader.read(empty), empty.enqueue("d")])
        return [outcomes, waited, together, session.run(reader.num_records_produced())]


def _in_one_run(tf):
    """Two reads of one reader in a run, of one file each or of two lines of a file."""
    with _folder(**TEXT) as path:
        results = []
        for make in (tf.WholeFileReader, tf.TextLineReader):
            reader, queue = make(), tf.FIFOQueue(9, [tf.string], [()])
            first, second = reader.read(queue), reader.read(queue)
            put = queue.enqueue_many([[path("b"), path("b")]])
            with tf.Session() as session:
                taken = session.run([first.value, second.value, put])
                results.append([sorted(taken[:2]), session.run(reader.num_records_produced())])
        return results


def _shared(tf):
    raw = tf.raw_ops
    first = tf.ReaderBase(raw.IdentityReaderV2(shared_name="s"))
    second = tf.ReaderBase(raw.TextLineReaderV2(shared_name="s"))
    queue = tf.FIFOQueue(9, [tf.string], [()])
    with tf.Session() as one, tf.Session() as other:
        one.run(queue.enqueue_many([["a", "b"]]))
        count = first.num_records_produced()
        return [
            list(one.run(first.read(queue))),
            list(one.run(second.read(queue))),
            one.run(count),
            other.run(count),
        ]


def _files(tf):
    loose = lambda value: tf.placeholder_with_default(value, None)  # noqa: E731
    with _folder(**TEXT) as path, tf.Session() as session:
        wants = (
            lambda: tf.read_file(path("a")),
            lambda: tf.io.read_file(path("no")),
            lambda: tf.read_file(str(FOLDER)),
            lambda: tf.read_file(loose([path("a")])),
            lambda: tf.read_file([path("a")]),
            lambda: tf.read_file("other://x"),
            lambda: tf.write_file(path("m/n/o"), b"q"),
            lambda: tf.read_file(path("m/n/o")),
            lambda: tf.io.write_file(path("m/n/o"), b""),
            lambda: tf.read_file(path("m/n/o")),
            lambda: tf.write_file(path("m"), b""),
            lambda: tf.write_file(path("a/b"), b""),
            lambda: tf.write_file(path("a"), loose([b"a"])),
            lambda: tf.matching_files(path("?")),
            lambda: tf.matching_files(path("zz*")),
            lambda: tf.io.matching_files([path("[ab]"), path("a"), path("m/*/*")]),
            lambda: tf.matching_files([["a"]]),
            lambda: tf.matching_files(path("no/*")),
        )
        return attempt(*(lambda want=want: session.run(want()) for want in wants))


BEHAVIOURS = {
    f"readers_{function.__name__.strip('_')}": function
    for function in (
        _lines,
        _fixed_lengths,
        _record_files,
        _states,
        _queues,
        _in_one_run,
        _shared,
        _files,
    )
} | {
    "readers_whole_files": _entire_files,
}
