"""Faults of fetch and feed structures: lost classes, remembered structures, repeated leaves."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.subjects.fetch.faults.fetch import element_of
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Value

#: From fetches and their values to other values.
_Change = Callable[[Fetches, Value], Value]


def _leaves(fetches: Fetches) -> Iterator[Fetches]:
    """The leaves of a fetch structure, in order."""
    if isinstance(fetches, list | tuple):
        for part in fetches:
            yield from _leaves(part)
    elif isinstance(fetches, Mapping):
        yield from _leaves(list(fetches.values()))
    else:
        yield fetches


def _rebuilt(fetches: Fetches, values: Any, change: _Change) -> Value:
    """The values, with `change(fetches, values)` for each mapping and list, from the leaves up."""
    if isinstance(fetches, list):
        parts = [_rebuilt(f, v, change) for f, v in zip(fetches, values, strict=True)]
        return change(fetches, parts)
    if type(fetches) is tuple:
        return tuple(_rebuilt(f, v, change) for f, v in zip(fetches, values, strict=True))
    if isinstance(fetches, Mapping):
        for key, part in fetches.items():
            values[key] = _rebuilt(part, values[key], change)
        return change(fetches, values)
    return values


def _rebuilding(tf: Namespace, change: _Change) -> Namespace:
    """The namespace whose sessions give `change(fetches, values)` for mappings and lists."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            return _rebuilt(fetches, super().run(fetches, *args, **kwargs), change)

    return override(tf, Session=Session)


@fault("FETCH-051", "A defaultdict comes back without its default factory.")
def default_factories_are_lost(tf: Namespace) -> Namespace:
    """Calls the class with the pairs alone."""

    def change(_fetches: Fetches, values: Value) -> Value:
        if isinstance(values, collections.defaultdict):
            return collections.defaultdict(None, values)
        return values

    return _rebuilding(tf, change)


@fault("FETCH-052", "A list of a derived class comes back as one of that class.")
def derived_lists_keep_their_class(tf: Namespace) -> Namespace:
    """Calls the class of what was passed."""

    def change(fetches: Fetches, values: Value) -> Value:
        if isinstance(fetches, list) and type(fetches) is not list and isinstance(values, list):
            return type(fetches)(values)
        return values

    return _rebuilding(tf, change)


@fault("FETCH-053", "A mapping of a derived class comes back as a dict.")
def derived_mappings_become_dicts(tf: Namespace) -> Namespace:
    """Knows dict, OrderedDict and defaultdict only."""
    known = (dict, collections.OrderedDict, collections.defaultdict)

    def change(fetches: Fetches, values: Value) -> Value:
        other = isinstance(fetches, Mapping) and type(fetches) not in known
        return dict(values) if other and isinstance(values, Mapping) else values

    return _rebuilding(tf, change)


@fault("FETCH-054", "An object of a dataclass is fetched field by field.")
def dataclasses_are_fetched(tf: Namespace) -> Namespace:
    """Takes them for namedtuples, wherever they stand."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            return super().run(_without_dataclasses(fetches), *args, **kwargs)

    return override(tf, Session=Session)


def _without_dataclasses(fetches: Any) -> Fetches:
    if dataclasses.is_dataclass(fetches) and type(fetches).__name__ == "Record":
        return [getattr(fetches, field.name) for field in dataclasses.fields(fetches)]
    if type(fetches) in {list, tuple}:
        return type(fetches)(map(_without_dataclasses, fetches))
    if type(fetches) is dict:
        return {key: _without_dataclasses(part) for key, part in fetches.items()}
    return fetches


@fault("FETCH-055", "A structure is remembered by its leaves.")
def structures_are_remembered_by_leaves(tf: Namespace) -> Namespace:
    """Gives the structure in which a session first fetched these leaves, where it is as deep."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            leaves = list(_leaves(fetches))
            parts = _parts(fetches)
            nested = any(isinstance(part, list | tuple | dict) for part in parts)
            if not nested or len(leaves) < 2 or not all(map(_is_plain, leaves)):
                return super().run(fetches, *args, **kwargs)
            remembered = self.__dict__.setdefault("faulty_structures", {})
            key = (type(fetches), len(parts), tuple(map(_identity, leaves)))
            return super().run(remembered.setdefault(key, fetches), *args, **kwargs)

    return override(tf, Session=Session)


def _parts(fetches: Fetches) -> list[Fetches]:
    if isinstance(fetches, Mapping):
        return list(fetches.values())
    return list(fetches) if isinstance(fetches, list | tuple) else []


def _is_plain(leaf: Fetches) -> bool:
    return isinstance(leaf, str) or hasattr(leaf, "op") or hasattr(leaf, "node_def")


def _identity(leaf: Fetches) -> str | int:
    return leaf if isinstance(leaf, str) else id(leaf)


@fault("FETCH-056", "A tensor that is fetched by its name too is computed twice.")
def names_are_computed_apart(tf: Namespace) -> Namespace:
    """Runs an Identity that is fetched by name on its own, where it is fetched as an object too."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            leaves = list(_leaves(fetches))
            objects = [leaf for leaf in leaves if hasattr(leaf, "dtype")]
            twice = {
                leaf
                for leaf in leaves
                if isinstance(leaf, str)
                and any(
                    element_of(self, leaf) is other and other.op.type == "Identity"
                    for other in objects
                )
            }
            values = super().run(fetches, *args, **kwargs)
            if not twice:
                return values
            again = {name: super(Session, self).run(name, *args, **kwargs) for name in twice}
            return _with_values(fetches, values, again)

    return override(tf, Session=Session)


def _with_values(fetches: Fetches, values: Any, again: Mapping[str, Value]) -> Value:
    """The values of the fetches, where names in `again` have its values instead."""
    if isinstance(fetches, list | tuple) and type(fetches) in {list, tuple}:
        pairs = zip(fetches, values, strict=True)
        return type(fetches)([_with_values(f, v, again) for f, v in pairs])
    if isinstance(fetches, dict):
        return {key: _with_values(fetches[key], values[key], again) for key in fetches}
    return again.get(fetches, values) if isinstance(fetches, str) else values


@fault("CALLABLES-007", "A callable reads the list that it was made for anew.")
def callables_read_their_list_anew(tf: Namespace) -> Namespace:
    """Runs the fetches as they are in each call."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def make_callable(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Call:
            callable_ = super().make_callable(fetches, *args, **kwargs)
            if not isinstance(fetches, list) or args or kwargs:
                return callable_
            before = list(fetches)

            def call() -> Value:
                return callable_() if fetches == before else self.run(fetches)

            return call

    return override(tf, Session=Session)


@fault("FEED-065", "A feed_dict of another class than dict is refused.")
def only_dicts_are_fed(tf: Namespace) -> Namespace:
    """Asks for the class dict, or one derived from it."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            if isinstance(feed_dict, Mapping) and not isinstance(feed_dict, dict):
                raise TypeError("feed_dict must be a dict")
            return super().run(fetches, feed_dict, *args, **kwargs)

    return override(tf, Session=Session)


@fault("FEED-066", "Of two values for one tensor the later one is fed.")
def the_later_value_is_fed(tf: Namespace) -> Namespace:
    """Flattens the feeds into a dict without a look at what is there."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            if isinstance(feed_dict, Mapping) and any(isinstance(k, tuple) for k in feed_dict):
                keys = list(_leaves(list(feed_dict)))
                values = list(_leaves(list(feed_dict.values())))
                if len(keys) == len(values) and len({*map(id, keys)}) < len(keys):
                    feed_dict = dict(zip(keys, values, strict=True))
            return super().run(fetches, feed_dict, *args, **kwargs)

    return override(tf, Session=Session)
