"""What each step of an optimizer makes of a variable and its slots, in double precision.

These are the normative rules (`spec/update_rules.md`). A function takes the numbers of the
operation by name, the gradient, the variable and the slots in the order of the operation's inputs,
and gives the new variable and slots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

__all__ = ["STEPS", "stepped"]

#: A variable, a slot or a gradient, or a row of one.
Array: TypeAlias = np.ndarray
Arrays: TypeAlias = tuple[Array, ...]
#: A number of an operation, or a flag of it.
Number: TypeAlias = complex | np.ndarray
Numbers: TypeAlias = Mapping[str, Number]


def _descent(n: Numbers, g: Array, var: Array) -> Arrays:
    return (var - n["alpha"] * g,)


def _momentum(n: Numbers, g: Array, var: Array, accum: Array) -> Arrays:
    accum = n["momentum"] * accum + g
    ahead = g + n["momentum"] * accum if n["use_nesterov"] else accum
    return var - n["lr"] * ahead, accum


def _keras_momentum(n: Numbers, g: Array, var: Array, accum: Array) -> Arrays:
    accum = n["momentum"] * accum - n["lr"] * g
    return var + (n["momentum"] * accum - n["lr"] * g if n["use_nesterov"] else accum), accum


def _rate(n: Numbers) -> Number:
    rate: Number = n["lr"] * np.sqrt(1 - n["beta2_power"]) / (1 - n["beta1_power"])
    return rate


def _adam(n: Numbers, g: Array, var: Array, m: Array, v: Array) -> Arrays:
    m = n["beta1"] * m + (1 - n["beta1"]) * g
    v = n["beta2"] * v + (1 - n["beta2"]) * g * g
    top = n["beta1"] * m + (1 - n["beta1"]) * g if n["use_nesterov"] else m
    return var - _rate(n) * top / (np.sqrt(v) + n["epsilon"]), m, v


def _amsgrad(n: Numbers, g: Array, var: Array, m: Array, v: Array, vhat: Array) -> Arrays:
    m = n["beta1"] * m + (1 - n["beta1"]) * g
    v = n["beta2"] * v + (1 - n["beta2"]) * g * g
    vhat = np.maximum(v, vhat)
    return var - _rate(n) * m / (np.sqrt(vhat) + n["epsilon"]), m, v, vhat


def _adamax(n: Numbers, g: Array, var: Array, m: Array, v: Array) -> Arrays:
    m = n["beta1"] * m + (1 - n["beta1"]) * g
    v = np.maximum(n["beta2"] * v, np.abs(g))
    return var - n["lr"] / (1 - n["beta1_power"]) * m / (v + n["epsilon"]), m, v


def _rms(n: Numbers, g: Array, var: Array, ms: Array, mom: Array) -> Arrays:
    ms = n["rho"] * ms + (1 - n["rho"]) * g * g
    mom = n["momentum"] * mom + n["lr"] * g / np.sqrt(ms + n["epsilon"])
    return var - mom, ms, mom


def _centered(n: Numbers, g: Array, var: Array, mg: Array, ms: Array, mom: Array) -> Arrays:
    ms = n["rho"] * ms + (1 - n["rho"]) * g * g
    mg = n["rho"] * mg + (1 - n["rho"]) * g
    mom = n["momentum"] * mom + n["lr"] * g / np.sqrt(ms - mg * mg + n["epsilon"])
    return var - mom, mg, ms, mom


def _adagrad(n: Numbers, g: Array, var: Array, accum: Array) -> Arrays:
    accum = accum + g * g if n["update_slots"] else accum
    return var - n["lr"] * g / (np.sqrt(accum) + n.get("epsilon", 0)), accum


def _adagrad_da(n: Numbers, g: Array, var: Array, total: Array, squares: Array) -> Arrays:
    del var  # it is set again
    total, squares, steps = total + g, squares + g * g, n["global_step"]
    shrunk = np.sign(total) * np.maximum(np.abs(total) - n["l1"] * steps, 0)
    return -n["lr"] * shrunk / (n["l2"] * steps * n["lr"] + np.sqrt(squares)), total, squares


def _adadelta(n: Numbers, g: Array, var: Array, accum: Array, moved: Array) -> Arrays:
    accum = n["rho"] * accum + (1 - n["rho"]) * g * g
    step = g * np.sqrt(moved + n["epsilon"]) / np.sqrt(accum + n["epsilon"])
    return var - n["lr"] * step, accum, n["rho"] * moved + (1 - n["rho"]) * step * step


def _ftrl(n: Numbers, g: Array, var: Array, accum: Array, linear: Array) -> Arrays:
    rate, power = n["lr"], -n["lr_power"]
    pulled = g + 2 * n.get("l2_shrinkage", 0) * var
    after = accum + g * g
    # With `multiply_linear_by_lr` the slot holds the rate times what it holds without.
    unit = rate if n["multiply_linear_by_lr"] else 1
    linear = linear + unit * (pulled - (after**power - accum**power) / rate * var)
    bare = linear / unit
    shrunk = (np.sign(bare) * n["l1"] - bare) / (after**power / rate + 2 * n["l2"])
    return np.where(np.abs(bare) > n["l1"], shrunk, 0), after, linear


def _pulled(n: Numbers, var: Array, rate: Number | Array) -> Array:
    shrunk = np.maximum(np.abs(var) - rate * n["l1"], 0)
    pulled: Array = np.sign(var) * shrunk / (1 + rate * n["l2"])
    return pulled


def _proximal(n: Numbers, g: Array, var: Array) -> Arrays:
    return (_pulled(n, var - n["alpha"] * g, n["alpha"]),)


def _proximal_adagrad(n: Numbers, g: Array, var: Array, accum: Array) -> Arrays:
    accum = accum + g * g
    rate = n["lr"] / np.sqrt(accum)
    return _pulled(n, var - rate * g, rate), accum


def _agreed(n: Numbers, g: Array, m: Array) -> Arrays:
    m = n["beta"] * m + (1 - n["beta"]) * g
    return n["sign_decay"] * np.sign(g) * np.sign(m), m


def _add_sign(n: Numbers, g: Array, var: Array, m: Array) -> Arrays:
    sign, m = _agreed(n, g, m)
    return var - n["lr"] * (n["alpha"] + sign) * g, m


def _power_sign(n: Numbers, g: Array, var: Array, m: Array) -> Arrays:
    sign, m = _agreed(n, g, m)
    return var - n["lr"] * np.exp(n["logbase"] * sign) * g, m


#: From what follows `Apply` in an op type to the step.
STEPS: Final[dict[str, Callable[..., Arrays]]] = {
    "GradientDescent": _descent,
    "Momentum": _momentum,
    "KerasMomentum": _keras_momentum,
    "Adam": _adam,
    "AdamWithAmsgrad": _amsgrad,
    "AdaMax": _adamax,
    "RMSProp": _rms,
    "CenteredRMSProp": _centered,
    "Adagrad": _adagrad,
    "AdagradV2": _adagrad,
    "AdagradDA": _adagrad_da,
    "Adadelta": _adadelta,
    "Ftrl": _ftrl,
    "FtrlV2": _ftrl,
    "ProximalGradientDescent": _proximal,
    "ProximalAdagrad": _proximal_adagrad,
    "AddSign": _add_sign,
    "PowerSign": _power_sign,
}


def stepped(
    rule: str,
    numbers: Mapping[str, np.generic | np.ndarray | complex],
    gradient: np.ndarray,
    arrays: Sequence[np.ndarray],
    rows: Sequence[int] | None,
) -> list[np.ndarray]:
    """The variable and its slots after a step, in their dtype.

    Args:
      rule: what follows `Apply` in the op type.
      numbers: the scalars and attributes of the operation by name.
      gradient: of the variable's shape, or with a row for each of `rows`.
      arrays: the variable and its slots.
      rows: which rows of them are changed, one after the other; None for all at once.

    """
    dtype = arrays[0].dtype
    wide = np.complex128 if dtype.kind == "c" else np.float64
    held = [array.astype(wide) for array in arrays]
    given = {
        name: np.asarray(x, wide)[()] if np.asarray(x).dtype == dtype else x
        for name, x in numbers.items()
    }
    gradient = gradient.astype(wide)
    if rows is None:
        held = list(STEPS[rule](given, gradient, *held))
    else:
        for index, row in enumerate(rows):
            updated = STEPS[rule](given, gradient[index], *(array[row] for array in held))
            for array, part in zip(held, updated, strict=True):
                array[row] = part
    return [np.asarray(array).astype(dtype) for array in held]
