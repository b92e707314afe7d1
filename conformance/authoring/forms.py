"""The JSON forms of the values and matchers that authored cases are written with."""

from __future__ import annotations

import base64
import collections
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sessrun.spec import tensors

__all__ = [
    "Matcher",
    "Numbers",
    "Recordable",
    "Recorded",
    "anything",
    "as_array",
    "differs_from",
    "form",
    "keep",
    "like",
    "near",
    "obj",
    "one_of",
    "same_as",
]


class Recorded:
    """A value that will exist when the case is interpreted: the expression that makes it."""

    def __init__(self, expr: Any) -> None:
        self._expr = expr


@dataclass(frozen=True, slots=True)
class Matcher:
    """A matcher of `sessrun.spec.cases.judge`, ready-made JSON."""

    json: Mapping[str, Any]


#: Numbers that a tensor is made of: one, an array, or nested lists of them.
Numbers: TypeAlias = "complex | np.ndarray | np.generic | Sequence[Numbers]"
#: What a case may hold: a symbol, a matcher, a value that has a JSON form, or a structure of these.
Recordable: TypeAlias = (
    "Recorded | Matcher | np.ndarray | np.generic | complex | str | bytes | slice"
    " | Sequence[Recordable] | Mapping[Any, Recordable] | AbstractSet[Recordable] | None"
)


def by(clause: str, want: Any) -> Matcher:
    """What is wanted, and the clause that anything else shows false."""
    return Matcher({"clause": clause, "is": form(want)})


def near(value: Any, contract: str) -> Matcher:
    """Equal under a numeric contract: `ulp(n)` or `close(rtol, atol)`."""
    return Matcher({"near": form(value), "contract": contract})


def like(dtype: str | None = None, shape: Sequence[int] | None = None) -> Matcher:
    """Any tensor of this dtype and shape."""
    body: dict[str, Any] = {}
    if dtype is not None:
        body["dtype"] = dtype
    if shape is not None:
        body["shape"] = list(shape)
    return Matcher({"like": body})


def obj(name: str) -> Matcher:
    """An object of the class so named that has no value form."""
    return Matcher({"object": name})


def as_array(value: Any) -> Matcher:
    """The tensor, whether it comes as a 0-d array or as a numpy scalar."""
    return Matcher({"as_array": form(np.asarray(value))})


def one_of(*options: Any) -> Matcher:
    """One of several values."""
    return Matcher({"one_of": [form(option) for option in options]})


def keep(name: str) -> Matcher:
    """Any value; remembered for `same_as` and `differs_from`."""
    return Matcher({"keep": name})


def same_as(name: str) -> Matcher:
    """The same value as the one kept."""
    return Matcher({"same_as": name})


def differs_from(name: str) -> Matcher:
    """Another value than the one kept."""
    return Matcher({"differs_from": name})


anything = Matcher({"anything": True})


def form(value: Any) -> Any:  # noqa: C901 - one line per kind of value
    """The JSON form of a Python value, symbol or matcher inside a case."""
    match value:
        case Matcher(json):
            return dict(json)
        case Recorded():
            return value._expr  # noqa: SLF001 - the recorder owns its symbols
        case None | bool() | str():
            return value
        case np.ndarray():
            return {"$array": tensors.encode(value)}
        case np.generic():
            return {"$scalar": tensors.encode(value)}
        case int():
            return value if abs(value) < 2**53 else {"$int": str(value)}
        case float():
            return value if math.isfinite(value) else {"$float": repr(value)}
        case complex():
            return {"$complex": [repr(value.real), repr(value.imag)]}
        case bytes():
            return {"$bytes": base64.b64encode(value).decode()}
        case list():
            return [form(item) for item in value]
        case slice():
            return {"$slice": [form(value.start), form(value.stop), form(value.step)]}
    return _structure(value)


def _structure(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        body = {"type": type(value).__name__, "fields": list(value._fields)}
        return {"$namedtuple": body | {"values": [form(item) for item in value]}}
    if isinstance(value, tuple):
        return {"$tuple": [form(item) for item in value]}
    if isinstance(value, collections.OrderedDict):
        return {"$ordered_dict": [[form(k), form(v)] for k, v in value.items()]}
    if isinstance(value, dict):
        return {"$dict": [[form(k), form(v)] for k, v in value.items()]}
    if isinstance(value, set | frozenset):
        return {"$set": [form(item) for item in sorted(value, key=repr)]}
    if hasattr(type(value), "__attrs_attrs__"):
        names = [attribute.name for attribute in type(value).__attrs_attrs__]
        body = {"type": type(value).__name__, "fields": names}
        return {"$attrs": body | {"values": [form(getattr(value, name)) for name in names]}}
    raise TypeError(f"a case cannot hold a {type(value).__name__}; record a call that makes it")
