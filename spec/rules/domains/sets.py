"""Value domains of sets in the rows of tensors, few different values among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.sparse import draw_sparse

__all__: list[str] = []

_OPERATIONS = ("a-b", "b-a", "intersection", "union", "Union")


def _shape(draw: Draw) -> list[int]:
    return [draw.dim(0, 4) for _ in range(draw.rank(2, 4))]


def _few(draw: Draw, name: str, shape: Sequence[int]) -> np.ndarray:
    """Values of which many are the same."""
    pool = draw.tensor(name, (6,), "any")
    picked = [pool[draw.random.randrange(6)] for _ in range(int(np.prod(shape)))]
    filled = np.empty(len(picked), pool.dtype)
    filled[:] = picked
    return filled.reshape(tuple(shape))


def _sparse(draw: Draw, names: Sequence[str], shape: Sequence[int]) -> dict[str, Any]:
    parts = draw_sparse(draw, names, shape)
    return {**parts, names[1]: _few(draw, names[1], parts[names[1]].shape)}


@domain
def row_sets(draw: Draw, indices: str, values: str, shape: str) -> Arguments:
    """A sparse tensor."""
    return draw.arguments(**_sparse(draw, (indices, values, shape), _shape(draw)))


@domain
def set_pair(draw: Draw, first: str, second: str) -> Arguments:
    """Two tensors, dense or sparse, that are the same but for the last dimension."""
    shape = _shape(draw)
    draw.attrs["set_operation"] = draw.random.choice(_OPERATIONS)
    inputs: dict[str, Any] = {}
    for name, kind in (("set1", first), ("set2", second)):
        own = [*shape[:-1], draw.dim(0, 4)]
        if kind == "dense":
            inputs[name] = _few(draw, name, own)
        else:
            names = [f"{name}_{part}" for part in ("indices", "values", "shape")]
            inputs |= _sparse(draw, names, own)
    return draw.arguments(**inputs)
