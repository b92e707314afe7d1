"""Event files, which TensorBoard reads: records of Event messages; the first has the version.

Their names have the second in which they were begun, and the name of the machine. Source: TF 2.21.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.base.text import as_text
from sessrun.reference.public import public
from sessrun.reference.state.files.file_names import FilePath, file_errors, local_path
from sessrun.reference.state.input.records import TFRecordWriter, tf_record_iterator
from sessrun.spec.proto.foreign import adopt
from sessrun.spec.proto.summary_pb2 import Event, SourceMetadata

__all__ = ["EventsWriter", "new_event_file", "summary_iterator", "version_event"]

#: The version and the source in the first event of a file.
_VERSION: Final = "brain.Event:2"
_SOURCE: Final = "tensorflow.core.util.events_writer"


def version_event(wall_time: float) -> Event:
    """The first event of a file."""
    return Event(
        wall_time=wall_time, file_version=_VERSION, source_metadata=SourceMetadata(writer=_SOURCE)
    )


def new_event_file(prefix: str, suffix: str) -> tuple[str, float]:
    """Make an empty file; return its path and the second in its name.

    The second is the present one, or the next one whose name is free: no file is overwritten.

    Args:
      prefix: the beginning of its path.
      suffix: the end of its path.

    Raises:
      OpError: the file cannot be made.

    """
    second = int(time.time())
    while True:
        path = f"{prefix}.out.tfevents.{second:010d}.{socket.gethostname()}{suffix}"
        with file_errors(path):
            try:
                os.close(os.open(local_path(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            except FileExistsError:
                second += 1
            else:
                return path, float(second)


class EventsWriter:
    """Writes events to a file, which begins with the first of them.

    Args:
      prefix: what the file's name begins with, with the folder.

    """

    def __init__(self, prefix: str | bytes) -> None:
        self._prefix = as_text(prefix)
        self._suffix = ""
        self._path = ""
        self._records: TFRecordWriter | None = None

    # The names of the methods are those that programs know from TensorFlow's writer.
    def Init(self) -> bool:  # noqa: N802 - see above
        """Begin the file, unless it is begun; return whether that succeeded."""
        if self._records is None:
            try:
                self._path, second = new_event_file(self._prefix, self._suffix)
                self._records = TFRecordWriter(self._path)
            except errors.OpError as error:
                logging.getLogger("sessrun").log(
                    logging.ERROR, "No event file can be written: %s", error
                )
                return False
            self._records.write(version_event(second).SerializeToString())
            self.Flush()
        return True

    def InitWithSuffix(self, suffix: str | bytes) -> bool:  # noqa: N802 - see above
        """Begin the file, whose path ends with a suffix; return whether that succeeded."""
        self._suffix = as_text(suffix)
        return self.Init()

    def FileName(self) -> str:  # noqa: N802 - see above
        """The file's name; the file is created if there is none yet."""
        self.Init()
        return self._path

    def WriteEvent(self, event: Any) -> None:  # noqa: N802 - see above
        """Write an event; it is lost, and an error is logged, if no file can be made.

        Raises:
          TypeError: the argument is not an Event.

        """
        data = adopt(event, Event).SerializeToString()
        if self.Init() and self._records is not None:
            self._records.write(data)

    def Flush(self) -> None:  # noqa: N802 - see above
        """Hand the written events to the operating system."""
        if self._records is not None:
            self._records.flush()

    def Close(self) -> None:  # noqa: N802 - see above
        """Close the file; the next event begins another."""
        records, self._records = self._records, None
        if records is not None:
            records.close()


class _Events:
    """The events of an open file."""

    def __init__(self, path: FilePath) -> None:
        self._records = tf_record_iterator(path)

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return Event.FromString(next(self._records))

    next = __next__


@public("train.summary_iterator")
def summary_iterator(path: FilePath) -> Iterator[Event]:
    """The events of a file; after the last one, `next` finds those written since.

    Args:
      path: the path of the file.

    Raises:
      NotFoundError: the file does not exist.
      DataLossError: while reading: an event is damaged.

    """
    return _Events(path)
