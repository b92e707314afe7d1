"""Strings split into ragged rows: `tf.strings.bytes_split` and `tf.strings.split`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.api.ops.array_ops import expand_dims
from sessrun.reference.api.ops.string_ops import string_split
from sessrun.reference.api.ops.string_ops import string_split_v2 as sparse_split
from sessrun.reference.api.ragged_tensor import RaggedTensor
from sessrun.reference.api.ragged_values import RaggedTensorValue
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base.dtypes import string
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["split", "string_bytes_split", "string_split", "string_split_v2"]


@public("strings.bytes_split")
def string_bytes_split(
    input: TensorLike | RaggedTensor,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Split each string into its bytes.

    Args:
      input: strings, dense or ragged.
      name: the operations' scope.

    Returns:
      A RaggedTensor with one more dimension; for a scalar string a vector.

    Raises:
      ValueError: the rank of the strings is unknown.

    """

    def parts(strings: TensorLike) -> SparseTensor:
        inputs = {"input": strings, "delimiter": ""}
        return SparseTensor(*apply_op("StringSplit", inputs, {"skip_empty": False}).outputs)

    with name_scope(name, "StringsByteSplit", [input]):
        given = _strings(input)
        if not isinstance(given, RaggedTensor) and given.shape.rank is None:
            raise ValueError("input must have a statically-known rank.")
        rows: Tensor | RaggedTensor = _split(given, parts)
    return rows


def string_split_v2(
    input: TensorLike | RaggedTensor,  # noqa: A002 - TensorFlow's name
    sep: TensorLike | None = None,
    maxsplit: int = -1,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Split each string at a separator, as Python's `str.split`.

    Args:
      input: strings, dense or ragged; a tensor of unknown rank counts as a vector.
      sep: the separator, by default runs of white space.
      maxsplit: the greatest number of splits of a string; -1 for no limit.
      name: the operations' scope.

    Returns:
      A RaggedTensor with one more dimension; for a scalar string a vector.

    """
    with name_scope(name, "StringSplit", [input]):
        rows: Tensor | RaggedTensor = _split(
            _strings(input), lambda strings: sparse_split(strings, sep, maxsplit)
        )
    return rows


@public("strings.split")
def split(
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
    sep: TensorLike | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: TensorLike | None = None,
    name: str | None = None,
) -> Tensor | RaggedTensor | SparseTensor:
    """As `string_split_v2`, but sparse by default; a scalar string counts as a vector of one.

    Args:
      input: strings, dense or ragged.
      sep: as for `string_split_v2`.
      maxsplit: as for `string_split_v2`.
      result_type: "SparseTensor" or "RaggedTensor".
      source: the older name of `input`.
      name: the operations' scope.

    Raises:
      ValueError: the result type is unknown.

    """
    with name_scope(name, "StringSplit", [source if input is None else input]):
        strings = _strings(source if input is None else input)
        if strings.shape.rank == 0:
            strings = expand_dims(strings, 0)
        if result_type not in {"SparseTensor", "RaggedTensor"}:
            raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
        if result_type == "SparseTensor" and strings.shape.rank == 1:
            return sparse_split(strings, sep, maxsplit)
        ragged = string_split_v2(strings, sep, maxsplit)
        return ragged if result_type == "RaggedTensor" else ragged.to_sparse()


def _strings(value: Any) -> Any:
    if isinstance(value, RaggedTensorValue):
        return RaggedTensor.from_value(value)
    if isinstance(value, RaggedTensor):
        return value
    return convert_to_tensor(value, string, "input")


def _split(strings: Any, parts: Callable[[Tensor], SparseTensor]) -> Any:
    """Split strings of any rank by a function that splits a vector of strings."""
    if isinstance(strings, RaggedTensor):
        return strings.with_flat_values(_split(strings.flat_values, parts))
    rank = strings.shape.rank
    if rank == 0:
        return _split(expand_dims(strings, 0), parts).values
    if rank is None or rank == 1:
        return RaggedTensor.from_sparse_rows(parts(strings))
    return _split(RaggedTensor.from_tensor(strings), parts)
