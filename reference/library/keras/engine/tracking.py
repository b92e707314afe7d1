"""Tracking of a layer's variables and sublayers, by assignment of attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from sessrun.reference.api.variables.partitioned_variable import PartitionedVariable
from sessrun.reference.api.variables.variable_base import Variable

__all__ = ["Tracking", "distinct", "is_split"]


#: An object that a layer's checkpoint includes.
Trackable = TypeVar("Trackable")


def is_split(variable: Variable) -> bool:
    """Whether a variable is partitioned."""
    return isinstance(variable, PartitionedVariable)


def distinct(values: Iterable[Trackable]) -> list[Trackable]:
    """The values without repeated objects, in order."""
    return list({id(value): value for value in values}.values())


def is_metric(value: object) -> bool:
    """Whether a layer is a metric, which is not tracked as a sublayer."""
    return getattr(value, "_is_metric", False)


def _inside(value: object) -> Iterator[Any]:
    """The leaves of nested lists, tuples and dicts."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _inside(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _inside(item)
    else:
        yield value


class Tracking:
    """Base class of Layer: tracks variables and layers assigned to attributes."""

    _trainable_weights: list[Variable]
    _non_trainable_weights: list[Variable]
    #: Layers, and containers that may hold some, in the order in which they became attributes.
    _self_tracked_trackables: list[object]

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(type(self), name):
            try:
                object.__setattr__(self, name, value)
            except AttributeError:
                raise AttributeError(
                    f'Can\'t set the attribute "{name}", likely because it conflicts with an '
                    "existing read-only @property of the object. Please choose a different name."
                ) from None
            return
        if name.startswith("_") and name in _OWN:
            object.__setattr__(self, name, value)
            return
        before = self.__dict__.get(name)
        object.__setattr__(self, name, value)
        if before is not None and before is not value:
            self._forget(before)
        self._keep(value)

    def __delattr__(self, name: str) -> None:
        before = self.__dict__.get(name)
        object.__delattr__(self, name)
        if before is not None:
            self._forget(before)

    def _lists(self) -> tuple[list[Any], list[Any], list[Any]]:
        """The lists of trainable variables, other variables and sublayers; created on first use."""
        return tuple(self.__dict__.setdefault(name, []) for name in _KEPT)

    def _keep(self, value: object) -> None:
        """Track the layers and variables in the value of a new attribute."""
        trained, others, layers = self._lists()
        is_container = isinstance(value, list | tuple | Mapping)
        may_hold = isinstance(value, list | dict) or (
            is_container and any(isinstance(item, Tracking) for item in _inside(value))
        )  # to a list or a dict layers may be added later
        if isinstance(value, Tracking) or may_hold:
            if not any(value is layer for layer in layers):
                layers.append(value)
            if isinstance(value, Tracking) and hasattr(value, "_use_resource_variables"):
                value._use_resource_variables = True  # noqa: SLF001 - a layer of the older kind
        measured = self.__dict__.get("_metrics")
        if measured is not None:
            measured += [item for item in _inside(value) if is_metric(item)]
        if not is_container and not isinstance(value, Variable):
            return
        for item in _inside(value):
            if not isinstance(item, Variable):
                continue
            known = trained if item.trainable else others
            if not any(item is variable for variable in known):
                known.append(item)

    def _forget(self, value: object) -> None:
        """Stop tracking the old value of an attribute, unless another attribute holds it."""
        if any(value is other for other in self.__dict__.values()):
            return
        for known in self._lists():
            known[:] = [item for item in known if item is not value]

    def _track_trackable(self, trackable: Trackable, name: str) -> Trackable:
        """Record a checkpoint dependency on an object under a name; returns the object."""
        self.__dict__.setdefault("_named_dependencies", {})[name] = trackable
        return trackable

    def _trackable_children(self, save_type: str = "checkpoint", **_: Any) -> dict[str, object]:
        """Sublayers and variables by their names in checkpoints."""
        del save_type
        own = {
            name: value
            for name, value in self.__dict__.items()
            if isinstance(value, Tracking | Variable)
        }
        return {**own, **self.__dict__.get("_named_dependencies", {})}

    def _flatten_layers(self, recursive: bool = True, include_self: bool = True) -> Iterator[Any]:
        """The layer and all its sublayers, outer ones first."""
        if include_self:
            yield self
        yield from self._inner_layers(set(), recursive=recursive)

    def _inner_layers(self, seen: set[int], *, recursive: bool) -> Iterator[Any]:
        """The sublayers whose ids are not in `seen`, depth first."""
        for kept in self._lists()[2]:
            for layer in _inside(kept):
                if not isinstance(layer, Tracking) or is_metric(layer) or id(layer) in seen:
                    continue
                seen.add(id(layer))
                yield layer
                if recursive:
                    yield from layer._inner_layers(seen, recursive=True)  # noqa: SLF001 - a layer's own

    def _of_inner_layers(self, name: str) -> list[Variable]:
        """The concatenated values of a list attribute of the direct sublayers."""
        layers = self._flatten_layers(recursive=False, include_self=False)
        return [item for layer in layers for item in getattr(layer, name)]


_KEPT = ("_trainable_weights", "_non_trainable_weights", "_self_tracked_trackables")
#: Attributes of the machinery itself.
_OWN = frozenset(
    {
        *_KEPT,
        "_updates",
        "_losses",
        "_callable_losses",
        "_metrics",
        "_input_spec",
        "_batch_input_shape",
        "_initial_weights",
        "_build_input_shape",
    }
)
