"""Kernels that write events: a handle is a place for a writer, which the session keeps."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from sessrun.reference.base.kernel_errors import DataLoss, InvalidArgument, NotFound
from sessrun.reference.kernels.encoding import content_proto
from sessrun.reference.kernels.histograms import histogram_of
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.images import summary_of_images
from sessrun.reference.kernels.readers import as_kernel_errors
from sessrun.reference.kernels.registry import Bind, binder, kernel
from sessrun.reference.kernels.sounds import summary_of_sounds
from sessrun.reference.state.files.files import makedirs
from sessrun.spec.proto import GraphDef, foreign

__all__: list[str] = []

_CPU: Final = ("CPU",)
#: Tells the files of a process apart.
_COUNTER: Final = itertools.count()


class _File:
    """An open event file, flushed when enough events or enough time have come together."""

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

    def write(self, event: Any) -> None:
        """Write an event."""
        with self._lock:
            self._writer.WriteEvent(event)
            self._waiting += 1
            if self._waiting > self._most or time.monotonic() - self._flushed > self._seconds:
                self._flush()

    def flush(self) -> None:
        """Hand what was written to the operating system."""
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


class _Place:
    """Where a writer is, once it is made."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._file: _File | None = None

    def begin(self, make: Callable[[], _File]) -> None:
        """Make the writer, unless there is one."""
        with self._lock:
            if self._file is None:
                self._file = make()

    def file(self) -> _File:
        """The writer.

        Raises:
          KernelError: there is none, or it was closed.

        """
        found = self._file
        if found is None:
            raise NotFound(f"Resource {self._name} does not exist.")
        return found

    def close(self) -> None:
        """Close the writer."""
        with self._lock:
            file = self.file()
            self._file = None
        file.close()


@binder("SummaryWriter", devices=_CPU)
def summary_writer(bind: Bind) -> Callable[..., Any]:
    """The place of that container and name."""
    container, name = str(bind.attrs["container"]), str(bind.attrs["shared_name"])

    def compute() -> _Place:
        full = name or bind.node.name
        return bind.resources.get_or_create(container, full, _Place, lambda: _Place(full))

    return compute


def _only(name: str, value: Any) -> Any:
    """The element of a scalar."""
    if value.shape != ():
        raise InvalidArgument(f"{name} must be a scalar")
    return value.item()


@kernel("CreateSummaryFileWriter", devices=_CPU)
def create_summary_file_writer(
    _: Any, writer: Any, logdir: Any, max_queue: Any, flush_millis: Any, filename_suffix: Any
) -> None:
    """Begin the file."""
    folder, suffix = (
        _only(*each).decode() for each in (("logdir", logdir), ("filename_suffix", filename_suffix))
    )
    most, millis = _only("max_queue", max_queue), _only("flush_millis", flush_millis)
    with as_kernel_errors():
        writer.begin(lambda: _File(folder, most, millis, suffix))


@kernel("FlushSummaryWriter", devices=_CPU)
def flush_summary_writer(_: Any, writer: Any) -> None:
    """Flush the file."""
    writer.file().flush()


@kernel("CloseSummaryWriter", devices=_CPU)
def close_summary_writer(_: Any, writer: Any) -> None:
    """Close the file."""
    writer.close()


@contextmanager
def _writing(writer: Any, step: Any) -> Iterator[Any]:
    """An event of now, which is written once it is filled in the `with` statement."""
    from sessrun.spec.proto.summary_pb2 import Event  # noqa: PLC0415 - few programs write events

    event = Event(wall_time=time.time(), step=_only("step", step))
    yield event
    writer.file().write(event)


def _parsed(message: Any, data: bytes, called: str) -> Any:
    """The message that the bytes are.

    Raises:
      KernelError: they are none.

    """
    try:
        return foreign.parse(message, data, f"the {called}")
    except foreign.ProtoError as error:
        raise DataLoss(f"Bad {called} binary proto tensor string") from error


@kernel("ImportEvent", devices=_CPU)
def import_event(_: Any, writer: Any, event: Any) -> None:
    """Write an event as it is."""
    from sessrun.spec.proto.summary_pb2 import Event  # noqa: PLC0415 - as above

    file = writer.file()
    file.write(_parsed(Event, bytes(event.item()), "tf.Event"))


@kernel("WriteScalarSummary", devices=_CPU)
def write_scalar_summary(_: Any, writer: Any, step: Any, tag: Any, value: Any) -> None:
    """Write a number."""
    with _writing(writer, step) as event:
        with HOST.errstate(over="ignore"):
            number = float(HOST.float32(value.item()))
        event.summary.value.add(tag=tag.item().decode(), simple_value=number)


@kernel("WriteSummary", devices=_CPU)
def write_summary(
    _: Any,
    writer: Any,
    step: Any,
    tensor: Any,
    tag: Any,
    summary_metadata: Any,
    *,
    T: str,  # noqa: N803 - the attribute's name
) -> None:
    """Write a tensor."""
    from sessrun.spec.proto.summary_pb2 import SummaryMetadata  # noqa: PLC0415 - as above

    with _writing(writer, step) as event:
        value = event.summary.value.add(tag=tag.item().decode())
        value.tensor.CopyFrom(content_proto(tensor, T))
        if told := bytes(summary_metadata.item()):
            value.metadata.SetInParent()
            with suppress(foreign.ProtoError):  # damaged ones are none
                value.metadata.CopyFrom(foreign.parse(SummaryMetadata, told, "the metadata"))


@kernel("WriteHistogramSummary", devices=_CPU)
def write_histogram_summary(_: Any, writer: Any, step: Any, tag: Any, values: Any) -> None:
    """Write a histogram."""
    with _writing(writer, step) as event:
        event.summary.value.add(tag=tag.item().decode(), histo=histogram_of(values))


@kernel("WriteImageSummary", devices=_CPU)
def write_image_summary(
    _: Any, writer: Any, step: Any, tag: Any, tensor: Any, bad_color: Any, *, max_images: int
) -> None:
    """Write images."""
    with _writing(writer, step) as event:
        event.summary.CopyFrom(summary_of_images(tag, tensor, bad_color, max_images))


@kernel("WriteAudioSummary", devices=_CPU)
def write_audio_summary(
    _: Any, writer: Any, step: Any, tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int
) -> None:
    """Write sounds."""
    with _writing(writer, step) as event:
        event.summary.CopyFrom(summary_of_sounds(tag, tensor, sample_rate, max_outputs))


@kernel("WriteRawProtoSummary", devices=_CPU)
def write_raw_summary(_: Any, writer: Any, step: Any, tensor: Any) -> None:
    """Write serialized summaries as one."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    with _writing(writer, step) as event:
        event.summary.SetInParent()
        for data in tensor.reshape(-1).tolist():
            event.summary.MergeFrom(_parsed(Summary, bytes(data), "tf.compat.v1.Summary"))


@kernel("WriteGraphSummary", devices=_CPU)
def write_graph_summary(_: Any, writer: Any, step: Any, tensor: Any) -> None:
    """Write a graph."""
    with _writing(writer, step) as event:
        event.graph_def = bytes(tensor.item())
        _parsed(GraphDef, event.graph_def, "tf.GraphDef")
