"""Kernels that write events: a handle is a writer, which the session keeps."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from google.protobuf.message import Message

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import DataLoss, NotFound
from sessrun.reference.kernels.encoding import content_proto
from sessrun.reference.kernels.histograms import histogram_of
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.readers import as_kernel_errors
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.summaries import summary_of_images, summary_of_sounds
from sessrun.reference.state.files.files import makedirs
from sessrun.spec.proto import GraphDef, foreign

if TYPE_CHECKING:
    from sessrun.spec.proto.summary_pb2 import Event

M = TypeVar("M", bound=Message)

_CPU: Final = ("CPU",)
#: The numbers of the files of a process, which are part of their names.
_COUNTER: Final = itertools.count()


class _File:
    """An open event file, flushed after enough events or enough time."""

    def __init__(self, logdir: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        from sessrun.reference.state.input.event_files import EventsWriter  # noqa: PLC0415 - few programs write events

        makedirs(logdir)
        self._writer = EventsWriter(f"{logdir}/events")
        dot = "" if suffix.startswith(".") else "."
        self._writer.InitWithSuffix(f".{os.getpid()}.{next(_COUNTER)}{dot}{suffix}")
        self._most = max_queue
        self._seconds = flush_millis / 1000
        self._waiting = 0
        self._flushed = time.monotonic()
        self._lock = threading.Lock()

    def write(self, event: Event) -> None:
        """Write an event."""
        with self._lock:
            self._writer.WriteEvent(event)
            self._waiting += 1
            if self._waiting > self._most or time.monotonic() - self._flushed > self._seconds:
                self._flush()

    def flush(self) -> None:
        """Flush the file to the operating system."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        self._writer.Flush()
        self._waiting = 0
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._writer.Close()


class _Writer:
    """A summary writer, which has a file between creation and closing."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._file: _File | None = None

    def begin(self, make: Callable[[], _File]) -> None:
        """Open the file, unless one is open."""
        with self._lock:
            if self._file is None:
                self._file = make()

    def file(self) -> _File:
        """The open file.

        Raises:
          KernelError: the writer was not created, or was closed.

        """
        file = self._file
        if file is None:
            raise NotFound(f"Resource {self._name} does not exist.")
        return file

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            file = self.file()
            self._file = None
        file.close()


@binder("SummaryWriter", devices=_CPU)
def summary_writer(bind: Bind) -> KernelFunction:
    """The writer of that container and name, without a file at first."""
    container, name = str(bind.attrs["container"]), str(bind.attrs["shared_name"])

    def compute() -> _Writer:
        full = name or bind.node.name
        return bind.resources.get_or_create(container, full, _Writer, lambda: _Writer(full))

    return compute


def _only(name: str, value: Array) -> Any:
    """The element of a scalar."""
    require_rank(0, **{name: value})
    return value.item()


@kernel("CreateSummaryFileWriter", devices=_CPU)
def create_summary_file_writer(
    _: ArrayModule,
    writer: _Writer,
    logdir: Array,
    max_queue: Array,
    flush_millis: Array,
    filename_suffix: Array,
) -> None:
    """Opens the writer's file."""
    folder, suffix = (
        _only(*item).decode() for item in (("logdir", logdir), ("filename_suffix", filename_suffix))
    )
    most, millis = _only("max_queue", max_queue), _only("flush_millis", flush_millis)
    with as_kernel_errors():
        writer.begin(lambda: _File(folder, most, millis, suffix))


@kernel("FlushSummaryWriter", devices=_CPU)
def flush_summary_writer(_: ArrayModule, writer: _Writer) -> None:
    """Flushes the writer's file."""
    writer.file().flush()


@kernel("CloseSummaryWriter", devices=_CPU)
def close_summary_writer(_: ArrayModule, writer: _Writer) -> None:
    """Closes the writer's file."""
    writer.close()


@contextmanager
def _writing(writer: _Writer, step: Array) -> Iterator[Event]:
    """A context with a new event, which is written at its end."""
    from sessrun.spec.proto.summary_pb2 import Event  # noqa: PLC0415 - few programs write events

    event = Event(wall_time=time.time(), step=_only("step", step))
    yield event
    writer.file().write(event)


def _parsed(message: type[M], data: bytes, called: str) -> M:
    """The message parsed from bytes.

    Raises:
      KernelError: the bytes are not a message of this type.

    """
    try:
        return foreign.parse(message, data, f"the {called}")
    except foreign.ProtoError as error:
        raise DataLoss(f"Bad {called} binary proto tensor string") from error


@kernel("ImportEvent", devices=_CPU)
def import_event(_: ArrayModule, writer: _Writer, event: Array) -> None:
    """Writes a serialized event unchanged."""
    from sessrun.spec.proto.summary_pb2 import Event  # noqa: PLC0415 - as above

    file = writer.file()
    file.write(_parsed(Event, bytes(event.item()), "tf.Event"))


@kernel("WriteScalarSummary", devices=_CPU)
def write_scalar_summary(
    _: ArrayModule, writer: _Writer, step: Array, tag: Array, value: Array
) -> None:
    """Writes a summary of a number."""
    with _writing(writer, step) as event:
        with HOST.errstate(over="ignore"):
            number = float(HOST.float32(value.item()))
        event.summary.value.add(tag=tag.item().decode(), simple_value=number)


@kernel("WriteSummary", devices=_CPU)
def write_summary(
    _: ArrayModule,
    writer: _Writer,
    step: Array,
    tensor: Array,
    tag: Array,
    summary_metadata: Array,
    *,
    T: str,
) -> None:
    """Writes a summary of a tensor, with metadata."""
    from sessrun.spec.proto.summary_pb2 import SummaryMetadata  # noqa: PLC0415 - as above

    with _writing(writer, step) as event:
        value = event.summary.value.add(tag=tag.item().decode())
        value.tensor.CopyFrom(content_proto(tensor, T))
        if data := bytes(summary_metadata.item()):
            value.metadata.SetInParent()
            with suppress(foreign.ProtoError):  # damaged metadata are ignored
                value.metadata.CopyFrom(foreign.parse(SummaryMetadata, data, "the metadata"))


@kernel("WriteHistogramSummary", devices=_CPU)
def write_histogram_summary(
    _: ArrayModule, writer: _Writer, step: Array, tag: Array, values: Array
) -> None:
    """Writes a summary of a histogram."""
    with _writing(writer, step) as event:
        event.summary.value.add(tag=tag.item().decode(), histo=histogram_of(values))


@kernel("WriteImageSummary", devices=_CPU)
def write_image_summary(
    _: ArrayModule,
    writer: _Writer,
    step: Array,
    tag: Array,
    tensor: Array,
    bad_color: Array,
    *,
    max_images: int,
) -> None:
    """Writes a summary of images."""
    with _writing(writer, step) as event:
        event.summary.CopyFrom(summary_of_images(tag, tensor, bad_color, max_images))


@kernel("WriteAudioSummary", devices=_CPU)
def write_audio_summary(
    _: ArrayModule,
    writer: _Writer,
    step: Array,
    tag: Array,
    tensor: Array,
    sample_rate: Array,
    *,
    max_outputs: int,
) -> None:
    """Writes a summary of sounds."""
    with _writing(writer, step) as event:
        event.summary.CopyFrom(summary_of_sounds(tag, tensor, sample_rate, max_outputs))


@kernel("WriteRawProtoSummary", devices=_CPU)
def write_raw_summary(_: ArrayModule, writer: _Writer, step: Array, tensor: Array) -> None:
    """Writes serialized summaries as one."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    with _writing(writer, step) as event:
        event.summary.SetInParent()
        for data in tensor.reshape(-1).tolist():
            event.summary.MergeFrom(_parsed(Summary, bytes(data), "tf.compat.v1.Summary"))


@kernel("WriteGraphSummary", devices=_CPU)
def write_graph_summary(_: ArrayModule, writer: _Writer, step: Array, tensor: Array) -> None:
    """Writes a serialized graph."""
    with _writing(writer, step) as event:
        event.graph_def = bytes(tensor.item())
        _parsed(GraphDef, event.graph_def, "tf.GraphDef")
