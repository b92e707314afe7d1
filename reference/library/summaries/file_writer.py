"""`tf.summary.FileWriter`: summaries, graphs and session logs as events of a file.

Source: TF 2.21, `tensorflow.python.summary.writer`.
"""

from __future__ import annotations

import threading
import time
import warnings
from os import PathLike
from typing import Any, Final, Protocol, Self

from google.protobuf.message import Message

from sessrun.reference.api.saving.meta_graph import export_meta_graph
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.library.summaries.event_file_writer import EventFileWriter
from sessrun.reference.library.summaries.graph_writers import EventFileWriterV2
from sessrun.reference.public import public
from sessrun.reference.session.session import Session
from sessrun.spec.proto import GraphDef, MetaGraphDef, RunMetadata
from sessrun.spec.proto.foreign import adopt, serialize
from sessrun.spec.proto.summary_pb2 import Event, SessionLog, Summary, TaggedRunMetadata

__all__ = ["FileWriter", "FileWriterCache", "SummaryToEventTransformer"]


class EventWriting(Protocol):
    """Writes events to a file."""

    def add_event(self, event: Event) -> None:
        """Add an event."""

    def get_logdir(self) -> str | PathLike[str] | None:
        """The folder of the file."""

    def flush(self) -> None:
        """Write the events that were added."""

    def close(self) -> None:
        """Write them and close the file."""

    def reopen(self) -> None:
        """Open a new file if this one is closed."""


class SummaryToEventTransformer:
    """Turns summaries, graphs and logs into events for an event writer.

    Args:
      event_writer: what has `add_event`, and `get_logdir`.
      graph: a Graph or GraphDef that is added at once, also as a meta graph.
      graph_def: the deprecated place of a GraphDef.

    Raises:
      ValueError: both a graph and a GraphDef are given.
      TypeError: the argument is neither.

    """

    def __init__(
        self,
        event_writer: EventWriting,
        graph: Graph | GraphDef | None = None,
        graph_def: GraphDef | None = None,
    ) -> None:
        self.event_writer = event_writer
        self._run_tags: set[str] = set()
        self._described: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            nodes = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
            self.add_meta_graph(export_meta_graph(graph_def=graph_def or nodes))

    def add_summary(self, summary: Summary | bytes, global_step: int | None = None) -> None:
        """Record a summary. Only the first value of each tag keeps its metadata.

        Args:
          summary: a Summary, or one as bytes, as a run of a summary operation gives it.
          global_step: the step it belongs to.

        Raises:
          DecodeError: the bytes are no Summary.

        """
        if isinstance(summary, bytes):
            summary = Summary.FromString(summary)
        for value in summary.value:
            if value.tag in self._described:
                value.ClearField("metadata")
            else:
                self._described.add(value.tag)
        self._add_event(Event(summary=adopt(summary, Summary)), global_step)

    def add_session_log(self, session_log: SessionLog, global_step: int | None = None) -> None:
        """Record a SessionLog.

        Args:
          session_log: a SessionLog.
          global_step: the step of the event.

        """
        if isinstance(session_log, Message):
            session_log = adopt(session_log, SessionLog)
        self._add_event(Event(session_log=session_log), global_step)

    def add_graph(
        self,
        graph: Graph | GraphDef | None,
        global_step: int | None = None,
        graph_def: GraphDef | None = None,
    ) -> None:
        """Record a graph, with the shapes of its tensors.

        Args:
          graph: the Graph; or a GraphDef, which is deprecated.
          global_step: the step it belongs to.
          graph_def: the deprecated place of a GraphDef.

        Raises:
          ValueError: both are given.
          TypeError: neither is a graph.

        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if isinstance(given, Graph):
            nodes = given.as_graph_def(add_shapes=True)
        else:
            try:
                nodes = adopt(given, GraphDef)
            except TypeError as error:
                raise TypeError(
                    f"The passed graph must be a `Graph` or the deprecated `GraphDef`: {error}"
                ) from error
        self._add_event(Event(graph_def=serialize(nodes)), global_step)

    def add_meta_graph(self, meta_graph_def: MetaGraphDef, global_step: int | None = None) -> None:
        """Record a graph with its collections.

        Args:
          meta_graph_def: a MetaGraphDef.
          global_step: the step it belongs to.

        Raises:
          TypeError: `meta_graph_def` is not a MetaGraphDef.

        """
        try:
            data = serialize(adopt(meta_graph_def, MetaGraphDef))
        except TypeError as error:
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            ) from error
        self._add_event(Event(meta_graph_def=data), global_step)

    def add_run_metadata(
        self, run_metadata: RunMetadata, tag: str, global_step: int | None = None
    ) -> None:
        """Record the metadata of a run.

        Args:
          run_metadata: the RunMetadata.
          tag: its name, which no other has.
          global_step: the step it belongs to.

        Raises:
          ValueError: the tag was used before.

        """
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add_event(Event(tagged_run_metadata=tagged), global_step)

    def _add_event(self, event: Event, step: int | None) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)


@public("summary.FileWriter")
class FileWriter(SummaryToEventTransformer):
    """Writes the recorded events to a new event file in a folder, in a separate thread.

    Args:
      logdir: the folder, which is made if it does not exist.
      graph: a Graph that is recorded at once, also as a meta graph.
      max_queue: how many events may wait to be written before adding one waits.
      flush_secs: how many seconds may pass between an event's writing and the next flush.
      graph_def: the deprecated place of a GraphDef.
      filename_suffix: what the file's name ends with.
      session: a session that writes by operations, to a file that it shares; or None.

    Raises:
      FailedPreconditionError: the folder is a file.

    """

    def __init__(
        self,
        logdir: Any,
        graph: Graph | GraphDef | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: GraphDef | None = None,
        filename_suffix: str | None = None,
        session: Session | None = None,
    ) -> None:
        writer: EventWriting
        if session is None:
            writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        else:
            writer = EventFileWriterV2(session, logdir, max_queue, flush_secs, filename_suffix)
        self._closed = False
        super().__init__(writer, graph, graph_def)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def get_logdir(self) -> str | PathLike[str] | None:
        """The folder that is written to."""
        return self.event_writer.get_logdir()

    def _warn_if_closed(self) -> None:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the "
                "FileWriter is explicitly reopened.",
                stacklevel=3,
            )

    def _add_event(self, event: Event, step: int | None) -> None:
        self._warn_if_closed()
        super()._add_event(event, step)

    def add_event(self, event: Event) -> None:
        """Record an event unchanged.

        Args:
          event: an Event.

        """
        self._warn_if_closed()
        self.event_writer.add_event(event)

    def flush(self) -> None:
        """Flush all added events to the file.

        Raises:
          Exception: an event could not be written.

        """
        self._warn_if_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Write the pending events and close the file.

        Raises:
          Exception: an event could not be written.

        """
        self.event_writer.close()
        self._closed = True

    def reopen(self) -> None:
        """Reopen after `close`, with a new file; does nothing if open."""
        self.event_writer.reopen()
        self._closed = False


@public("summary.FileWriterCache")
class FileWriterCache:
    """One FileWriter for each folder."""

    _lock: Final = threading.RLock()
    _writers: Final[dict[object, FileWriter]] = {}

    @staticmethod
    def clear() -> None:
        """Close and forget all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._writers.values():
                writer.close()
            FileWriterCache._writers.clear()

    @staticmethod
    def get(logdir: str | None) -> FileWriter:
        """The writer of a folder; a new one records the default graph.

        Args:
          logdir: the folder.

        """
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._writers:
                FileWriterCache._writers[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._writers[logdir]
