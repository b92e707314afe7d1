"""Cases of queues, readers, tables and accumulators in the form of the first releases' graphs.

A handle is a reference to two strings there, and the operations on it have other names; what they
do is the same, so that the cases are those of the other properties.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from typing import Final

from sessrun.conformance.property import PROPERTIES, prop
from sessrun.conformance.subjects.accumulators.properties import accumulators
from sessrun.conformance.subjects.queues.properties.queues import queues
from sessrun.conformance.subjects.readers.properties import readers
from sessrun.conformance.subjects.tables.properties import tables
from sessrun.spec.cases.model import Case
from sessrun.spec.tables.ops import OPERATIONS

_OF: Final = {"accumulators": accumulators, "queues": queues, "readers": readers, "tables": tables}
_CLAUSES: Final = tuple(id_ for name in _OF for id_ in PROPERTIES[name].clauses)
#: The older name of each operation that has one.
_OLDER: Final = {
    operation.newer: operation.name for operation in OPERATIONS.values() if operation.newer
}


def _is_of_resources(op: str) -> bool:
    args = (*OPERATIONS[op].inputs, *OPERATIONS[op].outputs)
    return any(arg.dtype == "resource" for arg in args)


def _makes_handle(op: str) -> bool:
    return any(arg.dtype == "resource" for arg in OPERATIONS[op].outputs)


def _fetched(case: Case) -> set[str]:
    """The nodes that the steps of a case fetch, also those of steps within threads."""

    def names(form: object) -> set[str]:
        if isinstance(form, Mapping):
            nodes = {str(fetch).partition(":")[0] for fetch in form.get("fetches", ())}
            return nodes.union(*map(names, form.values()))
        return set().union(*map(names, form)) if isinstance(form, list | tuple) else set()

    return names(case.steps)


def _in_older_form(case: Case) -> Case | None:
    """The case on the older operations; None if it uses one that has no older form."""
    fetched, graphs = _fetched(case), {}
    for name, graph in case.graphs.items():
        nodes, versions = [], dict(graph["versions"])
        for node in graph["node"]:
            older = _OLDER.get(node["op"])
            if older is not None:
                last = OPERATIONS[older].until - 1  # of the versions that have it, if not all do
                if last >= 0:
                    versions["producer"] = min(versions["producer"], last)
                nodes.append({**node, "op": older})
            elif not _is_of_resources(node["op"]):
                nodes.append(node)
            elif node["name"] in fetched or _makes_handle(node["op"]):
                return None
        graphs[name] = {**graph, "node": nodes, "versions": versions}
    return dataclasses.replace(case, graphs=graphs)


@prop("older-handles", *_CLAUSES, weight=2)
def older_handles(draw: random.Random, id_: str) -> Case:
    """The older forms of queues, readers, tables and accumulators do what the newer ones do."""
    names = sorted(_OF)
    make = _OF[names[int(id_.rpartition(":")[2]) % len(names)]]
    while True:
        older = _in_older_form(make(draw, id_))
        if older is not None:
            return older
