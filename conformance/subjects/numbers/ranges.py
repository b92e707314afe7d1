"""Ranges and lines of many elements, some of which are fetched."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.subjects.numbers.large import Outcome
from sessrun.conformance.subjects.numbers.patterns import Writer, eps, rounded, sample

__all__ = ["drawn"]

#: In fewer digits the number of elements is itself rounded.
_DTYPES: Final = ("float32", "float32", "float64")


def drawn(draw: random.Random, w: Writer) -> tuple[str, Outcome, str]:
    """A range or a line: a title, what is fetched, and how near it must be."""
    is_line = draw.random() < 0.4
    dtype, count = draw.choice(_DTYPES), draw.randint(1000, 100000)
    start = float(rounded(draw.choice((0.0, 1.0, -3.0)), dtype))
    step = float(rounded(draw.choice((0.1, 0.7, -0.3)), dtype))
    # Half a step less than there are, so that no rounding decides how many there are.
    stop = float(rounded(start + (count - 0.5) * step, dtype))
    first, last = w.fed(start, dtype), w.fed(stop, dtype)
    if is_line:
        node = w.op("LinSpace", first, last, w.fed(count), T=dtype, Tidx="int32")
        values = start + np.arange(count) * ((stop - start) / (count - 1))
    else:
        node = w.op("Range", first, last, w.fed(step, dtype), Tidx=dtype)
        values = start + np.arange(-(-(stop - start) // step)) * step
    places = sample(draw, len(values))
    kinds = {"Tparams": dtype, "Tindices": "int32", "Taxis": "int32"}
    picked = w.op("GatherV2", node, w.integers(*places), w.integer(0), **kinds)
    size = w.op("Size", node, T=dtype, out_type="int32")
    outcome = Outcome(
        [picked, size], [values[list(places)], np.asarray(len(values))], [dtype, "int32"]
    )
    largest = float(np.abs(values).max())
    name = "LinSpace" if is_line else "Range"
    title = f"{name} of {count} elements of {dtype} is as even at its end as at its beginning."
    return title, outcome, f"close(0, {2 * eps(dtype) * largest})"
