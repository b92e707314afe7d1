"""Faults of CONTROL-FLOW: what is dead, what is merged, what frames and loops hand on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import Run, fed_as, forgiving, giving, nodes_of
from sessrun.conformance.faulty.run_fragments import UPDATES, editing
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.proto.graph_pb2 import DT_INT32, GraphDef, NodeDef

_INT: Final = DT_INT32
_INVALID: Final = "InvalidArgumentError"


def _by_name(definition: GraphDef) -> dict[str, NodeDef]:
    return {node.name: node for node in definition.node}


def _source(nodes: dict[str, NodeDef], text: str) -> NodeDef | None:
    """The node that an input names."""
    return nodes.get(text.lstrip("^").partition(":")[0])


def _kinds(run: Run) -> set[str]:
    """The types of the operations whose outputs a fetched operation takes."""
    return {tensor.op.type for tensor in run.op.inputs}


def _in_loops(tf: Namespace, change: Callable[[GraphDef], None]) -> Namespace:
    """The namespace that applies `change` to imported graphs that have loops."""

    def changed(definition: GraphDef) -> None:
        if nodes_of(definition, ("NextIteration",)):
            change(definition)

    return editing(tf, changed)


@fault("CONTROL-FLOW-001", "A Merge gives another number than that of the input that is alive.")
def merges_count_from_one(tf: Namespace) -> Namespace:
    """Add 1 to `value_index` of Merge."""
    return giving(tf, ("Merge",), lambda _op, index, value: value + index)


@fault("CONTROL-FLOW-002", "A Merge of which no input is alive gives zero.")
def dead_merges_are_zero(tf: Namespace) -> Namespace:
    """Give zero where the engine raises for a dead Merge."""
    return forgiving(
        tf,
        ("Merge",),
        _INVALID,
        lambda run: _kinds(run) == {"Switch", "Mul"},
        lambda _: np.float32(0),
    )


@fault("CONTROL-FLOW-003", "An operation that waits for one that is dead is executed.")
def waiting_ends_with_death(tf: Namespace) -> Namespace:
    """Without a Merge, remove control inputs that may be dead from updates and constants."""

    def change(definition: GraphDef) -> None:
        nodes = _by_name(definition)
        waiting = () if nodes_of(definition, ("Merge",)) else {*UPDATES, "Const"}
        for node in nodes_of(definition, waiting):
            kept = [text for text in node.input if not _may_die(nodes, text)]
            node.input[:] = kept

    return editing(tf, change)


def _may_die(nodes: dict[str, NodeDef], text: str) -> bool:
    waited = _source(nodes, text)
    if not text.startswith("^") or waited is None or waited.op != "Identity":
        return False
    behind = _source(nodes, waited.input[0])
    return behind is not None and behind.op == "Switch"


@fault("CONTROL-FLOW-004", "A ControlTrigger that waits for what is dead is not executed.")
def triggers_die(tf: Namespace) -> Namespace:
    """Turn each ControlTrigger into a NoOp."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, ("ControlTrigger",)):
            node.op = "NoOp"

    return editing(tf, change)


@fault("CONTROL-FLOW-005", "A value that leaves a frame is one too large.")
def exits_add_one(tf: Namespace) -> Namespace:
    """Add 1 to what an Exit gives."""
    return giving(tf, ("Exit",), lambda _op, _index, value: value + 1)


@fault("CONTROL-FLOW-006", "Frames of different names are one.")
def frames_have_no_names(tf: Namespace) -> Namespace:
    """Give all frames of a graph without loops the same name."""

    def change(definition: GraphDef) -> None:
        if not nodes_of(definition, ("NextIteration",)):
            for node in nodes_of(definition, ("Enter",)):
                node.attr["frame_name"].s = b"frame"

    return editing(tf, change)


@fault("CONTROL-FLOW-007", "What enters a loop as a constant is zero where it is added.")
def constants_are_zero(tf: Namespace) -> Namespace:
    """Put ZerosLike before additions of integers that enter a loop as constants."""

    def change(definition: GraphDef) -> None:
        nodes = _by_name(definition)
        for node in nodes_of(definition, ("AddV2",)):
            source = _source(nodes, node.input[1])
            if source is None or source.op != "Enter":
                continue
            if node.attr["T"].type == _INT and source.attr["is_constant"].b:
                fed_as(definition, node, 1, "ZerosLike", (), T=_INT)

    return _in_loops(tf, change)


@fault("CONTROL-FLOW-008", "A loop of one iteration at a time runs once more than it should.")
def single_file_is_longer(tf: Namespace) -> Namespace:
    """Replace Less by LessEqual in loops of one parallel iteration."""

    def change(definition: GraphDef) -> None:
        enters = nodes_of(definition, ("Enter",))
        if any(node.attr["parallel_iterations"].i == 1 for node in enters):
            for node in nodes_of(definition, ("Less",)):
                node.op = "LessEqual"

    return _in_loops(tf, change)


@fault("CONTROL-FLOW-009", "A stack keeps zeros of what iterations push.")
def stacks_forget_in_loops(tf: Namespace) -> Namespace:
    """Put ZerosLike before what is pushed."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, ("StackPushV2",)):
            if node.attr["T"].type == _INT:
                fed_as(definition, node, 1, "ZerosLike", (), T=_INT)

    return _in_loops(tf, change)


@fault("CONTROL-FLOW-010", "A conditional around a loop is dead where the loop is dead.")
def dead_loops_spread(tf: Namespace) -> Namespace:
    """Give a Merge behind a loop the loop's Exit as each of its inputs."""

    def change(definition: GraphDef) -> None:
        nodes = _by_name(definition)
        for node in nodes_of(definition, ("Merge",)):
            for text in node.input:
                source = _source(nodes, text)
                if source is not None and source.op == "Exit":
                    node.input[:] = [text] * len(node.input)
                    break

    return _in_loops(tf, change)


@fault("CONTROL-FLOW-011", "A Switch takes a predicate of any shape.")
def predicates_have_dimensions(tf: Namespace) -> Namespace:
    """Give 1 where the engine refuses."""
    return forgiving(
        tf, ("Merge",), _INVALID, lambda run: _kinds(run) == {"Switch"}, lambda _: np.float32(1)
    )


@fault("CONTROL-FLOW-012", "Of conditionals within one another only the outer one chooses.")
def inner_branches_do_not_count(tf: Namespace) -> Namespace:
    """Give the Merge of an inner conditional its first input only."""

    def change(definition: GraphDef) -> None:
        nodes = _by_name(definition)
        inner = [
            _source(nodes, text) for node in nodes_of(definition, ("Merge",)) for text in node.input
        ]
        for node in inner:
            if node is not None and node.op == "Merge":
                node.input[:] = [node.input[0]] * len(node.input)

    return editing(tf, change)
