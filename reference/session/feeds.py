"""The resolve stage, feeds: from the caller's `feed_dict` to tensors and arrays.

What a value becomes is the spec's (`sessrun.spec.feeds`). Clauses: FEED.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sessrun.reference import tensor_shape
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.session.expansions import expansion_of
from sessrun.reference.tensor import Tensor
from sessrun.spec import feeds

if TYPE_CHECKING:
    from sessrun.reference.graph import Graph

__all__ = ["feeder", "internal_value", "resolve_feeds", "resolve_key"]

#: From a fed value to the array that stands for it, converted and checked.
Feeder = Callable[[Any], np.ndarray]


def resolve_feeds(graph: Graph, feed_dict: Any) -> dict[Tensor, Any]:
    """The fed tensors and their values as given, nested and expanding keys taken apart.

    Raises:
      TypeError: `feed_dict` is no dict, or a key is no tensor of the graph.
      ValueError: a nested key and its value differ in structure, or two keys are one tensor.

    """
    fed: dict[Tensor, Any] = {}
    for key, value in _flat(feed_dict):
        expansion = expansion_of(key)
        if expansion is None:
            fed[resolve_key(graph, key)] = value
            continue
        if expansion.feed is None:
            raise TypeError(f"Feed argument {key} has invalid type {type(key).__name__!r}")
        for part, part_value in expansion.feed(key, value):
            fed[resolve_key(graph, part)] = part_value
    return fed


def resolve_key(graph: Graph, key: Any) -> Tensor:
    """The tensor that a feed key is or names.

    Raises:
      TypeError: it is none of this graph.

    """
    try:
        tensor: Tensor = graph.as_graph_element(key, allow_tensor=True, allow_operation=False)
    except (KeyError, TypeError, ValueError) as error:
        text = error.args[0] if error.args else error
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {text}") from error
    return tensor


def _flat(feed_dict: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(feed_dict, dict):
        raise TypeError(f"feed_dict must be a dictionary, got {type(feed_dict).__name__}")
    seen: set[Any] = set()
    for key, value in feed_dict.items():
        pairs = [(key, value)] if not isinstance(key, tuple) else list(_nested(key, value))
        for leaf, leaf_value in pairs:
            if leaf in seen:
                raise ValueError(f"Could not flatten dictionary: key {leaf!r} is not unique.")
            seen.add(leaf)
            yield leaf, leaf_value


def _nested(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """The leaves of a nested tuple key with the values in their places."""
    if not isinstance(key, tuple | list):
        yield key, value
        return
    if not isinstance(value, tuple | list) or len(value) != len(key):
        raise ValueError(
            f"Could not flatten dictionary: key {key!r} and value {value!r} differ in structure."
        )
    for key_part, value_part in zip(key, value, strict=True):
        yield from _nested(key_part, value_part)


def feeder(graph: Graph, tensor: Tensor) -> Feeder:
    """The function that converts and checks every value fed to one tensor.

    The function raises:
      TypeError: the value is a Tensor, or no value of the dtype.
      ValueError: its shape is not compatible with the tensor's, or it may not be fed.

    """
    dtype = tensor.dtype.base_dtype
    if dtype.spec_name in feeds.FEEDABLE:
        convert = feeds.converter(dtype.spec_name)
    else:
        convert = _unconvertible(tensor)

    def feed(value: Any) -> np.ndarray:
        if isinstance(value, Tensor):
            raise bad_type(
                "The value of a feed cannot be a tf.Tensor object. Acceptable feed values "
                "include Python scalars, strings, lists, numpy ndarrays, or TensorHandles. "
                f"For reference, the tensor object was {value!r} which was passed to the "
                f"argument `feed_dict` with key {tensor!r}."
            )
        array = convert(value)
        if not _fits(tensor._sizes, array.shape):  # noqa: SLF001 - the hot path
            shape = tensor_shape.shape_text(tensor._sizes)  # noqa: SLF001 - as above
            raise bad_value(
                f"Cannot feed value of shape {array.shape!r} for Tensor {tensor.name}, "
                f"which has shape {shape}",
                tensor.op,
            )
        if not graph.is_feedable(tensor):
            raise bad_value(f"Tensor {tensor.name} may not be fed.", tensor.op)
        return array

    return feed


def _unconvertible(tensor: Tensor) -> Callable[[Any], np.ndarray]:
    def convert(value: Any) -> np.ndarray:
        raise bad_type(
            f"Tensor {tensor.name} of dtype {tensor.dtype.name} cannot be fed "
            f"a {type(value).__name__}."
        )

    return convert


def _fits(declared: tuple[int | None, ...] | None, shape: tuple[int, ...]) -> bool:
    if declared is None or declared == shape:
        return True
    if len(declared) != len(shape):
        return False
    return all(want is None or want == have for want, have in zip(declared, shape, strict=True))


def internal_value(array: np.ndarray, dtype_name: str) -> Any:
    """What kernels see of a fed array: read-only, so that nothing writes to the caller's own.

    A rank-0 number becomes a numpy scalar; strings become bytes.
    """
    if dtype_name == "string":
        return feeds.deliver(array, dtype_name)
    if array.ndim == 0 and array.dtype.names is None:
        return array[()]
    view = array.view()
    view.flags.writeable = False
    return view
