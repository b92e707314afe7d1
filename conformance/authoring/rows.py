"""Records tables of operations on chosen arguments: each row is a node of one graph.

    @engine_case("OPERATIONS-004", title="Sums of integers wrap around.")
    def integer_sums_wrap_around(c: EngineAuthor) -> None:
        rows = Rows(c)
        rows.add("AddV2", np.int8([127, -128]), np.int8([1, -1]))
        rows.refuse("FloorDiv", np.int32([1]), np.int32([0]), codes=[3])
        rows.run()

Inputs are fed to placeholders of unknown shape, so that no graph optimizer computes a row. The
wanted values are the oracle's own, asked for while the case is recorded, under the operation's
numeric contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sessrun.conformance.authoring.engine_author import EngineAuthor
from sessrun.conformance.authoring.forms import ArrayOrScalar, near
from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.generators.single import contract_of
from sessrun.spec import tensors
from sessrun.spec.cases.model import canonical_json
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array
from sessrun.spec.dtypes import row_of_numpy
from sessrun.spec.forms import JsonObject
from sessrun.spec.operations import ArgDecl, Operation
from sessrun.spec.rules.domains import Arguments
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["Rows"]


#: An input of an operation: a tensor, or a list of tensors.
Input: TypeAlias = "ArrayLike | ArrayOrScalar | Sequence[ArrayLike | ArrayOrScalar]"

#: The value of an attribute; a dtype is given by its name.
Attribute: TypeAlias = "bool | int | float | str | bytes | np.ndarray | Sequence[Attribute] | None"


@dataclass(slots=True)
class Rows:
    """Rows of one case: operations, their fed inputs, and the contracts of their outputs.

    Attributes:
      author: the case that is recorded.
      contract: the contract of all outputs, such as `signed`; by default the operations' own.

    """

    author: EngineAuthor
    contract: str | None = None
    _writer: GraphWriter = field(default_factory=GraphWriter)
    _names: dict[bytes, str] = field(default_factory=dict)
    _feeds: dict[str, np.ndarray] = field(default_factory=dict)
    _fetches: list[str] = field(default_factory=list)
    _contracts: list[str] = field(default_factory=list)
    _refused: list[tuple[str, dict[str, np.ndarray], list[int]]] = field(default_factory=list)

    def add(self, op: str, *inputs: Input, **attrs: Attribute) -> None:
        """A row: the operation on these inputs, a list where it takes several tensors.

        Dtypes and numbers of tensors are read off the inputs; other attributes not given have
        their defaults.
        """
        operation = OPERATIONS[op]
        given = _arguments(operation, inputs, attrs)
        node = self._node(operation, given, self._feeds)
        contract = self.contract or contract_of(operation, given)
        for index in range(_count(operation, given)):
            self._fetches.append(f"{node}:{index}")
            self._contracts.append(contract if isinstance(contract, str) else contract[index])

    def refuse(
        self,
        op: str,
        *inputs: Input,
        codes: list[int],
        device: str = "",
        **attrs: Attribute,
    ) -> None:
        """A row that must fail with one of the codes, in a run of its own, perhaps on a device."""
        operation = OPERATIONS[op]
        feeds: dict[str, np.ndarray] = {}
        node = self._node(operation, _arguments(operation, inputs, attrs), feeds)
        if device:
            self._writer.put_on(node, device)
        self._refused.append((node if not operation.outputs else f"{node}:0", feeds, codes))

    def run(self) -> None:
        """Record the graph of all rows, one run that fetches all values, and the refused runs."""
        graph = self._writer.graph()
        self.author.graph_json(graph)
        session = self.author.open()
        if self._fetches:
            values = _asked(self.author.namespace, graph, self._fetches, self._feeds)
            wanted = [
                near(_array(value), contract)
                for value, contract in zip(values, self._contracts, strict=True)
            ]
            session.run(self._fetches, self._feeds, values=wanted)
        for fetch, feeds, codes in self._refused:
            session.run([fetch], feeds, error=codes)
        session.close()

    def _node(self, operation: Operation, given: Arguments, feeds: dict[str, np.ndarray]) -> str:
        inputs = []
        for arg in operation.inputs:
            value = given.inputs[arg.name]
            for part in value if isinstance(value, list) else [value]:
                name = self._placeholder(part)
                feeds[f"{name}:0"] = part
                inputs.append(name)
        return self._writer.operation(operation, inputs, given.attrs)

    def _placeholder(self, value: np.ndarray) -> str:
        """The placeholder of a value: rows that have an input in common share it."""
        key = canonical_json(tensors.encode(value))
        if key not in self._names:
            self._names[key] = self._writer.placeholder(_dtype(value), None)
        return self._names[key]


def _arguments(
    operation: Operation, inputs: Sequence[Input], attrs: Mapping[str, Attribute]
) -> Arguments:
    known = {attr.name: attr.default for attr in operation.attrs if attr.has_default}
    arrays: dict[str, np.ndarray | list[np.ndarray]] = {}
    for arg, value in zip(operation.inputs, inputs, strict=True):
        arrays[arg.name] = (
            [_array(part) for part in value] if isinstance(value, list) else _array(value)
        )
        known.update(_inferred_attrs(arg, arrays[arg.name]))
    return Arguments(arrays, {**known, **attrs})


def _array(value: Input) -> np.ndarray:
    """The tensor of a value; a `bytes` object keeps its final NULs, which numpy's would drop."""
    if not isinstance(value, bytes):
        return np.asarray(value)
    array = np.empty((), dtype=object)
    array[()] = value
    return array


def _inferred_attrs(arg: ArgDecl, value: np.ndarray | list[np.ndarray]) -> dict[str, Attribute]:
    """The attributes of the operation that follow from an input: dtypes and numbers of tensors."""
    attrs: dict[str, Attribute] = {}
    parts = value if isinstance(value, list) else [value]
    if arg.type_attr is not None:
        attrs[arg.type_attr] = _dtype(parts[0])
    if arg.number_attr is not None:
        attrs[arg.number_attr] = len(parts)
    if arg.type_list_attr is not None:
        attrs[arg.type_list_attr] = [_dtype(part) for part in parts]
    return attrs


def _dtype(array: np.ndarray) -> str:
    row = row_of_numpy(array.dtype)
    if row is None:
        raise tensors.TensorError(f"no tensor dtype holds numpy dtype {array.dtype}")
    return row.name


def _count(operation: Operation, given: Arguments) -> int:
    """How many tensors the operation gives."""
    return sum(arg.count(given.attrs) for arg in operation.outputs)


def _asked(
    namespace: Namespace, graph: JsonObject, fetches: list[str], feeds: dict[str, np.ndarray]
) -> list[Array]:
    """The values that the oracle's namespace computes."""
    from google.protobuf import json_format  # noqa: PLC0415 - only while freezing

    definition = json_format.ParseDict(dict(graph), namespace.GraphDef())
    with namespace.Graph().as_default() as loaded:
        namespace.import_graph_def(definition, name="")
        with namespace.Session(graph=loaded) as session:
            values: list[Array] = session.run(fetches, feeds)
    return values
