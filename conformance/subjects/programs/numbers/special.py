"""Programs of special functions: names of scopes, and values at the edges of their domains."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.graphs_and_values import fed, shown

__all__ = ["BEHAVIOURS"]

_SCOPED = (
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "dawsn",
    "expint",
    "fresnel_cos",
    "fresnel_sin",
    "spence",
)
_PLAIN = (
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "erfcinv",
    "lgamma",
    "ndtri",
    "bessel_i0",
    "bessel_i1e",
)


def _names(tf):
    given = np.array([0.25, 0.5, 1.75], "f")
    calls = [lambda tf, name=name: getattr(tf.math.special, name)(given) for name in _SCOPED]
    calls += [lambda tf, name=name: getattr(tf.math, name)(given) for name in _PLAIN]
    calls += [
        lambda tf: tf.math.xdivy(given, 0.0),
        lambda tf: tf.math.xlog1py(given, given, "s"),
        lambda tf: tf.lbeta([[1.0, 2.0], [3.0, 0.5]], name="b"),
        lambda tf: tf.lbeta(tf.zeros([2, 0])),
    ]
    return shown(tf, *calls)


def _edges(tf):
    edges = np.array([0.0, -1.0, 1.0, 2.0, -2.5, 0.5, np.inf, np.nan, 30.0])
    a, x = (grid.reshape(-1) for grid in np.meshgrid(edges[:-3], edges))
    calls = [
        lambda tf, name=name: getattr(tf.math, name)(edges)
        for name in ("digamma", "lgamma", "erfc", "erfinv", "ndtri")
    ]
    calls += [lambda tf, name=name: getattr(tf.math.special, name)(edges[:-3]) for name in _SCOPED]
    calls += [
        lambda tf, name=name: getattr(tf.math, name)(a, x)
        for name in ("igamma", "igammac", "polygamma", "zeta")
    ]
    calls += [
        lambda tf: tf.raw_ops.IgammaGradA(a=a, x=x),
        lambda tf: tf.math.betainc([0.5, 2.0, 0.0], [1.5, 0.0, 2.0], [0.3, 0.1, 0.2]),
        lambda tf: tf.betainc(1.0, 1.0, [0.0, 1.0]),
        lambda tf: tf.betainc(0.0, 1.0, 0.5),
        lambda tf: tf.betainc([1.0, 2], [1.0], 0.5),
        lambda tf: tf.betainc(2.0, 3.0, fed(tf, [0.1, 1.0, 1.5, -1.0])),
    ]
    return shown(tf, *calls)


BEHAVIOURS = {"edges": _edges, "names": _names}
