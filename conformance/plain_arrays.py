"""Tensors of a case as expressions of plain Python with numpy: part of `plain`."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sessrun.conformance.plain_files import items_text
from sessrun.spec import tensors
from sessrun.spec.dtypes import BY_NAME

__all__ = ["array_text"]

#: Arrays of more elements are written as base64 of their bytes, not as nested lists.
_LISTED: Final = 50


def array_text(form: Mapping[str, Any]) -> str:
    """An expression whose value is the tensor: same dtype, shape and elements.

    It needs `np`, `tf` for dtypes that numpy lacks, `base64` if it is large, and `folder` if some
    of its strings are paths.
    """
    if any(isinstance(item, dict) for item in form["data"]):
        return f"np.array({items_text(form['data'])}, object).reshape({form['shape']})"
    array = tensors.decode(form)
    dtype = _dtype_text(form["dtype"])
    if array.size == 0:  # a nested list would lose the sizes after the first zero
        return f"np.zeros({array.shape}, dtype={dtype})"
    if array.size <= _LISTED or form["dtype"] == "string":
        return f"np.array({_literal(_as_python(array).tolist())}, dtype={dtype})"
    raw = f"base64.b64decode({base64.b64encode(array.tobytes()).decode()!r})"
    return f"np.frombuffer({raw}, dtype={dtype}).reshape({array.shape})"


def _dtype_text(name: str) -> str:
    row = BY_NAME[name]
    if row.kind == "string":
        return "object"
    if hasattr(np, name):
        return repr(name)
    where = "tf.dtypes.experimental" if row.is_narrow else "tf"
    return f"{where}.{name}.as_numpy_dtype"


def _as_python(array: np.ndarray) -> np.ndarray:
    """The array in a dtype whose elements `tolist` turns into Python's numbers."""
    if array.dtype.kind != "V" or array.dtype.names:
        return array
    kind = BY_NAME[array.dtype.name].kind
    return array.astype(np.float64 if kind == "float" else np.int64)


def _literal(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, complex):  # `1-0j` would lose the sign of the zero
        return f"complex({_literal(value.real)}, {_literal(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else f"{'-' if value < 0 else ''}np.inf"
    return repr(value)
