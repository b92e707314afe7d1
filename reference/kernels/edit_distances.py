"""The kernel of edit distances between the sequences of two sparse tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.kernels.host import HOST, ints
from sessrun.reference.kernels.registry import kernel


def _sequences(indices: Array, values: Array) -> dict[tuple[int, ...], list[object]]:
    """The values of each sequence by its outer index: all indices but the last."""
    sequences: dict[tuple[int, ...], list[object]] = {}
    for row, value in zip(indices.tolist(), values.tolist(), strict=True):
        sequences.setdefault(tuple(row[:-1]), []).append(value)
    return sequences


def _distance(a: Sequence[object], b: Sequence[object]) -> int:
    """The Levenshtein distance: the least number of insertions, deletions and exchanges."""
    previous = list(range(len(b) + 1))
    for row, left in enumerate(a, start=1):
        current = [row]
        for column, right in enumerate(b, start=1):
            current.append(
                min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (left != right))
            )
        previous = current
    return previous[-1]


def _check(indices: Array, values: Array, shape: Array, what: str) -> None:
    if indices.ndim != 2 or values.ndim != 1 or shape.ndim != 1:
        raise InvalidArgument(
            f"{what}_indices, {what}_values and {what}_shape must have ranks 2, 1 "
            f"and 1, got {indices.ndim}, {values.ndim}, {shape.ndim}"
        )
    if indices.shape[0] != values.shape[0] or indices.shape[1] != shape.shape[0]:
        raise InvalidArgument(
            f"{what}_indices, {what}_values and {what}_shape do not fit: "
            f"{indices.shape}, {values.shape}, {shape.shape}"
        )


@kernel("EditDistance", devices=("CPU",))
def edit_distance(
    _: ArrayModule,
    hypothesis_indices: Array,
    hypothesis_values: Array,
    hypothesis_shape: Array,
    truth_indices: Array,
    truth_values: Array,
    truth_shape: Array,
    *,
    normalize: bool,
) -> Array:
    """The edit distance of each pair of sequences, divided by the truth's length if `normalize`.

    Raises:
      KernelError: a part has another shape than the others demand.

    """
    _check(hypothesis_indices, hypothesis_values, hypothesis_shape, "hypothesis")
    _check(truth_indices, truth_values, truth_shape, "truth")
    pair = ints(hypothesis_shape), ints(truth_shape)
    if len(pair[0]) != len(pair[1]) or len(pair[0]) < 2:
        raise InvalidArgument(f"Expected truth and hypothesis to have one rank >= 2: {pair}")
    outer = [max(sizes) for sizes in zip(pair[0][:-1], pair[1][:-1], strict=True)]
    for size in (*pair[0], *pair[1]):
        if size < 0:
            raise InvalidArgument(f"Dimension {size} must be >= 0")
    distances = HOST.zeros(math.prod(outer), dtype="float32")
    guesses = _sequences(hypothesis_indices, hypothesis_values)
    truths = _sequences(truth_indices, truth_values)
    for outer_index in {**guesses, **truths}:
        flat = 0
        for index, size in zip(outer_index, outer, strict=True):
            flat = flat * size + index
        if not 0 <= flat < distances.size:
            raise Internal(
                f"Got an inner product {flat} which would require writing to "
                "outside of the buffer for the output tensor (max elements "
                f"{distances.size})"
            )
        guess, truth = guesses.get(outer_index, []), truths.get(outer_index, [])
        edits = float(_distance(truth, guess))
        if normalize and not truth:
            edits = float("inf") if guess else 0.0
        elif normalize:
            edits /= len(truth)
        distances[flat] = edits
    return distances.reshape(outer)
