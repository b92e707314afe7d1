"""The part of a run's source that is about its fetches; its names are those of `source`.

Clauses: FETCH.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from sessrun.reference.session.resolve.builds import (
    Build,
    MappingBuild,
    SequenceBuild,
    item_number,
)

__all__ = ["structure_source"]

#: Python writes longer dicts in parts, which takes longer than to make them of pairs.
_LONG: Final = 50


def structure_source(build: Build, values: Sequence[str], names: dict[str, object]) -> str | None:
    """The expression of the caller's structure; None if it has parts that are not written so.

    Written are lists, tuples, namedtuples and dicts, of these parts.

    Args:
      build: what makes the structure.
      values: the names of the values that it takes.
      names: the names of the source, to which those of keys and classes are added.

    """
    number = item_number(build)
    if number is not None:
        return values[number]
    if not isinstance(build, SequenceBuild | MappingBuild):
        return None
    builds = [*build.parts.values()] if isinstance(build, MappingBuild) else build.parts
    parts = []
    for part in builds:
        text = structure_source(part, values, names)
        if text is None:
            return None
        parts.append(text)
    if isinstance(build, MappingBuild):
        return _mapping(build, parts, names)
    text = ", ".join(parts)
    if issubclass(build.kind, list):
        return f"[{text}]"
    if build.kind is tuple:
        return f"({text},)" if parts else "()"
    return f"{_named('m', build.kind, names)}({text})"


def _mapping(build: MappingBuild, parts: Sequence[str], names: dict[str, object]) -> str | None:
    """The expression of a dict, or of an OrderedDict made of one."""
    if build.make not in {dict, OrderedDict}:
        return None
    if len(parts) > _LONG:
        names["zip"] = zip
        make, every = _named("m", build.make, names), _named("g", [*build.parts], names)
        return f"{make}(zip({every}, [{', '.join(parts)}]))"
    keys = [_named("g", key, names) for key in build.parts]
    pairs = ", ".join(f"{key}: {part}" for key, part in zip(keys, parts, strict=True))
    if build.make is dict:
        return f"{{{pairs}}}"
    return f"{_named('m', build.make, names)}({{{pairs}}})"


def _named(letter: str, value: object, names: dict[str, object]) -> str:
    """A new name for a value."""
    name = f"{letter}{len(names)}"
    names[name] = value
    return name
