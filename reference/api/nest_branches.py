"""Which values are nested structures, their branches in order, and how they are packed again.

A structure is a sequence (but not text), a mapping, a view of one or an object of an attrs class.
Where `composites` is true, a SparseTensor, RaggedTensor or IndexedSlices is one of a single branch,
the tuple of its tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MappingView, Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base.containers import attribute_names, is_namedtuple, mapping_like
from sessrun.reference.build.composites import CompositeTensor

__all__ = [
    "branches",
    "is_attrs",
    "is_composite",
    "is_mapping",
    "is_nested",
    "packed",
    "rebuilt",
    "same_composites",
    "same_namedtuples",
]


def is_mapping(obj: object) -> bool:
    """Whether a value is a mapping."""
    return isinstance(obj, Mapping)


def is_attrs(obj: object) -> bool:
    """Whether a value is of an attrs class."""
    return attribute_names(obj) is not None


def is_composite(value: TensorLike) -> bool:
    """Whether a value is a composite tensor."""
    return isinstance(value, CompositeTensor)


def is_nested(seq: Any, composites: bool = False) -> bool:
    """Whether a value has branches."""
    if isinstance(seq, str | bytes):
        return False
    if isinstance(seq, list | tuple | dict | Sequence | Mapping | MappingView) or is_attrs(seq):
        return True
    return composites and is_composite(seq)


def same_namedtuples(nest1: Any, nest2: Any) -> bool:
    """Whether two named tuples have the same class name and field names."""
    one, other = type(nest1), type(nest2)
    return bool(one.__name__ == other.__name__ and nest1._fields == nest2._fields)


def same_composites(one: Any, other: Any) -> bool:
    """Whether one static description can stand for both."""
    return type(one) is type(other) and one.dtype is other.dtype


def branches(structure: Any, composites: bool = False) -> Iterator[tuple[object, Any]]:
    """Pairs of a step and the branch it leads to: a mapping's in the order of its keys.

    Raises:
      TypeError: the keys of a mapping have no order.

    """
    if isinstance(structure, Mapping):
        yield from ((key, structure[key]) for key in sorted(structure))
    elif (names := attribute_names(structure)) is not None:
        yield from ((name, getattr(structure, name)) for name in names)
    elif is_namedtuple(structure):
        yield from zip(structure._fields, structure, strict=True)
    elif composites and is_composite(structure):
        yield type(structure).__name__, tuple(structure.parts())
    else:
        yield from enumerate(structure)


def rebuilt(like: object, parts: Sequence[Any]) -> Any:
    """A structure like another one, with these branches in the order of `branches`."""
    if isinstance(like, Mapping):
        values = dict(zip(sorted(like), parts, strict=True))
        return mapping_like(like)([(key, values[key]) for key in like])
    if isinstance(like, MappingView | range):
        return list(parts)
    kind: Any = type(like)
    if isinstance(like, CompositeTensor):
        return like.with_parts(parts[0])
    if is_namedtuple(like) or is_attrs(like):
        return kind(*parts)
    return kind(parts)


def packed(like: object, leaves: Iterator[Any], composites: bool = False) -> Any:
    """A structure like another one with other leaves; StopIteration if there are too few."""
    if not is_nested(like, composites):
        return next(leaves)
    parts = [packed(part, leaves, composites) for _, part in branches(like, composites)]
    return rebuilt(like, parts)
