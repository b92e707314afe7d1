"""Shape rules: pure functions from what is known of the inputs to the outputs' shapes.

A rule takes shapes (`tuple[int | None, ...]`, or None for an unknown rank), attribute values and,
where the declaration says `value(x)`, `dims(x)` and the like, what is known of values. It
returns a list with one shape for each output tensor and raises ShapeError for a contradiction.
`infer` evaluates the rule of an operation; `RULES` has every rule by name.
"""

from sessrun.spec.rules.shapes import (
    arrays,
    bands,
    candidates,
    checkpoints,
    control_flow,
    counting,
    ctc,
    einsum,
    elementwise,
    fourier,
    images,
    indexing,
    inputs,
    matrices,
    nn,
    quantizing,
    random_numbers,
    recurrent,
    reductions,
    resources,
    sets,
    solving,
    sources,
    space,
    sparse,
    sparse_arrays,
    sparse_math,
    sparse_segments,
    strided,
    strings,
    tables,
    tensor_arrays,
    tensor_lists,
    training,
    windows,
)
from sessrun.spec.rules.shapes.base import (
    MAX_RANK,
    RULES,
    Dim,
    Known,
    Shape,
    ShapeError,
    broadcast_shapes,
    check_size,
    merge,
    ranked,
)
from sessrun.spec.rules.shapes.inference import RANKS, denoted, elements_of, infer, single
from sessrun.spec.rules.shapes.tables import Table

__all__ = [
    "MAX_RANK", "RANKS", "RULES", "Dim", "Known", "Shape", "ShapeError", "Table", "arrays",
    "bands", "broadcast_shapes", "candidates", "check_size", "checkpoints", "control_flow",
    "counting", "ctc", "denoted", "einsum", "elements_of", "elementwise", "fourier", "images",
    "indexing", "infer", "inputs", "matrices", "merge", "nn", "quantizing", "random_numbers",
    "ranked", "recurrent", "reductions", "resources", "sets", "single", "solving", "sources",
    "space", "sparse", "sparse_arrays", "sparse_math", "sparse_segments", "strided", "strings",
    "tables", "tensor_arrays", "tensor_lists", "training", "windows",
]  # fmt: skip
