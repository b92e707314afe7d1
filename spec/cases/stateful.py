"""Which step of an engine case needs what its session keeps between runs: variables, queues.

A run needs it if it reaches such an operation from its fetches without passing a fed tensor, and
is not expected to fail: a run that fails may do so before it gets there.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Final

from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.graph_forms import GraphForm, NodeForm
from sessrun.spec.cases.model import Case, walk
from sessrun.spec.operations import ArgDecl

__all__ = ["stateful_step"]

#: Operations whose handle lasts for one run only.
_OF_A_RUN: Final = frozenset({"Stack", "StackV2", "TemporaryVariable", "TensorArrayV3"})
_FETCHING: Final = frozenset({"run", "setup", "callable"})

#: The nodes of a session's graph by name.
_Nodes = dict[str, NodeForm]


def stateful_step(case: Case) -> str | None:
    """The path of the first step that needs state of its session; None if none does."""
    sessions: dict[str, _Nodes] = {}
    for path, outer in walk(case.steps):
        step = outer.get("step", outer)
        if step["do"] in {"open", "extend"}:
            older = sessions.get(step["session"], {}) if step["do"] == "extend" else {}
            sessions[step["session"]] = older | _nodes(case.graphs[step["graph"]])
        elif step["do"] in _FETCHING and not _may_fail(step):
            fed = {*step.get("feeds", ()), *step.get("names", ())}
            if _reaches_state(sessions.get(step["session"], {}), step["fetches"], fed):
                return path
    return None


def _nodes(graph: GraphForm) -> _Nodes:
    return {node["name"]: node for node in graph.get("node", ()) if "name" in node}


def _may_fail(step: Step) -> bool:
    expect = step.get("expect", {})
    return any("error" in option for option in (expect, *expect.get("any_of", ())))


def _reaches_state(nodes: _Nodes, fetches: Iterable[str], fed: set[str]) -> bool:
    done: set[str] = set()
    left = [name for name in fetches if name not in fed]
    while left:
        name = left.pop().removeprefix("^").partition(":")[0]
        if name in done or name not in nodes:
            continue
        done.add(name)
        if nodes[name].get("op") in _keepers():
            return True
        left += [text for text in nodes[name].get("input", ()) if _tensor(text) not in fed]
    return False


def _tensor(text: str) -> str:
    """The name that a feed gives an input's tensor."""
    return text if ":" in text else f"{text}:0"


@functools.cache
def _keepers() -> frozenset[str]:
    """Operations that give a handle or a reference of their own: what it names outlives a run."""
    from sessrun.spec.tables.ops import OPERATIONS  # noqa: PLC0415 - large, and few runs need it

    def handles(args: Iterable[ArgDecl]) -> bool:
        return any(arg.is_ref or arg.dtype == "resource" for arg in args)

    return frozenset(
        name
        for name, operation in OPERATIONS.items()
        if handles(operation.outputs) and not handles(operation.inputs) and name not in _OF_A_RUN
    )
