"""The numeric contracts of variants, which follow from the contracts of their vectors."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Final

from sessrun.conformance.variants.numbers import kind_of
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["computes_exactly", "contract_of", "is_open", "loosest", "tensors_in"]

#: The tolerances for a few operations in a row, which an engine may reorder and fuse.
_CLOSE: Final[Mapping[str, tuple[float, float]]] = {
    "float64": (1e-9, 1e-10),
    "complex128": (1e-9, 1e-10),
    "float32": (1e-4, 1e-5),
    "complex64": (1e-4, 1e-5),
    "float16": (1e-2, 1e-3),
    "bfloat16": (5e-2, 1e-2),
}
_COARSE: Final = (0.3, 0.1)  # floats of eight bits
#: Matchers that leave open what a value is.
_OPEN: Final = frozenset(
    {"like", "keep", "same_as", "differs_from", "anything", "one_of", "object"}
)
_TOLERANCES: Final = re.compile(r"close\((?P<rtol>[^,]+),(?P<atol>[^)]+)\)")


def is_open(matcher: object) -> bool:
    """Whether any part of a matcher leaves the value open."""
    if isinstance(matcher, list):
        return any(map(is_open, matcher))
    if not isinstance(matcher, Mapping):
        return False
    return any(key in _OPEN or is_open(part) for key, part in matcher.items())


def tensors_in(matcher: object) -> list[JsonObject]:
    """The tensors in a matcher, `{dtype, shape, data}` each."""
    if isinstance(matcher, list):
        return [tensor for item in matcher for tensor in tensors_in(item)]
    if not isinstance(matcher, Mapping):
        return []
    tensors = [matcher[key] for key in ("$array", "$scalar") if key in matcher]
    return tensors or [tensor for part in matcher.values() for tensor in tensors_in(part)]


def contract_of(matcher: Json, *, exact: bool) -> str:
    """The contract that takes the place of a matcher's own, for its dtypes.

    Args:
      matcher: what the vector expects.
      exact: whether nothing of the case rounds otherwise on another engine.

    """
    stated = list(_stated(matcher))
    special = [text for text in stated if not text.startswith(("close(", "ulp("))]
    if special:
        return special[0]
    floats = [
        dtype
        for dtype in (str(tensor["dtype"]) for tensor in tensors_in(matcher))
        if kind_of(dtype) in {"float", "complex"}
    ]
    if exact and not stated:
        return "exact"
    pairs = [_CLOSE.get(dtype, _COARSE) for dtype in floats]
    if not pairs and _has_float(matcher):
        pairs = [_CLOSE["float32"]]
    return loosest(pairs, stated) if pairs else "exact"


def loosest(pairs: Iterable[tuple[float, float]], stated: Iterable[str]) -> str:
    """The contract `close` that admits whatever one of these contracts admits."""
    tolerances = [_TOLERANCES.fullmatch(text) for text in stated]
    both = [*pairs, *((float(one["rtol"]), float(one["atol"])) for one in tolerances if one)]
    return f"close({max(rtol for rtol, _ in both)!r}, {max(atol for _, atol in both)!r})"


def _stated(matcher: object) -> Iterable[str]:
    if isinstance(matcher, list):
        for item in matcher:
            yield from _stated(item)
    elif isinstance(matcher, Mapping):
        if "near" in matcher:
            yield matcher.get("contract", "exact")
        for part in matcher.values():
            yield from _stated(part)


def _has_float(matcher: Json) -> bool:
    if isinstance(matcher, list):
        return any(map(_has_float, matcher))
    if isinstance(matcher, Mapping):
        return (
            "$float" in matcher or "$complex" in matcher or any(map(_has_float, matcher.values()))
        )
    return isinstance(matcher, float)


@functools.cache
def computes_exactly(op: str) -> bool:
    """Whether an operation's floats are the same on every engine.

    Not those of an optimizer's step, whose product and sum an engine may fuse, and round once.
    """
    operation = OPERATIONS.get(op)
    return (
        operation is not None
        and "Apply" not in op
        and all(
            operation.contract("float32", out.name) in {"exact", "signed"}
            for out in operation.outputs
        )
    )
