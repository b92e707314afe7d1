"""Shape rules: pure functions from what is known of the inputs to the outputs' shapes.

A rule takes shapes (`tuple[int | None, ...]`, or None for an unknown rank), attribute values and,
where the declaration says `value(x)`, `dims(x)` or `handle(x)`, what is known of values. It
returns a list with one shape for each output tensor and raises ShapeError for a contradiction.
`infer` evaluates the rule of an operation; `RULES` has every rule by name.
"""

from sessrun.spec.rules.shapes import (
    arrays,
    elementwise,
    indexing,
    matrices,
    nn,
    reductions,
    sources,
    strided,
)
from sessrun.spec.rules.shapes.base import RULES, Dim, Shape, ShapeError, broadcast_shapes, merge
from sessrun.spec.rules.shapes.inference import infer

__all__ = [
    "RULES", "Dim", "Shape", "ShapeError", "arrays", "broadcast_shapes", "elementwise", "indexing",
    "infer", "matrices", "merge", "nn", "reductions", "sources", "strided",
]  # fmt: skip
