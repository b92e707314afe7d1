"""What the profile `inference` asks of a converting engine, and what a backend declares of it.

`inference.toml` has the operations, with those of their inputs that are constants in a graph that
is converted, and the dtypes. A *cell* of the table is an operation in one dtype (in a pair of them,
where an operation has two, as Cast). A backend declares for each operation the dtypes that it
computes in: a case is required of it if all its operations are declared in all their dtypes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import BY_ENUM
from sessrun.spec.loader import load_clauses, load_inference, load_profiles
from sessrun.spec.operations import AttrDecl, Operation
from sessrun.spec.releases import Release, bodies, newest_release
from sessrun.spec.tables.ops import OPERATIONS

__all__ = [
    "DECLARATION",
    "Cell",
    "Demand",
    "Offer",
    "TableRow",
    "cells",
    "contract_in",
    "demand_of",
    "demand_of_graphs",
    "is_audited",
    "is_probe",
    "structural_inputs",
    "table",
    "value_attrs",
]

#: Op type to the dtypes of its values: what a case needs, or what a backend declares.
Dtypes = Mapping[str, Collection[str]]
#: The clause that what is declared is computed, and nothing else.
DECLARATION: Final = "INFERENCE-002"
#: Operations that no backend declares: every one has them.
_FREE: Final = frozenset({"Const", "Identity", "NoOp", "Placeholder"})
#: What the dtypes of indices, sizes and permutations are chosen of.
_INDEX_DTYPES: Final = frozenset({"int8", "uint8", "int16", "uint16", "int32", "int64"})
#: Operations of which one dtype decides the other.
_COMPLEX: Final = (("complex64", "float32"),)
_BOUND: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "Complex": (("float32", "complex64"),),
    "FusedBatchNormV3": tuple((t, "float32") for t in ("float32", "float16", "bfloat16")),
    "Imag": _COMPLEX,
    "Real": _COMPLEX,
}
#: Attributes that no case has: Equal gives a value of shapes that do not fit, for Python's sake.
_LEFT_OUT: Final = frozenset({"incompatible_shape_error"})
#: The dtype of indices, sizes and permutations in every case.
_INDEX: Final = "int32"


@dataclass(frozen=True, slots=True)
class TableRow:
    """An operation of the table.

    Attributes:
      operation: its declaration.
      group: the part of the table that it stands in.
      constants: names of the inputs that are constants.
      value_attrs: names of the attributes that give the dtypes of its values, not of indices.
      dtypes: the dtypes of the table that its values may have.

    """

    operation: Operation
    group: str
    constants: frozenset[str]
    value_attrs: tuple[str, ...]
    dtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """An operation with a dtype for each attribute of its values.

    Attributes:
      row: the operation's row.
      dtypes: the dtypes, in the order of the row's `value_attrs`; the operation's only dtype where
        it has no such attribute.

    """

    row: TableRow
    dtypes: tuple[str, ...]

    def operation(self) -> Operation:
        """The operation, its attributes restricted to the cell's dtypes, indices to int32."""
        chosen = dict(zip(self.row.value_attrs, self.dtypes, strict=False))
        attrs = tuple(
            replace(attr, allowed=(chosen.get(attr.name, _INDEX),)) if attr.type == "type" else attr
            for attr in self.row.operation.attrs
            if attr.name not in _LEFT_OUT
        )
        return replace(self.row.operation, attrs=attrs)


#: How near a float must be where an operation's contract asks for its last digits: converted graphs
#: are computed by approximations that are good to some digits, and in another order.
_NEAR: Final[Mapping[str, str]] = {
    "bfloat16": "close(2e-2, 1e-2)",
    "float16": "close(2e-3, 1e-3)",
    "float32": "close(1e-5, 1e-6)",
    "float64": "close(1e-12, 1e-13)",
    "complex64": "close(1e-5, 1e-6)",
}


def contract_in(contract: str, dtype: str) -> str:
    """The contract of an operation's output as the profile has it, its values in the dtype."""
    asks_last_digits = contract.startswith(("ulp(", "exact"))
    return _NEAR.get(dtype, contract) if asks_last_digits else contract


@functools.cache
def table() -> Mapping[str, TableRow]:
    """The rows by op type, in the order of the file."""
    form = load_inference()
    return MappingProxyType(
        {
            name: _row(
                OPERATIONS[name],
                group,
                frozenset(constants),
                [d for d in form["dtypes"] if d not in form["without"].get(name, ())],
            )
            for group, rows in form["operations"].items()
            for name, constants in rows.items()
        }
    )


def _row(
    operation: Operation, group: str, constants: frozenset[str], dtypes: Collection[str]
) -> TableRow:
    attrs = value_attrs(operation, constants)
    allowed = {dtype for attr in attrs for dtype in attr.allowed or dtypes}
    if not attrs:
        allowed = {arg.dtype for arg in operation.inputs[:1] if arg.dtype}
    values = tuple(dtype for dtype in dtypes if dtype in allowed)
    return TableRow(operation, group, constants, tuple(attr.name for attr in attrs), values)


def value_attrs(operation: Operation, constants: Collection[str]) -> tuple[AttrDecl, ...]:
    """The attributes that give the dtypes of values.

    Left out are those of constant inputs alone, and beside another one those of indices.
    """
    types = [attr for attr in operation.attrs if attr.type == "type"]
    variable = [arg for arg in operation.inputs if arg.name not in constants]
    of_values = {arg.type_attr for arg in (*variable, *operation.outputs)}
    used = [attr for attr in types if attr.name in of_values]
    wide = [attr for attr in used if not (attr.allowed and _INDEX_DTYPES.issuperset(attr.allowed))]
    return tuple(wide if len(types) > 1 and wide else used)


@functools.cache
def cells() -> tuple[Cell, ...]:
    """Every cell of the table, row by row."""
    return tuple(Cell(row, dtypes) for row in table().values() for dtypes in _combinations(row))


def _combinations(row: TableRow) -> Iterator[tuple[str, ...]]:
    attrs = {attr.name: attr for attr in row.operation.attrs}
    if not row.value_attrs:
        yield row.dtypes
        return
    choices = [
        [dtype for dtype in row.dtypes if dtype in (attrs[name].allowed or row.dtypes)]
        for name in row.value_attrs
    ]
    for dtypes in itertools.product(*choices):
        if row.operation.name not in _BOUND or dtypes in _BOUND[row.operation.name]:
            yield dtypes


@dataclass(frozen=True, slots=True)
class Demand:
    """What a case of the profile needs of a backend.

    Attributes:
      operations: its operations, each with the dtypes of its values, sorted.
      capabilities: `control_inputs` if a node has one, `fed_structure` if a structural input is
        fed.

    """

    operations: Dtypes
    capabilities: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Demand:
        """Read the JSON form."""
        return cls(form["operations"], tuple(form["capabilities"]))

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        operations = {name: list(dtypes) for name, dtypes in self.operations.items()}
        return {"operations": operations, "capabilities": list(self.capabilities)}


@dataclass(frozen=True, slots=True)
class Offer:
    """What a backend declares.

    Attributes:
      capabilities: its capabilities.
      operations: its operations, each with the dtypes of its values; None for all there are.
      release: the release of TensorFlow that it is of.

    """

    capabilities: Collection[str]
    operations: Dtypes | None = None
    release: Release = field(default_factory=newest_release)

    @classmethod
    def of_header(cls, header: Mapping[str, Any]) -> Offer:
        """What the backend of a run record declared."""
        backend = header["backend"]
        release = Release.of_details(backend.get("details", {}))
        return cls(frozenset(backend["capabilities"]), backend.get("operations"), release)

    def lacks(self, demand: Demand | None) -> str:
        """What of a demand is not declared, in words; empty if nothing is lacking."""
        if demand is None or self.operations is None:
            return ""
        for name in demand.capabilities:
            if name not in self.capabilities:
                return f"capability {name}"
        for name, dtypes in demand.operations.items():
            if name not in self.operations:
                return f"operation {name}"
            missing = [dtype for dtype in dtypes if dtype not in self.operations[name]]
            if missing:
                return f"operation {name} of {missing[0]}"
        return ""


@functools.cache
def _judged_clauses() -> frozenset[str]:
    """The clauses of profiles that ask for what is declared."""
    declared = {name for name, profile in load_profiles().items() if profile.declared}
    return frozenset(id_ for id_, c in load_clauses().items() if c.profile in declared)


def demand_of(case: Case) -> Demand | None:
    """What the graphs of a case need; None if it is no case of the profile."""
    if _judged_clauses().isdisjoint(case.clauses):
        return None
    return demand_of_graphs(case.graphs.values())


def demand_of_graphs(graphs: Iterable[Mapping[str, Any]]) -> Demand:
    """What graphs need: the operations of their nodes and functions.

    Constants, placeholders, identities and no-ops are left out: every engine has them. So are
    control inputs of constants, which put them into a branch or a loop.

    Args:
      graphs: GraphDefs in protobuf's JSON mapping, dtypes by number.

    """
    operations: dict[str, set[str]] = {}
    capabilities: set[str] = set()
    for nodes in bodies(graphs):
        constants = {node["name"] for node in nodes if node["op"] == "Const"}
        for node in nodes:
            operation = OPERATIONS.get(node["op"])
            if operation is not None and operation.name not in _FREE:
                operations.setdefault(operation.name, set()).update(_dtypes_of(operation, node))
                if not constants.issuperset(structural_inputs(node["op"], node.get("input", ()))):
                    capabilities.add("fed_structure")
            if node["op"] != "Const" and any(name[0] == "^" for name in node.get("input", ())):
                capabilities.add("control_inputs")
    dtypes = {name: tuple(sorted(operations[name])) for name in sorted(operations)}
    return Demand(dtypes, tuple(sorted(capabilities)))


#: Of so many cases that need what is not declared, one is asked all the same.
_AUDITED: Final = 10


def is_audited(case_hash: str) -> bool:
    """Whether a case that needs what is not declared is asked, to see that it is refused.

    Args:
      case_hash: SHA-256 of its content, which no backend sees.

    """
    return int(case_hash[:8], 16) % _AUDITED == 0


def is_probe(case: Case, lacks: str) -> bool:
    """Whether a case that needs what is not declared is asked, to see that it is refused.

    So are one in ten, all that need a capability alone, and one cell of each operation: in its
    first dtype.

    Args:
      case: the case.
      lacks: what is not declared, as `Offer.lacks` says it.

    """
    if is_audited(case.hash) or lacks.startswith("capability"):
        return True
    demand = demand_of(case)
    if demand is None or len(demand.operations) != 1:
        return False
    ((name, dtypes),) = demand.operations.items()
    return name in table() and tuple(dtypes) == _first_dtypes(name)


@functools.cache
def _first_dtypes(operation: str) -> tuple[str, ...]:
    """The dtypes of the first cell of an operation, sorted."""
    first = next(cell for cell in cells() if cell.row.operation.name == operation)
    return tuple(sorted(set(first.dtypes)))


def structural_inputs(op_type: str, inputs: Iterable[str]) -> Iterator[str]:
    """Names of the operations that give a node's axes, shapes, permutations and the like.

    A list of tensors, as the values of ConcatV2, is the only input of its operation that stands
    for several: those behind it are counted from the end.

    Args:
      op_type: the node's operation.
      inputs: its inputs as a NodeDef has them.

    """
    row = table().get(op_type)
    if row is None:
        return
    names = [name.partition(":")[0] for name in inputs if not name.startswith("^")]
    args = row.operation.inputs
    lists = [n for n, arg in enumerate(args) if arg.number_attr or arg.type_list_attr]
    for index, arg in enumerate(args):
        if arg.name in row.constants:
            yield names[index - len(args) if lists and index > lists[0] else index]


def _dtypes_of(operation: Operation, node: Mapping[str, Any]) -> Iterator[str]:
    """The dtypes of a node's values."""
    row = table().get(operation.name)
    if row is not None and not row.value_attrs:
        yield from row.dtypes
        return
    names = row.value_attrs if row is not None else [a.name for a in operation.attrs]
    for name in names:
        value = node.get("attr", {}).get(name, {})
        listed = value.get("list", {}).get("type", ())
        for enum in (*([value["type"]] if "type" in value else ()), *listed):
            yield BY_ENUM[enum].name
