"""Every gradient function, registered: importing this module is enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.build.gradient_registry import registered
from sessrun.reference.gradient import (
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
    functional_branches,
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
    "arrays",
    "bands",
    "batch_norms_again",
    "complex_numbers",
    "control_flow",
    "convolutions",
    "counting",
    "ctc",
    "decompositions",
    "einsum",
    "elementwise",
    "fourier",
    "functional_branches",
    "functional_loops",
    "images",
    "indexing",
    "matrices",
    "networks",
    "normalization",
    "poolings",
    "quantizing",
    "random_numbers",
    "recurrent",
    "reductions",
    "solving",
    "space",
    "sparse",
    "special",
    "tensor_arrays",
    "tensor_lists",
    "variables",
]


def __getattr__(name: str) -> Callable[..., Any]:
    """The gradient of `X`, which TensorFlow's modules of gradients call `_XGrad`."""
    found = None
    if name.startswith("_") and name.endswith("Grad"):
        found = registered(name.removeprefix("_").removesuffix("Grad"))
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return found
