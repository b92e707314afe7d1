"""Kernels of serialized Examples: their features as dense tensors, sparse ones, and rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, cast

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.example_wire import Values, WireError, features_of, joined, values_of
from sessrun.reference.kernels.host import HOST, dtype_of, host_array, string_array
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.spec.dtypes import BY_NAME

__all__ = ["Origin", "Parser", "keys_of", "positions_in", "values_in"]

#: The messages about a feature of a wrong dtype: for a dense one, and for a sparse or ragged one.
_MISMATCH: Final = "Data type: {have} but expected type: {wanted}"
_LOOSE_MISMATCH: Final = "Expected type: {wanted}, Actual type: {have}"
#: The names of values of a dtype in messages that count them.
_COUNTED: Final = MappingProxyType({"int64": "int64", "float32": "float", "string": "bytes"})
#: The field of a feature that holds values of a dtype.
_LISTS: Final = MappingProxyType(
    {"int64": "int64_list", "float32": "float_list", "string": "bytes_list"}
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Which example a feature is in, for messages.

    Attributes:
      index: the example's index in the batch; None for a single example.
      name: the example's name, or empty.

    """

    index: int | None
    name: str

    def refuse(self, key: str, reason: str) -> KernelError:
        """The error of a feature."""
        if self.index is None:
            return InvalidArgument(f"Key: {key}.  {reason}")
        return InvalidArgument(f"Name: {self.name}, Key: {key}, Index: {self.index}.  {reason}")

    def mismatch(self, key: str, dtype: str, reason: str) -> KernelError:  # noqa: ARG002
        """The error of a feature of another dtype than wanted."""
        return self.refuse(key, f"Data types don't match. {reason}")

    def miss(self, key: str, dtype: str) -> KernelError:
        """The error of a missing feature."""
        before = "" if self.index is None else f"Name: {self.name}, "
        return InvalidArgument(
            f"{before}Feature: {key} (data type: {BY_NAME[dtype].opdef}) is required "
            "but could not be found."
        )

    def miscounted(self, dtype: str, count: int, sizes: Sequence[int]) -> str:
        """The reason why `count` values do not fit a dense feature of that shape."""
        too_many_strings = dtype == "string" and count > _product(sizes)
        if self.index is None:
            kind = _LISTS[dtype]
            failed = (
                f"Parsing {kind} failed."
                if too_many_strings
                else (f"Some {kind} slice was not parsed.")
            )
            return f"Can't parse serialized Example: {failed}"
        if too_many_strings:
            return "Can't parse serialized Example."
        return (
            f"Number of {_COUNTED[dtype]} values != expected.  Values size: {count} but "
            f"output shape: {bracketed(tuple(sizes))}"
        )

    def unstrided(self, key: str, dtype: str, count: int, inner: Sequence[int]) -> KernelError:
        """The error of `count` values that are not a multiple of the elements of a row."""
        if self.index is None:
            return InvalidArgument(
                f"Error while parsing feature with key {key}: number of elements should "
                f"be divisible by {_product(inner)}, found {count} instead"
            )
        return self.refuse(
            key,
            f"Number of {_COUNTED[dtype]} values is not a multiple of stride length. "
            f"Saw {count} values but output shape is: {bracketed((None, *inner))}",
        )


def values_in(
    features: Mapping[bytes, bytes], key: str, dtype: str, origin: Origin, mismatch: str = _MISMATCH
) -> Values | None:
    """The values of a feature, or None if it is missing or empty."""
    feature = features.get(key.encode(errors="surrogateescape"))
    try:
        parsed = None if feature is None else values_of(feature)
    except WireError as error:
        raise origin.refuse(key, "Can't parse serialized Example.") from error
    if parsed is None:
        return None
    have, values = parsed
    if have != dtype:
        reason = mismatch.format(have=BY_NAME[have].opdef, wanted=BY_NAME[dtype].opdef)
        raise origin.mismatch(key, dtype, reason)
    return values


@dataclass(frozen=True, slots=True)
class Parser:
    """Converts the features of parsed examples to tensors.

    Attributes:
      xp: the array module.
      examples: the serialized features of each example, by key.
      origins: the index and the name of each example.
      batch: the shape of the input: (n,), or () for a single example.

    """

    xp: ArrayModule
    examples: Sequence[Mapping[bytes, bytes]]
    origins: Sequence[Origin]
    batch: tuple[int, ...]

    def array(self, rows: Iterable[Values], dtype: str, shape: Sequence[int]) -> Array:
        """A tensor of the values of these rows in C order."""
        values = joined(rows, dtype)
        if dtype == "string":
            return string_array(cast("list[bytes]", values), shape)
        return self.xp.asarray(values).view(dtype_of(dtype)).reshape(tuple(shape))

    def rows(self, key: str, dtype: str, mismatch: str = _LOOSE_MISMATCH) -> list[Values]:
        """The values of the feature in each example, none where it is missing."""
        pairs = zip(self.examples, self.origins, strict=True)
        return [
            values_in(features, key, dtype, origin, mismatch) or [] for features, origin in pairs
        ]

    def sparse(self, key: str, dtype: str) -> tuple[Array, Array, Array]:
        """The feature of all examples as a sparse tensor: indices, values, shape."""
        rows = self.rows(key, dtype)
        sizes = host_array([len(values) for values in rows], "int64")
        row, column = positions_in(sizes)
        indices = HOST.stack([row, column] if self.batch else [column], axis=1)
        shape = host_array([*self.batch, int(sizes.max(initial=0))], "int64")
        return indices, self.array(rows, dtype, (len(column),)), shape

    def ragged(self, key: str, dtype: str, split: str) -> tuple[Array, Array]:
        """The values, and row splits, which are empty for a single example."""
        rows = self.rows(key, dtype)
        ends = list(itertools.accumulate(map(len, rows), initial=0))
        values = self.array(rows, dtype, (ends[-1],))
        return values, host_array(ends if self.batch else [], split)

    def dense(self, key: str, dtype: str, shape: Sequence[int | None], default: Array) -> Array:
        """The feature as a dense tensor, with a row for each example."""
        if shape and shape[0] is None:
            return self.varying(key, dtype, [int(size or 0) for size in shape[1:]], default)
        sizes = [int(size or 0) for size in shape]
        count = _product(sizes)
        rows: list[Values] = []
        for features, origin in zip(self.examples, self.origins, strict=True):
            values = values_in(features, key, dtype, origin)
            if values is None:
                if default.size != count:
                    raise origin.miss(key, dtype)
                values = default.reshape(-1).tolist()
            elif len(values) != count:
                raise origin.refuse(key, origin.miscounted(dtype, len(values), sizes))
            rows.append(values)
        return self.array(rows, dtype, (*self.batch, *sizes))

    def varying(self, key: str, dtype: str, inner: Sequence[int], default: Array) -> Array:
        """As `dense`, with the first dimension padded to the longest example."""
        stride = _product(inner)
        rows = self.rows(key, dtype, _MISMATCH)
        for values, origin in zip(rows, self.origins, strict=True):
            if len(values) % max(stride, 1):
                raise origin.unstrided(key, dtype, len(values), inner)
        longest = max(map(len, rows), default=0)
        filler = default.reshape(-1).tolist()[:1] if default.size else []
        padded = (part for row in rows for part in (row, filler * (longest - len(row))))
        return self.array(padded, dtype, (*self.batch, longest // max(stride, 1), *inner))


def positions_in(sizes: Array) -> tuple[Array, Array]:
    """The row and the position in it of each element of rows of these sizes: int64 vectors."""
    rows = HOST.repeat(HOST.arange(len(sizes)), sizes)
    return rows, HOST.arange(len(rows)) - (HOST.cumsum(sizes) - sizes)[rows]


def _product(sizes: Sequence[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product


def keys_of(tensor: Array) -> list[str]:
    """Strings as text; bytes that are not UTF-8 become surrogates."""
    return [key.decode(errors="surrogateescape") for key in tensor.reshape(-1).tolist()]


@binder("ParseExampleV2", devices=("CPU",))
def parse_example(bind: Bind) -> KernelFunction:
    """Sparse indices, values and shapes, dense values, ragged values and row splits."""
    attrs = bind.attrs

    def compute(
        serialized: Array,
        names: Array,
        sparse: Array,
        dense: Array,
        ragged: Array,
        *defaults: Array,
    ) -> Array | tuple[Array, ...]:
        _check(serialized, names)
        items = serialized.reshape(-1).tolist()
        words = keys_of(names) or ["<unknown>"] * len(items)
        single = serialized.ndim == 0
        origins = [Origin(None if single else i, word) for i, word in enumerate(words)]
        parser = Parser(bind.xp, [_features(item) for item in items], origins, serialized.shape)
        dense_values = [
            parser.dense(*feature)
            for feature in zip(
                keys_of(dense), attrs["Tdense"], attrs["dense_shapes"], defaults, strict=True
            )
        ]
        parts = [
            parser.sparse(*feature)
            for feature in zip(keys_of(sparse), attrs["sparse_types"], strict=True)
        ]
        rows = [
            parser.ragged(*feature)
            for feature in zip(
                keys_of(ragged),
                attrs["ragged_value_types"],
                attrs["ragged_split_types"],
                strict=True,
            )
        ]
        outputs = [
            *(part for column in zip(*parts, strict=True) for part in column),
            *dense_values,
            *(part for column in zip(*rows, strict=True) for part in column),
        ]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return compute


def _features(data: bytes) -> Mapping[bytes, bytes]:
    try:
        return features_of(data)
    except WireError as error:
        shown = data.decode("ascii", "backslashreplace")
        raise InvalidArgument(f"Could not parse example input, value: {shown!r}") from error


def _check(serialized: Array, names: Array) -> None:
    if serialized.ndim > 1:
        raise InvalidArgument(
            "Expected serialized to be a scalar or vector, got shape: "
            f"{bracketed(serialized.shape)}"
        )
    if names.size and names.shape != serialized.shape:
        raise InvalidArgument(
            "Expected names have the same shape as serialized: name.shape="
            f"{bracketed(names.shape)}, serialized.shape={bracketed(serialized.shape)}"
        )
