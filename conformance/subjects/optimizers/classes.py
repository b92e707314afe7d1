"""The classes by name: their arguments, their slots, and the dtypes that their steps are for."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["CLASSES", "OptimizerClass"]

_DTYPES: Final = ("float32", "float32", "float64", "float16")
_SINGLE: Final = ("float32",)

Draw = Callable[[random.Random], float | bool]


def _of(*values: float | bool) -> Draw:
    return lambda draw: draw.choice(values)


@dataclass(frozen=True, slots=True)
class OptimizerClass:
    """A class of `tf.train`.

    Attributes:
      name: its name.
      options: how its arguments but the learning rate are drawn.
      slots: the names of its slots for arguments that are drawn.
      rates: the learning rates that it is drawn with.
      dtypes: the dtypes of the variables.
      counts: whether it needs a global step, which it is made with.

    """

    name: str
    options: Mapping[str, Draw] = field(default_factory=dict)
    slots: Callable[[Mapping[str, float | bool]], Sequence[str]] = lambda _: ()
    rates: Sequence[float] = (0.125, 0.5, 1.0)
    dtypes: Sequence[str] = _DTYPES
    counts: bool = False


_RATE: Final = _of(0.5, 0.75, 0.9)
_NORM: Final = _of(0.0, 0.0, 0.125, 0.5)


#: Every class of the table.
CLASSES: Final = (
    OptimizerClass("GradientDescentOptimizer"),
    OptimizerClass(
        "MomentumOptimizer",
        {"momentum": _of(0.0, 0.5, 0.9), "use_nesterov": _of(False, True)},
        lambda _: ("momentum",),
    ),
    OptimizerClass(
        "AdamOptimizer",
        {"beta1": _RATE, "beta2": _of(0.75, 0.999), "epsilon": _of(0.0625, 0.5)},
        lambda _: ("m", "v"),
    ),
    OptimizerClass(
        "RMSPropOptimizer",
        {
            "decay": _RATE,
            "momentum": _of(0.0, 0.5),
            "epsilon": _of(0.0625, 0.5),
            "centered": _of(False, True),
        },
        lambda given: ("rms", "momentum", *(("mg",) if given["centered"] else ())),
    ),
    OptimizerClass(
        "AdagradOptimizer",
        {"initial_accumulator_value": _of(0.125, 1.0)},
        lambda _: ("accumulator",),
    ),
    OptimizerClass(
        "AdadeltaOptimizer",
        {"rho": _RATE, "epsilon": _of(0.0625, 0.5)},
        lambda _: ("accum", "accum_update"),
    ),
    OptimizerClass(
        "FtrlOptimizer",
        {
            "learning_rate_power": _of(-0.5, -0.5, -0.75),
            "initial_accumulator_value": _of(0.125, 1.0),
            "l1_regularization_strength": _NORM,
            "l2_regularization_strength": _NORM,
            "l2_shrinkage_regularization_strength": _NORM,
        },
        lambda _: ("accum", "linear"),
        dtypes=_SINGLE,
    ),
    OptimizerClass(
        "ProximalGradientDescentOptimizer",
        {"l1_regularization_strength": _NORM, "l2_regularization_strength": _NORM},
        dtypes=_SINGLE,
    ),
    OptimizerClass(
        "ProximalAdagradOptimizer",
        {
            "initial_accumulator_value": _of(0.125, 1.0),
            "l1_regularization_strength": _NORM,
            "l2_regularization_strength": _NORM,
        },
        lambda _: ("accumulator",),
        dtypes=_SINGLE,
    ),
    OptimizerClass(
        "AdagradDAOptimizer",
        {
            "initial_gradient_squared_accumulator_value": _of(0.125, 1.0),
            "l1_regularization_strength": _NORM,
            "l2_regularization_strength": _NORM,
        },
        lambda _: ("gradient_accumulator", "gradient_squared_accumulator"),
        dtypes=_SINGLE,
        counts=True,
    ),
)
