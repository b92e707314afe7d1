"""Functions of strings whose signatures differ from their operation's.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import constant, convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["string_split_v2"]


@public("string_join", "strings.join")
def string_join(inputs: TensorLike, separator: str = "", name: str | None = None) -> Tensor:
    """Strings joined element by element, scalars repeated."""
    return one("StringJoin", {"inputs": inputs}, name, separator=separator)


@public("string_to_number", "strings.to_number")
def string_to_number(
    string_tensor: Any = None,
    out_type: DTypeLike = dtypes.float32,
    name: str | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
) -> Tensor:
    """The number that each string says; `input` is another name of the strings."""
    given = chosen(input, string_tensor, "input", "string_tensor")
    return one("StringToNumber", {"string_tensor": given}, name, out_type=out_type)


@public("strings.length")
def string_length(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:  # noqa: A002 - TensorFlow's name
    """The length of each string in bytes, or with `UTF8_CHAR` in characters."""
    return one("StringLength", {"input": input}, name, unit=unit)


@public("strings.substr", "substr")
def substr(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    pos: TensorLike,
    len: TensorLike,  # noqa: A002 - TensorFlow's name
    name: str | None = None,
    unit: str = "BYTE",
) -> Tensor:
    """Part of each string by position and length."""
    return one("Substr", {"input": input, "pos": pos, "len": len}, name, unit=unit)


@public("fingerprint")
def fingerprint(data: Any, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """Eight bytes for each row of the data, the same for the same bytes: uint8 [rows, 8].

    Args:
      data: rows of any dtype.
      method: `farmhash64`; there is no other.
      name: the operation's name.

    """
    return one("Fingerprint", {"data": data, "method": method}, name)


@public("reduce_join", "strings.reduce_join")
def reduce_join(
    inputs: TensorLike,
    axis: TensorLike | None = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Strings joined over the given axes, or over all of them from the last to the first."""
    axes = reduction_indices if axis is None else axis
    keep = bool(keepdims if keep_dims is None else keep_dims)
    with name_scope(name, "ReduceJoin"):
        value = convert_to_tensor(inputs)
        joined = {"inputs": value, "reduction_indices": _falling(value) if axes is None else axes}
        return one("ReduceJoin", joined, keep_dims=keep, separator=separator)


def _falling(value: Tensor) -> Any:
    """Every axis from the last to the first, so that the elements come in C order."""
    ndims = value.shape.ndims
    if ndims is not None:
        return constant(np.arange(ndims - 1, -1, -1, dtype=np.int32), "Const")
    last = one("Rank", {"input": value}) - 1
    return one("Range", {"start": last, "limit": -1, "delta": -1})


@public("decode_raw", "io.decode_raw")
def decode_raw(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,  # noqa: A002 - TensorFlow's name
) -> Tensor:
    """The bytes of each string as a vector of numbers."""
    given = bytes if input_bytes is None else input_bytes
    return one("DecodeRaw", {"bytes": given}, name, out_type=out_type, little_endian=little_endian)


@public("string_to_hash_bucket", "strings.to_hash_bucket")
def string_to_hash_bucket(
    string_tensor: Any = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
) -> Tensor:
    """For each string one of `num_buckets` buckets, by Murmur's hash of it.

    Raises:
      ValueError: the strings are given twice.

    """
    if string_tensor is not None and input is not None:
        raise ValueError("Cannot specify both 'string_tensor' and 'input'.")
    given = input if string_tensor is None else string_tensor
    return one("StringToHashBucket", {"string_tensor": given}, name, num_buckets=num_buckets)


def string_split_v2(
    source: TensorLike, sep: TensorLike | None = None, maxsplit: int = -1
) -> SparseTensor:
    """The parts of each string of a vector, split as `str.split` does: a sparse matrix.

    Args:
      source: strings, of shape [N].
      sep: what stands between the parts; white space if it is empty or left out.
      maxsplit: how often a string is split at most; -1 for as often as it can be.

    """
    between = convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)
    strings = convert_to_tensor(source, dtype=dtypes.string)
    inputs = {"input": strings, "sep": between}
    return SparseTensor(*apply_op("StringSplitV2", inputs, {"maxsplit": maxsplit}).outputs)
