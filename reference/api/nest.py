"""Nested structures (`tf.nest`): their leaves as a list, and structures of other leaves.

The functions that go only as deep as another structure are in `nest_up_to.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.nest_branches import (
    branches,
    is_attrs,
    is_composite,
    is_mapping,
    packed,
    rebuilt,
    same_composites,
    same_namedtuples,
)
from sessrun.reference.api.nest_branches import is_nested as _is_nested
from sessrun.reference.base.containers import is_namedtuple

__all__ = [
    "assert_same_structure",
    "flatten",
    "flatten_dict_items",
    "is_attrs",
    "is_mapping",
    "is_namedtuple",
    "is_nested",
    "is_nested_or_composite",
    "is_sequence_or_composite",
    "list_to_tuple",
    "map_structure",
    "pack_sequence_as",
    "same_namedtuples",
]


def is_nested(seq: object) -> bool:
    """Whether a value is a structure: a sequence but text, a mapping, an object of attrs."""
    return _is_nested(seq)


def is_nested_or_composite(seq: object) -> bool:
    """Whether a value is a structure or a composite tensor."""
    return _is_nested(seq, composites=True)


is_sequence_or_composite = is_nested_or_composite


def flatten(structure: object, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure in order, those of a mapping in the order of its keys.

    Args:
      structure: any value; one that is no structure is the only leaf.
      expand_composites: whether composites count as structures of their tensors.

    Raises:
      TypeError: the keys of a mapping have no order.

    """
    return list(_leaves(structure, expand_composites))


def _leaves(structure: object, composites: bool) -> Iterator[Any]:
    if not _is_nested(structure, composites):
        yield structure
        return
    for _, part in branches(structure, composites):
        yield from _leaves(part, composites)


def pack_sequence_as(structure: object, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure like `structure` with the leaves of a flat sequence.

    Args:
      structure: the structure to imitate.
      flat_sequence: as many leaves as it has, in the order of `flatten`.
      expand_composites: as of `flatten`.

    Raises:
      TypeError: `flat_sequence` is not a structure.
      ValueError: `flat_sequence` has another number of leaves.

    """
    if not _is_nested(flat_sequence, expand_composites):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence)}` instead."
        )
    leaves = list(flat_sequence)
    if not _is_nested(structure, expand_composites):
        if len(leaves) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the "
                f"input is a sequence ({type(flat_sequence)}) of length {len(leaves)}.\n  "
                f"{flat_sequence}\nOne leaf cannot stand for a sequence."
            )
        return leaves[0]
    count = len(flatten(structure, expand_composites))
    if count != len(leaves):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had "
            f"{len(leaves)} items.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return packed(structure, iter(leaves), expand_composites)


def _options(arguments: dict[str, Any]) -> tuple[bool, bool]:
    """The keyword arguments of functions that take several structures.

    Raises:
      ValueError: there is another one.

    """
    options = dict(arguments)
    check_types = options.pop("check_types", True)
    expand_composites = options.pop("expand_composites", False)
    if options:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(options)}`"
        )
    return check_types, expand_composites


def map_structure(func: Callable[..., object], *structure: object, **kwargs: object) -> Any:
    """Map a function over the leaves of structures.

    Args:
      func: takes as many leaves as there are structures.
      *structure: structures of the same shape.
      **kwargs: `check_types` and `expand_composites`, as of `assert_same_structure`.

    Raises:
      TypeError: `func` cannot be called, or two structures are of different types.
      ValueError: no structure is given, or two differ.

    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types, expand_composites = _options(kwargs)
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types, expand_composites)
    rows = zip(*(_leaves(one, expand_composites) for one in structure), strict=True)
    return packed(first, iter([func(*row) for row in rows]), expand_composites)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Check that two structures differ in their leaves only.

    Args:
      nest1: a structure.
      nest2: another one.
      check_types: whether lists and tuples, and the names of named tuples, differ; mappings of
        different classes never do, but their keys must be the same.
      expand_composites: whether sparse values are looked into.

    Raises:
      TypeError: two parts are of different types.
      ValueError: branches differ in their number or keys, or a branch stands for a leaf.

    """
    try:
        _compare(nest1, nest2, check_types, expand_composites)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_shown(nest1)}\n\nSecond structure: {_shown(nest2)}\n\n"
            f"More specifically: {error}"
        ) from None


def _shown(value: object) -> str:
    return f"type={type(value).__name__} str={value}"


def _compare(one: TensorLike, other: TensorLike, types: bool, composites: bool) -> None:
    nested = _is_nested(one, composites)
    if nested != _is_nested(other, composites):
        deep, leaf = (one, other) if nested else (other, one)
        raise ValueError(
            f'Substructure "{_shown(deep)}" is a sequence, while substructure "{_shown(leaf)}" '
            "is not"
        )
    if not nested:
        return
    if composites and (is_composite(one) or is_composite(other)):
        if not same_composites(one, other):
            raise ValueError(f"Incompatible composites: {_shown(one)} vs. {_shown(other)}")
    elif types:
        _compare_types(one, other)
    parts = [part for _, part in branches(one, composites)]
    other_parts = [part for _, part in branches(other, composites)]
    for pair in zip(parts, other_parts, strict=False):
        _compare(*pair, types, composites)
    if len(parts) != len(other_parts):
        raise ValueError(
            "The two structures don't have the same number of elements. First structure: "
            f"{_shown(one)}. Second structure: {_shown(other)}"
        )


def _compare_types(one: Any, other: Any) -> None:
    if is_mapping(one) and is_mapping(other):
        if set(one) != set(other):
            raise ValueError(
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_shown(list(one))}, while second structure has keys {_shown(list(other))}"
            )
    elif is_namedtuple(one) and is_namedtuple(other) and same_namedtuples(one, other):
        return
    elif type(one) is not type(other):
        raise TypeError(
            "The two structures don't have the same sequence type. First structure "
            f"{_shown(one)}, while second structure {_shown(other)}"
        )


def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """A mapping whose keys that are structures are flattened, with their values.

    Args:
      dictionary: a mapping; a key that is a tuple has a value of the same number of leaves.

    Raises:
      TypeError: `dictionary` is not a mapping.
      ValueError: a key and its value have different structures, or a key occurs twice.

    """
    if not is_mapping(dictionary):
        raise TypeError(
            f"A mapping is needed, not an object of class '{type(dictionary).__name__}'."
        )
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = (flatten(key), flatten(value)) if _is_nested(key) else ([key], [value])
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                f"{len(values)} elements. Key: {keys}, value: {values}."
            )
        for one, leaf in zip(keys, values, strict=True):
            if one in flat:
                raise ValueError(f"Cannot flatten dict because this key is not unique: {one}")
            flat[one] = leaf
    return flat


def list_to_tuple(structure: object) -> Any:
    """The structure with a tuple for every list."""
    if not _is_nested(structure):
        return structure
    parts = [list_to_tuple(part) for _, part in branches(structure)]
    if isinstance(structure, list):
        return tuple(parts)
    return rebuilt(structure, parts)
