"""Faults of FETCH, profile structures: nested fetches, composite tensors, forms of the values."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.subjects.fetch.faults.fetch import (
    Join,
    LeafChange,
    changing_fetches,
    changing_values,
    element_of,
    is_tensor,
    mapped,
)
from sessrun.conformance.subjects.fetch.faults.fetch_arrays import fed_elements
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Array,
    Element,
    Feeds,
    Fetch,
    Fetches,
    Operation,
    Session,
    Tensor,
    Value,
)


def _unchanged(_fetch: Fetches, value: Array) -> Value:
    return value


def joining(
    tf: Namespace,
    join: Join = _unchanged,
    change: LeafChange = _unchanged,
) -> Namespace:
    """The namespace whose sessions give `join(fetches, values)` for each structure inside."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            return mapped(fetches, super().run(fetches, *args, **kwargs), change, join)

    return override(tf, Session=Session)


# --- what may not be fetched --------------------------------------------------------------


@fault("FETCH-026", "Graph.prevent_fetching prevents nothing.")
def fetching_is_never_prevented(tf: Namespace) -> Namespace:
    """Makes graphs on which the method does nothing."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def prevent_fetching(self, op: Operation) -> None:
            pass

    return override(tf, Graph=Graph)


@fault("FETCH-027", "What follows an output index in a name is ignored.")
def tails_of_names_are_ignored(tf: Namespace) -> Namespace:
    """Reads `name:0:1` as `name:0`."""

    def cut(_session: Session, fetch: Fetch) -> Fetch:
        return ":".join(fetch.split(":")[:2]) if isinstance(fetch, str) else fetch

    return changing_fetches(tf, cut)


@fault("FETCH-028", "None inside a structure comes back as None.")
def none_is_fetched_as_none(tf: Namespace) -> Namespace:
    """Passes None through where it stands beside or below other fetches."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches | None, *args: Argument, **kwargs: Argument) -> Value:
            if fetches is None:
                return super().run(fetches, *args, **kwargs)
            kept = mapped(fetches, fetches, lambda f, _: [] if f is None else f)
            values = super().run(kept, *args, **kwargs)
            return mapped(fetches, values, lambda f, v: None if f is None else v)

    return override(tf, Session=Session)


# --- forms of the values ------------------------------------------------------------------


@fault("FETCH-029", "What an operation computed from two tensors is a read-only array.")
def computed_arrays_are_readonly(tf: Namespace) -> Namespace:
    """Gives a read-only view of the results of arithmetic; reshapes are copied as before."""

    def frozen(_session: Session, element: Element, value: Value) -> Value:
        op = getattr(element, "op", None)
        if not isinstance(value, np.ndarray) or op is None or op.type == "Reshape":
            return value
        view = value.view()
        view.flags.writeable = len(op.inputs) < 2
        return view

    return changing_values(tf, frozen)


@fault("FETCH-030", "Fetched scalars of bool and float16 are arrays of rank 0.")
def scalars_are_arrays(tf: Namespace) -> Namespace:
    """Convert numpy scalars of these dtypes to arrays."""

    def as_array(_session: Session, _element: Element, value: Value) -> Value:
        rare = isinstance(value, np.generic) and value.dtype.name in {"bool", "float16"}
        return np.asarray(value) if rare else value

    return changing_values(tf, as_array)


@fault("FETCH-031", "A list or tuple that was fed comes back as it was fed.")
def fed_lists_come_back(tf: Namespace) -> Namespace:
    """Hands the caller's own object back for a tensor both fed and fetched."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            values = super().run(fetches, feed_dict, *args, **kwargs)
            fed = fed_elements(self, feed_dict)

            def as_fed(fetch: Fetch, value: Value) -> Value:
                given = fed.get(getattr(element_of(self, fetch), "name", ""))
                return given if isinstance(given, list | tuple) else value

            return mapped(fetches, values, as_fed)

    return override(tf, Session=Session)


# --- structures ---------------------------------------------------------------------------


@fault("FETCH-033", "The items of a list inside a list come back in the outer list.")
def inner_lists_are_spliced(tf: Namespace) -> Namespace:
    """Flatten lists of lists."""

    def spliced(_fetches: Fetches, values: Value) -> Value:
        if not isinstance(values, list):
            return values
        parts = [part if isinstance(part, list) else [part] for part in values]
        return [item for part in parts for item in part]

    return joining(tf, spliced)


@fault("FETCH-034", "A tuple of fetches comes back as a list.")
def tuples_come_back_as_lists(tf: Namespace) -> Namespace:
    """Gives a list for the outermost tuple."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            return list(values) if type(fetches) is tuple else values

    return override(tf, Session=Session)


@fault("FETCH-035", "The keys of a fetched dict come back as strings.")
def keys_come_back_as_strings(tf: Namespace) -> Namespace:
    """Convert the keys of dicts to strings, as JSON objects do."""

    def texts(fetches: Fetches, values: Mapping[str, Value]) -> Value:
        plain = type(fetches) is dict
        return {str(key): value for key, value in values.items()} if plain else values

    return joining(tf, texts)


@fault("FETCH-036", "The keys of a fetched dict come back sorted.")
def keys_come_back_sorted(tf: Namespace) -> Namespace:
    """Sort the keys of plain dicts whose keys are all strings."""

    def in_order(fetches: Fetches, values: Mapping[str, Value]) -> Value:
        texts = type(fetches) is dict and all(isinstance(key, str) for key in fetches)
        return {key: values[key] for key in sorted(values)} if texts else values

    return joining(tf, in_order)


@fault("FETCH-037", "An OrderedDict or a defaultdict comes back as a plain dict.")
def mappings_come_back_as_dicts(tf: Namespace) -> Namespace:
    """Convert every mapping to a dict."""

    def plain(fetches: Fetches, values: Mapping[str, Value]) -> Value:
        kept = isinstance(fetches, collections.OrderedDict | collections.defaultdict)
        return dict(values) if kept else values

    return joining(tf, plain)


@fault("FETCH-038", "A namedtuple comes back as a plain tuple.")
def namedtuples_come_back_as_tuples(tf: Namespace) -> Namespace:
    """Convert every namedtuple to a plain tuple."""

    def plain(fetches: Fetches, values: Sequence[Value]) -> Value:
        return tuple(values) if hasattr(fetches, "_fields") else values

    return joining(tf, plain)


@fault("FETCH-039", "An attrs object comes back as a tuple of its fields.")
def attrs_objects_come_back_as_tuples(tf: Namespace) -> Namespace:
    """Convert attrs objects to tuples of their fields."""

    def fields(fetch: Fetch, value: Value) -> Value:
        declared = getattr(type(fetch), "__attrs_attrs__", None)
        return value if declared is None else tuple(getattr(value, a.name) for a in declared)

    return joining(tf, change=fields)


@fault("FETCH-040", "A fetched dict has no keys for the operations in it.")
def operations_are_left_out_of_dicts(tf: Namespace) -> Namespace:
    """Drop the keys of dicts whose value is None."""

    def with_values(fetches: Fetches, values: Mapping[str, Value]) -> Value:
        if type(fetches) is not dict:
            return values
        return {key: value for key, value in values.items() if value is not None}

    return joining(tf, with_values)


@fault("FETCH-041", "An empty structure comes back as None.")
def empty_structures_are_none(tf: Namespace) -> Namespace:
    """Return None for a structure without fetches."""
    return joining(tf, lambda fetches, values: values if fetches else None)


@fault("FETCH-042", "A list or dict is resolved once and remembered by its identity.")
def structures_are_remembered(tf: Namespace) -> Namespace:
    """Run the fetches that a list or dict held when it was first passed."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            if isinstance(fetches, list | dict):
                held = self.__dict__.setdefault("structures", {})
                # The original is held too, so that no other object gets its identity.
                first = (fetches, mapped(fetches, fetches, _unchanged))
                fetches = held.setdefault(id(fetches), first)[1]
            return super().run(fetches, *args, **kwargs)

    return override(tf, Session=Session)


@fault("FETCH-043", "A run puts tensors in place of the names in the list it was passed.")
def names_are_resolved_in_place(tf: Namespace) -> Namespace:
    """Resolves the names of a list in the caller's own list."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            if isinstance(fetches, list):
                for index, fetch in enumerate(fetches):
                    if isinstance(fetch, str):
                        fetches[index] = element_of(self, fetch)
            return values

    return override(tf, Session=Session)


# --- composite tensors and dtypes ---------------------------------------------------------


@fault("FETCH-044", "A SparseTensor comes back as a plain tuple of three arrays.")
def sparse_values_are_tuples(tf: Namespace) -> Namespace:
    """Convert each SparseTensorValue to a plain tuple."""

    def plain(_fetch: Fetch, value: Value) -> Value:
        return tuple(value) if isinstance(value, tf.SparseTensorValue) else value

    return joining(tf, change=plain)


@fault("FETCH-045", "IndexedSlices without a dense shape come back with an empty one.")
def missing_dense_shapes_are_empty(tf: Namespace) -> Namespace:
    """Set `dense_shape` to an empty array where it is None."""

    def filled(fetch: Fetch, value: Any) -> Value:
        bare = isinstance(fetch, tf.IndexedSlices) and fetch.dense_shape is None
        return value._replace(dense_shape=np.zeros(0, np.int32)) if bare else value

    return joining(tf, change=filled)


@fault("FETCH-046", "bfloat16 values come back as float32.")
def bfloat16_is_widened(tf: Namespace) -> Namespace:
    """Widens, as engines do whose array library lacks the type."""

    def widened(_session: Session, _element: Element, value: Array) -> Value:
        narrow = getattr(getattr(value, "dtype", None), "name", None) == "bfloat16"
        return value.astype(np.float32) if narrow else value

    return changing_values(tf, widened)


@fault("FETCH-047", "Quantized values come back as arrays of a structured dtype.")
def quantized_values_are_structured(tf: Namespace) -> Namespace:
    """Gives the one-field dtype that a quantized type's `as_numpy_dtype` is."""

    def structured(_session: Session, element: Tensor, value: Array) -> Value:
        quantized = is_tensor(element) and element.dtype.is_quantized
        return value.view([(element.dtype.name, value.dtype)]) if quantized else value

    return changing_values(tf, structured)


@fault("HANDLES-007", "A session handle fetched in a dict comes back as its string.")
def session_handles_are_strings(tf: Namespace) -> Namespace:
    """Gives the handle's own text instead of the object."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            if not isinstance(fetches, dict):
                return values
            return {
                key: value.handle if type(value).__name__ == "TensorHandle" else value
                for key, value in values.items()
            }

    return override(tf, Session=Session)
