"""Vectors of READERS on the engine surface: records, keys, counts, states, ends."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case
from sessrun.conformance.generators.record_files import record_file
from sessrun.spec.cases.library import Reader
from sessrun.spec.cases.namespace import Namespace

#: Makes a reader.
Make = Callable[[Namespace], Reader]

_RECORDS: Final = (b"one", b"", b"the third")
_FILE: Final = record_file(_RECORDS)
#: Where the records of `_FILE` begin.
_PLACES: Final = (0, 19, 35)


def reading(tf: Namespace, make: Make, name: str = "") -> None:
    """Build a reader on a queue of file names, with nodes for all its methods under a prefix.

    `put` enqueues `names`, `close` closes the queue; `key` and `value` are one record, `keys` and
    `values` at most `n` of them; `produced` and `units` count; `reset`, `state`, and `restore`
    from `old`.
    """
    names = tf.FIFOQueue(32, tf.string, shapes=[[]], name=f"{name}queue")
    names.enqueue_many(tf.placeholder(tf.string, [None], name=f"{name}names"), name=f"{name}put")
    names.close(name=f"{name}close")
    reader = make(tf)
    key, value = reader.read(names)
    tf.identity(key, name=f"{name}key")
    tf.identity(value, name=f"{name}value")
    keys, values = reader.read_up_to(names, tf.placeholder(tf.int64, [], name=f"{name}n"))
    tf.identity(keys, name=f"{name}keys")
    tf.identity(values, name=f"{name}values")
    reader.num_records_produced(name=f"{name}produced")
    reader.num_work_units_completed(name=f"{name}units")
    reader.reset(name=f"{name}reset")
    reader.serialize_state(name=f"{name}state")
    reader.restore_state(tf.placeholder(tf.string, [], name=f"{name}old"), name=f"{name}restore")


def words(*items: str | bytes) -> np.ndarray:
    """A vector of strings."""
    return np.array([i if isinstance(i, bytes) else i.encode() for i in items] or [], object)


def started(c: EngineAuthor, make: Make, *names: str, close: bool = True) -> SessionAuthor:
    """A session with a reader whose queue holds these names."""
    with c.graph() as tf:
        reading(tf, make)
    s = c.open()
    s.run(["put"], {"names:0": words(*names)}, values=[None])
    if close:
        s.run(["close"], values=[None])
    return s


def gives(s: SessionAuthor, path: str, records: Sequence[tuple[int, bytes]]) -> None:
    """The next records are these of a file, each with the number in its key."""
    for number, record in records:
        s.run(["key:0", "value:0"], values=[f"{path}:{number}".encode(), record])


def ends(s: SessionAuthor, code: int = 11) -> None:
    """The next read fails with this code."""
    s.run(["key:0", "value:0"], error=[code])


def _lines(skipped: int = 0) -> Make:
    return lambda tf: tf.TextLineReader(skip_header_lines=skipped)


def _fixed(record: int, header: int = 0, footer: int = 0, hop: int = 0, encoding: str = "") -> Make:
    return lambda tf: tf.FixedLengthRecordReader(record, header, footer, hop, encoding=encoding)


def _entire(tf: Namespace) -> Reader:
    return tf.WholeFileReader()


def _identity(tf: Namespace) -> Reader:
    return tf.IdentityReader()


def _records(kind: str = "") -> Make:
    return lambda tf: tf.TFRecordReader(
        options=tf.python_io.TFRecordOptions(
            getattr(tf.python_io.TFRecordCompressionType, kind or "NONE")
        )
    )


@engine_case("READERS-001", title="Whole files come one by one.")
def whole_files(c: EngineAuthor) -> None:
    a, b, e = c.file("a", b"first\r\n\0"), c.file("b", b"second"), c.file("e", b"")
    s = started(c, _entire, b, e, a)
    for path, data in ((b, b"second"), (e, b""), (a, b"first\r\n\0")):
        s.run(["key:0", "value:0"], values=[path.encode(), data])
    ends(s)


@engine_case("READERS-002", title="Lines are numbered from 1 in each file.")
def numbered_lines(c: EngineAuthor) -> None:
    a, b = c.file("a.txt", b"one\ntwo\nthree\n"), c.file("b.txt", b"four\n")
    s = started(c, _lines(), a, b)
    gives(s, a, [(1, b"one"), (2, b"two"), (3, b"three")])
    gives(s, b, [(1, b"four")])
    ends(s)


@engine_case("READERS-002", title="Several lines at once have the same keys.")
def numbered_lines_at_once(c: EngineAuthor) -> None:
    a = c.file("a.txt", b"one\ntwo\nthree\n")
    s = started(c, _lines(), a)
    s.run(
        ["keys:0", "values:0"],
        {"n:0": np.int64(9)},
        values=[words(f"{a}:1", f"{a}:2", f"{a}:3"), words("one", "two", "three")],
    )


@engine_case("READERS-003", title="Ends of lines of both kinds, empty lines, a last line without.")
def ends_of_lines(c: EngineAuthor) -> None:
    a = c.file("a.txt", b"one\r\ntwo\n\n\r\nth\rree\r")
    s = started(c, _lines(), a)
    gives(s, a, [(1, b"one"), (2, b"two"), (3, b""), (4, b""), (5, b"th\rree")])
    ends(s)


@engine_case("READERS-003", title="A last line without an end is a line; after an end is none.")
def last_lines(c: EngineAuthor) -> None:
    a, b = c.file("a.txt", b"x\n y \nz"), c.file("b.txt", b"\xff\0\n")
    s = started(c, _lines(), a, b)
    gives(s, a, [(1, b"x"), (2, b" y "), (3, b"z")])
    gives(s, b, [(1, b"\xff\0")])
    ends(s)


@engine_case("READERS-004", title="Header lines are left out in every file.")
def header_lines(c: EngineAuthor) -> None:
    a, b, d = c.file("a", b"h\nh\na\r\n\nb"), c.file("b", b"h\nh\n"), c.file("d", b"h\nh\nd\n")
    s = started(c, _lines(2), a, b, d)
    gives(s, a, [(3, b"a"), (4, b""), (5, b"b")])
    gives(s, d, [(3, b"d")])
    ends(s)


@engine_case("READERS-004", title="A file of fewer lines than its header has no records.")
def short_headers(c: EngineAuthor) -> None:
    a, b = c.file("a", b"h\n"), c.file("b", b"h\nh\nh\nrest")
    s = started(c, _lines(3), a, b)
    gives(s, b, [(4, b"rest")])
    ends(s)


@engine_case("READERS-005", title="Records between a header and a footer.")
def fixed_records(c: EngineAuthor) -> None:
    a, b = c.file("a", b"HHabcdefFFF"), c.file("b", b"HHghiFFF")
    s = started(c, _fixed(3, 2, 3), a, b)
    gives(s, a, [(0, b"abc"), (1, b"def")])
    gives(s, b, [(0, b"ghi")])
    ends(s)


@engine_case("READERS-005", title="Records without header or footer.")
def fixed_records_alone(c: EngineAuthor) -> None:
    a = c.file("a", b"\0\1\n\r\xff\xfe")
    s = started(c, _fixed(2), a)
    gives(s, a, [(0, b"\0\1"), (1, b"\n\r"), (2, b"\xff\xfe")])
    ends(s)


@engine_case("READERS-006", title="What is left after the last whole record is left out.")
def fixed_remainders(c: EngineAuthor) -> None:
    a, b = c.file("a", b"HabcdefgF"), c.file("b", b"HxF")
    s = started(c, _fixed(3, 1, 1), a, b)
    gives(s, a, [(0, b"abc"), (1, b"def")])
    ends(s)


@engine_case("READERS-007", title="Records that overlap, and records that are apart.")
def hops(c: EngineAuthor) -> None:
    a = c.file("a", b"Habcdefgh")
    with c.graph() as tf:
        reading(tf, _fixed(3, 1, 0, 2), "near_")
        reading(tf, _fixed(2, 1, 0, 5), "far_")
    s = c.open()
    for name, records in (("near_", (b"abc", b"cde", b"efg")), ("far_", (b"ab", b"fg"))):
        s.run([f"{name}put"], {f"{name}names:0": words(a)}, values=[None])
        s.run([f"{name}close"], values=[None])
        for number, record in enumerate(records):
            s.run([f"{name}key:0", f"{name}value:0"], values=[f"{a}:{number}".encode(), record])
        s.run([f"{name}value:0"], error=[11])


@engine_case("READERS-008", title="Fixed-length records of a zlib stream.")
def fixed_zlib(c: EngineAuthor) -> None:
    a = c.file("a", zlib.compress(b"HH" + bytes(range(9)) + b"F"))
    s = started(c, _fixed(3, 2, 1, encoding="ZLIB"), a)
    gives(s, a, [(0, b"\0\1\2"), (1, b"\3\4\5"), (2, b"\6\7\x08")])
    ends(s)


@engine_case("READERS-008", title="Fixed-length records of gzip, overlapping.")
def fixed_gzip(c: EngineAuthor) -> None:
    a = c.file("a", gzip.compress(b"abcdef", mtime=0))
    s = started(c, _fixed(4, hop=1, encoding="GZIP"), a)
    gives(s, a, [(0, b"abcd"), (1, b"bcde"), (2, b"cdef")])
    ends(s)


@engine_case("READERS-009", title="Records of a record file, keyed by their places.")
def records_of_a_file(c: EngineAuthor) -> None:
    a, b = c.file("a", _FILE), c.file("b", record_file([b"x" * 300]))
    s = started(c, _records(), a, b)
    gives(s, a, list(zip(_PLACES, _RECORDS, strict=True)))
    gives(s, b, [(0, b"x" * 300)])
    ends(s)


def _compressed(c: EngineAuthor, kind: str, data: bytes) -> None:
    a = c.file("a", data)
    s = started(c, _records(kind), a)
    gives(s, a, list(zip(_PLACES, _RECORDS, strict=True)))
    ends(s)


@engine_case("READERS-010", title="Records of a zlib stream.")
def zlib_records(c: EngineAuthor) -> None:
    _compressed(c, "ZLIB", zlib.compress(_FILE, 9))


@engine_case("READERS-010", title="Records of a gzip file.")
def gzip_records(c: EngineAuthor) -> None:
    _compressed(c, "GZIP", gzip.compress(_FILE, mtime=0))


def _damaged(c: EngineAuthor, count: int, kind: str = "") -> None:
    """The file `a` must give `count` records, and then only errors."""
    s = started(c, _records(kind), c.path("a"))
    gives(s, c.path("a"), list(zip(_PLACES, _RECORDS, strict=True))[:count])
    ends(s, 15)
    ends(s, 15)


@engine_case("READERS-011", title="A file that ends inside of its last record.")
def cut_in_the_last_record(c: EngineAuthor) -> None:
    c.file("a", _FILE[:-1])
    _damaged(c, 2)


@engine_case("READERS-011", title="A file that ends after a record's length.")
def cut_after_a_length(c: EngineAuthor) -> None:
    c.file("a", _FILE[:12])
    _damaged(c, 0)


@engine_case("READERS-011", title="A compressed file that ends inside of a record.")
def cut_before_compression(c: EngineAuthor) -> None:
    c.file("a", zlib.compress(_FILE[:33]))
    _damaged(c, 1, "ZLIB")


@engine_case("READERS-012", title="A changed letter of a record.")
def changed_data(c: EngineAuthor) -> None:
    c.file("a", _FILE[:-6] + bytes([_FILE[-6] ^ 1]) + _FILE[-5:])
    _damaged(c, 2)


@engine_case("READERS-012", title="A changed length, and a changed checksum.")
def changed_lengths_and_checksums(c: EngineAuthor) -> None:
    c.file("a", _FILE[:19] + b"\1" + _FILE[20:])
    s = started(c, _records(), c.path("a"))
    gives(s, c.path("a"), [(0, b"one")])
    ends(s, 15)
    for offset in (0, 9, 13, 16):
        c.change("a", write=_FILE)
        c.change("a", flip=[offset, 0x40])
        fresh = c.open(session=f"s{offset}")
        fresh.run(["put"], {"names:0": words(c.path("a"))}, values=[None])
        ends(fresh, 15)


@engine_case("READERS-012", title="A file that is none of records.")
def no_record_file(c: EngineAuthor) -> None:
    c.file("a", b"this is a line of text, and no record\n")
    _damaged(c, 0)


@engine_case("READERS-012", title="A gzip member with a wrong record in it.")
def changed_below_compression(c: EngineAuthor) -> None:
    wrong = struct.pack("<Q", 3) + _FILE[8:12] + b"oNe" + _FILE[15:]
    c.file("a", gzip.compress(wrong, mtime=0))
    _damaged(c, 0, "GZIP")


@engine_case("READERS-012", title="Several records at once, the first of them changed.")
def changed_data_at_once(c: EngineAuthor) -> None:
    c.file("a", _FILE[:12] + b"x" + _FILE[13:])
    s = started(c, _records(), c.path("a"))
    for _ in range(2):
        s.run(["keys:0", "values:0"], {"n:0": np.int64(3)}, error=[15])


@engine_case("READERS-013", title="What the queue gives is the record.")
def identity_records(c: EngineAuthor) -> None:
    s = started(c, _identity, "no file", "", "\0x")
    for name in (b"no file", b"", b"\0x"):
        s.run(["key:0", "value:0"], values=[name, name])
    ends(s)


@engine_case("READERS-014", title="A closed queue without names ends every reader.")
def the_end_of_names(c: EngineAuthor) -> None:
    a = c.file("a", b"x\n")
    makers: dict[str, Make] = {
        "whole": _entire,
        "lines": _lines(),
        "fixed": _fixed(2),
        "identity": _identity,
    }
    with c.graph() as tf:
        for name, make in makers.items():
            reading(tf, make, f"{name}_")
    s = c.open()
    for name in makers:
        s.run([f"{name}_put"], {f"{name}_names:0": words(a)}, values=[None])
        s.run([f"{name}_close"], values=[None])
        s.run([f"{name}_produced:0"], values=[np.int64(0)])
        s.run([f"{name}_keys:0"], {f"{name}_n:0": np.int64(1)})
        for _ in range(2):
            s.run([f"{name}_value:0"], error=[11])


@engine_case("READERS-014", title="Several records at once end so too.")
def the_end_of_names_at_once(c: EngineAuthor) -> None:
    a = c.file("a", b"x\ny\n")
    s = started(c, _lines(), a)
    s.run(["values:0"], {"n:0": np.int64(5)}, values=[words("x", "y")])
    for _ in range(2):
        s.run(["values:0"], {"n:0": np.int64(5)}, error=[11])
