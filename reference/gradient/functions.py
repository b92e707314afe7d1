"""The modules of gradient functions; importing this module registers all of these functions."""

from __future__ import annotations

from sessrun.reference.build.gradient_registry import GradientFunction, registered
from sessrun.reference.gradient import (
    arrays,
    control_flow,
    convolutions,
    decompositions,
    diagonals,
    elementwise,
    fourier,
    function_calls,
    functional_branches,
    functional_loops,
    images,
    indexing,
    linear_systems,
    matrices,
    neural_networks,
    normalization,
    quantization,
    random_numbers,
    reductions,
    sparse,
    special_functions,
    tensor_arrays,
    tensor_lists,
    variables,
)

__all__ = [
    "arrays",
    "control_flow",
    "convolutions",
    "decompositions",
    "diagonals",
    "elementwise",
    "fourier",
    "function_calls",
    "functional_branches",
    "functional_loops",
    "images",
    "indexing",
    "linear_systems",
    "matrices",
    "neural_networks",
    "normalization",
    "quantization",
    "random_numbers",
    "reductions",
    "register_gradients",
    "sparse",
    "special_functions",
    "tensor_arrays",
    "tensor_lists",
    "variables",
]


def register_gradients() -> None:
    """Do nothing: importing this module has registered the gradient functions."""


def __getattr__(name: str) -> GradientFunction:
    """The gradient function of the op type `X`, by the name `_XGrad` that it has in TensorFlow."""
    function = None
    if name.startswith("_") and name.endswith("Grad"):
        function = registered(name.removeprefix("_").removesuffix("Grad"))
    if function is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return function
