"""TensorLike, the types of values that `convert_to_tensor` takes: `graph.tensor` declares it."""

from __future__ import annotations

from sessrun.reference.graph.tensor import TensorLike

__all__ = ["TensorLike"]
