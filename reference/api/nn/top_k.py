"""The largest elements of rows: `nn.top_k` and `nn.in_top_k`. Source: TF 2.21."""

from __future__ import annotations

from typing import NamedTuple

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["TopKV2", "top_k"]


class TopKV2(NamedTuple):
    """The outputs of TopKV2."""

    values: Tensor
    indices: Tensor


@public("math.top_k", "nn.top_k")
def top_k(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    k: TensorLike = 1,
    sorted: bool = True,  # noqa: A002 - TensorFlow's name
    index_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The k largest elements of each row in descending order, and their indices.

    Args:
      input: a tensor of rank 1 or more.
      k: the number of elements, at most the last dimension.
      sorted: whether they must be in descending order.
      index_type: the dtype of the indices.
      name: the operation's name.

    Returns:
      `(values, indices)`, both of the input's shape with k as the last dimension.

    """
    attrs = {"sorted": sorted, "index_type": dtypes.as_dtype(index_type)}
    return TopKV2(*apply_op("TopKV2", {"input": input, "k": k}, attrs, name).outputs)


@public("math.in_top_k", "nn.in_top_k")
def in_top_k(
    predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None
) -> Tensor:
    """Whether the target is among the k largest predictions of each row.

    Args:
      predictions: float32, [rows, classes].
      targets: class numbers, [rows].
      k: the number of predictions that count.
      name: the operation's name.

    """
    with name_scope(name, "in_top_k"):
        inputs = {"predictions": predictions, "targets": targets, "k": k}
        return one("InTopKV2", inputs, name)
