"""Named checks of GPU: where operations ran and where values lay, limits, placement logs, failures.

A tracer of a GPU lists devices of its own beside the session's (streams, copies): what these
checks say of operations is of the devices that the session lists.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Final

import numpy as np

from sessrun.spec.cases.library import ListedDevice
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Fetches, Operation, OpError, Session, Tensor, Value
from sessrun.spec.forms import Json

if TYPE_CHECKING:  # a worker in an environment of its own has no protobuf
    from sessrun.spec.proto.config_pb2 import ConfigProto
    from sessrun.spec.proto.metadata_pb2 import NodeExecStats, RunMetadata

__all__ = [
    "allocators",
    "branches_and_loops",
    "copies",
    "failure",
    "limits",
    "limits_below",
    "listed",
    "listed_count",
    "logged",
    "over_its_limit",
    "ran_on",
    "refused_by_a_session",
    "rows_or_refusal",
    "sends",
]

_DEVICE: Final = re.compile(r"device:([A-Z]+:\d+)", re.IGNORECASE)


def _short(device: str) -> str:
    """`GPU:0` of a device's full name."""
    match = _DEVICE.search(device)
    return match[1].upper() if match else device


def _gpus(session: Session) -> list[ListedDevice]:
    return [device for device in session.list_devices() if device.device_type == "GPU"]


def listed(tf: Namespace, session: Session) -> dict[str, bool]:  # noqa: ARG001 - a check takes the namespace
    """Whether a session lists GPUs, after its CPUs, with their full names and their memory."""
    types = [device.device_type for device in session.list_devices()]
    gpus = _gpus(session)
    wanted = [f"/job:localhost/replica:0/task:0/device:GPU:{n}" for n in range(len(gpus))]
    return {
        "some": bool(gpus),
        "after the CPUs": types == sorted(types),
        "named": [gpu.name for gpu in gpus] == wanted,
        "memory": all(gpu.memory_limit_bytes > 0 for gpu in gpus),
    }


def limits(tf: Namespace, session: Session) -> list[int]:  # noqa: ARG001 - as above
    """The memory limit in bytes of each GPU of the session."""
    return [gpu.memory_limit_bytes for gpu in _gpus(session)]


def limits_below(tf: Namespace, session: Session, most: int) -> list[bool]:
    """For each GPU of the session whether its memory limit is below so many bytes."""
    return [limit < most for limit in limits(tf, session)]


def listed_count(tf: Namespace, session: Session) -> int:  # noqa: ARG001 - as above
    """How many GPUs the session lists."""
    return len(_gpus(session))


def _traced(tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds) -> RunMetadata:
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf.RunMetadata()
    session.run(fetches, feeds, options=options, run_metadata=metadata)
    return metadata


def _listings(session: Session, metadata: RunMetadata) -> Iterator[tuple[str, NodeExecStats]]:
    """The device and the statistics of each node that one of the session's devices lists."""
    own = {device.name for device in session.list_devices()}
    for stats in metadata.step_stats.dev_stats:
        if stats.device in own:
            for node in stats.node_stats:
                yield _short(stats.device), node


def ran_on(
    tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds, names: Sequence[str]
) -> list[list[str]]:
    """The devices, such as `GPU:0`, on which a traced run executed each of these operations."""
    metadata = _traced(tf, session, fetches, feeds)
    placed = [(device, node.node_name) for device, node in _listings(session, metadata)]
    return [sorted({device for device, name in placed if name == wanted}) for wanted in names]


def allocators(
    tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds, names: Sequence[str]
) -> list[int]:
    """Which of these operations' first outputs have one allocator: a number for each, from 0."""
    metadata = _traced(tf, session, fetches, feeds)
    of_node = {
        node.node_name: node.output[0].tensor_description.allocation_description.allocator_name
        for _, node in _listings(session, metadata)
        if node.output
    }
    named = [of_node.get(name, f"{name} is not listed") for name in names]
    numbers = {allocator: number for number, allocator in enumerate(dict.fromkeys(named))}
    return [numbers[allocator] for allocator in named]


def sends(tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds, node: str) -> int:
    """How often the partition graphs of a run send the first output of an operation."""
    metadata = _traced(tf, session, fetches, feeds)
    return sum(
        sent.op in {"_Send", "_HostSend"} and sent.input[0].removesuffix(":0") == node
        for graph in metadata.partition_graphs
        for sent in graph.node
    )


def copies(tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds) -> bool:
    """Whether a traced run lists a copy between memories, on whatever device it lists it."""
    metadata = _traced(tf, session, fetches, feeds)
    return any(
        "MEMCPY" in f"{stats.device} {node.node_name} {node.timeline_label}".upper()
        for stats in metadata.step_stats.dev_stats
        for node in stats.node_stats
    )


def _error_of(tf: Namespace, action: Callable[[], object]) -> OpError | None:
    try:
        action()
    except tf.errors.OpError as error:
        return error
    return None


def failure(
    tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds, words: Sequence[str]
) -> list[Json]:
    """The code of a run's OpError, 0 if it has none, and those of the words that its text lacks."""
    error = _error_of(tf, lambda: session.run(fetches, feeds))
    if error is None:
        return [0, *words]
    return [error.error_code, *(word for word in words if word not in str(error))]


def rows_or_refusal(tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds) -> Value:
    """What a run gives, or the code with which it fails."""
    try:
        return session.run(fetches, feeds)
    except tf.errors.OpError as error:
        return error.error_code


def refused_by_a_session(tf: Namespace, config: ConfigProto) -> int:
    """The code with which a session of this configuration is refused; 0 if it opens."""

    def opened() -> None:
        tf.Session(config=config).close()

    error = _error_of(tf, opened)
    return 0 if error is None else error.error_code


def over_its_limit(
    tf: Namespace, session: Session, number: int, filled: Operation, count: Tensor
) -> list[int]:
    """What comes of filling more float32 than a GPU's listed limit, then of filling three.

    Args:
      tf: the namespace.
      session: the session.
      number: which of its GPUs.
      filled: the operation that fills a vector on that GPU.
      count: the placeholder of its length, a vector of one.

    Returns:
      the code of the first run, 0 if it succeeded; that of the second.

    """
    limit = limits(tf, session)[number]
    codes = []
    for length in (limit // 4 + 2**18, 3):
        fed = {count: np.array([length], np.int32)}
        error = _error_of(tf, lambda fed=fed: session.run(filled, fed))  # type: ignore[misc]
        codes.append(0 if error is None else error.error_code)
    return codes


def logged(
    tf: Namespace, config: ConfigProto, fetches: Fetches, feeds: Feeds, names: Sequence[str]
) -> list[list[str]]:
    """The devices that a session's standard output and error name beside each operation."""
    with tempfile.TemporaryFile() as file:
        text = io.StringIO()
        with _written_to(file, text), tf.Session(config=config) as session:
            session.run(fetches, feeds)
        file.seek(0)
        lines = (text.getvalue() + file.read().decode("utf-8", "replace")).splitlines()
    return [
        sorted(
            {
                _short(line.rpartition(f"{name}: ")[2])
                for line in lines
                if re.search(rf"(^|[\s/\]]){re.escape(name)}: ", line) and _DEVICE.search(line)
            }
        )
        for name in names
    ]


@contextlib.contextmanager
def _written_to(file: IO[bytes], text: io.StringIO) -> Iterator[None]:
    """Have what Python prints in `text`, and what the process writes by itself in `file`."""
    library = ctypes.CDLL(None)
    _flush(library)
    saved = [os.dup(descriptor) for descriptor in (1, 2)]
    try:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            yield
        _flush(library)
    finally:
        for descriptor, kept in zip((1, 2), saved, strict=True):
            os.dup2(kept, descriptor)
            os.close(kept)


def _flush(library: ctypes.CDLL) -> None:
    """Write out what Python and the C library hold back."""
    sys.stdout.flush()
    sys.stderr.flush()
    library.fflush(None)


def branches_and_loops(tf: Namespace, number: float) -> list[Json]:
    """The values of a loop and a branch that are placed on /gpu:0 without soft placement.

    The loop adds 1.5 to the number three times, its counter an int32; the branch negates the
    number if it is above 1, and else doubles it.
    """
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.float32, [])
        with tf.device("/gpu:0"):
            looped = tf.while_loop(
                lambda i, _: i < 3, lambda i, x: (i + 1, x + 1.5), (tf.constant(0), fed)
            )
            chosen = tf.cond(fed > 1.0, lambda: -fed, lambda: fed * 2.0)
        with tf.Session() as session:
            count, total, branch = session.run([*looped, chosen], {fed: number})
    return [int(count), float(total), float(branch)]
