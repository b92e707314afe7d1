"""Faults of RUN: what executes, in which order, how often."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import (
    UPDATES,
    copied_for_last_consumer,
    data_inputs,
    edit_repeated,
    editing,
    elements,
    needed,
    running,
)
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Feeds, Fetch, Fetches, Session, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef
from sessrun.spec.proto.metadata_pb2 import RunMetadata

# --- the needed fragment ------------------------------------------------------------------


@fault("RUN-001", "A run without fetches executes every update of the graph.")
def no_fetches_mean_everything(tf: Namespace) -> Namespace:
    """Take an empty list of fetches for all the updates."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        if fetches == []:
            base([op for op in session.graph.get_operations() if op.type in UPDATES])
        return base(fetches)

    return running(tf, change)


@fault("RUN-002", "The updates that consume a fetched tensor execute too.")
def executes_consumers(tf: Namespace) -> Namespace:
    """Fetch the updates among the consumers, but those that take the tensor as their variable."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        tensors = [e for e in elements(session, fetches) if isinstance(e, tf.Tensor)]
        updates = [
            op
            for tensor in tensors
            for op in tensor.consumers()
            if op.type in UPDATES and op.inputs[0].name != tensor.name
        ]
        return base([fetches, updates])[0] if updates else base(fetches)

    return running(tf, change)


@fault("RUN-003", "An Operation with outputs that is fetched beside tensors does not execute.")
def ignores_operations_beside_tensors(tf: Namespace) -> Namespace:
    """Leave the operation out of a list of fetches, and return None for it."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        fetched = elements(session, fetches)
        idle = [isinstance(e, tf.Operation) and bool(e.outputs) for e in fetched]
        tensors = any(isinstance(e, tf.Tensor) for e in fetched)
        if not isinstance(fetches, list) or len(fetched) != len(fetches) or not tensors:
            return base(fetches)
        values = iter(base([f for f, skip in zip(fetches, idle, strict=True) if not skip]))
        return [None if skip else next(values) for skip in idle]

    return running(tf, change)


@fault("RUN-004", "The control inputs of a constant do not execute.")
def constants_lose_their_control_inputs(tf: Namespace) -> Namespace:
    """Drop the control edges into Const nodes."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op == "Const":
                del node.input[:]

    return editing(tf, change)


@fault("RUN-005", "A read that has to wait for an assignment reads before it.")
def reads_before_the_assignment(tf: Namespace) -> Namespace:
    """Read early, let the assignment wait for that, and the result wait for the assignment."""

    def change(definition: GraphDef) -> None:
        writes = {n.name: n for n in definition.node if n.op == "AssignVariableOp"}
        reads = [n for n in definition.node if n.op == "ReadVariableOp"]
        for node in reads:
            waits = [name[1:] for name in node.input if name[1:] in writes]
            if waits:
                early = definition.node.add()
                early.CopyFrom(node)
                early.name = f"{node.name}/early"
                del early.input[1:]
                node.op, node.input[0] = "Identity", early.name
                node.attr["T"].CopyFrom(node.attr.pop("dtype"))
                writes[waits[0]].input.append(f"^{early.name}")

    return editing(tf, change)


@fault("RUN-006", "A fetched read of a variable gives the value from the end of the run.")
def reads_at_the_end(tf: Namespace) -> Namespace:
    """Fetch again, after the run, each ReadVariableOp without control inputs."""

    def change(session: Session, base: Call, fetches: Sequence[Fetch], _feeds: FeedDict) -> Value:
        values = base(fetches)
        fetched = elements(session, fetches)
        if not isinstance(values, list) or len(fetched) != len(values):
            return values
        for index, element in enumerate(fetched):
            op = getattr(element, "op", element)
            if op.type == "ReadVariableOp" and not op.control_inputs:
                values[index] = base(fetches[index])
        return values

    return running(tf, change)


@fault("RUN-007", "A NoOp that is a control input is ignored, with its own control inputs.")
def ignores_nested_groups(tf: Namespace) -> Namespace:
    """Drop the control edges from NoOp nodes."""

    def change(definition: GraphDef) -> None:
        groups = {f"^{node.name}" for node in definition.node if node.op == "NoOp"}
        for node in definition.node:
            kept = [name for name in node.input if name not in groups]
            node.input[:] = kept

    return editing(tf, change)


# --- how often ----------------------------------------------------------------------------


@fault("RUN-008", "An addition to a reference variable executes again for its last consumer.")
def executes_again_for_a_consumer(tf: Namespace) -> Namespace:
    """Copy AssignAdd nodes with several consumers."""
    return editing(tf, lambda definition: copied_for_last_consumer(definition, {"AssignAdd"}))


@fault("RUN-009", "An operation that is fetched twice executes twice.")
def executes_once_for_each_fetch(tf: Namespace) -> Namespace:
    """Run again the operations that occur more than once among the fetches."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        values = base(fetches)
        ops = [getattr(e, "op", e) for e in elements(session, fetches)]
        again = [op for op in dict.fromkeys(ops) if ops.count(op) > 1]
        if again and not feeds:
            base(again)
        return values

    return running(tf, change)


@fault("RUN-013", "Two equal additions to a resource variable are merged into one.")
def merges_equal_updates(tf: Namespace) -> Namespace:
    """Replace the later of two equal AssignAddVariableOp nodes by a wait for the first."""

    def merge(node: NodeDef, first: str) -> None:
        name = node.name
        node.Clear()
        node.name, node.op = name, "NoOp"
        node.input.append(f"^{first}")

    def change(definition: GraphDef) -> None:
        edit_repeated(definition, {"AssignAddVariableOp"}, merge)

    return editing(tf, change)


# --- the graph and the call ---------------------------------------------------------------


@fault("RUN-031", "A GraphDef whose consumers stand before their producers is refused.")
def wants_producers_first(tf: Namespace) -> Namespace:
    """Raise ValueError for an input that has not been seen; loops have to have some."""

    def change(definition: GraphDef) -> None:
        later = {node.name for node in definition.node}
        for node in definition.node:
            controls = [name[1:] for name in node.input if name.startswith("^")]
            unseen = later & {*data_inputs(node), *controls}
            if unseen and node.op != "Merge":
                raise ValueError(f"node {node.name!r} comes before its inputs {sorted(unseen)}")
            later.discard(node.name)

    return editing(tf, change)


@fault("RUN-032", "A run that needs more than 5,000 operations is refused.")
def runs_small_fragments_only(tf: Namespace) -> Namespace:
    """Count the operations above the fetches."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        if len(needed(elements(session, fetches), [])) > 5000:
            raise tf.errors.ResourceExhaustedError(None, None, "the graph is too large")
        return base(fetches)

    return running(tf, change)


@fault("RUN-033", "A RunMetadata without RunOptions is refused.")
def wants_options_with_metadata(tf: Namespace) -> Namespace:
    """Raise ValueError where run_metadata is given and options are not."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            if run_metadata is not None and options is None:
                raise ValueError("run_metadata needs options")
            return super().run(fetches, feed_dict, options, run_metadata)

    return override(tf, Session=Session)
