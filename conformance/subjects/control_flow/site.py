"""Where nodes are written: in a graph, in a branch or a loop of it, or in a function's body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np

from sessrun.conformance.generators.graphdef import dtype_attr
from sessrun.spec.cases.objects import Value
from sessrun.spec.forms import Json, JsonObject

__all__ = [
    "BOOL",
    "FLOAT",
    "INT",
    "LONG",
    "REF",
    "RESOURCE",
    "Kind",
    "LoopingSite",
    "Site",
    "list_of",
    "scalar",
    "waiting",
]

#: A dtype as AttrValue; REF marks an int32 reference, which moves by operations of its own.
Kind: TypeAlias = Mapping[str, Json]
BOOL: Final[Kind] = dtype_attr("bool")
INT: Final[Kind] = dtype_attr("int32")
LONG: Final[Kind] = dtype_attr("int64")
FLOAT: Final[Kind] = dtype_attr("float32")
RESOURCE: Final[Kind] = dtype_attr("resource")
REF: Final[Kind] = {"type": "DT_INT32"}


class Site(Protocol):
    """A graph, branch or function body into which nodes are written."""

    def node(
        self,
        op: str,
        inputs: Sequence[str] = (),
        attrs: JsonObject | None = None,
        output: str = "output",
    ) -> str:
        """Write a node; return its name, by which nodes here take its first output."""

    def constant(self, value: Value) -> str:
        """Write a constant that is executed only if this site is."""

    def outside(self, text: str, kind: Kind) -> str:
        """The name by which nodes here take a tensor of the outer graph."""


class LoopingSite(Site, Protocol):
    """A site into which loops can be written."""

    def repeat(
        self, times: str, values: Sequence[str], body: Callable[[list[str]], list[str]]
    ) -> list[str]:
        """Write a loop of `times` iterations over int32 values; return their last values."""


def waiting(text: str) -> str:
    """The control input for the node that gives a tensor."""
    return "^" + text.partition(":")[0]


def list_of(*kinds: Kind) -> JsonObject:
    """Some dtypes as AttrValue."""
    return {"list": {"type": [kind["type"] for kind in kinds]}}


def scalar(value: int, dtype: str = "int32") -> np.ndarray:
    """A number as a tensor of shape []."""
    return np.array(value, dtype)
