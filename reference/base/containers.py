"""Python's containers in nested structures: their parts, and how another of a kind is made."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["attribute_names", "is_namedtuple", "mapping_like"]


def attribute_names(value: object) -> list[str] | None:
    """The names of the attributes of an object of an attrs class; None for other objects."""
    attributes = getattr(type(value), "__attrs_attrs__", None)
    return None if attributes is None else [attribute.name for attribute in attributes]


def is_namedtuple(value: object) -> bool:
    """Whether a value is a namedtuple."""
    fields = getattr(value, "_fields", None)
    return (
        isinstance(value, tuple)
        and isinstance(fields, collections.abc.Sequence)
        and all(isinstance(field, str) for field in fields)
    )


def mapping_like(mapping: Mapping[Any, Any]) -> Callable[[Iterable[tuple[Any, Any]]], Any]:
    """What makes a mapping of the same class from pairs; a defaultdict gets the same default."""
    if isinstance(mapping, collections.defaultdict):
        return functools.partial(collections.defaultdict, mapping.default_factory)
    make: Callable[[Iterable[tuple[Any, Any]]], Any] = type(mapping)
    return make
