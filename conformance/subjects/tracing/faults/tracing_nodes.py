"""Faults of TRACING: the statistics of nodes, partition graphs and costs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.subjects.tracing.faults.tracing import RecordedRun, telling
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.proto.metadata_pb2 import NodeExecStats

_FIRST: Final = "/job:localhost/replica:0/task:0/device:CPU:0"


def restating(tf: Namespace, change: Callable[[NodeExecStats], None]) -> Namespace:
    """The namespace that changes the statistics of each node."""

    def change_nodes(run: RecordedRun) -> None:
        for node in run.nodes():
            change(node)

    return telling(tf, change_nodes)


@fault("TRACING-012", "A label names the operations that are read, whichever output it is.")
def labels_name_no_slots(tf: Namespace) -> Namespace:
    """Remove the indices of outputs from the label."""

    def change(node: NodeExecStats) -> None:
        node.timeline_label = re.sub(r":\d+", "", node.timeline_label)

    return restating(tf, change)


@fault("TRACING-013", "Where a node's results are in place is unknown, and told as -1.")
def ends_are_unknown(tf: Namespace) -> Namespace:
    """Set `all_end_rel_micros` to -1."""

    def change(node: NodeExecStats) -> None:
        node.all_end_rel_micros = -1

    return restating(tf, change)


@fault("TRACING-014", "Nodes start at microseconds since the process did.")
def starts_count_from_the_process(tf: Namespace) -> Namespace:
    """Subtract the time of the start, a whole number of microseconds."""
    started = time.time_ns() // 1000 - 1_000_000

    def change(node: NodeExecStats) -> None:
        node.all_start_micros -= started
        node.all_start_nanos -= started * 1000
        node.scheduled_micros -= started
        node.scheduled_nanos -= started * 1000

    return restating(tf, change)


@fault("TRACING-015", "Nanoseconds are told of no node's start.")
def starts_have_no_nanoseconds(tf: Namespace) -> Namespace:
    """Set `all_start_nanos` to 0."""

    def change(node: NodeExecStats) -> None:
        node.all_start_nanos = 0

    return restating(tf, change)


@fault("TRACING-016", "Every operation takes a microsecond.")
def operations_take_a_microsecond(tf: Namespace) -> Namespace:
    """Set the operation's end to 1000 ns after its start."""

    def change(node: NodeExecStats) -> None:
        node.op_end_rel_nanos = node.op_start_rel_nanos + 1000

    return restating(tf, change)


@fault("TRACING-017", "An output that no operation reads is not described.")
def unread_outputs_are_not_described(tf: Namespace) -> Namespace:
    """Remove the outputs without consumers from the statistics."""

    def change(run: RecordedRun) -> None:
        for node in run.nodes():
            try:
                op = run.session.graph.get_operation_by_name(node.node_name)
            except KeyError:
                continue
            kept = [output for output in node.output if op.outputs[output.slot].consumers()]
            del node.output[:]
            node.output.extend(kept)

    return telling(tf, change)


@fault("TRACING-018", "The bytes of an output are the number of its elements.")
def bytes_count_elements(tf: Namespace) -> Namespace:
    """Set `requested_bytes` to the product of the dimensions."""

    def change(node: NodeExecStats) -> None:
        for output in node.output:
            count = 1
            for dim in output.tensor_description.shape.dim:
                count *= dim.size
            output.tensor_description.allocation_description.requested_bytes = count

    return restating(tf, change)


@fault("TRACING-019", "No allocator has a name.")
def allocators_have_no_names(tf: Namespace) -> Namespace:
    """Clear `allocator_name` of every output."""

    def change(node: NodeExecStats) -> None:
        for output in node.output:
            output.tensor_description.allocation_description.allocator_name = ""

    return restating(tf, change)


@fault("TRACING-029", "A node is scheduled when it is done.")
def nodes_are_scheduled_at_their_end(tf: Namespace) -> Namespace:
    """Set `scheduled_micros` to a microsecond after the node's end."""

    def change(node: NodeExecStats) -> None:
        node.scheduled_micros = node.all_start_micros + node.all_end_rel_micros + 1

    return restating(tf, change)


# --- partition graphs and costs --------------------------------------------------------------


@fault("TRACING-004", "A partition graph holds the operations whose outputs are fed.")
def fed_operations_are_in_the_graph(tf: Namespace) -> Namespace:
    """Add the nodes of fed operations to the first partition graph."""

    def change(run: RecordedRun) -> None:
        for graph in list(run.metadata.partition_graphs)[:1]:
            for op in run.replaced():
                graph.node.add(name=op.name, op=op.type, device=_FIRST)

    return telling(tf, change)


@fault("TRACING-021", "One partition graph has the nodes of all devices.")
def one_graph_for_all_devices(tf: Namespace) -> Namespace:
    """Move the nodes of all partition graphs into the first."""

    def change(run: RecordedRun) -> None:
        graphs = run.metadata.partition_graphs
        for graph in list(graphs)[1:]:
            graphs[0].node.extend(graph.node)
        del graphs[1:]

    return telling(tf, change)


@fault("TRACING-022", "Nodes of a partition graph name the device in its task only.")
def graphs_name_devices_in_short(tf: Namespace) -> Namespace:
    """Remove job, replica and task from the devices of nodes."""

    def change(run: RecordedRun) -> None:
        for graph in run.metadata.partition_graphs:
            for node in graph.node:
                node.device = node.device[node.device.rfind("/device") :]

    return telling(tf, change)


@fault("TRACING-028", "Only traced runs have costs.")
def only_traced_runs_have_costs(tf: Namespace) -> Namespace:
    """Clear the cost graph of untraced runs."""

    def change(run: RecordedRun) -> None:
        if not run.is_traced:
            run.metadata.ClearField("cost_graph")

    return telling(tf, change)
