"""Capture of a stream into a graph, and the launch of graphs.

Within a capture nothing is computed: results are poison until the graph is launched. A graph has
the addresses of its arrays: it is told here when one of them is freed or written over in between.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import ordering
from sessrun.adapters.fakes.simulated_gpu.device_values import poison
from sessrun.adapters.fakes.simulated_gpu.host_values import OnStream
from sessrun.adapters.fakes.simulated_gpu.machine import RunTimeError, StreamState, machine
from sessrun.adapters.fakes.simulated_gpu.memory import Block, MemoryPool

__all__ = ["Capture", "Graph", "Use"]


class Use:
    """Memory that an operation of a graph reads or writes: an address, no reference."""

    __slots__ = ("block", "capture", "changes", "is_temporary", "part", "pool", "size", "stream")

    def __init__(self, block: Block, part: np.ndarray) -> None:
        self.block = weakref.ref(block)
        self.part = part
        self.pool: MemoryPool | None = block.pool
        self.stream = (block.device.index, block.stream)
        self.capture = block.capture
        self.is_temporary = False
        self.changes = 0

    def is_there(self) -> bool:
        """Whether the memory is still the graph's: held, or free in a pool that none drew from."""
        if self.block() is not None:
            return True
        if not self.is_temporary or self.pool is None:
            return False
        return self.pool.changes.get(self.stream, 0) == self.changes


#: Name of an operation, what it does when it is launched on a stream, reads, writes, launches.
Node = tuple[str, Callable[[StreamState], None], list[Use], list[Use], int]


class Capture:
    """A capture that goes on, on the stream where it began and those that joined it.

    Attributes:
      origin: the stream where it began.
      is_void: whether something that cannot be captured was tried.

    """

    def __init__(self, origin: StreamState) -> None:
        self.origin = origin
        self.is_void = False
        self.streams = [origin]
        self.joined: set[int] = {origin.key}
        self._nodes: list[Node] = []

    def add(
        self,
        name: str,
        replay: Callable[[StreamState], None],
        reads: Sequence[Use],
        writes: Sequence[Use],
        launches: int,
        stream: StreamState,
    ) -> None:
        """Add an operation of a stream that takes part."""
        self._nodes.append((name, replay, [*reads], [*writes], launches))
        if stream is not self.origin:
            self.joined.discard(stream.key)

    def fork(self, stream: StreamState) -> None:
        """A stream waits for an event of this capture: it takes part from now on."""
        if stream.capture is None:
            stream.capture = self
            self.streams.append(stream)
            self.joined.add(stream.key)

    def end(self) -> Graph:
        """The graph of the captured operations.

        Raises:
          RunTimeError: the capture is void, or a stream that takes part was not waited for.

        """
        for stream in self.streams:
            stream.capture = None
        if self.is_void:
            raise RunTimeError(
                901,
                "cudaErrorStreamCaptureInvalidated",
                "operation failed due to a previous error during capture",
            )
        if any(stream.key not in self.joined for stream in self.streams):
            raise RunTimeError(
                904, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"
            )
        for _, _, reads, writes, _ in self._nodes:
            for use in (*reads, *writes):
                use.is_temporary = use.block() is None and use.capture is self
                use.changes = use.pool.changes.get(use.stream, 0) if use.pool else 0
        return Graph(self._nodes)


class Graph:
    """A captured graph, which can be launched any number of times."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes

    def upload(self, stream: OnStream | None = None) -> None:
        """Upload it; nothing to see here."""

    def launch(self, stream: OnStream | None = None) -> None:
        """Run all that was captured, on the given stream or the current one."""
        now = machine()
        state: StreamState = now.stream if stream is None else stream.state
        if state.capture is not None:
            state.capture.is_void = True
            raise RunTimeError(
                900,
                "cudaErrorStreamCaptureUnsupported",
                "the launch of a graph within a capture is not simulated",
            )
        now.device.counters.graph_launches += 1
        now.record("launch", "a graph")
        ordering.begin(state)
        for name, replay, reads, writes, launches in self._nodes:
            now.device.counters.graph_nodes += launches
            clean = [_check(state, use, name, ordering.check_read) for use in reads]
            wrote = [_check(state, use, name, ordering.check_write) for use in writes]
            replay(state)
            if not all(clean) or not all(wrote):
                for use in writes:
                    poison(use.part)


def _check(
    state: StreamState,
    use: Use,
    name: str,
    check: Callable[[StreamState, Block, np.ndarray, str], bool],
) -> bool:
    block = use.block()
    if block is not None:
        return bool(check(state, block, use.part, name))
    if use.is_there():
        return True
    machine().race("a graph uses memory that was freed, or given to another", name)
    return False
