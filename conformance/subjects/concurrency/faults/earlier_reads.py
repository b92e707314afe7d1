"""Faults of CONCURRENCY: reads of reference variables that keep what they saw."""

from __future__ import annotations

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import editing, reads_of_variables
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.proto.graph_pb2 import GraphDef


@fault("CONCURRENCY-015", "A read of a reference variable gives a copy of its value.")
def reads_of_references_are_copies(tf: Namespace) -> Namespace:
    """Make a Copy of an Identity of a variable that several operations take."""

    def change(definition: GraphDef) -> None:
        taken = [text for node in definition.node for text in node.input]
        for name, node in reads_of_variables(definition):
            if taken.count(name) > 1:
                node.op = "Copy"
                node.attr.pop("_class", None)

    return editing(tf, change)
