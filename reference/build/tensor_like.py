"""TensorLike: the types of values that `convert_to_tensor` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np

from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import Dimension, TensorShape
from sessrun.reference.graph.tensor import Tensor

__all__ = ["TensorLike"]


class _Convertible(Protocol):
    """What has a conversion of its own: a variable, IndexedSlices."""

    @property
    def name(self) -> str:
        """The name of the tensor or variable."""

    @property
    def dtype(self) -> DType:
        """The dtype of its elements."""

    @property
    def shape(self) -> TensorShape:
        """Its static shape."""


#: What `convert_to_tensor` makes a tensor of: a tensor, a variable, an array, numbers, text, a
#: static shape, or a list of these.
TensorLike: TypeAlias = (
    "Tensor | _Convertible | np.ndarray | np.generic | complex | str | bytes | TensorShape"
    " | Dimension | Sequence[TensorLike]"
)
