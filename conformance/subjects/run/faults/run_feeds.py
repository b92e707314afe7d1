"""Faults of RUN: what a feed cuts away, and runs of one signature that are confused."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import (
    RANDOM,
    UPDATES,
    data_inputs,
    editing,
    elements,
    fed,
    needed,
    running,
)
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Feeds, Fetches, Session, Value
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef

_STATE = RANDOM | UPDATES | {"VarHandleOp", "VariableV2", "Variable"}


@fault("RUN-018", "An update that a fed tensor's operation consumes executes all the same.")
def executes_updates_above_a_feed(tf: Namespace) -> Namespace:
    """Fetch the updates among the inputs of the operations whose outputs are fed."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        above = [i.op for tensor in fed(session, feeds) for i in tensor.op.inputs]
        updates = [op for op in above if op.type in UPDATES]
        return base([fetches, updates])[0] if updates else base(fetches)

    return running(tf, change)


@fault("RUN-019", "The control inputs of an operation whose output is fed execute.")
def executes_control_inputs_of_the_fed(tf: Namespace) -> Namespace:
    """Fetch the control inputs of the operations whose outputs are fed."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        controls = [op for tensor in fed(session, feeds) for op in tensor.op.control_inputs]
        return base([fetches, controls])[0] if controls else base(fetches)

    return running(tf, change)


@fault("RUN-020", "A feed cuts the control inputs of the fed tensor's consumer too.")
def moves_control_inputs_up(tf: Namespace) -> Namespace:
    """Move control edges to the computation of the first data input, where a feed cuts them."""

    def above(nodes: dict[str, NodeDef], names: list[str]) -> set[str]:
        seen: set[str] = set()
        while names:
            name = names.pop()
            if name in nodes and name not in seen:
                seen.add(name)
                names += [i.lstrip("^").partition(":")[0] for i in nodes[name].input]
        return seen

    def change(definition: GraphDef) -> None:
        nodes = {node.name: node for node in definition.node}
        for node in definition.node:
            controls = [name for name in node.input if name.startswith("^")]
            first = nodes.get((data_inputs(node) or [""])[0])
            if (
                controls
                and first is not None
                and data_inputs(first)
                and (
                    first.op != "ReadVariableOp"
                    and first.name not in above(nodes, [name[1:] for name in controls])
                )
            ):
                first.input.extend(controls)
                node.input[:] = [name for name in node.input if name not in controls]

    return editing(tf, change)


@fault("RUN-021", "An update above a feed does not execute for a path around the feed.")
def cuts_every_path_at_a_feed(tf: Namespace) -> Namespace:
    """Take the variable's present value for the output of an AssignAdd above a fed tensor."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        given = fed(session, feeds)
        above = [i for tensor in given for i in tensor.op.inputs if i.op.type == "AssignAdd"]
        names = {tensor.name for tensor in given}
        stale = {i: base(i.op.inputs[0]) for i in above if i.name not in names}
        return base(fetches, {**feeds, **stale}) if stale else base(fetches)

    return running(tf, change)


@fault("RUN-022", "A control edge from a placeholder fails although the placeholder is fed.")
def executes_fed_placeholders(tf: Namespace) -> Namespace:
    """Raise what an unfed placeholder raises."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        given = fed(session, feeds)
        sources = {tensor.op.name for tensor in given if tensor.op.type == "Placeholder"}
        for op in needed(elements(session, fetches), given):
            if sources & {control.name for control in op.control_inputs}:
                raise tf.errors.InvalidArgumentError(None, op, "a placeholder must be fed")
        return base(fetches)

    return running(tf, change)


@fault("RUN-023", "A control edge from an AssignAdd whose output is fed is satisfied by the feed.")
def control_edges_follow_the_output(tf: Namespace) -> Namespace:
    """Let control edges start at a silent Print of the output instead of the operation."""

    def change(definition: GraphDef) -> None:
        for node in [node for node in definition.node if node.op == "AssignAdd"]:
            users = [user for user in definition.node if f"^{node.name}" in user.input]
            if users:
                # Unlike an Identity, which TensorFlow's optimiser would bypass, a Print stays.
                seen = definition.node.add(name=f"{node.name}/seen", op="Print")
                seen.input.append(node.name)
                seen.attr["T"].CopyFrom(node.attr["T"])
                seen.attr["U"].list.SetInParent()
                seen.attr["first_n"].i = 0
            for user in users:
                user.input[list(user.input).index(f"^{node.name}")] = f"^{node.name}/seen"

    return editing(tf, change)


@fault("RUN-024", "A fetched Operation whose outputs are all fed does not execute.")
def skips_fetched_operations_when_fed(tf: Namespace) -> Namespace:
    """Leave the operation out of a list of fetches, and return None for it."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        names = {tensor.name for tensor in fed(session, feeds)}
        fetched = elements(session, fetches)
        if not isinstance(fetches, list) or len(fetched) != len(fetches):
            return base(fetches)
        outputs = [{t.name for t in getattr(element, "outputs", ())} for element in fetched]
        idle = [bool(tensors) and tensors <= names for tensors in outputs]
        values = iter(base([f for f, skip in zip(fetches, idle, strict=True) if not skip]))
        return [None if skip else next(values) for skip in idle]

    return running(tf, change)


@fault("RUN-025", "Of three or more feeds the last does not tell a run from an earlier one.")
def forgets_the_last_feed(tf: Namespace) -> Namespace:
    """Cache stateless runs by their fetches and all feeds but the last by name."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        fetched, given = elements(session, fetches), fed(session, feeds)
        ops = needed(fetched, given)
        if not feeds or len(given) < 3 or any(op.type in _STATE for op in ops):
            return base(fetches)
        names = sorted(tensor.name for tensor in given)
        by_name = dict(zip((t.name for t in given), feeds.values(), strict=False))
        compared = [np.asarray(by_name[name]) for name in names[:-1]]
        key = (*(e.name for e in fetched), *names, *((a.shape, a.tobytes()) for a in compared))
        memory = session.__dict__.setdefault("remembered", {})
        if key not in memory:
            memory[key] = base(fetches)
        return memory[key]

    return running(tf, change)


@fault("RUN-026", "A run feeds the tensors that the first run with as many, two or more, fed.")
def tells_signatures_by_their_length(tf: Namespace) -> Namespace:
    """Look the keys up by the fetches and the number of feeds."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        given = sorted(tensor.name for tensor in fed(session, feeds))
        if not feeds or len(given) < 2 or len(given) != len(feeds):
            return base(fetches)
        key = (*(e.name for e in elements(session, fetches)), len(feeds))
        names = session.__dict__.setdefault("planned", {}).setdefault(key, given)
        values = {session.graph.as_graph_element(k).name: value for k, value in feeds.items()}
        return base(fetches, {n: values[g] for n, g in zip(names, given, strict=True)})

    return running(tf, change)
