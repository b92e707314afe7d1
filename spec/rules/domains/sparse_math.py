"""Value domains of operations that compute with sparse tensors.

Each says by name of which dtypes TensorFlow has a kernel: fewer than the operation allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.sparse import draw_places, draw_sparse

__all__: list[str] = []

_SPELLED = {"float": "float32", "double": "float64", "half": "float16"}
_REAL = {"complex64": "float32", "complex128": "float64"}


def _choose_dtype(draw: Draw, dtypes: str) -> str:
    spelled = draw.random.choice(dtypes.split())
    chosen = _SPELLED.get(spelled, spelled)
    draw.attrs["T"] = chosen
    return chosen


def _dims(draw: Draw, least: int = 1) -> list[int]:
    return [draw.dim(1, 5) for _ in range(draw.rank(least, 4))]


@domain
def sparse_pair(draw: Draw, dtypes: str, style: str) -> Arguments:
    """Two sparse tensors of one shape, and perhaps a threshold."""
    chosen, shape = _choose_dtype(draw, dtypes), _dims(draw)
    inputs: dict[str, Any] = {}
    for name in ("a", "b"):
        names = [f"{name}_{part}" for part in ("indices", "values", "shape")]
        inputs |= draw_sparse(draw, names, shape, style if chosen != "float16" else "plain")
    if any(arg.name == "thresh" for arg in draw.operation.inputs):
        draw.attrs["Treal"] = _REAL.get(chosen, chosen)
        inputs["thresh"] = draw.values(draw.attrs["Treal"], (), "small")
    return draw.arguments(**inputs)


@domain
def sparse_sum_gradient(draw: Draw, grad: str) -> Arguments:
    """Places of two summands, and those of their sum, of which some may be left out."""
    _choose_dtype(draw, "float double int64 int32 int16 int8 complex64 complex128")
    shape = _dims(draw)
    a, b = draw_places(draw, shape), draw_places(draw, shape)
    both = np.unique(np.concatenate([a, b]), axis=0)
    both = both[[draw.chance(0.8) for _ in both]] if len(both) else both
    return draw.arguments(
        **{
            grad: draw.tensor(grad, (len(both),), "plain"),
            "a_indices": a,
            "b_indices": b,
            "sum_indices": both.reshape(len(both), len(shape)),
        }
    )


def _broadcast(draw: Draw, shape: list[int]) -> list[int]:
    """A shape that broadcasts to this one."""
    own = [1 if draw.chance(0.3) else size for size in shape]
    return own[draw.random.randint(0, len(own) - 1) :]


@domain
def sparse_and_dense(draw: Draw, kind: str, dtypes: str) -> Arguments:
    """A sparse tensor and a dense one of its shape, or of one that broadcasts to it."""
    _choose_dtype(draw, dtypes)
    shape = _dims(draw)
    prefix, dense = ("a", "b") if kind == "same" else ("sp", "dense")
    names = [f"{prefix}_{part}" for part in ("indices", "values", "shape")]
    own = shape if kind == "same" else _broadcast(draw, shape)
    parts = draw_sparse(draw, names, shape, "plain")
    if "Tindices" in draw.attrs:
        parts = {
            name: value if name == names[1] else draw.integers(name, value)
            for name, value in parts.items()
        }
    style = "positive" if kind == "divisor" else "plain"
    return draw.arguments(**parts, **{dense: draw.tensor(dense, own, style)})


@domain
def sparse_rows(draw: Draw, prefix: str, dtypes: str) -> Arguments:
    """A sparse matrix or more."""
    _choose_dtype(draw, dtypes)
    names = [f"{prefix}_{part}" for part in ("indices", "values", "shape")]
    return draw.arguments(**draw_sparse(draw, names, _dims(draw, 2), "plain"))


@domain
def sparse_matrix_product(draw: Draw, b: str) -> Arguments:
    """A sparse and a dense matrix, each perhaps the other way round, places in any order."""
    _choose_dtype(draw, "float double int32 complex64 complex128 bfloat16")
    rows, inner, columns = (draw.dim(1, 7) for _ in range(3))
    left = [inner, rows] if draw.attrs["adjoint_a"] else [rows, inner]
    right = [columns, inner] if draw.attrs["adjoint_b"] else [inner, columns]
    parts = draw_sparse(draw, ("a_indices", "a_values", "a_shape"), left, "plain")
    order = draw.random.sample(range(len(parts["a_values"])), len(parts["a_values"]))
    parts["a_indices"] = draw.integers("a_indices", parts["a_indices"][order])
    return draw.arguments(**parts, **{b: draw.tensor(b, right, "plain")})


@domain
def sparse_matmul(draw: Draw, a: str, b: str) -> Arguments:
    """Two matrices of many zeros, each perhaps transposed."""
    rows, inner, columns = (draw.dim(1, 7) for _ in range(3))
    left = [inner, rows] if draw.attrs["transpose_a"] else [rows, inner]
    right = [columns, inner] if draw.attrs["transpose_b"] else [inner, columns]
    values = [draw.tensor(name, shape, "small") for name, shape in ((a, left), (b, right))]
    return draw.arguments(**{a: values[0], b: values[1]})


@domain
def sparse_reduction(draw: Draw, dtypes: str) -> Arguments:
    """A sparse tensor and some of its axes, perhaps twice or none."""
    _choose_dtype(draw, dtypes)
    shape = _dims(draw)
    names = ("input_indices", "input_values", "input_shape")
    count = draw.random.randint(0, len(shape))
    axes = [draw.axis(len(shape)) for _ in range(count)]
    parts = draw_sparse(draw, names, shape, "plain")
    return draw.arguments(**parts, reduction_axes=draw.integers("reduction_axes", axes))
