"""Nested structures down to the leaves of a shallower one, and the paths of leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sessrun.reference.api.nest_branches import (
    branches,
    is_composite,
    is_nested,
    packed,
    rebuilt,
    same_composites,
    same_namedtuples,
)
from sessrun.reference.base.containers import is_namedtuple

__all__ = [
    "assert_shallow_structure",
    "flatten_up_to",
    "flatten_with_joined_string_paths",
    "flatten_with_tuple_paths",
    "flatten_with_tuple_paths_up_to",
    "get_traverse_shallow_structure",
    "map_structure_up_to",
    "map_structure_with_paths",
    "map_structure_with_tuple_paths",
    "map_structure_with_tuple_paths_up_to",
    "yield_flat_paths",
]

Path = tuple[Any, ...]


def assert_shallow_structure(
    shallow_tree: object,
    input_tree: object,
    check_types: bool = True,
    expand_composites: bool = False,
) -> None:
    """Check that a structure has at least the branches of a shallower one.

    Args:
      shallow_tree: the shallower one.
      input_tree: the one that may have structures where the other has leaves.
      check_types: whether a list and a tuple, and the names of named tuples, differ.
      expand_composites: whether sparse values are looked into.

    Raises:
      TypeError: a part is a leaf where the shallower has branches, or of another type.
      ValueError: a part has another number of branches, or not the keys of the shallower.

    """
    if not is_nested(shallow_tree, expand_composites):
        return
    _check_level(shallow_tree, input_tree, check_types, expand_composites)
    pairs = zip(
        branches(shallow_tree, expand_composites),
        branches(input_tree, expand_composites),
        strict=False,
    )
    for (_, shallow), (_, deep) in pairs:
        assert_shallow_structure(shallow, deep, check_types, expand_composites)


def _check_level(shallow: Any, deep: Any, types: bool, composites: bool) -> None:
    if not is_nested(deep, composites):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(deep)}."
        )
    if types and not _of_one_type(shallow, deep):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(deep)}, while shallow structure has type {type(shallow)}."
        )
    if is_composite(shallow) or is_composite(deep):
        if not same_composites(shallow, deep):
            raise ValueError(f"Incompatible composites: {shallow} vs. {deep}")
        return
    if is_nested(shallow) and len(shallow) != len(deep):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(deep)}, while shallow structure has length {len(shallow)}."
        )
    if isinstance(shallow, Mapping) and not set(shallow) <= set(deep):
        missing = sorted(set(shallow) - set(deep))
        raise ValueError(
            "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree "
            f"has the following keys that are not in the input_tree: {missing}."
        )


def _of_one_type(shallow: object, deep: object) -> bool:
    if isinstance(deep, type(shallow)):
        return True
    if is_namedtuple(shallow) and is_namedtuple(deep):
        return same_namedtuples(shallow, deep)
    return isinstance(shallow, Mapping) and isinstance(deep, Mapping)


def _walk(
    shallow: object, deep: object, composites: bool, path: Path = ()
) -> Iterator[tuple[Path, object]]:
    if not is_nested(shallow, composites):
        yield path, deep
        return
    others = dict(branches(deep, composites))
    for step, part in branches(shallow, composites):
        yield from _walk(part, others[step], composites, (*path, step))


def flatten_with_tuple_paths_up_to(
    shallow_tree: object,
    input_tree: object,
    check_types: bool = True,
    expand_composites: bool = False,
) -> list[tuple[Path, Any]]:
    """The parts of a structure at the leaves of a shallower one, with their paths.

    Raises:
      TypeError, ValueError: as `assert_shallow_structure`.

    """
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return list(_walk(shallow_tree, input_tree, expand_composites))


def flatten_up_to(
    shallow_tree: object,
    input_tree: object,
    check_types: bool = True,
    expand_composites: bool = False,
) -> list[Any]:
    """The parts at the leaves of a shallower structure.

    Raises:
      TypeError, ValueError: as `assert_shallow_structure`.

    """
    paths_and_parts = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites
    )
    return [part for _, part in paths_and_parts]


def flatten_with_tuple_paths(
    structure: object, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """The leaves with their paths: keys, names of fields, indices."""
    return list(_walk(structure, structure, expand_composites))


def flatten_with_joined_string_paths(
    structure: object, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """The leaves with their paths as text."""
    paths_and_leaves = _walk(structure, structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in paths_and_leaves]


def yield_flat_paths(nest: object, expand_composites: bool = False) -> Iterator[Path]:
    """The paths of the leaves."""
    yield from (path for path, _ in _walk(nest, nest, expand_composites))


def map_structure_with_tuple_paths_up_to(
    shallow_tree: object,
    func: Callable[..., object],
    *inputs: object,
    check_types: bool = True,
    expand_composites: bool = False,
) -> Any:
    """Map `func`, down to the leaves of a shallower structure, over a path and the parts there.

    Args:
      shallow_tree: how deep it goes.
      func: takes the path and as many parts as there are inputs.
      *inputs: structures at least as deep.
      check_types: as of `assert_shallow_structure`.
      expand_composites: as of `assert_shallow_structure`.

    Raises:
      ValueError: no input is given, or one does not fit.
      TypeError: a branch has another type.

    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    for one in inputs:
        assert_shallow_structure(shallow_tree, one, check_types, expand_composites)
    walks = [list(_walk(shallow_tree, one, expand_composites)) for one in inputs]
    results = [func(row[0][0], *(part for _, part in row)) for row in zip(*walks, strict=True)]
    return packed(shallow_tree, iter(results), expand_composites)


def map_structure_up_to(
    shallow_tree: object, func: Callable[..., object], *inputs: Any, **kwargs: Any
) -> Any:
    """Map `func`, down to the leaves of a shallower structure, over the parts at its leaves.

    Raises:
      TypeError, ValueError: as `map_structure_with_tuple_paths_up_to`.

    """
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _path, *parts: func(*parts), *inputs, **kwargs
    )


def map_structure_with_tuple_paths(
    func: Callable[..., object], *structure: Any, **kwargs: Any
) -> Any:
    """Map `func` over the paths and the leaves of structures."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(
    func: Callable[..., object], *structure: object, **kwargs: object
) -> Any:
    """As `map_structure_with_tuple_paths`, with paths as text, joined by slashes."""
    return map_structure_with_tuple_paths(
        lambda path, *leaves: func("/".join(map(str, path)), *leaves), *structure, **kwargs
    )


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: object, expand_composites: bool = False
) -> Any:
    """A structure of booleans, as deep as a function wants to go.

    Args:
      traverse_fn: from a part to whether to look into it, or to a structure of one level that
        returns a bool for each branch.
      structure: the structure.
      expand_composites: whether sparse values are looked into.

    Raises:
      TypeError: the function gives anything else.
      ValueError: it returns another number of booleans than there are branches.

    """
    wanted = traverse_fn(structure)
    if not is_nested(structure, expand_composites):
        if not isinstance(wanted, bool):
            raise TypeError(f"traverse_fn returned {wanted!r} for the leaf {structure}")
        return wanted
    parts = [part for _, part in branches(structure, expand_composites)]
    if isinstance(wanted, bool):
        if not wanted:
            return False
        choices = [True] * len(parts)
    elif not is_nested(wanted, expand_composites):
        raise TypeError(f"traverse_fn returned a non-bool scalar: {wanted} for: {structure}")
    else:
        assert_shallow_structure(wanted, structure, expand_composites=expand_composites)
        choices = [choice for _, choice in branches(wanted)]
        if not all(isinstance(choice, bool) for choice in choices):
            raise TypeError(f"traverse_fn returned more than a level: {wanted} for: {structure}")
    deeper = [
        get_traverse_shallow_structure(traverse_fn, part, expand_composites) if choice else False
        for part, choice in zip(parts, choices, strict=True)
    ]
    return rebuilt(structure, deeper)
