"""A table of operations whose entries are built when first asked for, so that import is quick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sessrun.spec.operations import Operation, older_form, parse_operation

__all__ = ["OperationTable", "older", "row"]


def row(summary: str, signature: str, attrs: str, shape: str, **others: Any) -> Mapping[str, Any]:
    """The declaration of an operation in `spec/ops/*.toml`, in a compact form.

    Args:
      summary: one sentence.
      signature: `x: T, y: T -> z: T`, the inputs and outputs.
      attrs: `T: type; N: int >= 1`, the attributes.
      shape: the rule of the outputs' shapes.
      others: the other keys of the declaration.

    """
    return {"summary": summary, "signature": signature, "attrs": attrs, "shape": shape, **others}


def older(newer: str) -> Mapping[str, Any]:
    """The row of an older form of an operation; the row of `newer` has the differences."""
    return {"newer": newer}


class OperationTable(Mapping[str, Operation]):
    """Op type to Operation, read only.

    Building every entry takes about 70 ms, building the few that a program uses takes none.
    Two threads may build one entry at once; the entries are equal, and one of them is kept.
    """

    __slots__ = ("_built", "_rows")

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        self._rows = rows
        self._built: dict[str, Operation] = {}

    def __getitem__(self, name: str) -> Operation:
        try:
            return self._built[name]
        except KeyError:
            return self._built.setdefault(name, self._read(name))

    def _read(self, name: str) -> Operation:
        """Build an operation from its row, or an older form from the row of its newer form."""
        row = self._rows[name]
        if "newer" not in row:
            return parse_operation(name, _stated(row), "spec/tables/ops.py")
        newer = row["newer"]
        stated = self._rows[newer]
        return older_form(
            self[newer], name, stated.get("older_until", 0), shape=stated.get("older_shape")
        )

    def public_names(self) -> Mapping[str, str]:
        """The op type by public name, such as `math.add`; the declarations have these names."""
        rows = self._rows.items()
        return {name: op_type for op_type, row in rows for name in row.get("python", ())}

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _stated(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row in the form of `spec/ops/*.toml`."""
    inputs, outputs = row["signature"].split("->")
    return {
        **row,
        "inputs": [text for text in inputs.split(",") if text.strip()],
        "outputs": [text for text in outputs.split(",") if text.strip()],
        "attrs": row["attrs"].split("; ") if row["attrs"] else [],
    }
