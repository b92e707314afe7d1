"""Definitions of classes: read from scores, time step by time step, or found among samples."""

from __future__ import annotations

import numpy as np

from sessrun.spec.definitions.base import Array, definition, wide

__all__: list[str] = []


@definition("CTCGreedyDecoder")
def _greedy(
    inputs: Array, lengths: Array, *, merge_repeated: bool, blank_index: int
) -> tuple[Array, Array, Array, Array]:
    """The best class of each step, blanks left out, and of repeated ones all but the first."""
    blank = blank_index % inputs.shape[2]
    places, values, totals = [], [], []
    longest = 0
    for row, length in enumerate(lengths):
        scores = wide(inputs)[: int(length), row]
        best = [int(np.argmax(step)) for step in scores]
        kept = [
            one
            for t, one in enumerate(best)
            if one != blank and not (merge_repeated and t and best[t - 1] == one)
        ]
        places += [(row, at) for at in range(len(kept))]
        values += kept
        longest = max(longest, len(kept))
        totals.append([-sum(step.max() for step in scores)])
    indices = np.array(places, np.int64).reshape(-1, 2)
    shape = np.array((len(lengths), longest), np.int64)
    return indices, np.array(values, np.int64), shape, np.array(totals)


@definition("ComputeAccidentalHits")
def _hits(true_classes: Array, sampled: Array) -> tuple[Array, Array, Array]:
    """The row and the place among the samples of each true class that is one, and a weight."""
    last = {int(one): place for place, one in enumerate(sampled)}
    pairs = [
        (row, last[int(c)]) for row, mine in enumerate(true_classes) for c in mine if int(c) in last
    ]
    rows, places = np.array(pairs, np.int64).reshape(-1, 2).T
    return rows, places, np.full(len(pairs), np.finfo(np.float32).min, np.float32)
