"""What faults are made of: faulty arguments, their codes, and how valid arguments are changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from sessrun.spec.rules.domains import DOMAINS, Arguments, Draw, plain_args

__all__ = ["FAULTS", "INVALID", "Fault", "Seen", "changed", "fault", "filled", "valid"]

#: INVALID_ARGUMENT, the code of nearly every fault.
INVALID: Final = 3

#: What must be known while the graph is built for the fault to be refused then: the inputs'
#: static shapes, their values too, or nothing helps: it is an error of the run.
Seen = Literal["shapes", "values", "run"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Invalid arguments, and what must come of them.

    Attributes:
      arguments: the arguments, of right dtypes.
      codes: the codes a run may end with when the inputs are fed to placeholders of unknown
        shape.
      seen: what lets the fault be refused while the graph is built.

    """

    arguments: Arguments
    codes: tuple[int, ...] = (INVALID,)
    seen: Seen = "shapes"


FaultFunction = Callable[..., Fault]

FAULTS: Final[dict[str, FaultFunction]] = {}


def fault(function: FaultFunction) -> FaultFunction:
    """Register a fault under its name."""
    name = function.__name__
    if name in FAULTS:
        raise ValueError(f"two faults are called {name}")
    FAULTS[name] = function
    return function


def valid(draw: Draw, **dtypes: str) -> Arguments:
    """Valid arguments of the operation, some of whose dtypes are given."""
    draw.attrs.update(dtypes)
    call = draw.operation.domain
    assert call is not None
    return DOMAINS[call.name](draw, *plain_args(call))


def filled(draw: Draw) -> Arguments:
    """Valid arguments of which none is empty."""
    while True:
        arguments = valid(draw)
        if all(np.size(value) for value in arguments.inputs.values()):
            return arguments


def changed(draw: Draw, valid: Arguments, seen: Seen = "shapes", **inputs: Any) -> Fault:
    """The fault of valid arguments of which some inputs are replaced."""
    draw.attrs.update(valid.attrs)
    return Fault(draw.arguments(**{**valid.inputs, **inputs}), seen=seen)
