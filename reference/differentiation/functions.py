"""Every gradient function, registered: importing this module is enough."""

from __future__ import annotations

from sessrun.reference.differentiation import (
    arrays,
    bands,
    batch_norms_again,
    complex_numbers,
    control_flow,
    convolutions,
    counting,
    ctc,
    decompositions,
    einsum,
    elementwise,
    fourier,
    functional,
    functional_loops,
    images,
    indexing,
    matrices,
    networks,
    normalization,
    poolings,
    quantizing,
    random_numbers,
    recurrent,
    reductions,
    solving,
    space,
    sparse,
    special,
    tensor_arrays,
    tensor_lists,
    variables,
)

__all__ = [
    "arrays", "bands", "batch_norms_again", "complex_numbers", "control_flow", "convolutions",
    "counting", "ctc", "decompositions", "einsum", "elementwise", "fourier", "functional",
    "functional_loops", "images", "indexing", "matrices", "networks", "normalization", "poolings",
    "quantizing", "random_numbers", "recurrent", "reductions", "solving", "space", "sparse",
    "special", "tensor_arrays", "tensor_lists", "variables",
]  # fmt: skip
