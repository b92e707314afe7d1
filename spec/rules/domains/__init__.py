"""Value domains: valid, concrete arguments of an operation, drawn at random.

A domain is a function `name(draw, *names)`: `draw` is the `Draw` (dtypes and defaults are drawn
already), the names are those that the declaration's `domain` gives, inputs and attributes by their
names, literals as themselves. It returns `Arguments`. Ranks go from 0 to 5; empty tensors,
broadcast shapes and special values are among what is drawn; what is undefined is never drawn, and
each function says what it leaves out. `arguments` is the entry point: a pure function of the
operation and the state of the `random.Random`.
"""

from __future__ import annotations

import random

from sessrun.spec.operations import Name, Operation, RuleArg, RuleCall
from sessrun.spec.rules.domains import (
    arrays,
    bands,
    candidates,
    counting,
    ctc,
    einsum,
    elementwise,
    files,
    fourier,
    fractional,
    images,
    indexing,
    jpegs,
    matrices,
    nn,
    padded_windows,
    patterns,
    quantizing,
    random_numbers,
    records,
    recurrent,
    reductions,
    replacing,
    sampling,
    sets,
    slices,
    solving,
    space,
    sparse,
    sparse_arrays,
    sparse_math,
    sparse_segments,
    special,
    strings,
    windows,
)
from sessrun.spec.rules.domains.base import DOMAINS, ORDINARY, Arguments, Draw

__all__ = [
    "DOMAINS",
    "ORDINARY",
    "Arguments",
    "Draw",
    "arguments",
    "arrays",
    "bands",
    "candidates",
    "counting",
    "ctc",
    "einsum",
    "elementwise",
    "files",
    "fourier",
    "fractional",
    "images",
    "indexing",
    "jpegs",
    "matrices",
    "nn",
    "padded_windows",
    "patterns",
    "plain_args",
    "quantizing",
    "random_numbers",
    "records",
    "recurrent",
    "reductions",
    "replacing",
    "sampling",
    "sets",
    "slices",
    "solving",
    "space",
    "sparse",
    "sparse_arrays",
    "sparse_math",
    "sparse_segments",
    "special",
    "strings",
    "windows",
]


def arguments(operation: Operation, draw: random.Random) -> Arguments:
    """Valid arguments of an operation.

    Raises:
      ValueError: the operation declares no domain.

    """
    if operation.domain is None:
        raise ValueError(f"{operation.name} declares no value domain")
    call = operation.domain
    return DOMAINS[call.name](Draw(operation, draw), *plain_args(call))


def plain_args(call: RuleCall) -> list[object]:
    """The arguments of a rule as a domain or a fault takes them: names as strings."""
    return [_plain(arg) for arg in call.args]


def _plain(arg: RuleArg) -> object:
    return arg.text if isinstance(arg, Name) else arg
