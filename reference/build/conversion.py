"""`convert_to_tensor`: constants of Python and numpy values, registered conversions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.build import constant_arrays
from sessrun.reference.build.construction import apply_const
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.creation import frames_of_program
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.spec.proto import TensorProto

__all__ = [
    "constant",
    "convert_to_tensor",
    "first_tensor",
    "is_constant",
    "is_symbolic",
    "is_tensor",
    "register_tensor_conversion_function",
]

Conversion = Callable[..., Any]

_PYTHON: Final = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)
_LISTS: Final = (list, tuple)
#: The types of most values that constants are made of.
_CONSTANTS: Final = frozenset({bool, int, float, complex, str, bytes, np.ndarray})
_REGISTRY: Final[list[tuple[int, int, tuple[type, ...], Conversion]]] = []
_REGISTERING: Final = threading.Lock()
_CONVERSIONS_OF: Final[dict[type, tuple[Conversion, ...]]] = {}


@public("register_tensor_conversion_function")
def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Conversion, priority: int = 100
) -> None:
    """Convert values of `base_type` by `conversion_func(value, dtype, name, as_ref)`.

    It returns a Tensor, or NotImplemented to let the next one try. Lower priorities come
    first, then the order of registration.

    Raises:
      TypeError: `base_type` is not a type, the function cannot be called, or the type is one that
        cannot be overridden.

    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(item, type) for item in types):
        raise TypeError(
            f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}"
        )
    if any(issubclass(item, _PYTHON) for item in types):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy types.")
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")
    with _REGISTERING:
        _REGISTRY.append((priority, len(_REGISTRY), types, conversion_func))
        _REGISTRY.sort(key=lambda entry: entry[:2])
        _CONVERSIONS_OF.clear()


def _conversions(kind: type) -> tuple[Conversion, ...]:
    conversions = _CONVERSIONS_OF.get(kind)
    if conversions is None:
        conversions = _CONVERSIONS_OF[kind] = tuple(
            function for _, _, types, function in _REGISTRY if issubclass(kind, types)
        )
    return conversions


def is_constant(value: Any) -> bool:
    """Whether it is a value, or a flat list of values, of which only a constant can be made.

    A conversion that a program has registered for lists may make something else of a list.
    """
    kind = type(value)
    if kind in _CONSTANTS:
        return True
    if kind not in _LISTS or len(_conversions(kind)) > 1:
        return False
    return _CONSTANTS.issuperset(map(type, value))


@public("convert_to_tensor")
def convert_to_tensor(
    value: object,
    dtype: object = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
    as_ref: bool = False,
) -> Tensor:
    """Convert a value to a Tensor; Python and numpy values become constants.

    Args:
      value: a Tensor, a value with a method `__tf_tensor__(dtype, name)` or a registered
        conversion, or what `tf.constant` takes.
      dtype: the dtype it must have, or None.
      name: the name of a new operation.
      preferred_dtype: a dtype to try first.
      dtype_hint: the newer name of `preferred_dtype`.
      as_ref: whether a reference variable is wanted as its reference.

    Raises:
      InvalidArgumentTypeError: the value cannot become a tensor (of this dtype).
      InvalidArgumentValueError: a tensor has another dtype, or the value is None.
      RuntimeError: a registered conversion returned no Tensor.

    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if wanted is not None and not wanted.is_compatible_with(value.dtype):
            raise bad_value(
                f"{f'{name}: ' if name else ''}Tensor conversion requested dtype {wanted.name} for "
                f"Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if not isinstance(value, _PYTHON) and hasattr(value, "__tf_tensor__"):
        return _of_protocol(value, wanted, name)
    hint = preferred_dtype if preferred_dtype is not None else dtype_hint
    if wanted is None and hint is not None:
        try:
            return _convert(value, dtypes.as_dtype(hint), name, as_ref)
        except (TypeError, ValueError):
            pass  # the hint does not fit this value
    return _convert(value, wanted, name, as_ref)


def _of_protocol(value: Any, dtype: DType | None, name: str | None) -> Tensor:
    """The tensor that a value makes of itself, whichever dtype it then has."""
    tensor = value.__tf_tensor__(dtype, name)
    if not isinstance(tensor, Tensor):
        raise bad_type(f"{type(value)}.__tf_tensor__ returned no Tensor: {tensor!r}")
    return tensor


def _convert(value: object, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
    if not isinstance(value, _PYTHON):
        if isinstance(value, Operation):
            raise bad_type(f"can't convert Operation '{value.name}' to Tensor")
        for function in _conversions(type(value)):
            converted = function(value, dtype=dtype, name=name, as_ref=as_ref)
            if converted is NotImplemented:
                continue
            if not isinstance(converted, Tensor):
                raise RuntimeError(  # noqa: TRY004 - TensorFlow's class
                    f"Conversion function {function!r} for type {type(value)} returned "
                    f"non-Tensor: {converted!r}"
                )
            if dtype is not None and not dtype.is_compatible_with(converted.dtype):
                raise RuntimeError(
                    f"Conversion function {function!r} for type {type(value)} returned "
                    f"incompatible dtype: requested = {dtype.base_dtype.name}, "
                    f"actual = {converted.dtype.name}"
                )
            return converted
    return constant(_elements(value, dtype), name or "Const")


def _elements(value: object, dtype: DType | None) -> TensorProto | np.ndarray:
    """The value of a constant: an ndarray; a TensorProto of the dtype unchanged."""
    if not isinstance(value, TensorProto):
        return constant_arrays.to_array(value, dtype)
    if dtype is not None and dtype.as_datatype_enum != value.dtype:
        raise RuntimeError(
            f"A TensorProto of dtype {dtypes.as_dtype(int(value.dtype)).name} cannot become a "
            f"Tensor with incompatible dtype: requested = {dtype.name}"
        )
    return value


def constant(value: object, name: str) -> Tensor:
    """A `Const` of a TensorProto, or an ndarray that is taken over (it becomes read-only)."""
    graph = get_default_graph()
    return apply_const(graph, value, graph.name_of_new(name), frames_of_program())


@public("is_tensor")
def is_tensor(x: object) -> bool:
    """Whether `x` is a Tensor, or stands for one in the graph (a variable)."""
    return isinstance(x, Tensor) or hasattr(type(x), "_is_tensor_like")


def is_symbolic(value: object) -> bool:
    """Whether the value is a tensor, or a variable or other object that stands for one."""
    return isinstance(value, Tensor) or (
        not isinstance(value, _PYTHON) and hasattr(value, "_as_graph_element")
    )


def first_tensor(value: object) -> Any:
    """The first tensor (or variable) in nested lists and tuples, or None."""
    if isinstance(value, _LISTS):
        return next((t for t in map(first_tensor, value) if t is not None), None)
    return value if is_symbolic(value) else None
