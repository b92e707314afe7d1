"""Graphs of queues, tables, readers and the like, rewritten to the older forms of operations."""

from __future__ import annotations

import copy
from typing import Any

from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["older"]

#: The older form of each operation that has one.
OLDER = {operation.newer: name for name, operation in OPERATIONS.items() if operation.newer}
#: The last version of GraphDefs that has them all.
PRODUCER = 25

Runs = tuple[tuple[str, ...], ...]


def older(graph: dict[str, Any], runs: Runs) -> tuple[tuple[str, ...], dict[str, Any], Runs]:
    """The op types, the graph and the runs, without what depends on what has no older form."""
    made = copy.deepcopy(graph)
    left_out: set[str] = set()
    while True:
        found = {node["name"] for node in made["node"] if _must_go(node, left_out)}
        if found <= left_out:
            break
        left_out |= found
    made["node"] = [node for node in made["node"] if node["name"] not in left_out]
    for node in made["node"]:
        node["op"] = OLDER.get(node["op"], node["op"])
    made.setdefault("versions", {})["producer"] = PRODUCER
    kept = [tuple(name for name in run if name.partition(":")[0] not in left_out) for run in runs]
    covers = tuple(sorted({node["op"] for node in made["node"]} & set(OLDER.values())))
    return covers, made, tuple(run for run in kept if run)


def _must_go(node: dict[str, Any], left_out: set[str]) -> bool:
    sources = {name.removeprefix("^").partition(":")[0] for name in node.get("input", ())}
    if sources & left_out or node["op"] not in OPERATIONS:  # the latter calls a function
        return True
    operation = OPERATIONS[node["op"]]
    is_newer = any(arg.dtype == "resource" for arg in (*operation.inputs, *operation.outputs))
    return is_newer and node["op"] not in OLDER
