"""Kernels of serialized SequenceExamples: context features, and feature lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.example_wire import Values, WireError, feature_lists_of
from sessrun.reference.kernels.examples import Origin, Parser, keys_of, positions_in, values_in
from sessrun.reference.kernels.host import HOST, host_array
from sessrun.reference.kernels.registry import Attrs, Bind, KernelFunction, binder
from sessrun.spec.dtypes import BY_NAME


class _ContextOrigin(Origin):
    """A context feature: messages contain the example's name, even for a single example."""

    def mismatch(self, key: str, dtype: str, reason: str) -> KernelError:  # noqa: ARG002
        """The error of a feature of another dtype than wanted."""
        return InvalidArgument(
            f"Name: {self.name}, Context feature: {key}.  Data types "
            f"don't match. Expected type: {BY_NAME[dtype].opdef}"
        )


class _StepOrigin(Origin):
    """A step of a feature list: the index in messages is that of the step."""

    def mismatch(self, key: str, dtype: str, reason: str) -> KernelError:  # noqa: ARG002
        """The error of a step of another dtype than wanted."""
        return InvalidArgument(
            f"Name: {self.name}, Feature list: {key}, Index: "
            f"{self.index}.  Data types don't match. Expected type: "
            f"{BY_NAME[dtype].opdef}"
        )


class _Context(Parser):
    """Converts context features to tensors."""

    def dense(self, key: str, dtype: str, shape: Sequence[int | None], default: Array) -> Array:
        """As for Examples, but the greatest number of values is checked first."""
        if None not in shape:
            self._check(key, dtype, math.prod(size or 0 for size in shape), default)
        return super().dense(key, dtype, shape, default)

    def _check(self, key: str, dtype: str, count: int, default: Array) -> None:
        has_default = default.size == count
        # Unlike in Examples, an empty feature is present, without values.
        rows = [
            values_in(features, key, dtype, origin)
            or ([] if key.encode(errors="surrogateescape") in features else None)
            for features, origin in zip(self.examples, self.origins, strict=True)
        ]
        longest = max([len(values or ()) for values in rows] + [count] * has_default, default=count)
        if longest != count:
            raise InvalidArgument(
                f"Inconsistent max number of elements for feature {key}: "
                f"expected {count}, but found {longest}"
            )
        for values, origin in zip(rows, self.origins, strict=True):
            if values is None and not has_default:
                raise Origin(None, origin.name).miss(key, dtype)
            if values is not None and len(values) != count:
                raise InvalidArgument(f"Unexpected number of elements in example {origin.name}")


@dataclass(frozen=True, slots=True)
class _Lists:
    """Converts feature lists to tensors.

    Attributes:
      parser: converts values to tensors.
      lists: for each example its feature lists, as the serialized features of the steps.

    """

    parser: Parser
    lists: Sequence[dict[bytes, list[bytes]]]

    def steps(self, key: str, dtype: str) -> list[list[Values | None] | None]:
        """For each example the values of the list's steps; None for an example without the list."""
        steps_of_examples: list[list[Values | None] | None] = []
        for lists, origin in zip(self.lists, self.parser.origins, strict=True):
            features = lists.get(key.encode(errors="surrogateescape"))
            steps_of_examples.append(
                None
                if features is None
                else [
                    values_in(
                        {key.encode(errors="surrogateescape"): feature},
                        key,
                        dtype,
                        _StepOrigin(index, origin.name),
                    )
                    for index, feature in enumerate(features)
                ]
            )
        return steps_of_examples

    def sparse(self, key: str, dtype: str) -> tuple[Array, Array, Array]:
        """The list of all examples as a sparse tensor: indices, values, shape."""
        rows = [steps or [] for steps in self.steps(key, dtype)]
        flat: list[Values] = [values or [] for steps in rows for values in steps]
        counts = host_array([len(steps) for steps in rows], "int64")
        widths = host_array([len(values) for values in flat], "int64")
        (row, step), (which, column) = positions_in(counts), positions_in(widths)
        batch = self.parser.batch
        return (
            HOST.stack([*([row[which]] if batch else []), step[which], column], axis=1),
            self.parser.array(flat, dtype, (len(column),)),
            host_array([*batch, int(counts.max(initial=0)), int(widths.max(initial=0))], "int64"),
        )

    def dense(
        self, key: str, dtype: str, shape: Sequence[int | None], *, may_miss: bool
    ) -> tuple[Array, Array]:
        """A tensor of all steps, padded to the longest list, and the lengths of the lists."""
        sizes = [int(size or 0) for size in shape]
        count = math.prod(sizes)
        rows = self.steps(key, dtype)
        self._check(key, rows, sizes, may_miss=may_miss)
        longest = max((len(steps or ()) for steps in rows), default=0)
        filler: list[Any] = [b"" if dtype == "string" else 0]
        flat: list[Values] = []
        for steps in rows:
            flat += [values or [] for values in steps or ()]
            flat.append(filler * count * (longest - len(steps or ())))
        lengths = host_array([len(steps or ()) for steps in rows], "int64")
        batch = self.parser.batch
        return self.parser.array(flat, dtype, (*batch, longest, *sizes)), lengths.reshape(batch)

    def _check(
        self,
        key: str,
        rows: Sequence[list[Values | None] | None],
        sizes: Sequence[int],
        *,
        may_miss: bool,
    ) -> None:
        count = math.prod(sizes)
        total = max((sum(len(values or ()) for values in steps or ()) for steps in rows), default=0)
        if total % max(count, 1):
            raise InvalidArgument(
                f"Feature list '{key}' has an unexpected number of values.  Total values "
                f"size: {total} is not consistent with output shape: {bracketed((None, *sizes))}"
            )
        for steps, origin in zip(rows, self.parser.origins, strict=True):
            if steps is None and not may_miss:
                raise InvalidArgument(
                    f"Name: {origin.name}, Feature list '{key}' is required but could not "
                    "be found.  Did you mean to include it in "
                    "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
                )
            for index, values in enumerate(steps or ()):
                if len(values or ()) != count:
                    raise _StepOrigin(index, origin.name).refuse(
                        key,
                        f"Number of values != expected.  values size: {len(values or ())} but "
                        f"output shape: {bracketed(tuple(sizes))}",
                    )

    def ragged(self, key: str, dtype: str, split: str) -> tuple[Array, Array, Array]:
        """The values, the row splits of the examples' steps, and those of the steps' values."""
        rows: list[list[Values]] = [
            [step or [] for step in steps or ()] for steps in self.steps(key, dtype)
        ]
        outer, inner = [0], [0]
        for steps in rows:
            outer.append(outer[-1] + len(steps))
            for values in steps:
                inner.append(inner[-1] + len(values))
        flat = [values for steps in rows for values in steps]
        outer = outer if self.parser.batch else []
        return (
            self.parser.array(flat, dtype, (inner[-1],)),
            host_array(outer, split),
            host_array(inner, split),
        )


def _read(data: bytes) -> tuple[dict[bytes, bytes], dict[bytes, list[bytes]]]:
    try:
        return feature_lists_of(data)
    except WireError as error:
        raise InvalidArgument("Could not parse example input as a SequenceExample") from error


def _columns(parts: Sequence[tuple[Array, ...]]) -> list[Array]:
    """The first parts of all tuples, then the second ones, and so on."""
    return [part for column in zip(*parts, strict=True) for part in column]


@binder("ParseSequenceExampleV2", devices=("CPU",))
def parse_sequence_example(bind: Bind) -> KernelFunction:
    """For context, then feature lists: sparse parts, dense values, ragged values and splits."""
    attrs = bind.attrs

    def compute(serialized: Array, names: Array, *inputs: Array) -> Array | tuple[Array, ...]:
        if serialized.ndim > 1:
            raise InvalidArgument("Expected serialized to be a scalar or a vector")
        if names.size and names.shape != serialized.shape:
            raise InvalidArgument("Expected debug_name to have the shape of serialized")
        keys, may_miss, defaults = inputs[:6], inputs[6], inputs[7:]
        read = [_read(item) for item in serialized.reshape(-1).tolist()]
        words = keys_of(names) or ["<unknown>"] * len(read)
        single = serialized.ndim == 0
        origins = [_ContextOrigin(None if single else i, word) for i, word in enumerate(words)]
        parser = _Context(bind.xp, [context for context, _ in read], origins, serialized.shape)
        lists = _Lists(parser, [features for _, features in read])
        outputs = [
            *_context(parser, attrs, [keys_of(tensor) for tensor in keys[:3]], defaults),
            *_feature_lists(
                lists, attrs, [keys_of(tensor) for tensor in keys[3:]], may_miss.tolist()
            ),
        ]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return compute


def _context(
    parser: Parser, attrs: Attrs, keys: Sequence[list[str]], defaults: Sequence[Array]
) -> list[Array]:
    sparse, dense, ragged = keys
    return [
        *_columns(
            [
                parser.sparse(*feature)
                for feature in zip(sparse, attrs["context_sparse_types"], strict=True)
            ]
        ),
        *[
            parser.dense(*feature)
            for feature in zip(
                dense, attrs["Tcontext_dense"], attrs["context_dense_shapes"], defaults, strict=True
            )
        ],
        *_columns(
            [
                parser.ragged(*feature)
                for feature in zip(
                    ragged,
                    attrs["context_ragged_value_types"],
                    attrs["context_ragged_split_types"],
                    strict=True,
                )
            ]
        ),
    ]


def _feature_lists(
    lists: _Lists, attrs: Attrs, keys: Sequence[list[str]], may_miss: list[bool]
) -> list[Array]:
    sparse, dense, ragged = keys
    return [
        *_columns(
            [
                lists.sparse(*feature)
                for feature in zip(sparse, attrs["feature_list_sparse_types"], strict=True)
            ]
        ),
        *_columns(
            [
                lists.dense(key, dtype, shape, may_miss=missing)
                for key, dtype, shape, missing in zip(
                    dense,
                    attrs["feature_list_dense_types"],
                    attrs["feature_list_dense_shapes"],
                    may_miss,
                    strict=True,
                )
            ]
        ),
        *_columns(
            [
                lists.ragged(*feature)
                for feature in zip(
                    ragged,
                    attrs["feature_list_ragged_value_types"],
                    attrs["feature_list_ragged_split_types"],
                    strict=True,
                )
            ]
        ),
    ]
