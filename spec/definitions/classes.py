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
    positions, values, totals = [], [], []
    longest = 0
    for row, length in enumerate(lengths):
        scores = wide(inputs)[: int(length), row]
        best = [int(np.argmax(step)) for step in scores]
        kept = [
            one
            for t, one in enumerate(best)
            if one != blank and not (merge_repeated and t and best[t - 1] == one)
        ]
        positions += [(row, at) for at in range(len(kept))]
        values += kept
        longest = max(longest, len(kept))
        totals.append([-sum(step.max() for step in scores)])
    indices = np.array(positions, np.int64).reshape(-1, 2)
    shape = np.array((len(lengths), longest), np.int64)
    return indices, np.array(values, np.int64), shape, np.array(totals)


def _spread_labels(labels: list[int], blank: int) -> list[int]:
    """The labels with a blank before, between and behind them."""
    return [blank, *(one for label in labels for one in (label, blank))]


def _path_sums(chances: Array, spread: list[int], *, repeats_merge: bool) -> Array:
    """[time, place] probabilities of all paths from the beginning up to a place, inclusive.

    A path stays at its place, goes to the next, or past a blank to the next label, if that is
    another one. Where repetitions do not merge no path stays at a label, and all may go past.
    """
    blank = spread[0]
    sums = np.zeros((len(chances), len(spread)))
    for time, chance in enumerate(chances):
        for position, label in enumerate(spread):
            if time == 0:
                sums[0, position] = chance[label] if position < 2 else 0
                continue
            before = sums[time - 1]
            total = before[position] if repeats_merge or label == blank else 0
            total += before[position - 1] if position else 0
            may_pass = position > 1 and label != blank
            if may_pass and (label != spread[position - 2] or not repeats_merge):
                total += before[position - 2]
            sums[time, position] = total * chance[label]
    return sums


@definition("CTCLoss")
def _ctc_loss(
    inputs: Array,
    indices: Array,
    values: Array,
    lengths: Array,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
) -> tuple[Array, Array]:
    """Minus the logarithm of the probability of all paths that give the labels, and its gradient.

    The gradient is each class's probability less its share in these paths, if there are any.
    """
    steps, batch, classes = inputs.shape
    losses, gradient = np.zeros(batch), np.zeros((steps, batch, classes))
    for row in range(batch):
        labels = [int(v) for (r, _), v in zip(indices, values, strict=True) if r == row]
        if preprocess_collapse_repeated:
            labels = [v for i, v in enumerate(labels) if not i or labels[i - 1] != v]
        scores = wide(inputs)[: int(lengths[row]), row]
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        spread = _spread_labels(labels, classes - 1)
        merge = ctc_merge_repeated
        forth = _path_sums(chances, spread, repeats_merge=merge)
        back = _path_sums(chances[::-1], spread[::-1], repeats_merge=merge)[::-1, ::-1]
        total = forth[-1, -2:].sum() if len(spread) > 1 else forth[-1, -1]
        losses[row] = -np.log(total)
        gradient[: len(chances), row] = chances
        for position, label in enumerate(spread if total else ()):
            share = forth[:, position] * back[:, position] / chances[:, label] / total
            gradient[: len(chances), row, label] -= share
    return losses, gradient


@definition("ComputeAccidentalHits")
def _hits(true_classes: Array, sampled: Array) -> tuple[Array, Array, Array]:
    """The row and the place among the samples of each true class that is one, and a weight."""
    last = {int(one): position for position, one in enumerate(sampled)}
    pairs = [
        (row, last[int(c)]) for row, mine in enumerate(true_classes) for c in mine if int(c) in last
    ]
    rows, positions = np.array(pairs, np.int64).reshape(-1, 2).T
    return rows, positions, np.full(len(pairs), np.finfo(np.float32).min, np.float32)
