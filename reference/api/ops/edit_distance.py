"""The edit distance between the sequences of two sparse tensors."""

from __future__ import annotations

from sessrun.reference.api.sparse_tensor import SparseTensor, SparseTensorValue
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


@public("edit_distance")
def edit_distance(
    hypothesis: TensorLike, truth: TensorLike, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """The Levenshtein distance between the sequences of two sparse tensors.

    Args:
      hypothesis: a sparse tensor of sequences along the last dimension.
      truth: a sparse tensor of the same rank.
      normalize: whether distances are divided by the lengths of the true sequences.
      name: the operation's name.

    Raises:
      TypeError: `hypothesis` or `truth` is not sparse.

    """
    for word, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, SparseTensor | SparseTensorValue):
            raise TypeError(f"{word} must be a SparseTensor.")
    inputs = {
        f"{word}_{part}": getattr(value, "dense_shape" if part == "shape" else part)
        for word, value in (("hypothesis", hypothesis), ("truth", truth))
        for part in ("indices", "values", "shape")
    }
    return apply_op("EditDistance", inputs, {"normalize": normalize}, name).outputs[0]
