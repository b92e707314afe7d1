"""Readers: records of the files that a queue names, one by one or several of one file.

A reader begins with the next file of its queue when it has no record left, and keeps its position
from one run to the next (READERS-015). A file without records is passed over (READERS-026).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from google.protobuf.message import DecodeError

from sessrun.spec.model.queues import Queue
from sessrun.spec.model.record_files import Records, records_of
from sessrun.spec.model.run import kernel
from sessrun.spec.model.values import FailedError, Handle, Value, handle_of
from sessrun.spec.proto.input_pb2 import ReaderBaseState

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["IDENTITY", "KINDS", "WHOLE", "Reader", "Record"]

#: Gives the name of each file as its content.
IDENTITY: Final = "IdentityReader"
#: Gives each file as one record.
WHOLE: Final = "WholeFileReader"
#: The kinds of readers.
KINDS: Final = (IDENTITY, WHOLE, "TextLineReader", "FixedLengthRecordReader", "TFRecordReader")

#: A record: its key and its value.
Record = tuple[bytes, bytes]
#: Gives the next name of a queue, fails or waits.
Names = Callable[[], bytes]
#: Opens the file of a name; fails with NOT_FOUND if there is none.
Open = Callable[[bytes], Records]


class Reader:
    """A reader.

    Args:
      kind: one of `KINDS`.
      attrs: the attributes of its operation.

    Attributes:
      started: how many files it began.
      units: how many files it finished (READERS-020).
      produced: how many records it gave (READERS-019).
      work: the name of the last file that it began.

    """

    def __init__(self, kind: str, attrs: dict[str, Any]) -> None:
        self.kind = kind
        self.attrs = attrs
        self.reset()

    @property
    def has_states(self) -> bool:
        """Whether its state can be written down: it is never within a file (READERS-023)."""
        return self.kind in {IDENTITY, WHOLE}

    def reset(self) -> None:
        """Start again; names that were taken from the queue do not come back (READERS-021)."""
        self.started = self.units = self.produced = 0
        self.work = b""
        self._is_within = False
        self._left: list[tuple[int, bytes]] = []
        self._is_damaged = False

    def read(self, names: Names, opened: Open) -> Record:
        """The next record.

        Raises:
          FailedError: the queue is at its end (READERS-014), there is no such file (READERS-028) or
            it is damaged (READERS-011, 012).
          WaitsError: the queue is empty (READERS-027).

        """
        while True:
            self._begin(names, opened)
            record = self._next(opened)
            if record is not None:
                self.produced += 1
                return record

    def read_up_to(self, count: int, names: Names, opened: Open) -> list[Record]:
        """At least one of the next records, and at most so many, of one file (READERS-018).

        Fails and waits like `read`; records before damage in a file are lost with it.
        """
        while True:
            self._begin(names, opened)
            records: list[Record] = []
            try:
                while len(records) < count and self._is_within:
                    record = self._next(opened)
                    if record is not None:
                        records.append(record)
            finally:
                self.produced += len(records)
            if records or self._is_within:
                return records

    def _begin(self, names: Names, opened: Open) -> None:
        """Begin a file, if none is begun."""
        if self._is_within:
            return
        name = names()
        # The file of a WholeFileReader is opened when it is read: a missing one stays the next.
        records = Records(()) if self.has_states else opened(name)
        self.work, self._is_within = name, True
        self._left, self._is_damaged = list(records.numbered), records.is_damaged
        self.started += 1

    def _next(self, opened: Open) -> Record | None:
        """The next record of the file, None if there are no more."""
        if self.has_states:
            is_name = self.kind == IDENTITY
            value = self.work if is_name else opened(self.work).numbered[0][1]
            self._end()
            return self.work, value
        if self._left:
            number, value = self._left.pop(0)
            return b"%s:%d" % (self.work, number), value
        if self._is_damaged:
            raise FailedError("DATA_LOSS", f"{self.work!r} is damaged")
        self._end()
        return None

    def _end(self) -> None:
        self._is_within = False
        self.units += 1

    def state(self) -> bytes:
        """Its state (READERS-022).

        Raises:
          FailedError: it is of a kind that can be within a file (READERS-023).

        """
        self._check_states()
        state = ReaderBaseState(
            work_started=self.started,
            work_finished=self.units,
            num_records_produced=self.produced,
            current_work=self.work,
        )
        return state.SerializeToString()

    def restore(self, data: bytes) -> None:
        """Take on a state (READERS-022).

        Raises:
          FailedError: it is of a kind that can be within a file (READERS-023); the bytes are no
            state, or its counts are wrong (READERS-024).

        """
        self._check_states()
        try:
            state = ReaderBaseState.FromString(data)
        except DecodeError as error:
            raise FailedError("INVALID_ARGUMENT", "the bytes are no state") from error
        counts = (state.work_started, state.work_finished, state.num_records_produced)
        if min(counts) < 0 or state.work_started > state.work_finished:
            raise FailedError("INVALID_ARGUMENT", f"{counts} are no counts")
        self.started, self.units, self.produced = counts
        self.work = state.current_work

    def _check_states(self) -> None:
        if not self.has_states:
            raise FailedError("UNIMPLEMENTED", f"{self.kind} has no state that can be written")


# --- operations ----------------------------------------------------------------------------


@kernel(*KINDS, *(f"{kind}V2" for kind in KINDS))
def _reader(activity: Activity) -> Sequence[Value]:
    """A reader of its own, or the one of its shared name (READERS-016, 017)."""
    node = activity.node
    handle = handle_of(node, "reader")
    activity.session.resource(handle, lambda: Reader(node.type.removesuffix("V2"), node.attrs))
    return [handle]


def _named(activity: Activity, handle: Handle) -> Reader:
    reader: Reader | None = activity.session.resources.get(handle)
    if reader is None:
        raise FailedError("NOT_FOUND", f"there is no reader {handle.name}")
    return reader


def _sources(activity: Activity, reader: Reader, handle: Handle) -> tuple[Names, Open]:
    """Where a reader has names and files from (READERS-025)."""
    queue: Queue | None = activity.session.resources.get(handle)
    if queue is None:
        raise FailedError("NOT_FOUND", f"there is no queue {handle.name}")
    if queue.dtypes != ("string",) or queue.shapes not in {((),), (None,)}:
        raise FailedError("INVALID_ARGUMENT", "names of files are single strings")

    def next_name() -> bytes:
        ((name,),) = queue.taking.serve(activity, [], lambda taken: queue.take(taken, 1))
        return bytes(np.asarray(name).item())

    def opened(name: bytes) -> Records:
        try:
            data = Path(name.decode()).read_bytes()
        except OSError as error:
            raise FailedError("NOT_FOUND", f"there is no file {name!r}") from error
        return records_of(reader.kind, reader.attrs, data)

    return next_name, opened


@kernel("ReaderRead", "ReaderReadV2")
def _read(activity: Activity, handle: Handle, queue: Handle) -> Sequence[Value]:
    reader = _named(activity, handle)
    key, value = reader.read(*_sources(activity, reader, queue))
    return [_string(key), _string(value)]


@kernel("ReaderReadUpTo", "ReaderReadUpToV2")
def _read_up_to(
    activity: Activity, handle: Handle, queue: Handle, count: np.ndarray
) -> Sequence[Value]:
    if count < 1:
        raise FailedError("INVALID_ARGUMENT", f"{count} records cannot be read")
    reader = _named(activity, handle)
    records = reader.read_up_to(int(count), *_sources(activity, reader, queue))
    rows = np.empty((len(records), 2), object)
    rows[:] = records
    return [rows[:, 0], rows[:, 1]]


def _string(value: bytes) -> np.ndarray:
    return np.array(value, object)


@kernel("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2")
def _produced(activity: Activity, handle: Handle) -> Sequence[Value]:
    return [np.int64(_named(activity, handle).produced)]


@kernel("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2")
def _units(activity: Activity, handle: Handle) -> Sequence[Value]:
    return [np.int64(_named(activity, handle).units)]


@kernel("ReaderReset", "ReaderResetV2")
def _reset(activity: Activity, handle: Handle) -> Sequence[Value]:
    _named(activity, handle).reset()
    return []


@kernel("ReaderSerializeState", "ReaderSerializeStateV2")
def _state(activity: Activity, handle: Handle) -> Sequence[Value]:
    return [_string(_named(activity, handle).state())]


@kernel("ReaderRestoreState", "ReaderRestoreStateV2")
def _restore(activity: Activity, handle: Handle, state: np.ndarray) -> Sequence[Value]:
    _named(activity, handle).restore(bytes(np.asarray(state).item()))
    return []
