"""Each translated operation of JAX gives what the reference does, in every dtype declared.

All dtypes of an operation stand in one graph, since compiling takes the time. The values are drawn
by a fixed seed; `SESSRUN_SEEDS=20` draws as many.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

from sessrun.adapters.backend import Backend
from sessrun.adapters.registry import load
from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.generators.single import contract_of
from sessrun.spec import tensors
from sessrun.spec.cases.outcomes import Fetched, Opened
from sessrun.spec.inference import Cell, TableRow
from sessrun.spec.rules import numeric
from sessrun.spec.rules.domains import arguments
from sessrun.spec.tables.ops import OPERATIONS

HERE = importlib.util.find_spec("jax") is not None
pytestmark = [pytest.mark.jax, pytest.mark.skipif(not HERE, reason="JAX is not installed")]

SEEDS: Final = int(os.environ.get("SESSRUN_SEEDS", "1"))
#: Dtypes that an operation is tried in by one seed.
MOST: Final = 2
#: Cells in which JAX itself differs from TensorFlow, with what the test of it below is called.
DIVERGENT: Final = {
    "Atanh": ({"float64"}, "log1p of float64"),
    "Div": ({"float16", "float32", "float64", "bfloat16"}, "division by a broadcast tensor"),
    "DivNoNan": ({"float16", "float32", "float64", "bfloat16"}, "division by a broadcast tensor"),
    "Log1p": ({"float64"}, "log1p of float64"),
    "RealDiv": ({"float16", "float32", "float64", "bfloat16"}, "division by a broadcast tensor"),
    "Xdivy": ({"float16", "float32", "float64", "bfloat16"}, "division by a broadcast tensor"),
    "Xlog1py": ({"float64"}, "log1p of float64"),
}
#: Cells in which the reference itself is not near enough to TensorFlow to be compared with.
UNLIKE_TENSORFLOW: Final = {"UnsortedSegmentSum": {"bfloat16"}}


class Applied(NamedTuple):
    """An operation in a graph: its dtypes, the names of its outputs, and their contracts."""

    dtypes: tuple[str, ...]
    fetches: list[str]
    contracts: list[str]


def operations() -> list[str]:
    """The translated operations that have a value domain, without lists of dtypes."""
    declared = load("jax").describe().operations if HERE else {}
    assert declared is not None
    return [op for op in declared if OPERATIONS[op].domain is not None and op != "IdentityN"]


def cells_of(op: str, draw: random.Random) -> list[Cell]:
    """Some of the dtypes of an operation, in any order, without those known to differ."""
    from sessrun.adapters.jax.rules import RULES  # noqa: PLC0415 - JAX may not be there

    rule, operation = RULES[op], OPERATIONS[op]
    row = TableRow(operation, "", rule.constants, rule.attrs, tuple(sorted(rule.dtypes)))
    left_out = DIVERGENT.get(op, ((), ""))[0] or UNLIKE_TENSORFLOW.get(op, ())
    if not rule.attrs:
        return [Cell(row, row.dtypes)]
    choices = [
        sorted(rule.dtypes.intersection(attr.allowed or rule.dtypes).difference(left_out))
        for attr in operation.attrs
        if attr.name in rule.attrs
    ]
    combinations = list(itertools.product(*choices))
    return [Cell(row, dtypes) for dtypes in draw.sample(combinations, min(MOST, len(combinations)))]


def applied(
    cell: Cell, draw: random.Random, writer: GraphWriter, feeds: dict[str, np.ndarray], name: str
) -> Applied:
    """Write the operation of a cell, its structural inputs as constants, the rest as feeds."""
    operation = cell.operation()
    given = arguments(operation, draw)
    names = []
    for arg in operation.inputs:
        value = given.inputs[arg.name]
        for one in value if isinstance(value, list | tuple) else (value,):
            if arg.name in cell.row.constants:
                names.append(writer.constant(one))
                continue
            shape = one.shape if draw.random() < 0.5 else None
            names.append(writer.placeholder(tensors.encode(one)["dtype"], shape))
            feeds[f"{names[-1]}:0"] = one
    node = writer.operation(operation, names, given.attrs, name)
    count = sum(output.count(given.attrs) for output in operation.outputs)
    contracts = contract_of(operation, given)
    return Applied(
        cell.dtypes,
        [f"{node}:{index}" for index in range(count)],
        contracts if isinstance(contracts, list) else [contracts] * count,
    )


def values_of(
    backend: Backend, graph: dict[str, Any], fetches: Sequence[str], feeds: dict[str, np.ndarray]
) -> dict[str, Any]:
    opened = backend.open(graph, {})
    assert isinstance(opened, Opened), opened
    outcome = backend.run(opened.handle, list(fetches), feeds, {})
    backend.close(opened.handle)
    assert isinstance(outcome, Fetched), outcome
    return dict(zip(fetches, outcome.values, strict=True))


def differences(op: str, seed: int) -> Iterator[str]:
    """What JAX gives otherwise than the reference."""
    draw = random.Random(f"jax:{op}:{seed}")
    writer, feeds = GraphWriter(), dict[str, np.ndarray]()
    nodes = [
        applied(cell, draw, writer, feeds, f"result_{number}")
        for number, cell in enumerate(cells_of(op, draw))
    ]
    fetches = [fetch for node in nodes for fetch in node.fetches]
    want, got = (
        values_of(load(name), writer.graph(), fetches, feeds) for name in ("reference", "jax")
    )
    for node in nodes:
        for fetch, contract in zip(node.fetches, node.contracts, strict=True):
            if contract == "free":
                continue
            alike = [(value.dtype, value.shape) for value in (want[fetch], got[fetch])]
            if alike[0] != alike[1]:
                yield f"{node.dtypes} {fetch}: want {alike[0]}, got {alike[1]}"
            elif why := numeric.difference(contract, want[fetch], got[fetch]):
                yield f"{node.dtypes} {fetch}: {why}"


@pytest.mark.parametrize("op", operations())
def test_it_gives_what_the_reference_gives(op: str) -> None:
    seen = [text for seed in range(SEEDS) for text in differences(op, seed)]
    assert not seen, "\n".join(seen)
