"""Summaries of drawn values, fetched alone and merged; the expected bytes are a model's.

The model is `model.py`. A run that must fail is expected to fail with code 3,
whichever of its operations fails first.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.summaries.model import KINDS, NUMBERS, Refused
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import row_of_numpy
from sessrun.spec.forms import JsonObject
from sessrun.spec.proto.summary_pb2 import Summary

_CLAUSE: Final = "SUMMARIES-038"
_MERGED: Final = "merged"


@dataclass(frozen=True, slots=True)
class _Node:
    """One operation of the graph, with the names of its inputs and the dtype of its numbers."""

    name: str
    kind: str
    dtype: str

    def drawn(
        self, draw: random.Random
    ) -> tuple[dict[str, np.ndarray], list[Summary.Value] | None]:
        """Inputs, and the values that the Summary must have; None if the run must fail."""
        make, model = KINDS[self.kind]
        given = make(draw, self.dtype)
        try:
            return {f"{self.name}_{key}:0": value for key, value in given.items()}, model(given)
        except Refused:
            return {f"{self.name}_{key}:0": value for key, value in given.items()}, None


def _write(draw: random.Random, writer: GraphWriter, name: str) -> _Node:
    """Write an operation whose inputs are all fed."""
    kind = draw.choice(list(KINDS))
    dtypes = (*NUMBERS, "string", "string") if kind == "TensorSummaryV2" else NUMBERS
    dtype = draw.choice(dtypes)
    given = KINDS[kind][0](draw, dtype)
    inputs = []
    for key, value in given.items():
        row = row_of_numpy(value.dtype)
        assert row is not None
        inputs.append(writer.placeholder(row.name, None, f"{name}_{key}"))
    attrs = {} if kind == "AudioSummaryV2" else {"T": dtype_attr(dtype)}
    writer.node(kind, inputs, attrs, name)
    return _Node(name, kind, dtype)


def _bytes(values: list[Summary.Value] | None) -> JsonObject:
    held = np.empty((), object)
    held[()] = Summary(value=values).SerializeToString()
    return {"$array": tensors.encode(held)}


def _joined(by_node: dict[str, list[Summary.Value] | None]) -> list[Summary.Value] | None:
    """The values of all nodes; None if the run must fail."""
    values: list[Summary.Value] = []
    for node_values in by_node.values():
        if node_values is None:
            return None
        values += node_values
    tags = [value.tag for value in values if value.tag]
    return None if len(set(tags)) < len(tags) else values


def _run(draw: random.Random, nodes: list[_Node]) -> Step:
    feeds: dict[str, np.ndarray] = {}
    by_node: dict[str, list[Summary.Value] | None] = {}
    for node in nodes:
        given, values = node.drawn(draw)
        feeds.update(given)
        by_node[node.name] = values
    wanted = draw.sample(list(by_node), draw.randint(0, len(nodes)))
    if not wanted or draw.random() < 0.5:
        wanted.insert(draw.randint(0, len(wanted)), _MERGED)
    results = [_joined(by_node) if name == _MERGED else by_node[name] for name in wanted]
    used = {node.name for node in nodes} if _MERGED in wanted else set(wanted)
    is_refused = None in results
    return {
        "do": "run",
        "session": "s",
        "fetches": [f"{name}:0" for name in wanted],
        "feeds": {
            key: tensors.encode(value)
            for key, value in feeds.items()
            if key.rpartition("_")[0] in used
        },
        "expect": {"error": {"codes": [3]}}
        if is_refused
        else {"values": [_bytes(values) for values in results]},
    }


@prop("summaries", _CLAUSE, weight=2)
def summaries(draw: random.Random, id_: str) -> Case:
    """Serialized summaries hold what a model says, of whatever values, alone and merged."""
    writer = GraphWriter()
    nodes = [_write(draw, writer, f"n{index}") for index in range(draw.randint(1, 5))]
    count = {"N": {"i": str(len(nodes))}}
    writer.node("MergeSummary", [node.name for node in nodes], count, _MERGED)
    steps: tuple[Step, ...] = (
        {"do": "open", "session": "s", "graph": "g"},
        *(_run(draw, nodes) for _ in range(draw.randint(2, 4))),
    )
    title = "Summaries hold what was drawn, alone and merged."
    return Case(id_, title, "engine", (_CLAUSE,), steps, {"g": writer.graph()})
