"""The resolve stage, feeds: from the caller's `feed_dict` to tensors and arrays.

What a value becomes is the spec's (`sessrun.spec.feeds`). Clauses: FEED.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.reference.base import tensor_shape
from sessrun.reference.base.host_arrays import set_writeable
from sessrun.reference.build.expansions import expansion_of
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.default_session import FeedDict
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.resolve.tensor_handles import KeptTensors, TensorHandle, read_kept
from sessrun.spec import feeds

__all__ = [
    "FedTensors",
    "FeedDict",
    "Feeder",
    "KernelView",
    "fed_tensors",
    "kernel_view",
    "leaves",
    "number_feeder",
    "resolve_feeds",
    "resolve_keys",
]

#: From a fed value to the array that stands for it, converted and checked.
Feeder = Callable[[object], np.ndarray]
#: From the array of a feed to the value that kernels get: the array read-only, a scalar, bytes.
KernelView = Callable[[np.ndarray], Any]


@dataclass(frozen=True, slots=True)
class FedTensors:
    """The fed tensors of a run, and what becomes of the values fed to them.

    Attributes:
      tensors: the tensors, in the order of the feed keys.
      feeders: for each the conversion and check of its value.
      views: for each the function from its array to what kernels see.

    """

    tensors: tuple[Tensor, ...] = ()
    feeders: tuple[Feeder, ...] = ()
    views: tuple[KernelView, ...] = ()


def fed_tensors(tensors: Iterable[Tensor], feeders: Iterable[Feeder]) -> FedTensors:
    """These tensors, whose values these functions convert and check."""
    tensors = tuple(tensors)
    return FedTensors(tensors, tuple(feeders), tuple(map(kernel_view, tensors)))


def resolve_feeds(
    graph: Graph, kept: KeptTensors, feed_dict: FeedDict | None
) -> tuple[FedTensors, list[np.ndarray]]:
    """The fed tensors of a run, and the array that each one's value becomes.

    Args:
      graph: the session's graph.
      kept: the tensors that the session keeps, for which handles may be fed.
      feed_dict: as for `Session.run`; nothing is fed if it is None or empty.

    Raises:
      TypeError: `feed_dict` is no mapping, a key is no tensor of the graph, or as `_feeder`.
      ValueError: a nested key and its value differ in structure, two keys are one tensor, or as
        `_feeder`.

    """
    if not feed_dict:
        return FedTensors(), []
    values = _fed_values(graph, feed_dict)
    feeders = [_feeder(tensor, kept) for tensor in values]
    arrays = [feed(value) for feed, value in zip(feeders, values.values(), strict=True)]
    return fed_tensors(values, feeders), arrays


def _fed_values(graph: Graph, feed_dict: FeedDict) -> dict[Tensor, object]:
    """The fed tensors and their values as given, nested and expanding keys taken apart."""
    fed: dict[Tensor, object] = {}
    for key, value in _flat(feed_dict):
        expansion = expansion_of(key)
        if expansion is None:
            fed[_resolved_key(graph, key)] = value
            continue
        if expansion.feed is None:
            raise TypeError(f"Feed argument {key} has invalid type {type(key).__name__!r}")
        for part, part_value in expansion.feed(key, value):
            fed[_resolved_key(graph, part)] = part_value
    return fed


def resolve_keys(graph: Graph, keys: object) -> tuple[Tensor, ...]:
    """The tensors that a partial run's feed keys, one or a flat list, are or stand for.

    Raises:
      TypeError: a key is no tensor of the graph.

    """
    tensors: list[Tensor] = []
    if keys is None:
        return ()
    for key in keys if isinstance(keys, list | tuple) else (keys,):
        expansion = expansion_of(key)
        if expansion is None:
            tensors.append(_resolved_key(graph, key))
        elif expansion.feed_keys is None:
            raise TypeError(f"Feed argument {key} has invalid type {type(key).__name__!r}")
        else:
            tensors.extend(_resolved_key(graph, part) for part in expansion.feed_keys(key))
    return tuple(tensors)


def _resolved_key(graph: Graph, key: object) -> Tensor:
    """The tensor that a feed key is or names.

    Raises:
      TypeError: the key is not an element of this graph.

    """
    try:
        tensor: Tensor = graph.as_graph_element(key, allow_tensor=True, allow_operation=False)
    except (KeyError, TypeError, ValueError) as error:
        text = error.args[0] if error.args else error
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {text}") from error
    return tensor


def _flat(feed_dict: FeedDict) -> Iterator[tuple[object, object]]:
    """The keys, nested ones taken apart, with their values; raises as `resolve_feeds`."""
    if not isinstance(feed_dict, (dict, Mapping)):
        raise TypeError(f"feed_dict must be a dictionary, got {type(feed_dict).__name__}")
    seen: set[object] = set()
    for key, value in feed_dict.items():
        pairs = [(key, value)] if not isinstance(key, tuple) else _nested(key, value)
        for leaf, leaf_value in pairs:
            if leaf in seen:
                raise ValueError(f"Could not flatten dictionary: key {leaf!r} is not unique.")
            seen.add(leaf)
            yield leaf, leaf_value


def _nested(key: object, value: object) -> list[tuple[object, object]]:
    """The leaves of a nested key with those of the value, in order.

    Both are flattened, as TensorFlow was seen to do: a list or range is never a leaf of a value.
    """
    keys, values = list(leaves(key)), list(leaves(value))
    if len(keys) != len(values):
        raise ValueError(
            f"Could not flatten dictionary: the key has {len(keys)} elements, the value "
            f"{len(values)}. Key: {keys}, value: {values}."
        )
    return list(zip(keys, values, strict=True))


def leaves(value: object) -> Iterator[object]:
    """The leaves of nested sequences, mappings (by sorted keys) and their views, in order."""
    if isinstance(value, Mapping):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, Sequence | MappingView) and not isinstance(value, str | bytes):
        parts: Iterable[object] = value  # type: ignore[assignment]
        for part in parts:
            yield from leaves(part)
    else:
        yield value


def _feeder(tensor: Tensor, kept: KeptTensors) -> Feeder:
    """The function that converts and checks every value fed to one tensor.

    Args:
      tensor: the tensor.
      kept: the tensors that the session keeps, for which handles may be fed.

    The function raises:
      TypeError: the value is a Tensor, or no value of the dtype.
      KeyError: no value is of the dtype: variant, resource.
      ValueError: its shape is not compatible with the tensor's (a TensorHandle's may be any), or
        it may not be fed.
      InvalidArgumentError: the value is a TensorHandle of another dtype, or of another session.

    """
    dtype = tensor.dtype.base_dtype
    if dtype.spec_name in feeds.FEEDABLE:
        convert = feeds.converter(dtype.spec_name)
    else:
        convert = _unconvertible(tensor)
    unfeedable = tensor.graph.unfeedable

    def feed(value: object) -> np.ndarray:
        declared = tensor._sizes  # noqa: SLF001 - the hot path
        if isinstance(value, _SPECIAL):
            array = _special(kept, tensor, value)
            declared = array.shape
        else:
            array = convert(value)
        if declared != array.shape and not _fits(declared, array.shape):
            raise bad_value(
                f"Cannot feed value of shape {array.shape!r} for Tensor {tensor.name}, "
                f"which has shape {tensor_shape.shape_text(declared)}",
                tensor.op,
            )
        if tensor in unfeedable:
            raise bad_value(f"Tensor {tensor.name} may not be fed.", tensor.op)
        return array

    return feed


def number_feeder(tensor: Tensor, feed: Feeder) -> Callable[[object], Any]:
    """The function from the value fed to a scalar to the numpy scalar that kernels get.

    Python's numbers, and float64 to floats, are converted in one step, a third of the time of
    `feed`, where they give the same: those that the dtype can hold, ints exactly.

    Args:
      tensor: a tensor of rank 0.
      feed: its feeder, which converts all other values.

    """
    dtype = np.dtype(tensor.dtype.base_dtype.as_numpy_dtype)
    number, unfeedable = dtype.type, tensor.graph.unfeedable
    floats: frozenset[type] = frozenset()
    largest = 0.0
    if dtype.kind == "f":
        floats = frozenset({float, np.float64})
        largest = float(np.finfo(dtype).max)
        last = min(_EXACT, int(largest))
        first = -last
    elif dtype.kind in "iu":
        first, last = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    else:
        return lambda value: feed(value)[()]

    def feed_number(value: Any) -> Any:
        kind = type(value)
        if kind in floats:
            is_held = -largest <= value <= largest
        else:
            is_held = kind is int and first <= value <= last
        return number(value) if is_held and not unfeedable else feed(value)[()]

    return feed_number


#: All ints up to this one are exact in float32.
_EXACT: Final = 2**24
_SPECIAL: Final = (Tensor, TensorHandle)


def _special(kept: KeptTensors, tensor: Tensor, value: Tensor | TensorHandle) -> np.ndarray:
    """The array that a handle stands for; a Tensor is refused."""
    if isinstance(value, TensorHandle):
        return np.asarray(read_kept(kept.tensors(), value.handle, tensor.dtype.base_dtype))
    raise bad_type(
        "The value of a feed cannot be a tf.Tensor object. Acceptable feed values "
        "include Python scalars, strings, lists, numpy ndarrays, or TensorHandles. "
        f"For reference, the tensor object was {value!r} which was passed to the "
        f"argument `feed_dict` with key {tensor!r}."
    )


def _unconvertible(tensor: Tensor) -> Feeder:
    """The feeder of a tensor of a dtype that no value is of: it refuses all."""

    def convert(value: object) -> np.ndarray:
        raise KeyError(
            f"Tensor {tensor.name} of dtype {tensor.dtype.name} cannot be fed "
            f"a {type(value).__name__}."
        )

    return convert


def _fits(declared: tuple[int | None, ...] | None, shape: tuple[int, ...]) -> bool:
    if declared is None:
        return True
    if len(declared) != len(shape):
        return False
    return all(size is None or size == given for size, given in zip(declared, shape, strict=True))


def kernel_view(tensor: Tensor) -> KernelView:
    """The function from a fed array to the value that kernels get.

    A rank-0 number becomes a numpy scalar, strings become bytes, any other array is seen
    read-only, so that nothing writes to the caller's own. For strings the function raises
    `StringElementError`.
    """
    name = tensor.dtype.base_dtype.spec_name
    if name == "string":
        return lambda array: feeds.deliver(array, name)
    if tensor.sizes == () and not tensor.dtype.is_quantized:
        return operator.itemgetter(())
    return _read_only


def _read_only(array: np.ndarray) -> np.ndarray:
    if array.ndim == 0 and array.dtype.names is None:
        return array[()]
    view = array.view()
    set_writeable(view, False)
    return view
