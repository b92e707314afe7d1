"""Kernels of special functions of one argument: error functions, Bessel functions, integrals.

16-bit floats are computed in float32. Where scipy and TensorFlow differ outside of a function's
domain, the values are TensorFlow's.

Scipy computes float32 in float64, element by element, where TensorFlow has float32 polynomials for
vector instructions: measured, Erfc takes 5 times as long as there, I0, I0e, I1 and I1e 9, K0 and K1
6, Digamma 10, Expint 10 to 22 (in float64 8: scipy's is a series). In float64 all the others are as
fast or faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.reference.kernels.scientific import special_functions

#: Operations that are one function of scipy.
_DIRECT: Final = {
    "BesselI0": "i0",
    "BesselI0e": "i0e",
    "BesselI1": "i1",
    "BesselI1e": "i1e",
    "BesselJ0": "j0",
    "BesselJ1": "j1",
    "Erf": "erf",
    "Erfc": "erfc",
    "Erfinv": "erfinv",
    "Lgamma": "gammaln",
    "Ndtri": "ndtri",
}
#: Functions that cupy lacks.
_OF_HOSTS: Final = {"Dawsn": "dawsn", "Spence": "spence"}
#: Functions of positive numbers, and their value below 0.
_OF_POSITIVE: Final = {
    "BesselK0": ("k0", "inf"),
    "BesselK0e": ("k0e", "inf"),
    "BesselK1": ("k1", "inf"),
    "BesselK1e": ("k1e", "inf"),
    "BesselY0": ("y0", "-inf"),
    "BesselY1": ("y1", "-inf"),
    "Expint": ("expi", "nan"),
}

Function = Callable[[Array], Array]


def _rounded(function: Function) -> Function:
    """The function for all float dtypes, with the result in the dtype of the argument."""

    def compute(x: Array) -> Array:
        if x.dtype.itemsize == 2:
            return function(x.astype("float32")).astype(x.dtype)
        return function(x)

    return compute


def _direct(name: str) -> Callable[[Bind], Function]:
    return lambda bind: _rounded(getattr(special_functions(bind.xp), name))


def _of_positive(name: str, below: str) -> Callable[[Bind], Function]:
    def bind(bind: Bind) -> Function:
        xp, function = bind.xp, getattr(special_functions(bind.xp), name)
        return _rounded(
            lambda x: xp.where(x < 0, xp.asarray(float(below), dtype=x.dtype), function(x))
        )

    return bind


for _op, _name in _DIRECT.items():
    binder(_op)(_direct(_name))
for _op, _name in _OF_HOSTS.items():
    binder(_op, devices=("CPU",))(_direct(_name))
for _op, (_name, _below) in _OF_POSITIVE.items():
    binder(_op)(_of_positive(_name, _below))


@binder("Digamma")
def digamma(bind: Bind) -> Function:
    """The derivative of the logarithm of the gamma function; NaN at its poles, 0 among them."""
    xp, function = bind.xp, special_functions(bind.xp).digamma

    def compute(x: Array) -> Array:
        return xp.where(x == 0, xp.asarray(float("nan"), dtype=x.dtype), function(x))

    return _rounded(compute)


def _fresnel(part: int) -> Callable[[Bind], Function]:
    def bind(bind: Bind) -> Function:
        function = special_functions(bind.xp).fresnel
        return _rounded(lambda x: function(x)[part])

    return bind


binder("FresnelSin", devices=("CPU",))(_fresnel(0))
binder("FresnelCos", devices=("CPU",))(_fresnel(1))
