"""Reads `since.toml`: what releases of TensorFlow added to the declared operations and dtypes.

It stands apart from what else reads the spec, since a worker in an archive needs it too.
"""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = ["Since", "is_newer", "load_since", "since"]


@dataclass(frozen=True, slots=True)
class Since:
    """The producers (versions of GraphDefs) since which there are things.

    Attributes:
      dtypes: of each newer dtype.
      attributes: of each newer attribute, `OP.ATTR`. A release ignores the default of one that it
        does not know.
      values: of each attribute the dtypes that it has not always had.

    """

    dtypes: Mapping[str, int]
    attributes: Mapping[str, int]
    values: Mapping[str, Mapping[str, int]]


@functools.cache
def load_since() -> Mapping[str, Any]:
    """The file's content: the releases, the oldest that is judged first."""
    text = importlib.resources.files("sessrun.spec").joinpath("since.toml").read_text("utf-8")
    return MappingProxyType(tomllib.loads(text))


@functools.cache
def since() -> Since:
    """What is newer than the oldest release, by name."""
    dtypes: dict[str, int] = {}
    attributes: dict[str, int] = {}
    values: dict[str, dict[str, int]] = {}
    for release in load_since()["releases"]:
        producer = release["producer"]
        dtypes |= dict.fromkeys(release.get("dtypes", ()), producer)
        attributes |= dict.fromkeys(release.get("attributes", ()), producer)
        for key, names in release.get("values", {}).items():
            values.setdefault(key, {}).update(dict.fromkeys(names, producer))
    return Since(dtypes, attributes, values)


def is_newer(op: str, attr: str) -> bool:
    """Whether a release that is judged lacks an attribute: no call need give its default."""
    return f"{op}.{attr}" in since().attributes
