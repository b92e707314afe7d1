"""Types of arguments: what stands for a tensor, structures of tensors, fetches and feeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["FeedDict", "Fetches", "Structure", "TensorLike"]

#: What `convert_to_tensor` makes a tensor of: a tensor, a variable, an array, numbers, text.
TensorLike: TypeAlias = (
    "Tensor | Variable | np.ndarray | np.generic | complex | str | bytes | Sequence[TensorLike]"
)
#: A tensor, or tensors in lists, tuples and dicts (`tf.nest`); None for a part that is left out.
Structure: TypeAlias = "TensorLike | Sequence[Structure] | Mapping[str, Structure] | None"
#: What `Session.run` takes: elements of the graph, their names, or structures of them.
Fetches: TypeAlias = (
    "Tensor | Operation | Variable | SparseTensor | IndexedSlices | str"
    " | Sequence[Fetches] | Mapping[str, Fetches]"
)
#: From tensors, their names, or structures of them to the values they have in a run.
FeedDict: TypeAlias = Mapping[object, object]
