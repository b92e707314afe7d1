"""Readers: the file that they are in, and how its records are read.

A reader takes the name of its next file when it has none, and is done with a file when that has no
more records. Source: TF 2.21.
"""

from __future__ import annotations

import io
import os
import threading
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import IO, Any, Final

from sessrun.reference import errors
from sessrun.reference.state.files.file_names import file_errors, local_path
from sessrun.reference.state.input.compressed_files import inflated
from sessrun.reference.state.input.record_options import Compression, compression_of
from sessrun.reference.state.input.records import RecordReader
from sessrun.spec.proto import foreign
from sessrun.spec.proto.input_pb2 import ReaderBaseState

__all__ = [
    "FixedLengthReader",
    "IdentityReader",
    "Reader",
    "RecordFileReader",
    "TextReader",
    "WholeFileReader",
]

#: A key and a value.
Record = tuple[bytes, bytes]
#: The next record of a file, None at its end, and whether no record follows.
NextRecord = tuple[Record | None, bool]


class Reader:
    """The base of readers, whose callers must hold the lock.

    Args:
      name: the name of the node, for messages.

    Attributes:
      lock: the lock, held during a read.
      produced: how many records it has read.
      finished: how many files it is done with.
      backlog: names of files that were taken from the queue and not begun.

    """

    #: The kind of reader, for messages.
    kind = ""

    #: A handle is a scalar, to operations that stack or choose among handles.
    shape: Final = ()
    ndim: Final = 0

    def __init__(self, name: str) -> None:
        self.title = f"{self.kind} '{name}'"
        self.lock = threading.Lock()
        self.backlog: deque[bytes] = deque()
        self.produced = 0
        self.finished = 0
        self._started = 0
        self._work = b""

    @property
    def is_busy(self) -> bool:
        """Whether it is in a file."""
        return self.finished < self._started

    def read(self, take: Callable[[], bytes]) -> Record:
        """The next record.

        Args:
          take: returns the name of the next file; an error that it raises ends the read.

        Raises:
          OpError: the file cannot be read.

        """
        while True:
            self._begin(take)
            record, at_end = self._next()
            if at_end:
                self.finished = self._started
            if record is not None:
                self.produced += 1
                return record

    def read_up_to(self, count: int, take: Callable[[], bytes]) -> list[Record]:
        """The next records, at most `count` and all of one file; arguments as for `read`."""
        while True:
            self._begin(take)
            records: list[Record] = []
            at_end = False
            try:
                while len(records) < count and not at_end:
                    record, at_end = self._next()
                    if record is not None:
                        records.append(record)
            finally:
                self.produced += len(records)
            if at_end:
                self.finished = self._started
            if records or not at_end:
                return records

    def _begin(self, take: Callable[[], bytes]) -> None:
        if self.is_busy:
            return
        self._work = b""
        self._work = self.backlog.popleft() if self.backlog else take()
        self._open(self._work)
        self._started += 1

    def reset(self) -> None:
        """Go back to the first state."""
        self.produced = self.finished = self._started = 0
        self._work = b""

    def state(self) -> bytes:
        """The state, serialized.

        Raises:
          UnimplementedError: the state of this kind of reader cannot be serialized.

        """
        raise errors.UnimplementedError(None, None, "Reader SerializeState")

    def restore(self, state: bytes) -> None:
        """Restore a serialized state.

        Raises:
          UnimplementedError: this kind of reader cannot do so.
          InvalidArgumentError: the argument is not a serialized state.

        """
        del state
        raise errors.UnimplementedError(None, None, "Reader RestoreState")

    def _open(self, work: bytes) -> None:
        """Begin with a file."""

    @abstractmethod
    def _next(self) -> NextRecord:
        """The next record of the file that is open."""


class _Stateful(Reader):
    """A reader that is never within a file, so that its state can be serialized."""

    def state(self) -> bytes:
        """The state, serialized: counts, and the name of the file."""
        return foreign.serialize(
            ReaderBaseState(
                work_started=self._started,
                work_finished=self.finished,
                num_records_produced=self.produced,
                current_work=self._work,
            )
        )

    def restore(self, state: bytes) -> None:
        """Restore a serialized state; reset the reader if it is invalid."""
        self.reset()
        try:
            saved = foreign.parse(ReaderBaseState, state, "the state")
        except foreign.ProtoError as error:
            shown = state.decode("latin-1").encode("unicode_escape").decode()
            raise errors.bad_argument(f"Could not parse state for {self.title}: {shown}") from error
        counts = (saved.work_started, saved.work_finished, saved.num_records_produced)
        if min(counts) < 0:
            wrong = "Unexpected negative value when restoring in"
        elif saved.work_started > saved.work_finished:
            wrong = "Inconsistent work started vs. finished when restoring in"
        else:
            self._started, self.finished, self.produced = counts
            self._work = saved.current_work
            return
        raise errors.bad_argument(f"{wrong} {self.title}: {saved}")


class IdentityReader(_Stateful):
    """A reader whose records are the names of files themselves."""

    kind = "IdentityReader"

    def _next(self) -> NextRecord:
        return (self._work, self._work), True


class WholeFileReader(_Stateful):
    """A reader whose records are files."""

    kind = "WholeFileReader"

    def _next(self) -> NextRecord:
        with _opened(self._work) as file:
            return (self._work, file.read()), True


def _opened(work: bytes) -> IO[bytes]:
    path = os.fsdecode(work)
    with file_errors(path):
        return open(local_path(path), "rb")


class _FileReader(Reader):
    """A reader that reads several records from a file."""

    def __init__(self, name: str) -> None:
        self._file: Any = None
        super().__init__(name)

    def reset(self) -> None:
        """Go back to the first state."""
        super().reset()
        self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def __del__(self) -> None:
        self._close()

    def _ended(self) -> NextRecord:
        self._close()
        return None, True

    def _key(self, position: int) -> bytes:
        return self._work + b":%d" % position


class TextReader(_FileReader):
    """A reader whose records are lines, without their ends.

    Args:
      name: the name of the node.
      skipped: how many lines at the beginning of a file are skipped.

    """

    kind = "TextLineReader"

    def __init__(self, name: str, skipped: int) -> None:
        super().__init__(name)
        self._skipped = skipped
        self._line = 0

    def _open(self, work: bytes) -> None:
        self._close()
        self._file = _opened(work)
        self._line = 0
        while self._line < self._skipped and self._file.readline():
            self._line += 1

    def _next(self) -> NextRecord:
        line = self._file.readline()
        if not line:
            return self._ended()
        self._line += 1
        return (self._key(self._line), line.removesuffix(b"\n").removesuffix(b"\r")), False


class FixedLengthReader(_FileReader):
    """A reader whose records have a fixed length.

    Args:
      name: the name of the node.
      sizes: the bytes of a file's header, of a record, of a file's footer, and from the start of a
        record to the next, 0 if they follow one another.
      encoding: ZLIB, GZIP, or any other text for none.

    """

    kind = "FixedLengthRecordReader"

    def __init__(self, name: str, sizes: tuple[int, int, int, int], encoding: str) -> None:
        super().__init__(name)
        self._header, self._size, self._footer, hop = sizes
        self._hop = hop or self._size
        self._compression = compression_of(encoding if encoding in {"ZLIB", "GZIP"} else "")
        self._limit = 0
        self._count = 0

    def _open(self, work: bytes) -> None:
        self._close()
        file: IO[bytes] = _opened(work)
        ended = "reached end of file"
        if self._compression is not None:
            with file:
                file = io.BytesIO(inflated(file.read(), self._compression))
            ended = "EOF reached"
        size = file.seek(0, os.SEEK_END)
        if size < self._header:
            file.close()
            raise errors.OutOfRangeError(None, None, ended)
        file.seek(self._header)
        self._file, self._limit, self._count = file, size - self._footer, 0

    def _next(self) -> NextRecord:
        offset = self._file.tell()
        if offset + self._size > self._limit:
            return self._ended()
        value = self._file.read(self._size)
        self._file.seek(offset + self._hop)
        self._count += 1
        return (self._key(self._count - 1), value), False


class RecordFileReader(_FileReader):
    """A reader of record files.

    Args:
      name: the name of the node.
      compression: the compression of the files, or None.

    """

    kind = "TFRecordReader"

    def __init__(self, name: str, compression: Compression | None) -> None:
        super().__init__(name)
        self._compression = compression

    def _open(self, work: bytes) -> None:
        self._close()
        self._file = RecordReader(os.fsdecode(work), self._compression)

    def _next(self) -> NextRecord:
        offset = self._file.offset
        value = self._file.read()
        if value is None:
            return self._ended()
        return (self._key(offset), value), False
