"""Tensors in a vector's file as people read them: `{"$float32": [[1.5, -2.0]]}`.

That stands for `{"dtype": "float32", "shape": [1, 2], "data": BASE64}`, which the case has and its
hash covers. Written so are the tensors that come back bit for bit and are no longer for it: no
NaN, no infinity, no complex number, and no tensor without elements.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.dtypes import DTYPES
from sessrun.spec.forms import Json, JsonObject

__all__ = ["exact", "exact_tensor", "readable"]

#: Dtypes of less than a byte, which releases of ml_dtypes make of numbers in different ways.
_NARROW: Final = frozenset({"int2", "int4", "uint2", "uint4", "float4_e2m1fn"})
_DTYPES: Final = {
    f"${row.name}": row
    for row in DTYPES
    if row.kind in {"bool", "int", "uint", "float", "string"} and row.name not in _NARROW
}


def readable(value: Json) -> Json:
    """A JSON value with its tensors as people read them, where these have such a form."""
    if isinstance(value, Mapping):
        if value.keys() == {"dtype", "shape", "data"}:
            return _readable_tensor(value)
        return {key: readable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [readable(item) for item in value]
    return value


def exact(value: Json) -> Json:
    """The JSON value of which `readable` made this one; itself if it is nested without end."""
    try:
        return _exact(value)
    except RecursionError:  # the schema refuses it
        return value


def _exact(value: Json) -> Json:
    if isinstance(value, Mapping):
        return exact_tensor({key: _exact(item) for key, item in value.items()})
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return value


def exact_tensor(form: dict[str, Json]) -> dict[str, Json]:
    """The tensor that people read as this; any other object as it is. An `object_hook` of JSON."""
    if len(form) != 1:
        return form
    ((key, elements),) = form.items()
    row = _DTYPES.get(key)
    if row is None:
        return form
    try:
        array = np.array(elements, row.numpy)
        if row.kind == "string":
            array = np.frompyfunc(str.encode, 1, 1)(array)
        return tensors.encode(np.asarray(array))
    except (TypeError, ValueError, OverflowError):  # no such elements: the schema refuses it
        return form


def _readable_tensor(form: JsonObject) -> JsonObject:
    """The tensor as people read it; itself where that is longer, or another tensor."""
    key = f"${form['dtype']}"
    if key not in _DTYPES:
        return form
    try:
        array = tensors.decode(form)
        shown = {key: _texts(array) if key == "$string" else _numbers(array)}
    except (AttributeError, TypeError, ValueError):
        return form
    if len(json.dumps(shown)) > len(json.dumps(form)):
        return form
    return shown if exact_tensor(shown) == form else form


def _numbers(array: np.ndarray) -> Json:
    """Nested lists of numbers; a float has the digits that tell it from others of its dtype."""
    if array.dtype.kind in "biu":
        integers: Json = array.tolist()
        return integers
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        wide = array.astype(np.float64)
    if not np.isfinite(wide).all():
        raise ValueError("JSON has no such number")
    if array.dtype != np.float64:
        digits = [float(str(element)) for element in array.ravel()]
        wide = np.array(digits).reshape(array.shape)
    numbers: Json = wide.tolist()
    return numbers


def _texts(array: np.ndarray) -> Json:
    """Nested lists of text."""
    texts = np.frompyfunc(lambda item: item.decode("ascii"), 1, 1)(array)
    if not all(text.isprintable() for text in np.asarray(texts).ravel()):
        raise ValueError("such text is escaped, and no easier to read")
    nested: Json = np.asarray(texts).tolist()
    return nested
