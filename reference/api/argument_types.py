"""Types of arguments: what stands for a tensor, and structures of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sessrun.reference.build.composites import CompositeTensor
from sessrun.reference.build.tensor_like import TensorLike

__all__ = ["Structure", "TensorLike"]

#: A tensor or a composite tensor, or lists, tuples and dicts of them (`tf.nest`); None for a part
#: that is left out.
Structure: TypeAlias = (
    "TensorLike | CompositeTensor | Sequence[Structure] | Mapping[str, Structure] | None"
)
