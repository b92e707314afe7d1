"""Kernels of readers: a handle, and the session's reader behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.base.kernel_errors import InvalidArgument, of_code
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_text, resource_names
from sessrun.reference.kernels.host import scalar_int, string_array
from sessrun.reference.kernels.registry import Bind, Step, binder
from sessrun.reference.state.input.reader_resource import (
    FixedLengthReader,
    IdentityReader,
    Reader,
    RecordFileReader,
    TextReader,
    WholeFileReader,
)
from sessrun.reference.state.input.record_options import compression_of
from sessrun.reference.state.queues.queue_resource import Queue

__all__ = ["as_kernel_errors"]

_CPU: Final = ("CPU",)
#: How often who waits for a reader that another thread reads looks whether its step has ended.
_LOOK_S: Final = 0.05


@contextmanager
def as_kernel_errors() -> Iterator[None]:
    """Errors of files become a kernel's answer, which says of which node."""
    try:
        yield
    except errors.OpError as error:
        raise of_code(error.error_code, error.message) from error


def _reader(op_type: str, prepare: Callable[[Bind, str], Callable[[], Reader]]) -> None:
    """Register the kernel of a reader.

    Args:
      op_type: its op type.
      prepare: from what is known of a node, and the reader's name, to what makes the reader.

    """

    def bind(bind: Bind) -> Callable[..., Any]:
        container, name = resource_names(bind.attrs)
        name = name or bind.node.name
        make = prepare(bind, name)

        def compute() -> Reader:
            return bind.resources.get_or_create(container, name, Reader, make)  # type: ignore[type-abstract]  # of any kind

        return compute

    binder(op_type, devices=_CPU)(bind)


_reader("IdentityReaderV2", lambda _, name: lambda: IdentityReader(name))
_reader("WholeFileReaderV2", lambda _, name: lambda: WholeFileReader(name))


def _line_reader(bind: Bind, name: str) -> Callable[[], Reader]:
    skipped = bind.attrs["skip_header_lines"]

    def make() -> Reader:
        if skipped < 0:
            raise InvalidArgument(f"skip_header_lines must be >= 0 not {skipped}")
        return TextReader(name, skipped)

    return make


_reader("TextLineReaderV2", _line_reader)


def _record_reader(bind: Bind, name: str) -> Callable[[], Reader]:
    kind = attribute_text(bind.attrs["compression_type"])
    compression = compression_of(kind if kind in {"ZLIB", "GZIP"} else "")
    return lambda: RecordFileReader(name, compression)


def _fixed_reader(bind: Bind, name: str) -> Callable[[], Reader]:
    words = ("header_bytes", "record_bytes", "footer_bytes", "hop_bytes")
    header, record, footer, hop = (bind.attrs[word] for word in words)

    def make() -> Reader:
        for word in words:
            if bind.attrs[word] < 0:
                raise InvalidArgument(f"{word} must be >= 0 not {bind.attrs[word]}")
        return FixedLengthReader(
            name, (header, record, footer, hop), attribute_text(bind.attrs["encoding"])
        )

    return make


_reader("TFRecordReaderV2", _record_reader)
_reader("FixedLengthRecordReaderV2", _fixed_reader)


@contextmanager
def _held(reader: Reader, step: Step) -> Iterator[None]:
    """The reader alone, once no other thread reads; ends with the step that waits for it."""
    while not reader.lock.acquire(timeout=_LOOK_S):
        step.check()
    try:
        with as_kernel_errors():
            yield
    finally:
        reader.lock.release()


def _taker(step: Step, node: str, queue: Queue) -> Callable[[], bytes]:
    """What takes the name of a file from the queue, once there is one."""

    def take() -> bytes:
        types = queue.terms.types
        if len(types) != 1:
            raise InvalidArgument("Expected single component queue")
        if types[0] != "string":
            raise InvalidArgument("Expected queue with single string component")
        return _name(step.take(node, lambda: queue.dequeue(1)))

    return take


def _name(elements: Any) -> bytes:
    """The name that a queue's element is."""
    ((component,),) = elements
    items = component.reshape(-1).tolist()
    if len(items) != 1:
        raise InvalidArgument("Expected to dequeue a one-element string tensor")
    return bytes(items[0])


@contextmanager
def _reading(step: Step, node: str, reader: Reader) -> Iterator[None]:
    """The reader alone; what this node has taken from the queue is kept for a reader in a file.

    A node that waited may find, when the queue has answered, that another operation of its run has
    put the reader into a file meanwhile.
    """
    with _held(reader, step):
        if reader.is_busy:
            taken = step.retract(node)
            if taken is not None:
                reader.backlog.append(_name(taken))
        yield


@binder("ReaderReadV2", devices=_CPU, needs_step=True)
def read(bind: Bind) -> Callable[..., Any]:
    """The next record."""
    node = bind.node.name

    def compute(step: Step, reader: Reader, queue: Queue) -> Any:
        with _reading(step, node, reader):
            key, value = reader.read(_taker(step, node, queue))
        return string_array([key], ()), string_array([value], ())

    return compute


@binder("ReaderReadUpToV2", devices=_CPU, needs_step=True)
def read_up_to(bind: Bind) -> Callable[..., Any]:
    """The next records of one file."""
    node = bind.node.name

    def compute(step: Step, reader: Reader, queue: Queue, count: Any) -> Any:
        if count.size != 1:
            raise InvalidArgument(
                f"Input num_records must be a scalar, but had shape: {bracketed(count.shape)}"
            )
        with _reading(step, node, reader):
            records = reader.read_up_to(scalar_int(count), _taker(step, node, queue))
        size = (len(records),)
        return (
            string_array([key for key, _ in records], size),
            string_array([value for _, value in records], size),
        )

    return compute


def _asks(op_type: str, ask: Callable[[Any, Reader], Any]) -> None:
    """Register a kernel that asks the reader, alone, for something."""

    def bind(bind: Bind) -> Callable[..., Any]:
        def compute(step: Step, reader: Reader) -> Any:
            with _held(reader, step):
                return ask(bind.xp, reader)

        return compute

    binder(op_type, devices=_CPU, needs_step=True)(bind)


_asks("ReaderNumRecordsProducedV2", lambda xp, reader: xp.int64(reader.produced))
_asks("ReaderNumWorkUnitsCompletedV2", lambda xp, reader: xp.int64(reader.finished))
_asks("ReaderSerializeStateV2", lambda _, reader: string_array([reader.state()], ()))
_asks("ReaderResetV2", lambda _, reader: reader.reset())


@binder("ReaderRestoreStateV2", devices=_CPU, needs_step=True)
def restore(_: Bind) -> Callable[..., Any]:
    """Takes on a state."""

    def compute(step: Step, reader: Reader, state: Any) -> None:
        if state.shape != ():
            raise InvalidArgument(
                f"Reader state must be scalar, but had shape: {bracketed(state.shape)}"
            )
        with _held(reader, step):
            reader.restore(bytes(state.item()))

    return compute
