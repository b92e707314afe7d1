"""Faults of RUN: conditionals that run too much or too little, loops that end at the wrong time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import UPDATES, editing, elements, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    Element,
    FeedDict,
    Fetch,
    Fetches,
    Operation,
    Session,
    Tensor,
    Value,
)
from sessrun.spec.proto.graph_pb2 import DT_BOOL, DT_INT32, GraphDef, NodeDef

_SWITCHES: Final = frozenset({"Switch", "RefSwitch"})
_ENTERS: Final = frozenset({"Enter", "RefEnter"})


def _by_name(definition: GraphDef) -> dict[str, NodeDef]:
    return {node.name: node for node in definition.node}


def _copy_updates_outside(definition: GraphDef) -> None:
    """Add a copy of each update that is on a branch; the copy is on no branch."""
    nodes = _by_name(definition)
    for node in [node for node in definition.node if node.op in UPDATES]:
        source = nodes.get(node.input[0].partition(":")[0])
        if source is None or source.op not in _SWITCHES:
            continue
        twin = definition.node.add()
        twin.CopyFrom(node)
        twin.name = f"{node.name}/free"
        value = definition.node.add()
        value.CopyFrom(nodes[node.input[1].partition(":")[0]])
        value.name = f"{node.name}/free/value"
        value.input[:] = [text for text in value.input if not text.startswith("^")]
        twin.input[:] = [source.input[0], value.name]


def _copies(session: Session, ops: Iterable[Operation]) -> list[Element]:
    """The copies of updates that `_copy_updates_outside` added."""
    return [twin for op in ops for twin in elements(session, f"{op.name}/free")]


def _run_all_updates(
    session: Session, base: Call, fetches: Fetches, ops: Iterable[Operation]
) -> Value:
    """Run, and then execute the copies of those updates that the run did not execute."""
    updates = [op for op in ops if _copies(session, [op])]
    variables = [op.inputs[0].op.inputs[0] for op in updates]
    before = base(variables)
    result = base(fetches)
    pairs = zip(updates, before, base(variables), strict=True)
    base(_copies(session, [op for op, old, new in pairs if np.array_equal(old, new)]))
    return result


@fault("RUN-049", "The updates of both branches of a conditional are done.")
def both_branches_execute(tf: Namespace) -> Namespace:
    """In a run that fetches an Identity, execute the updates of both branches."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        fetched = elements(session, fetches)
        if any(hasattr(element, "op") and element.op.type == "Identity" for element in fetched):
            return _run_all_updates(session, base, fetches, session.graph.get_operations())
        return base(fetches)

    return override(
        running(tf, change), import_graph_def=editing(tf, _copy_updates_outside).import_graph_def
    )


@fault("RUN-050", "What a branch uses is executed only if the branch is taken.")
def outside_moves_into_the_branch(tf: Namespace) -> Namespace:
    """Let an update whose value a Switch takes wait until the true branch is taken."""

    def change(definition: GraphDef) -> None:
        nodes = _by_name(definition)
        for node in list(definition.node):
            source = nodes.get(node.input[0].partition(":")[0]) if node.input else None
            if node.op in _SWITCHES and source is not None and source.op in UPDATES:
                pred = nodes[node.input[1].partition(":")[0]]
                gate = definition.node.add(name=f"{node.name}/gate", op="Switch")
                gate.input[:] = [pred.input[0], pred.input[0]]
                gate.attr["T"].type = DT_BOOL
                alive = definition.node.add(name=f"{node.name}/alive", op="Identity")
                alive.input[:] = [f"{gate.name}:1"]
                alive.attr["T"].type = DT_BOOL
                source.input.append(f"^{alive.name}")

    return editing(tf, change)


@fault("RUN-051", "A tensor on the branch that was not taken is fetched as zeros.")
def dead_tensors_are_zeros(tf: Namespace) -> Namespace:
    """Return zeros for fetches that, as the engine says, have no value."""

    def change(session: Session, base: Call, fetches: Sequence[Fetch], _feeds: FeedDict) -> Value:
        try:
            return base(fetches)
        except tf.errors.InvalidArgumentError as error:
            if "does not have value" not in str(error):
                raise
        values = []
        for fetch in fetches:
            try:
                values.append(base(fetch))
            except tf.errors.InvalidArgumentError:
                tensor = session.graph.as_graph_element(fetch)
                values.append(np.zeros((2,), tensor.dtype.as_numpy_dtype))
        return values

    return running(tf, change)


@fault("RUN-052", "A fetched operation is executed although its branch is not taken.")
def fetched_operations_are_executed(tf: Namespace) -> Namespace:
    """Execute the copy of a fetched update whose run has changed nothing."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        updates = [e for e in elements(session, fetches) if getattr(e, "type", "") in UPDATES]
        return _run_all_updates(session, base, fetches, updates)

    return override(
        running(tf, change), import_graph_def=editing(tf, _copy_updates_outside).import_graph_def
    )


def _first_value(tensor: Tensor) -> Tensor | None:
    """The initial value of the loop variable that a tensor is the result of, or None."""
    op = tensor.op
    while op.type in {"Identity", "Exit", "Switch", "Merge"} and op.inputs:
        op = op.inputs[0].op
    return op.inputs[0] if op.type in _ENTERS else None


@fault("RUN-053", "A loop that is not entered gives zeros.")
def loops_not_entered_are_zeros(tf: Namespace) -> Namespace:
    """Return zeros where a loop's value equals its initial value."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        values = base(fetches)
        fetched = elements(session, fetches)
        for index, element in enumerate(fetched):
            first = _first_value(element) if hasattr(element, "op") else None
            if first is not None and np.array_equal(values[index], base(first)):
                values[index] = np.zeros_like(values[index])
        return values

    return running(tf, change)


@fault("RUN-056", "A loop ends after two iterations.")
def loops_end_early(tf: Namespace) -> Namespace:
    """Replace `n` by the smaller of `n` and 2 in every condition `i < n`."""

    def change(definition: GraphDef) -> None:
        nodes = _by_name(definition)
        for node in [node for node in definition.node if node.op == "Less"]:
            limit = nodes.get(node.input[1].partition(":")[0])
            if limit is None or limit.op != "Enter":
                continue
            two = definition.node.add(name=f"{node.name}/two", op="Const")
            two.attr["dtype"].type = DT_INT32
            two.attr["value"].tensor.dtype = DT_INT32
            two.attr["value"].tensor.tensor_shape.SetInParent()
            two.attr["value"].tensor.int_val.append(2)
            least = definition.node.add(name=f"{node.name}/least", op="Minimum")
            least.input[:] = [limit.input[0], two.name]
            least.attr["T"].type = DT_INT32
            limit.input[0] = least.name

    return editing(tf, change)


@fault("RUN-057", "An update in a loop is done once.")
def updates_leave_loops(tf: Namespace) -> Namespace:
    """Move the update out of the loop; if the loop waited for it, its entries do instead."""

    def change(definition: GraphDef) -> None:
        nodes = _by_name(definition)
        for node in [node for node in definition.node if node.op in UPDATES]:
            source = nodes.get(node.input[0].partition(":")[0])
            if source is None or source.op not in _ENTERS:
                continue
            value = nodes[node.input[1].partition(":")[0]]
            outside = definition.node.add(name=f"{node.name}/value", op="Const")
            outside.attr.MergeFrom(value.attr)
            once = definition.node.add(name=f"{node.name}/once", op=node.op)
            once.attr.MergeFrom(node.attr)
            once.input[:] = [source.input[0], outside.name]
            for other in definition.node:
                waits = f"^{node.name}" in other.input
                other.input[:] = [text for text in other.input if text != f"^{node.name}"]
                if waits:
                    _let_enters_wait(definition, once.name)
            definition.node.remove(node)

    return editing(tf, change)


def _let_enters_wait(definition: GraphDef, name: str) -> None:
    """Let the entry of every loop wait for an operation."""
    for node in definition.node:
        if node.op in _ENTERS and not node.attr["is_constant"].b and f"^{name}" not in node.input:
            node.input.append(f"^{name}")
