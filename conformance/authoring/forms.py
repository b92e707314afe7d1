"""The JSON forms of the values and matchers that authored cases are written with."""

from __future__ import annotations

import base64
import collections
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from sessrun.spec import tensors
from sessrun.spec.forms import Json, JsonObject

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
    """A value that exists only when the case is interpreted, as the expression that gives it."""

    def __init__(self, expr: Json) -> None:
        self._expr: Any = expr  # nearly always an object; a row of the feed table writes any value


@dataclass(frozen=True, slots=True)
class Matcher:
    """A matcher of `sessrun.spec.cases.judge`, as JSON."""

    json: JsonObject


class AttrsInstance(Protocol):
    """An instance of a class of attrs, which a fetch may be."""

    __attrs_attrs__: ClassVar[tuple[Attribute, ...]]


class Attribute(Protocol):
    """A field of a class of attrs."""

    @property
    def name(self) -> str:
        """The name of the field."""


class ArrayOrScalar(Protocol):
    """An array or a scalar of numpy's."""

    @property
    def nbytes(self) -> int:
        """The size in bytes."""


#: Numbers that a tensor is made of: one, an array, or nested lists of them.
Numbers: TypeAlias = "complex | np.ndarray | np.generic | Sequence[Numbers]"
#: A value that a case can hold: a Python value, a symbol or a matcher, or a structure of them.
Recordable: TypeAlias = (
    "Recorded | Matcher | ArrayOrScalar | complex | str | bytes | slice | AttrsInstance"
    " | Sequence[Recordable] | Mapping[Any, Recordable] | AbstractSet[Recordable] | None"
)


def by(clause: str, want: object) -> Matcher:
    """A matcher, and the clause that a value shows false if it does not match."""
    return Matcher({"clause": clause, "is": form(want)})


def near(value: Recordable, contract: str) -> Matcher:
    """A value that is equal under a numeric contract: `ulp(n)` or `close(rtol, atol)`."""
    return Matcher({"near": form(value), "contract": contract})


def like(dtype: str | None = None, shape: Sequence[int] | None = None) -> Matcher:
    """Any tensor of this dtype and shape."""
    body: dict[str, Json] = {}
    if dtype is not None:
        body["dtype"] = dtype
    if shape is not None:
        body["shape"] = list(shape)
    return Matcher({"like": body})


def obj(name: str) -> Matcher:
    """An object of the class of this name, which has no JSON form."""
    return Matcher({"object": name})


def as_array(value: ArrayLike | ArrayOrScalar) -> Matcher:
    """The tensor, whether it comes as a 0-d array or as a numpy scalar."""
    return Matcher({"as_array": form(np.asarray(value))})


def one_of(*options: Recordable) -> Matcher:
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


@overload
def form(value: Recorded | Matcher) -> JsonObject: ...
@overload
def form(value: object) -> Json: ...
def form(value: object) -> Json:  # noqa: C901 - one line per kind of value
    """The JSON form of a Python value, symbol or matcher inside a case.

    Raises:
      TypeError: the value is none that a case can hold, see `Recordable`.

    """
    match value:
        case Matcher(json):
            return dict(json)
        case Recorded():
            expr: Json = value._expr  # noqa: SLF001 - the recorder owns its symbols
            return expr
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


def _structure(value: object) -> Json:
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
    attributes = getattr(type(value), "__attrs_attrs__", None)
    if attributes is not None:
        names = [attribute.name for attribute in attributes]
        body = {"type": type(value).__name__, "fields": names}
        return {"$attrs": body | {"values": [form(getattr(value, name)) for name in names]}}
    raise TypeError(f"a case cannot hold a {type(value).__name__}; record a call that makes it")
