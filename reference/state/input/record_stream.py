"""RecordStream: the records of many files in random order, for the operation RecordInput."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator

from sessrun.reference import errors
from sessrun.reference.state.files.files import glob
from sessrun.reference.state.input.record_options import compression_of
from sessrun.reference.state.input.records import RecordReader

__all__ = ["RecordStream"]


class RecordStream:
    """Returns every record once in an epoch, in random order.

    A record is drawn at random from a buffer, which is then refilled from the files.

    Args:
      pattern: the glob pattern of the files' names.
      seed: the seed of the order.
      shift: the fraction of the files by which each epoch begins with a later file.
      size: the number of records in the buffer.
      compression: the compression of the files: "GZIP", "ZLIB" or "".

    """

    def __init__(self, pattern: str, seed: int, shift: float, size: int, compression: str) -> None:
        self._pattern, self._shift, self._size = pattern, shift, max(size, 1)
        self._compression = compression_of(compression)
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._buffer: list[bytes] = []
        self._epoch = 0
        self._source: Iterator[bytes] = iter(())

    def take(self, count: int) -> list[bytes]:
        """The next `count` records.

        Raises:
          NotFoundError: no file matches the pattern.
          OutOfRangeError: the files have no records.
          DataLossError: a record is damaged.

        """
        with self._lock:
            return [self._next() for _ in range(count)]

    def _next(self) -> bytes:
        self._fill()
        if not self._buffer:
            self._source = self._records()
            self._epoch += 1
            self._fill()
        if not self._buffer:
            raise errors.make(errors.OUT_OF_RANGE, f"Found no records at {self._pattern}")
        index = self._random.randrange(len(self._buffer))
        self._buffer[index], self._buffer[-1] = self._buffer[-1], self._buffer[index]
        return self._buffer.pop()

    def _fill(self) -> None:
        while len(self._buffer) < self._size:
            record = next(self._source, None)
            if record is None:
                return
            self._buffer.append(record)

    def _records(self) -> Iterator[bytes]:
        """The records of all files, one file after the other."""
        names = sorted(glob(self._pattern))
        if not names:
            raise errors.make(errors.NOT_FOUND, f"Found no files at {self._pattern}")
        first = int(self._shift * self._epoch * len(names)) % len(names)
        for name in names[first:] + names[:first]:
            with contextlib.closing(RecordReader(name, self._compression)) as reader:
                while (record := reader.read()) is not None:
                    yield record
