"""Translations of elementary and special functions."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax
from jax.scipy import special

from sessrun.adapters.jax.rules import COMPLEX, FLOATS, Array, plain

__all__: list[str] = []


def _where_zero(x: Array, value: Array) -> Array:
    """The value, 0 where `x` is 0."""
    return jnp.where(x == 0, jnp.zeros((), x.dtype), value)


def _polygamma(order: Array, x: Array) -> Array:
    """The derivatives of digamma, whose orders may be any numbers: NaN if they are not whole."""
    after = order + 1
    sign = jnp.where(after % 2 == 0, 1, -1).astype(x.dtype)
    value = sign * jnp.exp(special.gammaln(after)) * special.zeta(after, x)
    value = jnp.where(order == 0, special.digamma(x), value)
    return jnp.where(jnp.floor(order) == order, value, jnp.asarray(jnp.nan, x.dtype))


plain(
    {
        "Acos": jnp.arccos,
        "Acosh": jnp.arccosh,
        "Asin": jnp.arcsin,
        "Asinh": jnp.arcsinh,
        "Atan": jnp.arctan,
        "Atanh": jnp.arctanh,
        "Cos": jnp.cos,
        "Cosh": jnp.cosh,
        "Exp": jnp.exp,
        "Expm1": jnp.expm1,
        "Log": jnp.log,
        "Log1p": jnp.log1p,
        "Sin": jnp.sin,
        "Sinh": jnp.sinh,
        "Tan": jnp.tan,
        "Xdivy": lambda x, y: _where_zero(x, x / y),
        "Xlog1py": lambda x, y: _where_zero(x, x * jnp.log1p(y)),
        "Xlogy": lambda x, y: _where_zero(x, x * jnp.log(y)),
    },
    FLOATS | COMPLEX,
)
plain(
    {
        "Atan2": jnp.arctan2,
        "BesselI0": special.i0,
        "BesselI0e": special.i0e,
        "BesselI1": special.i1,
        "BesselI1e": special.i1e,
        "Betainc": special.betainc,
        "Digamma": special.digamma,
        "Erf": special.erf,
        "Erfc": special.erfc,
        "Erfinv": special.erfinv,
        "Igamma": special.gammainc,
        "Igammac": special.gammaincc,
        "Lgamma": lax.lgamma,
        "Ndtri": special.ndtri,
        "Polygamma": _polygamma,
        "Spence": special.spence,
        "Zeta": special.zeta,
    },
    FLOATS,
)
