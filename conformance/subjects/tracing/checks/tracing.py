"""Named checks of TRACING: the operations of a graph in a RunMetadata, and their times.

A backend may list nodes of its own beside those of the graph; these look at the graph's alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Fetches, Graph, Session
from sessrun.spec.forms import Json

if TYPE_CHECKING:  # a worker in an environment of its own has no protobuf
    from sessrun.spec.proto.metadata_pb2 import NodeExecStats, RunMetadata

__all__ = [
    "agreeing_nanos",
    "cost_nodes",
    "executed",
    "labels",
    "less_time",
    "ordered",
    "outputs",
    "overlapping",
    "partition_devices",
    "partitioned",
    "scheduled_first",
    "within_wall_clock",
]

#: Runs of which the shortest time counts: one may be cut into by the machine.
_TRIES: Final = 5


def _names(graph: Graph) -> set[str]:
    return {operation.name for operation in graph.get_operations()}


def _nodes(metadata: RunMetadata, graph: Graph) -> Iterator[tuple[str, NodeExecStats]]:
    """The device and the statistics of each listed node that is an operation of the graph."""
    names = _names(graph)
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in names:
                yield device.device, node


def executed(tf: Namespace, metadata: RunMetadata, graph: Graph) -> dict[str, list[str]]:  # noqa: ARG001 - a check takes the namespace
    """For each device that lists any the names of the graph's operations, as often as listed."""
    names: dict[str, list[str]] = {}
    for device, node in _nodes(metadata, graph):
        names.setdefault(device, []).append(node.node_name)
    return {device: sorted(names[device]) for device in sorted(names)}


def _listings(metadata: RunMetadata, name: str) -> Iterator[NodeExecStats]:
    for device in metadata.step_stats.dev_stats:
        for stats in device.node_stats:
            if stats.node_name == name:
                yield stats


def labels(tf: Namespace, metadata: RunMetadata, node: str) -> list[str]:  # noqa: ARG001 - as above
    """The `timeline_label` of each listing of a node."""
    return [stats.timeline_label for stats in _listings(metadata, node)]


def outputs(tf: Namespace, metadata: RunMetadata, node: str) -> list[list[Json]]:
    """Slot, dtype, shape, requested bytes and whether an allocator is named, of each output."""
    described = []
    for stats in _listings(metadata, node):
        for output in stats.output:
            tensor = output.tensor_description
            memory = tensor.allocation_description
            shape = [dim.size for dim in tensor.shape.dim]
            dtype = tf.as_dtype(tensor.dtype).name
            named = bool(memory.allocator_name)
            described.append([output.slot, dtype, shape, memory.requested_bytes, named])
    return sorted(described)


def ordered(tf: Namespace, metadata: RunMetadata, graph: Graph) -> list[bool]:  # noqa: ARG001 - as above
    """For each listed operation whether its relative times are in order, from 0 on."""
    return [
        0 <= node.op_start_rel_micros <= node.op_end_rel_micros <= node.all_end_rel_micros
        for _, node in _nodes(metadata, graph)
    ]


def scheduled_first(tf: Namespace, metadata: RunMetadata, graph: Graph) -> list[bool]:  # noqa: ARG001 - as above
    """For each listed operation whether it was scheduled, and no later than it started."""
    return [
        0 < node.scheduled_micros <= node.all_start_micros for _, node in _nodes(metadata, graph)
    ]


def agreeing_nanos(tf: Namespace, metadata: RunMetadata, graph: Graph) -> list[bool]:  # noqa: ARG001 - as above
    """For each listed operation whether it starts at one moment by both units."""
    return [
        node.all_start_nanos // 1000 == node.all_start_micros for _, node in _nodes(metadata, graph)
    ]


def within_wall_clock(
    tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds
) -> list[bool]:
    """For each listed operation of a traced run whether it started while the run went on."""
    metadata = tf.RunMetadata()
    before = time.time_ns() // 1000
    session.run(fetches, feeds, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    after = time.time_ns() // 1000
    return [before <= node.all_start_micros <= after for _, node in _nodes(metadata, session.graph)]


def less_time(tf: Namespace, small: int, large: int) -> bool:
    """Whether a product of matrices of size `small` takes less time than one of size `large`.

    Both are traced in one run; of a few runs the shortest time counts.
    """
    with tf.Graph().as_default() as graph:
        fed = [tf.placeholder(tf.float32, [size, size]) for size in (small, large)]
        products = [tf.matmul(matrix, matrix) for matrix in fed]
    feeds = {matrix: np.ones(matrix.shape.as_list(), np.float32) for matrix in fed}
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    times: dict[str, list[int]] = {product.op.name: [] for product in products}
    with tf.Session(graph=graph) as session:
        for _ in range(_TRIES):
            metadata = tf.RunMetadata()
            session.run(products, feeds, options, metadata)
            for _, node in _nodes(metadata, graph):
                if node.node_name in times:
                    times[node.node_name].append(node.op_end_rel_nanos - node.op_start_rel_nanos)
    shortest = [min(durations, default=-1) for durations in times.values()]
    return 0 <= shortest[0] < shortest[1]


def overlapping(tf: Namespace, level: str, size: int, runs: int) -> list[list[Json]]:
    """Two threads run two products of matrices on one session, traced, at the same time.

    Returns:
      for each thread the operations that its runs listed, and the codes of those that failed;
      the placeholder is left out, whose listing is the backend's affair.

    """
    with tf.Graph().as_default() as graph:
        fed = tf.placeholder(tf.float32, [size, size], name="fed")
        products = [tf.matmul(fed, fed, name=f"product{number}") for number in range(2)]
    value = np.ones((size, size), np.float32)
    options = tf.RunOptions(trace_level=tf.RunOptions.TraceLevel.Value(level))
    seen: list[set[str | int]] = [set(), set()]
    start = threading.Barrier(2)
    repeated = range(runs)  # here, so that a number that is none fails here and not in a thread

    def work(number: int) -> None:
        start.wait()
        for _ in repeated:
            metadata = tf.RunMetadata()
            try:
                session.run(products[number], {fed: value}, options, metadata)
            except tf.errors.OpError as error:
                seen[number].add(error.error_code)
            seen[number].update(node.node_name for _, node in _nodes(metadata, graph))

    with tf.Session(graph=graph) as session:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return [sorted(listed - {"fed"}, key=str) for listed in seen]


def partitioned(tf: Namespace, metadata: RunMetadata, graph: Graph) -> list[list[str]]:  # noqa: ARG001 - as above
    """For each partition graph the operations of the graph in it."""
    names = _names(graph)
    operations = [
        sorted({node.name for node in part.node} & names) for part in metadata.partition_graphs
    ]
    return sorted(operations)


def partition_devices(tf: Namespace, metadata: RunMetadata) -> list[list[str]]:  # noqa: ARG001 - as above
    """For each partition graph the devices that its nodes name."""
    return sorted(sorted({node.device for node in part.node}) for part in metadata.partition_graphs)


def cost_nodes(tf: Namespace, metadata: RunMetadata, graph: Graph) -> list[str]:  # noqa: ARG001 - as above
    """The operations of the graph in the cost graph."""
    return sorted({node.name for node in metadata.cost_graph.node} & _names(graph))
