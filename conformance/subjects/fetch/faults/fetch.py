"""Faults of FETCH: what comes back for one fetch, and where it stands among several."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Array,
    Element,
    Fetch,
    Fetches,
    Operation,
    Session,
    Tensor,
    Value,
)

#: From session, graph element and fetched value to the value that comes back instead.
Change: TypeAlias = Callable[[Session, Tensor, Array], Value]
#: From a fetch that is no list, tuple or dict, and its value, to what stands in its place.
LeafChange: TypeAlias = "Callable[[Any, Array], Value | Fetches]"
#: From a structure of fetches, and that of the changed values, to what stands in its place.
Join: TypeAlias = "Callable[[Fetches, Any], Value | Fetches]"


def element_of(session: Session, fetch: Fetch | int | None) -> Any:
    """The Tensor or Operation that a fetch names; None if it names none."""
    try:
        return session.graph.as_graph_element(fetch)
    except (TypeError, ValueError, KeyError):
        return None


def is_tensor(element: object) -> TypeGuard[Tensor]:
    """Whether an object is a Tensor (or a Variable), and no Operation, array or dtype."""
    return hasattr(element, "dtype") and hasattr(element, "op")


def _unchanged(_fetches: Fetches, values: Value) -> Value:
    return values


def mapped(
    fetches: Fetches,
    values: Any,
    change: LeafChange,
    join: Join = _unchanged,
) -> Any:
    """The values of a fetch structure, changed from the leaves up.

    Args:
      fetches: the structure.
      values: the values that came back for it, in the same structure.
      change: from a leaf and its value to the new value.
      join: from a list, tuple or dict of fetches and that of the new values to what it gives.

    """
    if isinstance(fetches, list):
        parts = [mapped(f, v, change, join) for f, v in zip(fetches, values, strict=True)]
        return join(fetches, parts)
    if isinstance(fetches, tuple):
        parts = [mapped(f, v, change, join) for f, v in zip(fetches, values, strict=True)]
        named = hasattr(fetches, "_fields")
        return join(fetches, type(fetches)(*parts) if named else tuple(parts))
    if isinstance(fetches, dict):
        mapping = copy.copy(values)
        mapping.update({key: mapped(fetches[key], values[key], change, join) for key in fetches})
        return join(fetches, mapping)
    return change(fetches, values)


def changing_values(tf: Namespace, change: Change) -> Namespace:
    """The namespace whose sessions give `change(session, element, value)` for each value."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            return mapped(fetches, values, lambda f, v: change(self, element_of(self, f), v))

    return override(tf, Session=Session)


def changing_fetches(tf: Namespace, change: Callable[[Session, Fetch], Fetches]) -> Namespace:
    """The namespace whose sessions fetch `change(session, fetch)` for each fetch."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            changed = mapped(fetches, fetches, lambda f, _: change(self, f))
            return super().run(changed, *args, **kwargs)

    return override(tf, Session=Session)


# --- values -------------------------------------------------------------------------------


@fault("FETCH-001", "Values of 16-bit unsigned integers come back as 32-bit ones.")
def uint16_comes_back_as_int32(tf: Namespace) -> Namespace:
    """Convert uint16 values to int32, as engines without the type do."""

    def widened(_session: Session, _element: Element, value: Array) -> Value:
        narrow = getattr(value, "dtype", None) == np.uint16
        return value.astype(np.int32) if narrow else value

    return changing_values(tf, widened)


@fault("FETCH-002", "A matrix of one element comes back as a scalar.")
def one_by_one_is_squeezed(tf: Namespace) -> Namespace:
    """Squeezes computed values of rank 2 or more that have one element."""

    def squeezed(_session: Session, _element: Element, value: Array) -> Value:
        one = isinstance(value, np.ndarray) and value.ndim > 1 and value.size == 1
        return value.reshape(()) if one else value

    return changing_values(tf, squeezed)


@fault("FETCH-003", "A computed value without elements loses its other dimensions.")
def empty_values_are_flat(tf: Namespace) -> Namespace:
    """Gives shape [0] for every empty array that was not fed."""

    def flattened(_session: Session, element: Tensor, value: Array) -> Value:
        if not isinstance(value, np.ndarray) or value.size:
            return value
        return value if element.op.type in {"Placeholder", "Neg"} else value.reshape(0)

    return changing_values(tf, flattened)


@fault("FETCH-004", "64-bit integers pass through a double on their way out.")
def large_integers_are_rounded(tf: Namespace) -> Namespace:
    """Round integers that were stored or fed to doubles, as JSON numbers are."""
    stored = {"Const", "Identity", "Placeholder", "VariableV2", "ReadVariableOp", "AssignAdd"}

    def rounded(_session: Session, element: Tensor, value: Array) -> Value:
        if getattr(value, "dtype", None) not in {np.dtype(np.int64), np.dtype(np.uint64)}:
            return value
        if element.op.type not in stored:
            return value
        with np.errstate(invalid="ignore"):
            return value.astype(np.float64).astype(value.dtype)

    return changing_values(tf, rounded)


@fault("FETCH-005", "Strings lose the NULs at their end.")
def strings_lose_trailing_nuls(tf: Namespace) -> Namespace:
    """Treats elements as C strings, as fixed-width numpy arrays do."""

    def stripped(_session: Session, _element: Element, value: Value) -> Value:
        if isinstance(value, bytes):
            return value.rstrip(b"\0")
        if not isinstance(value, np.ndarray) or value.dtype != object:
            return value
        items = [v.rstrip(b"\0") if isinstance(v, bytes) else v for v in value.flat]
        return np.array(items, object).reshape(value.shape)

    return changing_values(tf, stripped)


@fault("FETCH-006", "String tensors come back as arrays of str.")
def strings_are_decoded(tf: Namespace) -> Namespace:
    """Decodes elements of arrays where they are UTF-8."""

    def text(item: bytes | str) -> bytes | str:
        try:
            return item.decode() if isinstance(item, bytes) else item
        except UnicodeDecodeError:
            return item

    def decoded(_session: Session, _element: Element, value: Value) -> Value:
        if not isinstance(value, np.ndarray) or value.dtype != object:
            return value
        return np.array([text(item) for item in value.flat], object).reshape(value.shape)

    return changing_values(tf, decoded)


# --- operations and outputs ---------------------------------------------------------------


@fault("FETCH-007", "An operation with several outputs comes back as the list of them.")
def operations_give_their_outputs(tf: Namespace) -> Namespace:
    """Fetches all outputs of an operation that has more than one."""

    def outputs(session: Session, fetch: Fetch) -> Fetches:
        held = list(getattr(element_of(session, fetch), "outputs", ()))
        return held if len(held) > 1 else fetch

    return changing_fetches(tf, outputs)


@fault("FETCH-008", "The bare name of an operation with several outputs gives its first.")
def bare_names_give_the_first_output(tf: Namespace) -> Namespace:
    """Reads a name of an operation that has more than one output as `name:0`."""

    def first(session: Session, fetch: Fetch) -> Fetch:
        outputs = list(getattr(element_of(session, fetch), "outputs", ()))
        return outputs[0] if isinstance(fetch, str) and len(outputs) > 1 else fetch

    return changing_fetches(tf, first)


@fault("FETCH-009", "Outputs of one operation come back in the order of their indices.")
def outputs_come_back_by_index(tf: Namespace) -> Namespace:
    """Sort the values of each operation's outputs by their index, in a flat list of fetches."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            if not isinstance(fetches, list):
                return values
            indices: dict[Operation, list[tuple[int, int]]] = {}
            for index, fetch in enumerate(fetches):
                element = element_of(self, fetch)
                if is_tensor(element):
                    indices.setdefault(element.op, []).append((element.value_index, index))
            result = list(values)
            for held in indices.values():
                for (_, source), (_, target) in zip(sorted(held), held, strict=True):
                    result[target] = values[source]
            return result

    return override(tf, Session=Session)


@fault("FETCH-010", "An array that is fetched at a second place of a list is None there.")
def repeated_fetches_are_none(tf: Namespace) -> Namespace:
    """Return None for the second and later fetches of an array in a list."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            if not isinstance(fetches, list):
                return values
            seen: set[str | None] = set()
            result = []
            for fetch, value in zip(fetches, values, strict=True):
                element = element_of(self, fetch)
                name = getattr(element, "name", None)
                moved = isinstance(value, np.ndarray) and name is not None and name in seen
                result.append(None if moved else value)
                seen.add(name)
            return result

    return override(tf, Session=Session)


@fault("FETCH-011", "A name with an index gives the first output of the operation.")
def indices_are_ignored(tf: Namespace) -> Namespace:
    """Reads `name:INDEX` as `name:0`."""

    def first(session: Session, fetch: Fetch) -> Fetch:
        element = element_of(session, fetch) if isinstance(fetch, str) else None
        return element.op.outputs[0] if is_tensor(element) else fetch

    return changing_fetches(tf, first)
