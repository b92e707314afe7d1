"""Python values as JSON and back: literals of a case, and what a call was seen to return.

Every Python value that a feed, a fetch structure or an attribute can be has one form. Plain
JSON stands for itself; what JSON lacks is an object with one `$` key. The values that only a
feed meets (`$py`, `$numpy`, `$view`) are made by `feedables`.
"""

from __future__ import annotations

import base64
import collections
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.forms import Json

__all__ = ["LITERAL_FORMS", "Raised", "ValueFormError", "describe", "literal"]

#: The one-key objects that `literal` reads.
LITERAL_FORMS: Final = frozenset(
    {"$array", "$scalar", "$bytes", "$float", "$int", "$complex", "$none"}
)


@dataclass(frozen=True, slots=True)
class Raised:
    """An error that a named check caught: its public classes, the nearest first, and its code."""

    classes: tuple[str, ...]
    code: int | None


class ValueFormError(ValueError):
    """A value's JSON form is not one."""


def literal(form: Mapping[str, Any]) -> Any:
    """The Python value of a one-key form: array, numpy scalar, bytes, float, int, complex.

    Raises:
      ValueFormError: unknown form or ill-formed content.

    """
    ((key, body),) = form.items()
    try:
        match key:
            case "$array":
                return tensors.decode(body)
            case "$scalar":
                return tensors.decode(body)[()]
            case "$bytes":
                return base64.b64decode(body, validate=True)
            case "$float":
                return float(body)
            case "$int":
                return int(body)
            case "$complex":
                return complex(float(body[0]), float(body[1]))
            case "$none":
                return None
    except (ValueError, TypeError, IndexError) as error:
        raise ValueFormError(f"ill-formed {key}: {error}") from error
    raise ValueFormError(f"unknown value form {key}")


def describe(value: Any, depth: int = 0) -> Json:
    """The JSON form of a value that a call returned; an object that has none gives its type.

    Lists and tuples, dicts and namedtuples keep their kinds, numpy scalars are told from 0-d
    arrays, non-finite floats and bytes are exact. Nesting beyond 100 is cut.
    """
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value if not isinstance(value, int) or abs(value) < 2**53 else {"$int": str(value)}
    if depth > 100:
        return {"$object": "nested too deep"}
    if isinstance(value, np.generic | np.ndarray):
        return _describe_numpy(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, complex):
        return {"$complex": [repr(value.real), repr(value.imag)]}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    return _describe_structure(value, depth)


def _describe_numpy(value: np.generic | np.ndarray) -> Json:
    key = "$scalar" if isinstance(value, np.generic) else "$array"
    try:
        return {key: tensors.encode(value)}
    except (tensors.TensorError, TypeError):
        return {"$object": f"numpy {value.dtype}"}


def _describe_structure(value: Any, depth: int) -> Json:
    if type(value) is list:
        return [describe(item, depth + 1) for item in value]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = list(value._fields)
        values = [describe(item, depth + 1) for item in value]
        return {"$namedtuple": {"type": type(value).__name__, "fields": fields, "values": values}}
    if type(value) is tuple:
        return {"$tuple": [describe(item, depth + 1) for item in value]}
    if isinstance(value, Mapping):
        key = "$dict" if type(value) is dict else "$mapping"
        pairs = [[describe(k, depth + 1), describe(v, depth + 1)] for k, v in value.items()]
        if isinstance(value, collections.OrderedDict):
            key = "$ordered_dict"
        return {key: pairs}
    if isinstance(value, Raised):
        return {"$raised": {"classes": list(value.classes), "code": value.code}}
    if hasattr(type(value), "__attrs_attrs__"):
        names = [field.name for field in type(value).__attrs_attrs__]
        values = [describe(getattr(value, name), depth + 1) for name in names]
        return {"$attrs": {"type": type(value).__name__, "fields": names, "values": values}}
    return {"$object": type(value).__name__}
