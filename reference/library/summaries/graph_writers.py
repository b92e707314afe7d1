"""Summary writers as resources of a session, written to by operations.

Source: TF 2.21, `tensorflow.python.ops.summary_ops_v2` in graphs.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from os import PathLike
from typing import Final, TypeAlias

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.control_flow.smart_cond import smart_constant_value
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.summary_ops import summary_scope
from sessrun.reference.api.variables.global_step import get_or_create_global_step
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import (
    identity,
    no_op,
    placeholder,
    placeholder_with_default,
)
from sessrun.reference.build.generated import logical_and
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.graph.default_graph import control_dependencies, device, get_default_graph
from sessrun.reference.graph.default_session import get_default_session
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.session.session import BaseSession, Session
from sessrun.reference.state.files.files import makedirs
from sessrun.spec.proto import GraphDef
from sessrun.spec.proto.foreign import serialize
from sessrun.spec.proto.summary_pb2 import Event

__all__ = [
    "EventFileWriterV2",
    "SummaryWriter",
    "all_v2_summary_ops",
    "always_record_summaries",
    "create_file_writer",
    "flush",
    "get_step",
    "graph_v1",
    "has_default_writer",
    "import_event",
    "initialize",
    "never_record_summaries",
    "record_if",
    "record_summaries_every_n_global_steps",
    "set_step",
    "step_of",
    "summary_writer_initializer_op",
    "writer_resource",
    "written",
    "written_if",
]

#: The collections of the operations that begin files, and of those that write summaries.
_BEGINNINGS: Final = "_SUMMARY_WRITER_V2"
_WRITTEN: Final = "_SUMMARY_V2"
_MAX_QUEUE: Final = 10
_FLUSH_MILLIS: Final = 120_000


#: Whether summaries are recorded: a value, or a function that gives one.
Condition: TypeAlias = "bool | Tensor | Callable[[], bool | Tensor] | None"


class _State(threading.local):
    """Thread-local: default writer, recording condition, step."""

    writer: SummaryWriter | None = None
    is_recording: Condition = None
    step: TensorLike | None = None


_STATE: Final = _State()


class SummaryWriter:
    """A writer of a graph; each session has its own.

    Args:
      resource: its handle.
      begin: makes the operation that begins the file.

    """

    def __init__(self, resource: Tensor, begin: Callable[[Tensor], object]) -> None:
        self._resource = resource
        self._begin = begin
        get_default_graph().add_to_collection(_BEGINNINGS, self.init())

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Make this the default writer inside the `with`."""
        before, _STATE.writer = _STATE.writer, self
        try:
            yield self
        finally:
            self.flush()
            _STATE.writer = before

    def init(self) -> object:
        """A new operation that creates the file."""
        return self._begin(self._resource)

    def flush(self) -> Operation:
        """A new operation that flushes the file."""
        with device("cpu:0"):
            return apply_op("FlushSummaryWriter", {"writer": self._resource}, {})

    def close(self) -> Operation:
        """A new operation that flushes and closes the file."""
        with control_dependencies([self.flush()]), device("cpu:0"):
            return apply_op("CloseSummaryWriter", {"writer": self._resource}, {})


class _NoWriter:
    """The writer of `create_file_writer(None)`: it writes nothing."""

    @contextmanager
    def as_default(self) -> Iterator[None]:
        """A context manager without effect."""
        yield

    def init(self) -> None:
        """Nothing is begun."""

    flush = close = init


def create_file_writer(
    logdir: str | PathLike[str] | None,
    max_queue: int | None = None,
    flush_millis: TensorLike | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter | _NoWriter:
    """A writer of event files in a folder.

    Args:
      logdir: the folder; None for a writer that writes nothing.
      max_queue: how many events may wait to be flushed.
      flush_millis: how many milliseconds may pass before a flush.
      filename_suffix: what the file's name ends with.
      name: writers of one name in one session are one; by default the folder's.

    """
    if logdir is None:
        return _NoWriter()
    folder = str(logdir)
    with device("cpu:0"):
        given = {
            "logdir": folder,
            "max_queue": constant(_MAX_QUEUE) if max_queue is None else max_queue,
            "flush_millis": constant(_FLUSH_MILLIS) if flush_millis is None else flush_millis,
            "filename_suffix": constant(".v2") if filename_suffix is None else filename_suffix,
        }
        shared = {"shared_name": f"logdir:{folder}" if name is None else name}
        resource = apply_op("SummaryWriter", {}, shared).outputs[0]
        return SummaryWriter(resource, functools.partial(_begun, given))


def _begun(given: Mapping[str, object], resource: Tensor) -> Operation:
    return apply_op("CreateSummaryFileWriter", {"writer": resource, **given}, {})


@contextmanager
def record_if(condition: Condition) -> Iterator[None]:
    """Record summaries inside the `with` only if a condition (or its result) is true."""
    before, _STATE.is_recording = _STATE.is_recording, condition
    try:
        yield
    finally:
        _STATE.is_recording = before


def always_record_summaries() -> AbstractContextManager[None]:
    """Record summaries inside the `with`."""
    return record_if(True)


def never_record_summaries() -> AbstractContextManager[None]:
    """Record no summaries inside the `with`."""
    return record_if(False)


def _condition(*, default: bool) -> tuple[Tensor, bool | None]:
    """The recording condition: a tensor, and its constant value if known."""
    setting = _STATE.is_recording
    if (
        not callable(setting)
        and setting is not None
        and get_static_value(setting) is not None
        and not get_static_value(setting)
    ):
        return constant(False), False
    recording = setting() if callable(setting) else setting
    recording = default if recording is None else recording
    known = smart_constant_value(recording)
    return logical_and(True, recording), None if known is None else bool(known)


def get_step() -> TensorLike | None:
    """The step that `set_step` set, or None."""
    return _STATE.step


def set_step(step: TensorLike) -> None:
    """Set the default step of summaries, a number or a variable."""
    _STATE.step = step


def has_default_writer() -> bool:
    """Whether there is a present writer."""
    return _STATE.writer is not None


def record_summaries_every_n_global_steps(
    n: int, global_step: Tensor | None = None
) -> AbstractContextManager[None]:
    """Record summaries every `n` global steps inside the `with`.

    Args:
      n: how many.
      global_step: by default the graph's, which is created if it does not exist.

    """
    step = get_or_create_global_step() if global_step is None else global_step
    with device("cpu:0"):
        return record_if(equal(step % n, 0))


def writer_resource() -> Tensor:
    """The handle of the present writer."""
    assert _STATE.writer is not None  # who asks has a writer
    return _STATE.writer._resource  # noqa: SLF001 - of this module


def step_of(step: TensorLike | None) -> Tensor | Variable:
    """A step as a tensor; by default the global step, created if missing.

    Raises:
      ValueError: the step is not a scalar.

    """
    if step is None:
        counter: Variable = get_or_create_global_step()
        return counter
    scalar = convert_to_tensor(step, dtypes.int64)
    if scalar.shape.num_elements() != 1:
        raise ValueError(
            f"Argument `step` must be a scalar. Received step with shape {scalar.shape}."
        )
    return scalar


def written(
    name: str,
    tensor: TensorLike,
    family: str | None,
    step: TensorLike | None,
    write: Callable[[str, str], object],
) -> Tensor | Operation:
    """Write a summary by the operation that `write` creates; returns a bool tensor."""
    if step is not None:
        step_of(step)
    if _STATE.writer is None:
        return no_op()
    scope_now = get_default_graph().get_name_scope()

    def record() -> Tensor:
        with (
            name_scope(scope_now + "/" if scope_now else ""),
            summary_scope(name, family, values=[tensor]) as (tag, scope),
            control_dependencies([write(tag, scope)]),
        ):
            return constant(True)

    return written_if(record, "")


def written_if(record: Callable[[], Tensor], name: str, *, default: bool = False) -> Tensor:
    """`record()` if summaries are recorded, else False; added to the graph's summary ops."""
    with device("cpu:0"):
        condition, known = _condition(default=default)
        if known is None:
            was_written: Tensor = cond(condition, record, lambda: constant(False), name=name)
        else:
            was_written = record() if known else constant(False)
        get_default_graph().add_to_collection(_WRITTEN, was_written)
        return was_written


def graph_v1(param: Tensor, step: TensorLike | None = None, name: str | None = None) -> Operation:
    """Write a serialized GraphDef.

    Args:
      param: a tensor of its bytes.
      step: of the event, by default the global step.
      name: of the operation.

    Raises:
      TypeError: `param` is not a tensor.

    """
    if step is not None:
        step_of(step)
    if not isinstance(param, Tensor):
        raise TypeError(f"graph() needs a tensor, not {param} of type {type(param).__name__}")
    writer = _STATE.writer
    if writer is None:
        return no_op()
    with device("cpu:0"):
        inputs = {"writer": writer._resource, "step": step_of(step), "tensor": identity(param)}  # noqa: SLF001 - of this module
        return apply_op("WriteGraphSummary", inputs, {}, name)


def import_event(tensor: Tensor, name: str | None = None) -> Operation:
    """Write a serialized Event."""
    inputs = {"writer": writer_resource(), "event": tensor}
    return apply_op("ImportEvent", inputs, {}, name)


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> Operation | None:
    """An operation that flushes a writer, by default the default writer."""
    del name
    writer = writer or _STATE.writer
    return no_op() if writer is None else writer.flush()


def summary_writer_initializer_op() -> list[Operation]:
    """The operations that begin the files of all writers of the graph."""
    return get_default_graph().get_collection(_BEGINNINGS)


@public("summary.all_v2_summary_ops")
def all_v2_summary_ops() -> list[Tensor]:
    """The operations of the graph that write summaries."""
    return get_default_graph().get_collection(_WRITTEN)


@public("summary.initialize")
def initialize(graph: Graph | GraphDef | None = None, session: BaseSession | None = None) -> None:
    """Begin the files of all writers in a session.

    Args:
      graph: a Graph or GraphDef to be written, or None.
      session: the session, by default the default session.

    Raises:
      RuntimeError: there is no present writer.
      ValueError: there is not a session.

    """
    if _STATE.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or get_default_session()
    if session is None:
        raise ValueError("Argument `session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        nodes = graph.as_graph_def(add_shapes=True) if hasattr(graph, "as_graph_def") else graph
        given = placeholder(dtypes.string)
        session.run(graph_v1(given, 0), {given: serialize(nodes)})


class EventFileWriterV2:
    """Writes events by runs of a session, which keeps the file and shares it.

    Args:
      session: the session.
      logdir: the folder, which is made if it does not exist.
      max_queue: how many events may wait to be flushed.
      flush_secs: how many seconds may pass before a flush.
      filename_suffix: what the file's name ends with.

    """

    def __init__(
        self,
        session: Session,
        logdir: str | PathLike[str],
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = "",
    ) -> None:
        self._session = session
        self._logdir = logdir
        self._closed = False
        makedirs(logdir)
        with session.graph.as_default(), name_scope("filewriter"):
            writer = create_file_writer(logdir, max_queue, flush_secs * 1000, filename_suffix)
            with always_record_summaries(), writer.as_default():
                unused = constant("unused", dtypes.string)
                self._event = placeholder_with_default(unused, shape=[])
                self._add = import_event(self._event)
            self._begin, self._flush, self._close = writer.init(), writer.flush(), writer.close()
        session.run(self._begin)

    def get_logdir(self) -> str | PathLike[str] | None:
        """The folder that is written to."""
        return self._logdir

    def reopen(self) -> None:
        """Reopen after `close`, with a new file; does nothing if open."""
        if self._closed:
            self._closed = False
            self._session.run(self._begin)

    def add_event(self, event: Event) -> None:
        """Write an event; nothing after `close`."""
        if not self._closed:
            self._session.run(self._add, {self._event: event.SerializeToString()})

    def flush(self) -> None:
        """Flush all added events to the file.

        Raises:
          NotFoundError: the file is closed.

        """
        self._session.run(self._flush)

    def close(self) -> None:
        """Flush and close the file."""
        if not self._closed:
            self.flush()
            self._session.run(self._close)
            self._closed = True
