"""Summaries of single numbers: `tf.summary.scalar`. Source: TF 2.21."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sessrun.reference.dtypes import float32
from sessrun.reference.graph_keys import GraphKeys
from sessrun.reference.name_scopes import name_scope
from sessrun.reference.ops.cast_ops import cast, one
from sessrun.reference.stacks import get_default_graph
from sessrun.reference.tensor import Tensor

__all__ = ["EXPORTS", "fraction_summary", "scalar"]

_ODD: Final = re.compile(r"[^-/\w.]")


def scalar(
    name: Any, tensor: Any, collections: Sequence[Any] | None = None, family: str | None = None
) -> Tensor:
    """A serialized Summary of a number.

    Args:
      name: of the node, from which the tag is made.
      tensor: a scalar number.
      collections: where it is put, by default into the summaries of the graph.
      family: goes before the tag.

    """
    word = _clean(name)
    before = "" if family is None else f"{_clean(family)}/"
    with name_scope(before + word, values=[tensor]) as scope:
        tag = before + scope.rstrip("/")
        made = one("ScalarSummary", {"tags": tag, "values": tensor}, scope)
    keys = [GraphKeys.SUMMARIES] if collections is None else collections
    for key in keys:
        get_default_graph().add_to_collection(key, made)
    return made


def _clean(name: str) -> str:
    """The name as one of a node can be."""
    cleaned = _ODD.sub("_", name).lstrip("/")
    if cleaned != name:
        logging.getLogger("sessrun").info(
            "Summary name %s is illegal; using %s instead.", name, cleaned
        )
    return cleaned


def fraction_summary(name: str, count: Tensor, whole: int) -> None:
    """A summary of which part of `whole` a count is."""
    scalar(name, cast(count, float32) * (1.0 / whole))


EXPORTS: Final[Mapping[str, Any]] = {"summary.scalar": scalar}
