"""`tf.string_split`, and regular expressions on strings. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ragged_tensor import RaggedTensor
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base.dtypes import string
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


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
      rewrite: the replacement; `\1` stands for the first group of the match, `\0` for all of it.
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
