"""Graphs of one declared operation: its inputs are placeholders or constants."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.spec import tensors
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments

__all__ = ["KINDS", "SingleGraph", "contract_of", "single_graph"]

#: How an input is given: a placeholder of unknown shape, one of its shape, a constant.
KINDS: Final = ("unknown", "shape", "constant")
#: Operations whose valid arguments TensorFlow 2.21 refuses while building if it knows some of
#: their shapes or values and not the others (docs/findings.md): all or none are known.
_ALL_OR_NONE: Final = frozenset({"SplitV", "Substr"})


@dataclass(frozen=True, slots=True)
class SingleGraph:
    """A graph of one operation, the feeds of its placeholders, and the names of its outputs."""

    graph: dict[str, Any]
    feeds: dict[str, Any]
    fetches: tuple[str, ...]
    contract: str


def single_graph(
    operation: Operation,
    arguments: Arguments,
    draw: random.Random,
    outputs: int,
    kinds: Sequence[str] = KINDS,
) -> SingleGraph:
    """A graph that applies the operation to the arguments.

    Each input is a placeholder of unknown shape, one of its own shape, or a constant: the shape
    inference of a backend sees all three.

    Args:
      operation: the operation, without references and resources.
      arguments: its arguments.
      draw: chooses between placeholder and constant.
      outputs: how many tensors it gives.
      kinds: how inputs may be given, of `KINDS`.

    """
    writer = GraphWriter()
    feeds: dict[str, Any] = {}
    names = []
    together = draw.choice(kinds)
    for value in _flat(operation, arguments):
        kind = together if operation.name in _ALL_OR_NONE else draw.choice(kinds)
        if kind == "constant":
            names.append(writer.constant(value))
            continue
        row = tensors.encode(value)
        shape = None if kind == "unknown" else value.shape
        name = writer.placeholder(row["dtype"], shape)
        feeds[f"{name}:0"] = row
        names.append(name)
    node = writer.operation(operation, names, arguments.attrs, "result")
    fetches = tuple(f"{node}:{index}" for index in range(outputs))
    return SingleGraph(writer.graph(), feeds, fetches, contract_of(operation, arguments))


def _flat(operation: Operation, arguments: Arguments) -> Iterator[np.ndarray]:
    for arg in operation.inputs:
        value = arguments.inputs[arg.name]
        yield from value if isinstance(value, list | tuple) else (value,)


def contract_of(operation: Operation, arguments: Arguments) -> str:
    """The numeric contract of the operation for the dtypes of these arguments."""
    numeric = operation.numeric or {"*": "exact"}
    attr = operation.outputs[0].type_attr if operation.outputs else None
    dtype = arguments.attrs.get("T", arguments.attrs.get(attr or ""))
    if not isinstance(dtype, str):
        return numeric.get("*", "exact")
    return numeric.get(dtype) or numeric.get(BY_NAME[dtype].kind) or numeric.get("*", "exact")
