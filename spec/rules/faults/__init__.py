"""Faults: invalid, concrete arguments of an operation, each with the error that must come of it.

A fault is a function `name(draw, *names)` like a value domain; its arguments are those that the
declaration's `errors` give. It returns a `Fault`: the arguments, the codes that a run may end with,
and what must be known for the fault to be refused while the graph is built. Faults that only the
run can tell hold on a CPU: a GPU cannot report its values. `faulty_arguments` is the entry point.
"""

from __future__ import annotations

import random

from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Draw, plain_args
from sessrun.spec.rules.faults import (
    arrays,
    bands,
    candidates,
    counting,
    ctc,
    einsum,
    elementwise,
    fourier,
    images,
    indexing,
    quantizing,
    random_numbers,
    replacing,
    rows,
    solving,
    space,
    sparse,
    sparse_arrays,
    strings,
    windows,
)
from sessrun.spec.rules.faults.base import FAULTS, Fault, valid
from sessrun.spec.rules.faults.rows import malformed_arguments

__all__ = [
    "FAULTS",
    "Fault",
    "arrays",
    "bands",
    "candidates",
    "counting",
    "ctc",
    "einsum",
    "elementwise",
    "faulty_arguments",
    "fourier",
    "images",
    "indexing",
    "malformed_arguments",
    "quantizing",
    "random_numbers",
    "replacing",
    "rows",
    "solving",
    "space",
    "sparse",
    "sparse_arrays",
    "strings",
    "windows",
]


def faulty_arguments(operation: Operation, draw: random.Random) -> dict[str, Fault]:
    """One drawing of each fault that the operation declares, by what is declared: `name(x)`.

    Their dtypes are those of valid arguments: TensorFlow declares some that it has no kernel for,
    and refuses every run of a graph with a node of such a dtype.
    """
    dtypes = _dtypes(operation, draw)
    drawn = {}
    for call in operation.errors:
        args = plain_args(call)
        said = f"{call.name}({', '.join(map(str, args))})"
        start = Draw(operation, draw)
        start.attrs |= dtypes
        drawn[said] = FAULTS[call.name](start, *args)
    return drawn


def _dtypes(operation: Operation, draw: random.Random) -> dict[str, str]:
    """The dtypes of valid arguments, by attribute; none where no domain draws any."""
    if operation.domain is None:
        return {}
    attrs = valid(Draw(operation, draw)).attrs
    types = (attr.name for attr in operation.attrs if attr.type == "type")
    return {name: attrs[name] for name in types if name in attrs}
