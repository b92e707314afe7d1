"""Tensors in a vector's file as people read them: `{"$float32": [[1.5, -2.0]]}`.

That stands for `{"dtype": "float32", "shape": [1, 2], "data": BASE64}`, which the case has and its
hash covers. Written so are the tensors that come back bit for bit and are no longer for it: no
NaN, no infinity, no complex number, and no tensor without elements.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sessrun.spec import tensors

__all__ = ["exact", "exact_tensor", "readable"]

_DTYPES: Final = {
    f"${name}": name
    for name in (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float32",
        "float64",
        "string",
    )
}


def readable(value: Any) -> Any:
    """A JSON value with its tensors as people read them, where these have such a form."""
    if isinstance(value, Mapping):
        if value.keys() == {"dtype", "shape", "data"}:
            return _readable_tensor(value)
        return {key: readable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [readable(item) for item in value]
    return value


def exact(value: Any) -> Any:
    """The JSON value of which `readable` made this one; itself if it is nested without end."""
    try:
        return _exact(value)
    except RecursionError:  # the schema refuses it
        return value


def _exact(value: Any) -> Any:
    if isinstance(value, Mapping):
        return exact_tensor({key: _exact(item) for key, item in value.items()})
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return value


def exact_tensor(form: dict[str, Any]) -> dict[str, Any]:
    """The tensor that people read as this; any other object as it is. An `object_hook` of JSON."""
    if len(form) != 1:
        return form
    ((key, elements),) = form.items()
    dtype = _DTYPES.get(key)
    if dtype is None:
        return form
    try:
        array = np.array(elements, object if dtype == "string" else dtype)
        if dtype == "string":
            array = np.frompyfunc(str.encode, 1, 1)(array)
        return tensors.encode(np.asarray(array))
    except (TypeError, ValueError, OverflowError):  # no such elements: the schema refuses it
        return form


def _readable_tensor(form: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tensor as people read it; itself where that is longer, or another tensor."""
    key, data = f"${form['dtype']}", form["data"]
    if key not in _DTYPES:
        return form
    try:
        shown = {key: _texts(form) if key == "$string" else _numbers(data, form)}
    except (AttributeError, TypeError, ValueError, binascii.Error):
        return form
    if len(json.dumps(shown)) > len(json.dumps(form)):
        return form
    return shown if exact_tensor(shown) == form else form


def _numbers(data: Any, form: Mapping[str, Any]) -> Any:
    """Nested lists of numbers; a float32 has the digits that tell it from other float32."""
    array = np.frombuffer(base64.b64decode(data), form["dtype"]).reshape(form["shape"])
    if not np.isfinite(array).all():
        raise ValueError("JSON has no such number")
    if array.dtype == np.float32:
        digits = [float(str(element)) for element in array.ravel()]
        array = np.array(digits).reshape(array.shape)
    return array.tolist()


def _texts(form: Mapping[str, Any]) -> Any:
    """Nested lists of text."""
    texts = np.empty(len(form["data"]), object)
    for index, item in enumerate(form["data"]):
        texts[index] = base64.b64decode(item).decode("ascii")
        if not texts[index].isprintable():
            raise ValueError("such text is escaped, and no easier to read")
    return texts.reshape(form["shape"]).tolist()
