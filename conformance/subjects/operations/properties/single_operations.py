"""Every declared operation on drawn arguments, valid and invalid.

What it must give is what its executable definition says; the oracle speaks for one that has none.
"""

from __future__ import annotations

import functools
import random
import re
from typing import Final

import numpy as np

from sessrun.conformance.definitions import BY_DEFINITION
from sessrun.conformance.generators.graphdef import CPU, GraphWriter
from sessrun.conformance.generators.single import OF_KNOWN_RANK, SingleGraph, single_graph
from sessrun.conformance.property import prop
from sessrun.spec import tensors
from sessrun.spec.cases.forms import OracleForm, Step
from sessrun.spec.cases.model import Case
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments, arguments
from sessrun.spec.rules.faults import Fault, faulty_arguments, malformed_arguments
from sessrun.spec.tables.ops import OPERATIONS

#: Stateful so that nothing is folded or shared; their value is determined all the same.
_DETERMINED: Final = ("CheckNumerics", "CheckNumericsV2", "DeepCopy", "GuaranteeConst")


@functools.cache
def drawable() -> tuple[Operation, ...]:
    """The operations whose arguments a domain can draw and whose value is determined."""
    return tuple(
        operation
        for operation in OPERATIONS.values()
        if operation.domain is not None
        and (not operation.stateful or operation.name in _DETERMINED)
    )


def output_count(operation: Operation, given: Arguments) -> int:
    """How many tensors the operation gives on these arguments."""
    return sum(arg.count(given.attrs) for arg in operation.outputs)


def _turn(id_: str) -> int:
    """The case's number: operations take turns, so that a plan of some hundreds meets them all."""
    return int(id_.rpartition(":")[2])


@prop("operations", "OPERATIONS-001", weight=12)
def operation_values(draw: random.Random, id_: str) -> Case:
    """A declared operation on valid arguments gives its value under its numeric contract."""
    operation = drawable()[_turn(id_) % len(drawable())]
    given = arguments(operation, draw)
    single = single_graph(operation, given, draw, output_count(operation, given))
    title = f"{operation.name} gives the value of its definition."
    return value_case(id_, title, "OPERATIONS-001", single)


def value_case(id_: str, title: str, clause: str, single: SingleGraph) -> Case:
    """A case that runs a graph of one operation and compares its outputs with its definition's."""
    wanted: OracleForm = {"contract": single.contract}
    if single.is_defined:
        wanted |= BY_DEFINITION
    steps: list[Step] = [
        {"do": "open", "session": "s", "graph": "g"},
        {
            "do": "run",
            "session": "s",
            "fetches": list(single.fetches),
            "feeds": single.feeds,
            "expect": {"oracle": wanted},
        },
        {"do": "close", "session": "s"},
    ]
    return Case(id_, title, "engine", (clause,), tuple(steps), {"g": single.graph})


@functools.cache
def refusing() -> tuple[Operation, ...]:
    """The operations that declare what they refuse."""
    return tuple(operation for operation in OPERATIONS.values() if operation.errors)


#: How many refusals a case asks for at most.
_MOST_REFUSALS: Final = 12
#: What a run gives after them: the session serves as before.
_ANSWER: Final = {"$array": tensors.encode(np.array(42, np.int32))}


@prop("refusals", "OPERATIONS-002", weight=9)
def operation_refusals(draw: random.Random, id_: str) -> Case:
    """A declared operation on invalid arguments fails with the declared code, and only that run."""
    operation = refusing()[_turn(id_) % len(refusing())]
    refused = refusals(operation, draw)
    chosen = draw.sample(sorted(refused), min(len(refused), _MOST_REFUSALS))
    writer = GraphWriter()
    served = writer.constant(tensors.decode(_ANSWER["$array"]), "served")
    steps: list[Step] = [{"do": "open", "session": "s", "graph": "g"}]
    graph = writer.graph()
    for said in chosen:
        fault = refused[said]
        count = output_count(operation, fault.arguments)
        name = re.sub(r"\W+", "_", said).strip("_")
        single = single_graph(operation, fault.arguments, draw, count, ("unknown",), writer, name)
        graph = single.graph
        if fault.seen == "run":
            writer.put_on(name, CPU)
        steps.append(
            {
                "do": "run",
                "session": "s",
                "fetches": list(single.fetches),
                "feeds": single.feeds,
                "expect": {"error": {"codes": list(fault.codes)}},
            }
        )
    steps += [
        {"do": "run", "session": "s", "fetches": [f"{served}:0"], "expect": {"values": [_ANSWER]}},
        {"do": "close", "session": "s"},
    ]
    title = f"{operation.name} refuses {', '.join(chosen)}."
    return Case(id_, title, "engine", ("OPERATIONS-002",), tuple(steps), {"g": graph})


def refusals(operation: Operation, draw: random.Random) -> dict[str, Fault]:
    """What the operation declares invalid, and what its shape rule refuses, by what it is."""
    malformed = {} if operation.name in OF_KNOWN_RANK else malformed_arguments(operation, draw)
    return dict(malformed) | faulty_arguments(operation, draw)
