"""`EventFileWriter`: writes events to a file in a separate thread.

Source: TF 2.21, `tensorflow.python.summary.writer.event_file_writer`.
"""

from __future__ import annotations

import collections
import logging
import os
import sys
import threading
import time
from os import PathLike
from typing import Any, Final

from sessrun.reference.state.files import files
from sessrun.reference.state.input.event_files import EventsWriter

__all__ = ["CloseableQueue", "EventFileWriter", "QueueClosedError"]

#: In a queue: it is to be closed.
_CLOSE: Final = object()


class QueueClosedError(Exception):
    """Something was put into a queue that is closed."""


class CloseableQueue:
    """A thread-safe queue whose `put` fails once it is closed.

    Args:
      maxsize: how many items it holds before `put` waits; without limit if not positive.

    """

    def __init__(self, maxsize: int = 0) -> None:
        self._limit = maxsize
        self._items: collections.deque[object] = collections.deque()
        self._is_closed = False
        mutex = threading.Lock()
        self._not_empty = threading.Condition(mutex)
        self._not_full = threading.Condition(mutex)

    def get(self) -> object:
        """The next item; waits until there is an item."""
        with self._not_empty:
            while not self._items:
                self._not_empty.wait()
            item = self._items.popleft()
            self._not_full.notify()
        return item

    def put(self, item: object) -> None:
        """Add an item, once there is room.

        Raises:
          QueueClosedError: the queue is closed, before or while this waits.

        """
        with self._not_full:
            while not self._is_closed and 0 < self._limit <= len(self._items):
                self._not_full.wait()
            if self._is_closed:
                raise QueueClosedError
            self._items.append(item)
            self._not_empty.notify()

    def close(self) -> list[object]:
        """Make every `put` fail, also those that wait; return the items that are left."""
        with self._not_full:
            self._is_closed = True
            self._not_full.notify_all()
            left = list(self._items)
            self._items.clear()
        return left


class _Flush(threading.Event):
    """A flush request in the queue; set once everything before it is flushed."""


class _Worker(threading.Thread):
    """The writer thread: writes the queue's events until it is stopped or fails."""

    def __init__(self, queue: CloseableQueue, writer: EventsWriter, flush_secs: float) -> None:
        super().__init__(name="EventLoggerThread", daemon=True)
        self._queue = queue
        # Under this name programs replace what writes, to see its errors treated.
        self._ev_writer = writer
        self._flush_secs = flush_secs
        self._flush_due = 0.0
        self.failure_exc_info: Any = ()

    def flush(self) -> None:
        """Wait until the queued events are written or the worker has ended.

        Raises:
          QueueClosedError: the worker has ended.

        """
        flushed = _Flush()
        self._queue.put(flushed)
        flushed.wait()

    def run(self) -> None:
        """Write until the end; an error is kept for those who add or flush."""
        try:
            self._write_all()
        except Exception as error:  # noqa: BLE001 - kept, and raised where somebody waits
            logging.getLogger("sessrun").log(
                logging.ERROR, "The event file is written no more: %s", error
            )
            self.failure_exc_info = sys.exc_info()
        finally:
            for item in self._queue.close():
                if isinstance(item, _Flush):
                    item.set()

    def _write_all(self) -> None:
        while True:
            item = self._queue.get()
            if item is _CLOSE:
                break
            self._write(item)
        for late in self._queue.close():  # other threads may have added before it was closed
            self._write(late)

    def _write(self, item: object) -> None:
        if isinstance(item, _Flush):
            try:
                self._ev_writer.Flush()
            finally:
                item.set()
        elif item is not _CLOSE:
            self._ev_writer.WriteEvent(item)
            now = time.time()
            if now > self._flush_due:
                self._ev_writer.Flush()
                self._flush_due = now + self._flush_secs


class EventFileWriter:
    """Writes events to a new file in a folder.

    Args:
      logdir: the folder, which is made if it does not exist.
      max_queue: how many events may wait to be written before adding one waits.
      flush_secs: how many seconds may pass between an event's writing and the next flush.
      filename_suffix: what the file's name ends with.

    Raises:
      FailedPreconditionError: the folder is a file.

    """

    def __init__(
        self,
        logdir: str | PathLike[str] | None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
    ) -> None:
        self._logdir = str(logdir)
        files.makedirs(self._logdir)
        self._max_queue = max_queue
        self._flush_secs = flush_secs
        self._ev_writer = EventsWriter(os.path.join(self._logdir, "events"))
        if filename_suffix:
            self._ev_writer.InitWithSuffix(filename_suffix)
        self._closed = False
        self._closing = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._event_queue = CloseableQueue(self._max_queue)
        self._worker = _Worker(self._event_queue, self._ev_writer, self._flush_secs)
        self._worker.start()

    def get_logdir(self) -> str:
        """The folder that is written to."""
        return self._logdir

    def reopen(self) -> None:
        """Reopen after `close`, with a new file; does nothing if open."""
        with self._closing:
            if self._closed:
                self._start()
                self._closed = False

    def add_event(self, event: object) -> None:
        """Add an event, which is written soon; nothing after `close`.

        Raises:
          Exception: an event before it could not be written.

        """
        if self._closed:
            return
        try:
            self._event_queue.put(event)
        except QueueClosedError:
            self._give_up()

    def flush(self) -> None:
        """Flush all added events to the file.

        Raises:
          Exception: an event could not be written.

        """
        if self._closed:
            return
        worker = self._worker
        try:
            worker.flush()
        except QueueClosedError:
            self._give_up()
        if worker.failure_exc_info:
            self._give_up()

    def close(self) -> None:
        """Write the pending events and close the file.

        Raises:
          Exception: an event could not be written.

        """
        if self._closed:
            return
        self.flush()
        try:
            self._event_queue.put(_CLOSE)
        except QueueClosedError:
            self._give_up()
        self._end()

    def _give_up(self) -> None:
        """Close, and raise the error of the writer thread."""
        worker = self._worker
        self._end()
        if worker.failure_exc_info:
            raise worker.failure_exc_info[1] from None

    def _end(self) -> None:
        with self._closing:
            if not self._closed:
                self._closed = True
                self._worker.join()
                self._ev_writer.Close()
