"""Kernel of serialized SequenceExamples: features of the whole, and lists of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference.kernels.example_wire import WireError, feature_lists_of
from sessrun.reference.kernels.examples import Parser, Place, keys_of, values_in
from sessrun.reference.kernels.host import host_array
from sessrun.reference.kernels.registry import Bind, KernelError, binder
from sessrun.reference.node_summary import bracketed

__all__: list[str] = []

_INVALID: Final = 3


@dataclass(frozen=True, slots=True)
class _Lists:
    """Makes tensors of feature lists.

    Attributes:
      parser: makes tensors of values.
      lists: the features of each list, of each example.

    """

    parser: Parser
    lists: Sequence[dict[bytes, list[bytes]]]

    def steps(self, key: str, dtype: str) -> list[list[Any] | None]:
        """The values of each step of each example; None for an example without the list."""
        found: list[list[Any] | None] = []
        for lists, place in zip(self.lists, self.parser.places, strict=True):
            features = lists.get(key.encode(errors="surrogateescape"))
            found.append(None if features is None else [
                values_in({key.encode(errors="surrogateescape"): each}, key, dtype, place)
                for each in features
            ])  # fmt: skip
        return found

    def sparse(self, key: str, dtype: str) -> tuple[Any, Any, Any]:
        """Indices, values and shape."""
        rows = [[step or () for step in steps or ()] for steps in self.steps(key, dtype)]
        batch = self.parser.batch
        places: list[Any] = [
            (row, step, column) if batch else (step, column)
            for row, steps in enumerate(rows)
            for step, values in enumerate(steps)
            for column in range(len(values))
        ]
        flat = [value for steps in rows for values in steps for value in values]
        longest = max(map(len, rows), default=0)
        widest = max((len(values) for steps in rows for values in steps), default=0)
        return (
            host_array(places, "int64").reshape((len(flat), 2 + len(batch))),
            self.parser.array(flat, dtype, (len(flat),)),
            host_array([*batch, longest, widest], "int64"),
        )

    def dense(
        self, key: str, dtype: str, shape: Sequence[int | None], *, may_miss: bool
    ) -> tuple[Any, Any]:
        """A tensor of all steps, padded to the longest list, and how many each example has."""
        sizes = [int(size or 0) for size in shape]
        count = 1
        for size in sizes:
            count *= size
        rows = self.steps(key, dtype)
        for steps, place in zip(rows, self.parser.places, strict=True):
            if steps is None and not may_miss:
                raise place.refuse(key, "Feature list is required but could not be found.")
            for values in steps or ():
                if values is None or len(values) != count:
                    raise place.refuse(key, f"Number of values != expected. Values size: "
                                       f"{len(values or ())} but output shape: "
                                       f"{bracketed(tuple(sizes))}")  # fmt: skip
        longest = max((len(steps or ()) for steps in rows), default=0)
        filler = [b"" if dtype == "string" else 0]
        flat: list[Any] = []
        for steps in rows:
            flat += [value for values in steps or () for value in values]
            flat += filler * count * (longest - len(steps or ()))
        lengths = host_array([len(steps or ()) for steps in rows], "int64")
        batch = self.parser.batch
        return self.parser.array(flat, dtype, (*batch, longest, *sizes)), lengths.reshape(batch)

    def ragged(self, key: str, dtype: str, split: str) -> tuple[Any, Any, Any]:
        """Values, where each example's steps begin, and where each step's values do."""
        rows = [[step or () for step in steps or ()] for steps in self.steps(key, dtype)]
        outer, inner = [0], [0]
        for steps in rows:
            outer.append(outer[-1] + len(steps))
            for values in steps:
                inner.append(inner[-1] + len(values))
        flat = [value for steps in rows for values in steps for value in values]
        outer = outer if self.parser.batch else []
        return (self.parser.array(flat, dtype, (len(flat),)), host_array(outer, split),
                host_array(inner, split))  # fmt: skip


def _read(data: bytes) -> tuple[dict[bytes, bytes], dict[bytes, list[bytes]]]:
    try:
        return feature_lists_of(data)
    except WireError as error:
        raise KernelError(_INVALID, "Could not parse example input as a SequenceExample") from error


def _columns(parts: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The first part of each, then the second of each, and so on."""
    return [part for column in zip(*parts, strict=True) for part in column]


@binder("ParseSequenceExampleV2", devices=("CPU",))
def parse_sequence_example(bind: Bind) -> Callable[..., Any]:
    """Of the context, then of the lists: sparse parts, dense values, ragged values and splits."""
    attrs = bind.attrs

    def compute(serialized: Any, names: Any, *inputs: Any) -> Any:
        if serialized.ndim > 1:
            raise KernelError(_INVALID, "Expected serialized to be a scalar or a vector")
        if names.size and names.shape != serialized.shape:
            raise KernelError(_INVALID, "Expected debug_name to have the shape of serialized")
        keys, may_miss, defaults = inputs[:6], inputs[6], inputs[7:]
        read = [_read(item) for item in serialized.reshape(-1).tolist()]
        words = keys_of(names) or ["<unknown>"] * len(read)
        single = serialized.ndim == 0
        places = [Place(None if single else i, word) for i, word in enumerate(words)]
        parser = Parser(bind.xp, [context for context, _ in read], places, serialized.shape)
        lists = _Lists(parser, [found for _, found in read])
        made = [
            *_context(parser, attrs, [keys_of(each) for each in keys[:3]], defaults),
            *_feature_lists(lists, attrs, [keys_of(each) for each in keys[3:]], may_miss.tolist()),
        ]
        return made[0] if len(made) == 1 else tuple(made)

    return compute


def _context(
    parser: Parser, attrs: Any, keys: Sequence[list[str]], defaults: Sequence[Any]
) -> list[Any]:
    sparse, dense, ragged = keys
    return [
        *_columns([parser.sparse(*each)
                   for each in zip(sparse, attrs["context_sparse_types"], strict=True)]),
        *[parser.dense(*each)
          for each in zip(dense, attrs["Tcontext_dense"], attrs["context_dense_shapes"],
                          defaults, strict=True)],
        *_columns([parser.ragged(*each)
                   for each in zip(ragged, attrs["context_ragged_value_types"],
                                   attrs["context_ragged_split_types"], strict=True)]),
    ]  # fmt: skip


def _feature_lists(
    lists: _Lists, attrs: Any, keys: Sequence[list[str]], may_miss: list[bool]
) -> list[Any]:
    sparse, dense, ragged = keys
    return [
        *_columns([lists.sparse(*each)
                   for each in zip(sparse, attrs["feature_list_sparse_types"], strict=True)]),
        *_columns([lists.dense(key, dtype, shape, may_miss=missing)
                   for key, dtype, shape, missing in zip(
                       dense, attrs["feature_list_dense_types"],
                       attrs["feature_list_dense_shapes"], may_miss, strict=True)]),
        *_columns([lists.ragged(*each)
                   for each in zip(ragged, attrs["feature_list_ragged_value_types"],
                                   attrs["feature_list_ragged_split_types"], strict=True)]),
    ]  # fmt: skip
