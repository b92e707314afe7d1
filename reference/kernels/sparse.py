"""Kernels of sparse tensors: their order."""

from __future__ import annotations

from typing import Any

from sessrun.reference.kernels.registry import KernelError, kernel
from sessrun.reference.node_summary import bracketed

__all__: list[str] = []


@kernel("SparseReorder", devices=("CPU",))
def sparse_reorder(xp: Any, indices: Any, values: Any, shape: Any) -> Any:
    """The elements in the order of their indices, equal ones as they were."""
    for array, rank, word in ((indices, 2, "indices"), (values, 1, "values"), (shape, 1, "shape")):
        if array.ndim != rank:
            raise KernelError(3, f"Input {word} should be of rank {rank} but received shape "
                              f"{bracketed(array.shape)}")  # fmt: skip
    if indices.shape != (values.shape[0], shape.shape[0]):
        raise KernelError(
            3, f"Indices of shape {bracketed(indices.shape)} do not go with {values.shape[0]} "
            f"values and {shape.shape[0]} dimensions"
        )  # fmt: skip
    order = xp.lexsort(indices.T[::-1]) if shape.shape[0] else xp.arange(values.shape[0])
    return indices[order], values[order]
