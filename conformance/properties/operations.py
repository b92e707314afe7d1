"""Every declared operation on drawn arguments, valid and invalid, against the oracle."""

from __future__ import annotations

import functools
import random
from typing import Any, Final

from sessrun.conformance.generators.single import single_graph
from sessrun.conformance.properties import prop
from sessrun.spec.cases.model import Case
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments, arguments
from sessrun.spec.rules.faults import faulty_arguments
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
    steps: list[dict[str, Any]] = [
        {"do": "open", "session": "s", "graph": "g"},
        {
            "do": "run",
            "session": "s",
            "fetches": list(single.fetches),
            "feeds": single.feeds,
            "expect": {"oracle": {"contract": single.contract}},
        },
        {"do": "close", "session": "s"},
    ]
    title = f"{operation.name} gives the value of its definition."
    return Case(id_, title, "engine", ("OPERATIONS-001",), tuple(steps), {"g": single.graph})


@functools.cache
def refusing() -> tuple[Operation, ...]:
    """The operations that declare what they refuse."""
    return tuple(operation for operation in OPERATIONS.values() if operation.errors)


@prop("refusals", "OPERATIONS-002", weight=4)
def operation_refusals(draw: random.Random, id_: str) -> Case:
    """A declared operation on invalid arguments fails with the declared code, and only that run."""
    operation = refusing()[_turn(id_) % len(refusing())]
    name, fault = draw.choice(sorted(faulty_arguments(operation, draw).items()))
    count = output_count(operation, fault.arguments)
    single = single_graph(operation, fault.arguments, draw, count, kinds=("unknown",))
    feeds = single.feeds
    fails = {"error": {"codes": list(fault.codes)}}
    steps = (
        {"do": "open", "session": "s", "graph": "g"},
        {"do": "run", "session": "s", "fetches": list(single.fetches), "feeds": feeds,
         "expect": fails},
        {"do": "run", "session": "s", "fetches": list(feeds), "feeds": feeds},
        {"do": "close", "session": "s"},
    )  # fmt: skip
    title = f"{operation.name} refuses {name}."
    return Case(id_, title, "engine", ("OPERATIONS-002",), steps, {"g": single.graph})
