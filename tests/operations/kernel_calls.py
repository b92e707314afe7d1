"""Calls of kernels on concrete arguments, without a graph and a session."""

from __future__ import annotations

from typing import Any

import numpy as np
from operation_oracle import as_array, flat

from sessrun.reference.kernels.registry import Bind, Node, lookup
from sessrun.reference.state.resources import ResourceStore
from sessrun.spec.dtypes import row_of_numpy
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments
from sessrun.spec.rules.numeric import difference


def bound(operation: Operation, attrs: Any, xp: Any = np, device: str = "CPU") -> Any:
    """The operation's kernel, bound."""
    entry = lookup(operation.name, device)
    assert entry is not None
    seeds = (attrs.get("seed", 0), attrs.get("seed2", 0))
    node = Node("node", operation.name)
    return entry.bind(Bind(xp, attrs, node, f"/device:{device}:0", ResourceStore(), seeds))


def computed(operation: Operation, case: Arguments) -> list[Any]:
    """The kernel's outputs."""
    with np.errstate(all="ignore"):
        result = bound(operation, case.attrs)(*flat(operation, case))
    return list(result) if isinstance(result, tuple) else [] if result is None else [result]


def mismatch(operation: Operation, want: list[Any], got: list[Any]) -> str | None:
    """Why what a kernel computed is not what was wanted; None if it is."""
    if len(want) != len(got):
        return f"{len(got)} outputs, want {len(want)}"
    names = [arg.name for arg in operation.outputs]
    for place, (its, mine) in enumerate(zip(map(as_array, want), map(as_array, got), strict=True)):
        if its.dtype != mine.dtype or its.shape != mine.shape:
            return f"{mine.dtype}{mine.shape}, want {its.dtype}{its.shape}"
        row = row_of_numpy(its.dtype)
        assert row is not None
        name = names[min(place, len(names) - 1)]
        found = difference(operation.contract(row.name, name), its, mine)
        if found is not None:
            return found
    return None
