"""Faults of TRACING: iterations that are not counted, branches that are listed unasked."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import elements, fed, needed
from sessrun.conformance.subjects.tracing.faults.tracing import RecordedRun, telling
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.proto.metadata_pb2 import NodeExecStats

#: Operations that an engine need not list.
_UNLISTED: Final = frozenset(
    {
        "Enter",
        "Exit",
        "LoopCond",
        "Merge",
        "NextIteration",
        "Placeholder",
        "RefEnter",
        "RefSwitch",
        "Switch",
    }
)


@fault("TRACING-031", "An operation of a loop is listed for its first iteration only.")
def iterations_are_listed_once(tf: Namespace) -> Namespace:
    """Keep the first listing of each name."""

    def change(traced: RecordedRun) -> None:
        seen: set[str] = set()

        def is_first(node: NodeExecStats) -> bool:
            known = node.node_name in seen
            seen.add(node.node_name)
            return not known

        traced.keep(is_first)

    return telling(tf, change)


@fault("TRACING-032", "The operations of both branches are listed.")
def both_branches_are_listed(tf: Namespace) -> Namespace:
    """List what is needed, where there are no loops, whether or not it was executed."""

    def change(traced: RecordedRun) -> None:
        ops = needed(elements(traced.session, traced.fetches), fed(traced.session, traced.feeds))
        types = {op.type for op in ops}
        if not traced.is_traced or "Merge" not in types or "NextIteration" in types:
            return
        listed = {node.node_name for node in traced.nodes()}
        for op in ops:
            if op.name not in listed and op.type not in _UNLISTED:
                traced.list_also(op.name)

    return telling(tf, change)
