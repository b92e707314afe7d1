"""Value domains of sparse tensors: indices in order, values, the shape of the whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.spec.rules.domains.base import Draw

__all__ = ["draw_places", "draw_sparse"]


def draw_places(draw: Draw, shape: Sequence[int], most: int = 12) -> np.ndarray:
    """Indices of some places of a tensor of that shape, in order, int64 [N, rank]."""
    size = math.prod(shape)
    count = draw.random.randint(0, min(size, most))
    chosen = sorted(draw.random.sample(range(size), count))
    places = np.array(np.unravel_index(chosen, shape), np.int64) if chosen and shape else None
    return np.zeros((count, len(shape)), np.int64) if places is None else places.T.copy()


def draw_sparse(
    draw: Draw, names: Sequence[str], shape: Sequence[int], style: str = "any"
) -> dict[str, Any]:
    """The parts of a sparse tensor of that shape, by the names of three inputs."""
    places = draw_places(draw, shape)
    indices, values, dense_shape = names
    return {
        indices: places,
        values: draw.tensor(values, (len(places),), style),
        dense_shape: np.array(shape, np.int64),
    }
