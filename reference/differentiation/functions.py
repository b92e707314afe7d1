"""Every gradient function, registered: importing this module is enough."""

from __future__ import annotations

from sessrun.reference.differentiation import (
    arrays,
    complex_numbers,
    control_flow,
    convolutions,
    elementwise,
    images,
    indexing,
    matrices,
    networks,
    normalization,
    poolings,
    reductions,
    special,
    tensor_arrays,
    variables,
)

__all__ = [
    "arrays", "complex_numbers", "control_flow", "convolutions", "elementwise", "images",
    "indexing", "matrices", "networks", "normalization", "poolings", "reductions", "special",
    "tensor_arrays", "variables",
]  # fmt: skip
