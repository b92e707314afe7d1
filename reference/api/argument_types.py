"""Types of arguments: what stands for a tensor, and structures of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Structure", "TensorLike"]

#: What `convert_to_tensor` makes a tensor of: a tensor, a variable, an array, numbers, text.
TensorLike: TypeAlias = (
    "Tensor | Variable | np.ndarray | np.generic | complex | str | bytes | Sequence[TensorLike]"
)
#: A tensor, or tensors in lists, tuples and dicts (`tf.nest`); None for a part that is left out.
Structure: TypeAlias = "TensorLike | Sequence[Structure] | Mapping[str, Structure] | None"
