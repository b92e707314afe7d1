"""Containers of Python that structures are made of: what is in one, and how one like it is made."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["attribute_names", "is_namedtuple", "mapping_like"]


def attribute_names(value: Any) -> list[str] | None:
    """The names of the attributes of an object of an attrs class; None of any other."""
    attributes = getattr(type(value), "__attrs_attrs__", None)
    return None if attributes is None else [attribute.name for attribute in attributes]


def is_namedtuple(value: Any) -> bool:
    """Whether a value is a tuple whose places have names."""
    fields = getattr(value, "_fields", None)
    return (
        isinstance(value, tuple)
        and isinstance(fields, collections.abc.Sequence)
        and all(isinstance(field, str) for field in fields)
    )


def mapping_like(mapping: Mapping[Any, Any]) -> Callable[[Iterable[tuple[Any, Any]]], Any]:
    """From pairs to a mapping of the same class; of a defaultdict, one with the same default."""
    if isinstance(mapping, collections.defaultdict):
        return functools.partial(collections.defaultdict, mapping.default_factory)
    make: Callable[[Iterable[tuple[Any, Any]]], Any] = type(mapping)
    return make
