"""Functions of tensors that are differentiated, and the points at which they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.forms import Json, JsonObject

__all__ = ["Call", "arguments_of", "contract_of"]

#: Relative and absolute tolerance of each dtype, the widest first.
_TOLERANCES: Final = {
    "float64": (1e-9, 1e-9),
    "complex128": (1e-9, 1e-9),
    "float32": (2e-4, 5e-5),
    "complex64": (2e-4, 5e-5),
    "float16": (2e-2, 2e-2),
    "bfloat16": (6e-2, 1e-1),
}
_ORDER: Final = tuple(_TOLERANCES)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of tensors in the language of cases, and where it is differentiated.

    Attributes:
      name: what is called: an operation's type, or a name of the namespace.
      function: the function from tensors to its results, as an expression.
      points: the values of the tensors at one or two points, the first where it is smooth.
      ways: how each tensor is given, as `checks.gradients` says.
      by: the numbers of the tensors that it is differentiated by.
      dtypes: the names of the floating and complex dtypes that are met.
      has_corners: whether the last point has ties, zeros and bounds.

    """

    name: str
    function: JsonObject
    points: list[list[np.ndarray]]
    ways: list[str]
    by: list[int]
    dtypes: frozenset[str]
    has_corners: bool


def arguments_of(call: Call, points: list[list[np.ndarray]] | None = None) -> dict[str, Json]:
    """The arguments of a named check that differentiates a call, at all points or at these."""
    return {
        "function": call.function,
        "points": [
            [{"$array": tensors.encode(value)} for value in point]
            for point in (call.points if points is None else points)
        ],
        "ways": call.ways,
        "by": call.by,
    }


def contract_of(dtypes: frozenset[str], order: int = 1) -> str:
    """How near first or second gradients of these dtypes must be to the oracle's.

    A gradient is a sum of products of values of about one, as many as a dimension has elements.
    Engines add them up in another order and in another precision, and where they cancel what is
    left is small beside what was added; so a gradient has an absolute tolerance beside the relative
    one, some units in the last place of its narrowest dtype. A gradient of gradients is computed by
    many operations more.
    """
    relative, absolute = _TOLERANCES[max(dtypes, key=_ORDER.index, default="float64")]
    return f"close({relative * order:g}, {absolute * order * order:g})"
