"""Shape rules of sampled classes."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Shape, merge_dims, ranked, rule

__all__: list[str] = []


@rule
def sampled_classes(true_classes: Shape, num_true: int, num_sampled: int) -> list[Shape]:
    """The samples, then how often the true classes and the samples are expected."""
    rows = ranked(true_classes, 2, 2)
    return [(num_sampled,), (None if rows is None else rows[0], num_true), (num_sampled,)]


@rule
def accidental_hits(true_classes: Shape, sampled: Shape, num_true: int) -> list[Shape]:
    """Three vectors of one unknown length.

    Raises:
      ShapeError: the true classes are no matrix of `num_true` columns, the samples no vector.

    """
    rows = ranked(true_classes, 2, 2)
    if rows is not None:
        merge_dims(rows[1], num_true)
    ranked(sampled, 1, 1)
    return [(None,)] * 3
