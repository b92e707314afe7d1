"""Faults of RUN: random operations that are shared, merged, folded, restarted or advanced."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import (
    RANDOM,
    copied_for_last_consumer,
    edit_repeated,
    editing,
    elements,
    fed,
    needed,
    running,
)
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Fetches, Operation, Session, Value
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef

#: What stands for the seed of a graph without one, beside the seed of an operation.
_DEFAULT_GRAPH_SEED: Final = 87654321


def _drawn(op: Operation, *, seeded: bool) -> bool:
    """Whether this is a random operation of a constant shape, seeded or not."""
    if op.type not in RANDOM or op.inputs[0].op.type != "Const":
        return False
    return seeded is bool(op.get_attr("seed") or op.get_attr("seed2"))


@fault("RUN-010", "A random operation draws again for its last consumer.")
def draws_again_for_a_consumer(tf: Namespace) -> Namespace:
    """Copy random nodes with several consumers."""
    return editing(tf, lambda definition: copied_for_last_consumer(definition, RANDOM))


@fault("RUN-011", "A random operation without a seed is folded to the value it drew first.")
def folds_random_operations(tf: Namespace) -> Namespace:
    """Feed each session's first values of its unseeded random operations from then on."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        given = fed(session, feeds)
        ops = [op for op in needed(elements(session, fetches), given) if _drawn(op, seeded=False)]
        folded = session.__dict__.setdefault("folded", {})
        for op in ops:
            folded[op.name] = folded[op.name] if op.name in folded else base(op.outputs[0])
        known = {op.outputs[0]: folded[op.name] for op in ops}
        return base(fetches, {**(feeds or {}), **known}) if known else base(fetches)

    return running(tf, change)


@fault("RUN-012", "Two equal random operations without seeds are merged into one.")
def merges_equal_random_operations(tf: Namespace) -> Namespace:
    """Replace the later of two equal unseeded random nodes by an Identity of the first."""

    def merge(node: NodeDef, first: str) -> None:
        if not (node.attr["seed"].i or node.attr["seed2"].i):
            name, dtype = node.name, node.attr["dtype"].type
            node.Clear()
            node.name, node.op = name, "Identity"
            node.input.append(first)
            node.attr["T"].type = dtype

    return editing(tf, lambda definition: edit_repeated(definition, RANDOM, merge))


@fault("RUN-014", "The seeds of a random operation are ignored.")
def ignores_seeds(tf: Namespace) -> Namespace:
    """Set the seeds of imported nodes to zero."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            for name in ("seed", "seed2"):
                if name in node.attr:
                    node.attr[name].i = 0

    return editing(tf, change)


@fault("RUN-015", "A seeded random operation starts its sequence anew in every run.")
def restarts_in_every_run(tf: Namespace) -> Namespace:
    """Feed what a new session draws first."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        given = fed(session, feeds)
        ops = [op for op in needed(elements(session, fetches), given) if _drawn(op, seeded=True)]
        if not ops:
            return base(fetches)
        with tf.Session(graph=session.graph) as fresh:
            values = fresh.run([op.outputs[0] for op in ops])
        drawn = {op.outputs[0]: value for op, value in zip(ops, values, strict=True)}
        return base(fetches, {**(feeds or {}), **drawn})

    return running(tf, change)


@fault("RUN-016", "Every run advances every seeded random operation of the graph.")
def advances_in_every_run(tf: Namespace) -> Namespace:
    """Execute the seeded random operations beside what was fetched."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        ops = [op for op in session.graph.get_operations() if _drawn(op, seeded=True)]
        return base([fetches, ops])[0] if ops else base(fetches)

    return running(tf, change)


@fault("RUN-017", "The random seed of a graph is ignored.")
def ignores_the_graph_seed(tf: Namespace) -> Namespace:
    """Let set_random_seed do nothing."""
    return override(tf, set_random_seed=lambda seed: None)  # noqa: ARG005 - ignoring is the fault


@fault("RUN-058", "Alike operations of a graph with a seed draw the same in one run.")
def alike_operations_of_a_seeded_graph_draw_the_same(tf: Namespace) -> Namespace:
    """Feed the later of two with what the first of them draws."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        given = fed(session, feeds)
        firsts: dict[str, Operation] = {}
        later: dict[Operation, Operation] = {}
        for op in needed(elements(session, fetches), given):
            if _drawn(op, seeded=True) and op.get_attr("seed") not in (0, _DEFAULT_GRAPH_SEED):
                first = firsts.setdefault(op.type, op)
                if first is not op and first.outputs[0].shape == op.outputs[0].shape:
                    later[op] = first
        if not later:
            return base(fetches)
        drawn = {first: base(first.outputs[0]) for first in later.values()}
        alike = {op.outputs[0]: drawn[first] for op, first in later.items()}
        alike |= {first.outputs[0]: value for first, value in drawn.items()}
        return base(fetches, {**(feeds or {}), **alike})

    return running(tf, change)
