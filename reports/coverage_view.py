"""The matrix of operations and dtypes as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessrun.reports.coverage import CELL_STATES, CellState, Coverage
from sessrun.reports.printable import printable
from sessrun.spec.inference import table
from sessrun.spec.loader import load_inference

__all__ = ["coverage_view"]

#: Style class and mark of a cell's state.
_MARKS: Final[Mapping[CellState, tuple[str, str]]] = {
    "right": ("good", "✓"),
    "wrong": ("bad", "✗"),
    "not answered": ("open", "?"),
    "not refused": ("bad", "!"),
    "not declared": ("idle", "·"),
}


def coverage_view(coverage: Coverage | None) -> dict[str, Any] | None:
    """What the template of the matrix needs; None where there is no coverage."""
    if coverage is None:
        return None
    dtypes = load_inference()["dtypes"]
    groups: dict[str, list[dict[str, Any]]] = {}
    for name, row in coverage.rows.items():
        cells = [_cell(dtype, row[dtype]) if dtype in row else None for dtype in dtypes]
        group = table()[name].group if name in table() else "of another version of the spec"
        groups.setdefault(group, []).append({"name": printable(name), "cells": cells})
    return {
        "words": coverage.words,
        "dtypes": dtypes,
        "legend": [
            {
                "style": _MARKS[state][0],
                "mark": _MARKS[state][1],
                "words": state,
                "count": coverage.count(state),
            }
            for state in CELL_STATES
        ],
        "groups": [{"name": name, "rows": rows} for name, rows in groups.items()],
    }


def _cell(dtype: str, state: CellState) -> dict[str, str]:
    style, mark = _MARKS[state]
    return {"dtype": dtype, "style": style, "mark": mark, "words": state}
