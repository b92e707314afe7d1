"""Faults of FETCH: fed tensors and variables as fetches, arrays that are not the caller's own."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.subjects.fetch.faults.fetch import element_of, is_tensor, mapped
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Feeds, Fetch, Fetches, Session, Value, Variable


def is_variable(fetch: object) -> TypeGuard[Variable]:
    """Whether a fetch is a Variable object."""
    return hasattr(fetch, "initializer") and hasattr(fetch, "initial_value")


def fed_elements(session: Session, feeds: Feeds) -> dict[str, Value]:
    """The fed values, by the name of the tensor that each is fed to."""
    values: dict[str, Value] = {}
    for key in feeds or ():
        element = element_of(session, key)
        if element is not None and feeds:
            values[element.name] = feeds[key]
    return values


@fault("FETCH-018", "A computed Tensor object that is fed cannot be fetched beside another.")
def fed_and_fetched_is_an_error(tf: Namespace) -> Namespace:
    """Refuse fed tensors in a list or dict of fetches, except names and references."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            fed = fed_elements(self, feed_dict)

            def check(fetch: Fetch, _: Value) -> None:
                element = element_of(self, fetch)
                if not is_tensor(fetch) or not is_tensor(element):
                    return
                plain = element.dtype == element.dtype.base_dtype
                if plain and element.name in fed and element.op.inputs:
                    text = f"{element.name} is both fed and fetched"
                    raise tf.errors.InvalidArgumentError(None, None, text)

            if isinstance(fetches, list | dict) and len(fetches) > 1:
                mapped(fetches, fetches, check)
            return super().run(fetches, feed_dict, *args, **kwargs)

    return override(tf, Session=Session)


@fault("FETCH-019", "A resource Variable of rank 1, fetched alone, has its initial value.")
def variables_give_their_initial_value(tf: Namespace) -> Namespace:
    """Fetch the tensor of the initial value instead of the variable."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            if is_variable(fetches) and hasattr(fetches, "handle") and fetches.shape.rank == 1:
                return super().run(fetches.initial_value, *args, **kwargs)
            return super().run(fetches, *args, **kwargs)

    return override(tf, Session=Session)


@fault("FETCH-021", "Every run hands out the one array of a constant.")
def constants_are_handed_out(tf: Namespace) -> Namespace:
    """Keep the array of each fetched constant, and return it again."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            held = self.__dict__.setdefault("constants", {})

            def kept(fetch: Fetch, value: Value) -> Value:
                element = element_of(self, fetch)
                if not is_tensor(element) or element.op.type != "Const":
                    return value
                return held.setdefault(element.name, value)

            return mapped(fetches, values, kept)

    return override(tf, Session=Session)


@fault("FETCH-022", "An array fetched from a Variable is the variable's own memory.")
def variables_are_written_through(tf: Namespace) -> Namespace:
    """Assign the array last fetched of a variable, if it was written to, at the next run."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            held = self.__dict__.setdefault("variables", {})
            for variable, array, value in held.values():
                if not np.array_equal(array, value):
                    super().run(variable.initializer, {variable.initializer.inputs[1]: array})
            held.clear()
            values = super().run(fetches, *args, **kwargs)

            def remember(fetch: Fetch, value: Value) -> None:
                if is_variable(fetch) and isinstance(value, np.ndarray):
                    held[id(fetch)] = (fetch, value, value.copy())

            mapped(fetches, values, remember)
            return values

    return override(tf, Session=Session)


@fault("FETCH-023", "An array fetched from a Variable follows the variable's later values.")
def variables_are_views(tf: Namespace) -> Namespace:
    """Copies the new value into every array that was fetched of the variable, after each run."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            held = self.__dict__.setdefault("views", [])
            for variable, array in held:
                np.copyto(array, super().run(variable))

            def remember(fetch: Fetch, value: Value) -> None:
                if is_variable(fetch) and isinstance(value, np.ndarray):
                    held.append((fetch, value))

            mapped(fetches, values, remember)
            return values

    return override(tf, Session=Session)


@fault("FETCH-024", "An identity or a reshape of a fed array is a view of it.")
def identities_of_feeds_are_views(tf: Namespace) -> Namespace:
    """Gives the caller's own memory where the array fed has the tensor's dtype."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            values = super().run(fetches, feed_dict, *args, **kwargs)
            fed = fed_elements(self, feed_dict)

            def view(fetch: Fetch, value: Array) -> Value:
                op = getattr(element_of(self, fetch), "op", None)
                if op is None or op.type not in {"Identity", "Reshape"}:
                    return value
                source = fed.get(op.inputs[0].name)
                if not isinstance(source, np.ndarray) or source.dtype != value.dtype:
                    return value
                return source.reshape(value.shape)

            return mapped(fetches, values, view)

    return override(tf, Session=Session)


@fault("FETCH-025", "Each fetched tensor has one output buffer, which every run fills anew.")
def output_buffers_are_reused(tf: Namespace) -> Namespace:
    """Writes a value into the array that the tensor's last fetch gave, if it fits."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            buffers = self.__dict__.setdefault("buffers", {})

            def reused(fetch: Fetch, value: Value) -> Value:
                name = getattr(element_of(self, fetch), "name", None)
                buffer = buffers.get(name)
                if not isinstance(value, np.ndarray) or name is None:
                    return value
                if buffer is None or (buffer.shape, buffer.dtype) != (value.shape, value.dtype):
                    buffer = buffers[name] = value
                np.copyto(buffer, value)
                return buffer

            return mapped(fetches, values, reused)

    return override(tf, Session=Session)


@fault("FETCH-050", "Matrices come back in Fortran order.")
def matrices_are_in_fortran_order(tf: Namespace) -> Namespace:
    """Copy matrices to Fortran order."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            value = super().run(fetches, *args, **kwargs)
            is_matrix = isinstance(value, np.ndarray) and value.ndim == 2
            return np.asfortranarray(value) if is_matrix else value

    return override(tf, Session=Session)
