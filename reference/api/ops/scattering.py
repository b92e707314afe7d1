"""`tensor_scatter_update`, with the arguments that TensorFlow's function has."""

from __future__ import annotations

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["tensor_scatter_update"]


@public("tensor_scatter_nd_update", "tensor_scatter_update")
def tensor_scatter_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """A copy of the tensor with the elements at index vectors replaced."""
    return one(
        "TensorScatterUpdate", {"tensor": tensor, "indices": indices, "updates": updates}, name
    )
