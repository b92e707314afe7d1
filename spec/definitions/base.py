"""What executable definitions are made of: their register, and arithmetic that rounds once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np

from sessrun.spec.dtypes import BY_NAME, row_of_numpy
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments

__all__ = [
    "DEFINITIONS",
    "Array",
    "Definition",
    "defined_outputs",
    "definition",
    "is_integer",
    "numpy_dtype",
    "rounded",
    "strings",
    "wide",
]

#: A tensor of numpy: what its functions and operators give has no narrower type for mypy.
Array = Any
#: What a definition gives: a tensor, or one for each output.
Value = Any


@dataclass(frozen=True, slots=True)
class Definition:
    """The value of an operation, as a function of its inputs and attributes.

    Attributes:
      function: takes the inputs in order (a list of tensors as a list), and by keyword the
        attributes that `attrs` names.
      attrs: the attributes that it needs.

    """

    function: Callable[..., Value]
    attrs: tuple[str, ...]


#: The executable definitions, by op type.
DEFINITIONS: Final[dict[str, Definition]] = {}


def definition(*names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register a function as the definition of these op types.

    Its positional parameters are the inputs, its keyword-only ones the attributes that it needs.
    """

    def register(function: Callable[..., Value]) -> Callable[..., Value]:
        parameters = inspect.signature(function).parameters.values()
        attrs = tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)
        for name in names:
            if name in DEFINITIONS:
                raise ValueError(f"{name} has two definitions")
            DEFINITIONS[name] = Definition(function, attrs)
        return function

    return register


def defined_outputs(operation: Operation, arguments: Arguments) -> list[Array]:
    """The tensors that an operation gives by its definition.

    Args:
      operation: the operation, which has an executable definition.
      arguments: valid arguments; what a definition gives for others means nothing.

    Raises:
      KeyError: the operation has no executable definition.

    """
    known = DEFINITIONS[operation.name]
    inputs = [arguments.inputs[arg.name] for arg in operation.inputs]
    attrs = {name: arguments.attrs[name] for name in known.attrs}
    with np.errstate(all="ignore"):
        value = known.function(*inputs, **attrs)
    outputs = value if isinstance(value, list | tuple) else [value]
    dtypes = _output_dtypes(operation, arguments.attrs)
    return [as_tensor(one, dtype) for one, dtype in zip(outputs, dtypes, strict=True)]


def _output_dtypes(operation: Operation, attrs: Mapping[str, Any]) -> list[np.dtype[Any]]:
    """The dtypes of the outputs; of quantized elements that of the integers that they are."""
    names: list[str] = []
    for arg in operation.outputs:
        if arg.type_list_attr is not None:
            names += attrs[arg.type_list_attr]
        else:
            names += [arg.dtype or attrs[arg.type_attr or ""]] * arg.count(attrs)
    dtypes = map(numpy_dtype, names)
    return [dtype if dtype.names is None else dtype[0] for dtype in dtypes]


def as_tensor(value: Any, dtype: np.dtype[Any]) -> Array:
    """An array of the dtype, of a value that has it or is to be rounded to it."""
    if isinstance(value, bytes):
        return strings([value]).reshape(())
    array = np.asarray(value)
    return array if array.dtype == dtype else rounded(array, dtype)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The numpy dtype of a dtype's name."""
    dtype: np.dtype[Any] = np.dtype(BY_NAME[name].numpy)
    return dtype


def strings(values: Sequence[bytes]) -> Array:
    """A vector of strings."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_integer(x: Array) -> bool:
    """Whether the dtype is one of integers, with or without sign."""
    return x.dtype.kind in "iu"


def wide(x: Array) -> Array:
    """The same numbers in float64, or complex128, where they are floats; others as they are."""
    if x.dtype.kind == "c":
        return x.astype(np.complex128)
    row = row_of_numpy(x.dtype)
    return x.astype(np.float64) if row is not None and row.kind == "float" else x


def rounded(value: Any, dtype: Any) -> Array:
    """Numbers in a dtype: floats rounded to the nearest (a tie to even), integers modulo 2**n."""
    with np.errstate(all="ignore"):
        array = np.asarray(value)
        if dtype == ml_dtypes.bfloat16 and array.dtype == np.float64:
            return array.astype(np.float32).astype(dtype)
        return array.astype(dtype)
