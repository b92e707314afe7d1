"""A disk that is full: what could not be written is named, and no half of it is left."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sessrun.adapters.process.exchange import Exchange
from sessrun.spec.records import RecordWriter
from sessrun.spec.writing import naming, write_bytes, write_text

SOURCE = Path(__file__).resolve().parents[1] / "src"


@contextlib.contextmanager
def files_of_at_most(nbytes: int) -> Iterator[None]:
    """Within it the system writes no file further than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    "write",
    [lambda path: write_bytes(path, bytes(5000)), lambda path: write_text(path, "é" * 5000)],
    ids=["bytes", "text"],
)
def test_a_file_that_is_not_whole_is_named_and_removed(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    path = tmp_path / "report.html"
    with files_of_at_most(1000), pytest.raises(OSError, match=r"report\.html"):
        write(path)
    assert not path.exists()
    write(path)
    assert path.stat().st_size >= 5000


def test_a_full_device_is_named() -> None:
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write_text(Path("/dev/full"), "text")
    assert Path("/dev/full").exists()


def test_a_name_that_is_told_already_stays() -> None:
    with pytest.raises(FileNotFoundError, match="gone"), naming("other"):
        Path("gone").read_bytes()


def test_a_record_says_where_it_could_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    line = {"kind": "event", "event": "x" * 330}
    with RecordWriter(path) as writer, files_of_at_most(1000):
        writer.write(line)
        writer.write(line)
        with pytest.raises(OSError, match=r"record\.jsonl"):
            writer.write(line)
    whole = path.read_bytes().rpartition(b"\n")[0]
    assert whole.count(b"\n") == 1, "two lines fit"
    with RecordWriter(path, len(whole) + 1) as writer:
        writer.write(line)
    assert path.read_bytes().count(b"\n") == 3


def test_an_exchange_file_is_named(tmp_path: Path) -> None:
    exchange = Exchange(tmp_path, "host-")
    with files_of_at_most(1000), pytest.raises(OSError, match="host-1"):
        exchange.write(bytes(5000))


def test_output_that_cannot_be_written_is_named() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sessrun.cli.main", "explain", "FEED-007"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
            env=os.environ | {"PYTHONPATH": str(SOURCE)},
        )
    assert done.returncode == 2
    wanted = "sessrun explain: [Errno 28] No space left on device: standard output\n"
    assert done.stderr == wanted
