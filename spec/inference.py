"""What the profile `inference` asks of a converting engine, and what a case of it needs.

`inference.toml` has the operations, with those of their inputs that are constants in a graph that
is converted, and the dtypes. A *cell* of the table is an operation in one dtype (in a pair of them,
where an operation has two, as Cast). A backend declares for each operation the dtypes that it
computes in: a case is required of it if all its operations are declared in all their dtypes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import BY_ENUM
from sessrun.spec.loader import load_inference
from sessrun.spec.operations import AttrDecl, Operation
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["Cell", "Needs", "TableRow", "cells", "lacking", "needs_of", "table"]

#: Op type to the dtypes of its values: what a case needs, and what a backend declares.
Needs = Mapping[str, Collection[str]]

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

    @property
    def needs(self) -> Needs:
        """What a backend must declare to be asked for it."""
        return {self.row.operation.name: sorted(set(self.dtypes))}

    def operation(self) -> Operation:
        """The operation, its attributes restricted to the cell's dtypes, indices to int32."""
        chosen = dict(zip(self.row.value_attrs, self.dtypes, strict=False))
        attrs = tuple(
            replace(attr, allowed=(chosen.get(attr.name, _INDEX),))
            if attr.type == "type"
            else attr
            for attr in self.row.operation.attrs
        )
        return replace(self.row.operation, attrs=attrs)


@functools.cache
def table() -> Mapping[str, TableRow]:
    """The rows by op type, in the order of the file."""
    form = load_inference()
    return MappingProxyType(
        {
            name: _row(
                OPERATIONS[name], group, frozenset(constants),
                [d for d in form["dtypes"] if d not in form["without"].get(name, ())],
            )
            for group, rows in form["operations"].items()
            for name, constants in rows.items()
        }
    )


def _row(
    operation: Operation, group: str, constants: frozenset[str], dtypes: Collection[str]
) -> TableRow:
    attrs = _value_attrs(operation, constants)
    allowed = {dtype for attr in attrs for dtype in attr.allowed or dtypes}
    if not attrs:
        allowed = {arg.dtype for arg in operation.inputs[:1] if arg.dtype}
    values = tuple(dtype for dtype in dtypes if dtype in allowed)
    return TableRow(operation, group, constants, tuple(attr.name for attr in attrs), values)


def _value_attrs(operation: Operation, constants: Collection[str]) -> tuple[AttrDecl, ...]:
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
    return tuple(
        Cell(row, dtypes) for row in table().values() for dtypes in _combinations(row)
    )


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


def needs_of(case: Case) -> Needs:
    """The operations of the case's graphs and of their functions, with the dtypes of their values.

    Constants, placeholders, identities and no-ops are left out, and operations that no declaration
    of the spec knows.
    """
    needs: dict[str, set[str]] = {}
    for node in _nodes(case.graphs.values()):
        operation = OPERATIONS.get(node["op"])
        if operation is not None and operation.name not in _FREE:
            needs.setdefault(operation.name, set()).update(_dtypes_of(operation, node))
    return {name: sorted(dtypes) for name, dtypes in sorted(needs.items())}


def _nodes(graphs: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for graph in graphs:
        yield from graph.get("node", ())
        for function in graph.get("library", {}).get("function", ()):
            yield from function.get("nodeDef", ())


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


def lacking(needs: Needs, declared: Needs | None) -> tuple[str, str] | None:
    """The first operation that a backend does not declare, with the dtype (empty: in none at all).

    None if it declares all that is needed: with `declared` None it declares everything.
    """
    if declared is None:
        return None
    for name, dtypes in needs.items():
        if name not in declared:
            return name, ""
        missing = [dtype for dtype in dtypes if dtype not in declared[name]]
        if missing:
            return name, missing[0]
    return None
