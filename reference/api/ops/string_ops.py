"""Functions of strings whose signatures differ from those of their operations.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

import numpy as np

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.api.ragged_tensor import RaggedTensor
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike, string
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import constant, convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["string_split_v2"]


@public("string_join", "strings.join")
def string_join(inputs: TensorLike, separator: str = "", name: str | None = None) -> Tensor:
    """Join strings elementwise; scalars broadcast."""
    return one("StringJoin", {"inputs": inputs}, name, separator=separator)


@public("string_to_number", "strings.to_number")
def string_to_number(
    string_tensor: TensorLike | None = None,
    out_type: DTypeLike = dtypes.float32,
    name: str | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
) -> Tensor:
    """Convert strings to numbers; `input` is the newer name of `string_tensor`."""
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
    """The substring of each string by position and length."""
    return one("Substr", {"input": input, "pos": pos, "len": len}, name, unit=unit)


@public("fingerprint")
def fingerprint(data: TensorLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """The 64-bit fingerprint of each row of the data: uint8, [rows, 8].

    Args:
      data: rows of any dtype.
      method: `farmhash64`, the only method.
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
    """Join strings over axes, by default over all from the last to the first."""
    axes = reduction_indices if axis is None else axis
    keep = bool(keepdims if keep_dims is None else keep_dims)
    with name_scope(name, "ReduceJoin"):
        value = convert_to_tensor(inputs)
        joined = {
            "inputs": value,
            "reduction_indices": _axes_from_last(value) if axes is None else axes,
        }
        return one("ReduceJoin", joined, keep_dims=keep, separator=separator)


def _axes_from_last(value: Tensor) -> Tensor:
    """All axes from the last to the first, so that elements are joined in C order."""
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
    bytes: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
) -> Tensor:
    """Reinterpret the bytes of each string as a vector of numbers."""
    given = bytes if input_bytes is None else input_bytes
    return one("DecodeRaw", {"bytes": given}, name, out_type=out_type, little_endian=little_endian)


@public("string_to_hash_bucket", "strings.to_hash_bucket")
def string_to_hash_bucket(
    string_tensor: TensorLike | None = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
) -> Tensor:
    """The bucket of each string, of `num_buckets`, by a MurmurHash.

    Raises:
      ValueError: both `string_tensor` and `input` are given.

    """
    if string_tensor is not None and input is not None:
        raise ValueError("Cannot specify both 'string_tensor' and 'input'.")
    given = input if string_tensor is None else string_tensor
    return one("StringToHashBucket", {"string_tensor": given}, name, num_buckets=num_buckets)


def string_split_v2(
    source: TensorLike, sep: TensorLike | None = None, maxsplit: int = -1
) -> SparseTensor:
    """Split each string of a vector as `str.split` does, into a sparse matrix.

    Args:
      source: strings, of shape [N].
      sep: the separator, by default runs of white space.
      maxsplit: the greatest number of splits of a string; -1 for no limit.

    """
    between = convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)
    strings = convert_to_tensor(source, dtype=dtypes.string)
    inputs = {"input": strings, "sep": between}
    return SparseTensor(*apply_op("StringSplitV2", inputs, {"maxsplit": maxsplit}).outputs)


@public("string_split")
def string_split(
    source: TensorLike,
    sep: TensorLike | None = None,
    skip_empty: bool = True,
    delimiter: TensorLike | None = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> SparseTensor | RaggedTensor:
    """Split each string of a vector at any character of a delimiter.

    Args:
      source: a vector of strings.
      sep: the delimiter characters, by default a blank; empty to split into bytes.
      skip_empty: whether empty parts are dropped.
      delimiter: the older name of `sep`.
      result_type: "SparseTensor" or "RaggedTensor".
      name: the name of the scope.

    Raises:
      ValueError: both `sep` and `delimiter` are given, or the result type is unknown.

    """
    if sep is not None and delimiter is not None:
        raise ValueError("Cannot specify both 'delimiter' and 'sep'.")
    mark = sep if sep is not None else " " if delimiter is None else delimiter
    with name_scope(name, "StringSplit", [source]):
        inputs = {"delimiter": convert_to_tensor(mark, dtype=string)}
        inputs["input"] = convert_to_tensor(source, dtype=string)
        op = apply_op("StringSplit", inputs, {"skip_empty": skip_empty})
        sparse = SparseTensor(*op.outputs)
        if result_type == "RaggedTensor":
            return RaggedTensor.from_sparse_rows(sparse)
        if result_type != "SparseTensor":
            raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
        return sparse


@public("regex_replace", "strings.regex_replace")
def regex_replace(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    r"""Replace the matches of a pattern in each string.

    Args:
      input: a tensor of strings.
      pattern: a regular expression: text, or a scalar tensor.
      rewrite: the replacement; `\1` stands for the first group of the match, `\0` for the match.
      replace_global: whether all matches are replaced, or only the first.
      name: the operation's name.

    """
    if isinstance(pattern, str | bytes) and isinstance(rewrite, str | bytes):
        return one(
            "StaticRegexReplace",
            {"input": input},
            name,
            pattern=pattern,
            rewrite=rewrite,
            replace_global=replace_global,
        )
    inputs = {"input": input, "pattern": pattern, "rewrite": rewrite}
    return one("RegexReplace", inputs, name, replace_global=replace_global)


@public("strings.regex_full_match")
def regex_full_match(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    pattern: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Whether a pattern (text, or a scalar tensor) matches each string completely."""
    if isinstance(pattern, str | bytes):
        return one("StaticRegexFullMatch", {"input": input}, name, pattern=pattern)
    return one("RegexFullMatch", {"input": input, "pattern": pattern}, name)
