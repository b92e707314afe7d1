"""Record files: what one side writes the other reads; no damage makes a wrong record."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

import sessrun.reference as ours

KINDS = ("", "GZIP", "ZLIB")
#: How many damaged files of each kind; a campaign sets the variable to 1,000.
CHANGES = int(os.environ.get("SESSRUN_DAMAGED_FILES", "150"))


def some_records(seed: int, count: int) -> list[bytes]:
    rng = random.Random(seed)
    sizes = [rng.choice((0, 1, 7, 100, 1023, 1024, 5000)) for _ in range(count)]
    return [rng.randbytes(size) for size in sizes]


def write(tf: Any, path: Path, kind: str, records: list[bytes]) -> None:
    with tf.io.TFRecordWriter(str(path), kind) as writer:
        for record in records:
            writer.write(record)


def read(tf: Any, path: Path, kind: str) -> tuple[list[bytes], bool]:
    """The records before the end, or before an error, and whether there was one."""
    found: list[bytes] = []
    try:
        for record in tf.io.tf_record_iterator(str(path), tf.io.TFRecordOptions(kind)):
            found.append(record)  # noqa: PERF402 - those before an error are kept
    except tf.errors.DataLossError:
        return found, True
    return found, False


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_each_side_reads_what_the_other_writes(theirs: Any, kind: str, tmp_path: Path) -> None:
    records = [*some_records(7, 50), b"x" * 700_000, b"last"]
    for writer, reader in ((ours, theirs), (theirs, ours)):
        path = tmp_path / writer.__name__
        write(writer, path, kind, records)
        assert read(reader, path, kind) == (records, False)
    assert (tmp_path / ours.__name__).read_bytes() == (tmp_path / theirs.__name__).read_bytes()


def changed(data: bytes, rng: random.Random) -> bytes:
    """The bytes cut, changed, with bytes more or less, or two parts exchanged."""
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    match rng.randrange(5):
        case 0:
            return data[:start]
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:start] + rng.randbytes(rng.randrange(1, 9)) + data[start:]
        case 3:
            return data[:start] + rng.randbytes(end - start) + data[end:]
        case _:
            place = rng.randrange(len(data))
            return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_never_gives_a_wrong_record(kind: str, tmp_path: Path) -> None:
    """Before an error, or an end that came too early, all records are those that were written.

    Whole records can be cut out, and nothing tells; so what is read is a part of what was
    written, in order.
    """
    rng = random.Random(kind)
    records = [b"%d:" % number + record for number, record in enumerate(some_records(3, 12))]
    path = tmp_path / "file"
    write(ours, path, kind, records)
    data = path.read_bytes()
    lost = 0
    for _ in range(CHANGES):
        content = changed(data, rng)
        path.write_bytes(content)
        found, is_lost = read(ours, path, kind)
        lost += is_lost
        left = iter(records)
        assert all(record in left for record in found)
        if not is_lost and found != records:
            assert len(content) < len(data) or kind
    assert lost > CHANGES // 3


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_read_as_tensorflow_reads_them(
    theirs: Any, kind: str, tmp_path: Path
) -> None:
    """The same records before the same end, and the same ends are errors."""
    rng = random.Random(f"both {kind}")
    records = [b"%d:" % number + record for number, record in enumerate(some_records(5, 12))]
    path = tmp_path / "file"
    write(ours, path, kind, records)
    data = path.read_bytes()
    differing = []
    for number in range(CHANGES):
        more = data + rng.randbytes(rng.randrange(1, 40))
        content = changed(data, rng) if number % 6 else more
        path.write_bytes(content)
        if read(ours, path, kind) != read(theirs, path, kind):
            differing.append((number, content))
    assert not differing, [number for number, _ in differing]


@pytest.mark.parametrize("kind", KINDS)
def test_a_length_that_no_memory_holds_is_a_lost_record(kind: str, tmp_path: Path) -> None:
    from sessrun.reference.state.input.compressed_files import open_sink  # noqa: PLC0415 - of the runtime
    from sessrun.reference.state.input.crc32c import crc32c, masked  # noqa: PLC0415 - the same
    from sessrun.reference.state.input.record_options import compression_of  # noqa: PLC0415 - the same

    path = tmp_path / "file"
    length = (2**63 - 1).to_bytes(8, "little")
    sink = open_sink(str(path), compression_of(kind))
    sink.write(length + masked(crc32c(length)).to_bytes(4, "little") + b"few")
    sink.close()
    assert read(ours, path, kind) == ([], True)
