"""Expressions of the case language for the values that are fed: numbers, text, arrays, objects."""

from __future__ import annotations

import base64
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sessrun.spec import tensors
from sessrun.spec.forms import Json

__all__ = [
    "NOTHING",
    "Kind",
    "array_of",
    "byte_string",
    "element_of",
    "floating",
    "integer",
    "nested",
    "numpy_array",
    "object_array",
    "python_object",
    "scalar_of",
    "struct_array",
]

#: A kind of value: its id, its title and its expression.
Kind: TypeAlias = tuple[str, str, Json]
#: None.
NOTHING: Final[Json] = {"$none": True}


def integer(value: int) -> Json:
    """An int, as text where JSON cannot hold it."""
    return value if abs(value) < 2**53 else {"$int": str(value)}


def floating(text: str) -> Json:
    """A float, as Python writes it."""
    return {"$float": text}


def byte_string(value: bytes) -> Json:
    """A bytes object."""
    return {"$bytes": base64.b64encode(value).decode()}


def nested(depth: int, value: Json = 1) -> Json:
    """`value` in `depth` lists; TensorFlow dies of a string tensor of more than 32 dimensions."""
    for _ in range(depth):
        value = [value]
    return value


def python_object(name: str, *args: Json) -> Json:
    """A value that `python_value` makes by this name."""
    return {"$py": name, "args": list(args)} if args else {"$py": name}


def array_of(value: ArrayLike, dtype: str | None = None) -> Json:
    """A numpy array of a dtype that tensors have."""
    return {"$array": tensors.encode(np.asarray(value, dtype))}


def scalar_of(value: np.generic) -> Json:
    """A numpy scalar of a dtype that tensors have."""
    return {"$scalar": tensors.encode(value)}


def numpy_array(dtype: Json, shape: list[int], *items: Json) -> Json:
    """A numpy array of any dtype, element by element."""
    return {"$numpy": {"dtype": dtype, "shape": shape, "items": list(items)}}


def element_of(array: Json) -> Json:
    """The numpy scalar in a 0-d array."""
    return {"$item": [array, {"$tuple": []}]}


def object_array(shape: list[int], *items: Json) -> Json:
    """An array of Python objects."""
    return numpy_array("O", shape, *items)


def struct_array(shape: list[int]) -> Json:
    """An array whose elements have two fields."""
    return numpy_array([["a", "i4"], ["b", "f4"]], shape, {"$tuple": [1, 2.5]})
