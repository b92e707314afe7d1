"""Graphs of one declared operation: its inputs are placeholders or constants."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.spec import tensors
from sessrun.spec.definitions import DEFINITIONS
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import JsonObject
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments

__all__ = ["KINDS", "OF_KNOWN_RANK", "SingleGraph", "contract_of", "single_graph", "unknown_shape"]

#: How an input is given: a placeholder of unknown shape, one of its shape, a constant.
KINDS: Final = ("unknown", "shape", "constant")
#: Operations whose valid arguments TensorFlow 2.21 refuses while building if it knows some of
#: their shapes or values and not the others (docs/findings/tensorflow.md): all or none are known.
_ALL_OR_NONE: Final = frozenset({"SplitV", "Substr"})
#: Operations that TensorFlow refuses while building if it does not know how many blocks or paddings
#: there are: where nothing is to be known, the shapes of indices are, and the rank of the rest.
OF_KNOWN_RANK: Final = frozenset(
    {
        "BatchToSpaceND",
        "FusedPadConv2D",
        "FusedResizeAndPadConv2D",
        "SpaceToBatchND",
    }
)


@dataclass(frozen=True, slots=True)
class SingleGraph:
    """A graph of one operation.

    Attributes:
      graph: the GraphDef.
      feeds: of its placeholders.
      fetches: the names of its outputs.
      contract: how near its values must come to what is wanted, or that of each output.
      is_defined: whether the operation has an executable definition.

    """

    graph: dict[str, Any]
    feeds: dict[str, JsonObject]
    fetches: tuple[str, ...]
    contract: str | list[str]
    is_defined: bool


def single_graph(
    operation: Operation,
    arguments: Arguments,
    draw: random.Random,
    outputs: int,
    kinds: Sequence[str] | Mapping[str, Sequence[str]] = KINDS,
    writer: GraphWriter | None = None,
    name: str = "result",
) -> SingleGraph:
    """A graph that applies the operation to the arguments.

    Each input is a placeholder of unknown shape, one of its own shape, or a constant: the shape
    inference of a backend sees all three.

    Args:
      operation: the operation, without references and resources.
      arguments: its arguments.
      draw: chooses between placeholder and constant.
      outputs: how many tensors it gives.
      kinds: how inputs may be given, of `KINDS`; or that of each input by its name.
      writer: holds what other nodes the graph has; the graph of this one alone if None.
      name: the operation's node.

    """
    writer = writer or GraphWriter()
    feeds: dict[str, JsonObject] = {}
    names = []
    kind_of = _drawing(operation, kinds, draw)
    for arg, value in _flat(operation, arguments):
        kind = kind_of(arg)
        if kind == "constant":
            names.append(writer.constant(value))
            continue
        row = tensors.encode(value)
        shape = unknown_shape(operation, value) if kind == "unknown" else value.shape
        placeholder = writer.placeholder(row["dtype"], shape)
        feeds[f"{placeholder}:0"] = row
        names.append(placeholder)
    node = writer.operation(operation, names, arguments.attrs, name)
    fetches = tuple(f"{node}:{index}" for index in range(outputs))
    graph = writer.graph()
    if operation.until:
        graph["versions"]["producer"] = operation.until - 1
    contract = contract_of(operation, arguments)
    return SingleGraph(graph, feeds, fetches, contract, operation.name in DEFINITIONS)


def _drawing(
    operation: Operation, kinds: Sequence[str] | Mapping[str, Sequence[str]], draw: random.Random
) -> Callable[[str], str]:
    """A function from the name of an input to its kind: placeholder or constant."""
    if isinstance(kinds, Mapping):
        return lambda arg: draw.choice(kinds[arg])
    together = draw.choice(kinds)
    return lambda _: together if operation.name in _ALL_OR_NONE else draw.choice(kinds)


def unknown_shape(operation: Operation, value: np.ndarray) -> tuple[int | None, ...] | None:
    """The shape of a placeholder that declares no more than the operation must know of it."""
    if operation.name not in OF_KNOWN_RANK:
        return None
    is_index = value.dtype.kind == "i" and value.ndim <= 2
    return value.shape if is_index else (None,) * value.ndim


def _flat(operation: Operation, arguments: Arguments) -> Iterator[tuple[str, np.ndarray]]:
    """Each tensor that the operation is given, with the name of its input."""
    for arg in operation.inputs:
        value = arguments.inputs[arg.name]
        for tensor in value if isinstance(value, list | tuple) else (value,):
            yield arg.name, tensor


def contract_of(operation: Operation, arguments: Arguments) -> str | list[str]:
    """The numeric contract of the operation for these arguments, or that of each output."""
    attrs = arguments.attrs
    contracts = []
    for output in operation.outputs:
        dtype: Any = output.dtype or attrs.get(output.type_attr or "")
        has_its_own = any(key.startswith(f"{output.name}.") for key in operation.numeric or {})
        # Of a list of dtypes no contract is looked up. What is computed in T is held to T's, unless
        # that is no dtype of numbers that are computed with: that of a shape.
        if not output.dtype and not has_its_own and not _is_of_shape(attrs.get("T"), dtype):
            dtype = attrs.get("T", dtype)
        is_one = isinstance(dtype, str)
        contract = operation.contract(dtype, output.name) if is_one else _of_any(operation)
        contracts += [contract] * output.count(attrs)
    return contracts if len(set(contracts)) > 1 else contracts[0] if contracts else "exact"


def _is_of_shape(dtype: Any, output: Any) -> bool:
    """Whether `dtype` is an integer dtype, such as that of a shape, and the output is of floats."""
    if not isinstance(dtype, str) or not isinstance(output, str):
        return False
    return BY_NAME[dtype].kind == "int" and BY_NAME[output].kind in {"float", "complex"}


def _of_any(operation: Operation) -> str:
    return (operation.numeric or {}).get("*", "exact")
