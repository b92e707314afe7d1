"""Kernels of readers: a handle, and the session's reader behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from sessrun.reference import errors
from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, of_code
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_text, resource_names
from sessrun.reference.kernels.host import scalar_int, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, Step, binder, kernel
from sessrun.reference.state.input.reader_resource import (
    FixedLengthReader,
    IdentityReader,
    Reader,
    RecordFileReader,
    TextReader,
    WholeFileReader,
)
from sessrun.reference.state.input.record_options import compression_of
from sessrun.reference.state.queues.queue_resource import Element, Queue

__all__ = ["as_kernel_errors"]

_CPU: Final = ("CPU",)
#: The seconds between two checks of the step while waiting for a reader that another thread uses.
_LOOK_S: Final = 0.05


@contextmanager
def as_kernel_errors() -> Iterator[None]:
    """Convert errors of files to kernel errors, to which the run adds the node."""
    try:
        yield
    except errors.OpError as error:
        raise of_code(error.error_code, error.message) from error


def _reader(op_type: str, prepare: Callable[[Bind, str], Callable[[], Reader]]) -> None:
    """Register the kernel of a reader.

    Args:
      op_type: its op type.
      prepare: from the node and the reader's name to the function that creates the reader.

    """

    def bind(bind: Bind) -> KernelFunction:
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
    """Exclusive use of the reader; waiting for it ends when the step ends."""
    while not reader.lock.acquire(timeout=_LOOK_S):
        step.check()
    try:
        with as_kernel_errors():
            yield
    finally:
        reader.lock.release()


def _taker(step: Step, node: str, queue: Queue) -> Callable[[], bytes]:
    """The function that dequeues the name of a file, waiting for one."""

    def take() -> bytes:
        types = queue.terms.types
        if len(types) != 1:
            raise InvalidArgument("Expected single component queue")
        if types[0] != "string":
            raise InvalidArgument("Expected queue with single string component")
        return _name(step.take(node, lambda: queue.dequeue(1)))

    return take


def _name(elements: Sequence[Element]) -> bytes:
    """The name that an element of the queue holds."""
    ((component,),) = elements
    items = component.reshape(-1).tolist()
    if len(items) != 1:
        raise InvalidArgument("Expected to dequeue a one-element string tensor")
    return bytes(items[0])


@contextmanager
def _reading(step: Step, node: str, reader: Reader) -> Iterator[None]:
    """Exclusive use of the reader; a name that this node dequeued is kept if the reader is busy.

    While a node waited for the queue, another operation of its run may have
    opened a file in the reader.
    """
    with _held(reader, step):
        if reader.is_busy:
            taken = step.retract(node)
            if taken is not None:
                reader.backlog.append(_name(taken))
        yield


@kernel("ReaderReadV2", devices=_CPU, needs_step=True)
def read(bind: Bind, step: Step, reader: Reader, queue: Queue) -> tuple[Array, Array]:
    """The next record."""
    node = bind.node.name
    with _reading(step, node, reader):
        key, value = reader.read(_taker(step, node, queue))
    return string_array([key], ()), string_array([value], ())


@kernel("ReaderReadUpToV2", devices=_CPU, needs_step=True)
def read_up_to(
    bind: Bind, step: Step, reader: Reader, queue: Queue, count: Array
) -> tuple[Array, Array]:
    """The next records of one file."""
    node = bind.node.name
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


def _asks(op_type: str, ask: Callable[[ArrayModule, Reader], object]) -> None:
    """Register a kernel that calls `ask` with exclusive use of the reader."""

    def bind(bind: Bind) -> KernelFunction:
        def compute(step: Step, reader: Reader) -> object:
            with _held(reader, step):
                return ask(bind.xp, reader)

        return compute

    binder(op_type, devices=_CPU, needs_step=True)(bind)


_asks("ReaderNumRecordsProducedV2", lambda xp, reader: xp.int64(reader.produced))
_asks("ReaderNumWorkUnitsCompletedV2", lambda xp, reader: xp.int64(reader.finished))
_asks("ReaderSerializeStateV2", lambda _, reader: string_array([reader.state()], ()))
_asks("ReaderResetV2", lambda _, reader: reader.reset())


@kernel("ReaderRestoreStateV2", devices=_CPU, needs_step=True)
def restore(_: ArrayModule, step: Step, reader: Reader, state: Array) -> None:
    """Restores a serialized state of the reader."""
    require_rank(0, state=state)
    with _held(reader, step):
        reader.restore(bytes(state.item()))
