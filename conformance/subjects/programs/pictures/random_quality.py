"""Programs of `random_jpeg_quality`."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _bounds(tf):
    """Bounds of the quality, which must be within those of JPEG files."""
    image = tf.constant(np.full([4, 4, 3], 0.5, np.float32))
    stored = tf.image.random_jpeg_quality
    outcomes = attempt(
        lambda: stored(image, 80, 95, seed=3),
        lambda: stored(image, 0, 101),
        lambda: stored(image, -1, 50),
        lambda: stored(image, 50, 50),
        lambda: stored(image, 60, 50),
    )
    return [outcomes, nodes(tf.get_default_graph())]


BEHAVIOURS = {"bounds": _bounds}
