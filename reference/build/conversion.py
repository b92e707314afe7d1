"""From anything to a Tensor: the registry of conversions, and packing of lists of tensors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sessrun.reference.base import dtypes
from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build import constant_values
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.stacks import get_default_graph, graph_for
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import TensorProto

__all__ = ["convert_to_tensor", "is_tensor", "register_tensor_conversion_function"]

Conversion = Callable[..., Any]

_PYTHON: Final = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)
_REGISTRY: Final[list[tuple[int, int, tuple[type, ...], Conversion]]] = []
_REGISTERING: Final = threading.Lock()
_FOUND: Final[dict[type, tuple[Conversion, ...]]] = {}


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Conversion, priority: int = 100
) -> None:
    """Convert values of `base_type` by `conversion_func(value, dtype, name, as_ref)`.

    It returns a Tensor, or NotImplemented to let the next one try. Lower priorities come
    first, then the order of registration.

    Raises:
      TypeError: the type is none, the function cannot be called, or the type is one that
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
        _FOUND.clear()


def _conversions(kind: type) -> tuple[Conversion, ...]:
    found = _FOUND.get(kind)
    if found is None:
        found = _FOUND[kind] = tuple(
            function for _, _, types, function in _REGISTRY if issubclass(kind, types)
        )
    return found


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
    as_ref: bool = False,
) -> Tensor:
    """The Tensor that a value is or becomes; a constant is made for Python and numpy values.

    Args:
      value: a Tensor, a value with a method `__tf_tensor__(dtype, name)` or a registered
        conversion, or what `tf.constant` takes.
      dtype: the dtype it must have, or None.
      name: the name of an operation that is made.
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
    found = value.__tf_tensor__(dtype, name)
    if not isinstance(found, Tensor):
        raise bad_type(f"{type(value)}.__tf_tensor__ returned no Tensor: {found!r}")
    return found


def _convert(value: Any, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
    if not isinstance(value, _PYTHON):
        if isinstance(value, Operation):
            raise bad_type(f"can't convert Operation '{value.name}' to Tensor")
        for function in _conversions(type(value)):
            found = function(value, dtype=dtype, name=name, as_ref=as_ref)
            if found is NotImplemented:
                continue
            if not isinstance(found, Tensor):
                raise RuntimeError(  # noqa: TRY004 - TensorFlow's class
                    f"Conversion function {function!r} for type {type(value)} returned "
                    f"non-Tensor: {found!r}"
                )
            if dtype is not None and not dtype.is_compatible_with(found.dtype):
                raise RuntimeError(
                    f"Conversion function {function!r} for type {type(value)} returned "
                    f"incompatible dtype: requested = {dtype.base_dtype.name}, "
                    f"actual = {found.dtype.name}"
                )
            return found
        if isinstance(value, list | tuple) and first_tensor(value) is not None:
            return _packed(value, dtype, name or "packed")
        if isinstance(value, TensorShape):
            return _of_shape(value, dtype, name or "shape_as_tensor")
        if isinstance(value, Dimension):
            return _of_dimension(value, dtype, name or "shape_as_tensor")
    return constant(_elements(value, dtype), name or "Const")


def _elements(value: Any, dtype: DType | None) -> Any:
    """What a constant is made of: an ndarray, or a message of that dtype as it is."""
    if not isinstance(value, TensorProto):
        return constant_values.to_array(value, dtype)
    if dtype is not None and dtype.as_datatype_enum != value.dtype:
        raise RuntimeError(
            f"A TensorProto of dtype {dtypes.as_dtype(int(value.dtype)).name} cannot become a "
            f"Tensor with incompatible dtype: requested = {dtype.name}"
        )
    return value


def constant(value: Any, name: str) -> Tensor:
    """A `Const` of a TensorProto, or an ndarray that is taken over (it becomes read-only)."""
    from sessrun.reference.build.build import apply_const  # noqa: PLC0415 - build imports this module

    return apply_const(get_default_graph(), value, name)


def is_tensor(x: Any) -> bool:
    """Whether `x` is a Tensor, or stands for one in the graph (a variable)."""
    return isinstance(x, Tensor) or hasattr(type(x), "_is_tensor_like")


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Tensor) or (
        not isinstance(value, _PYTHON) and hasattr(value, "_as_graph_element")
    )


def first_tensor(value: Any) -> Any:
    """The first tensor (or variable) in nested lists and tuples, or None."""
    if isinstance(value, list | tuple):
        return next((t for t in map(first_tensor, value) if t is not None), None)
    return value if _is_symbolic(value) else None


def _packed(value: Any, dtype: DType | None, name: str) -> Tensor:
    """A `Pack` of a list that holds tensors, and of its inner lists."""
    first = first_tensor(value)
    wanted = dtype or first.dtype.base_dtype
    with graph_for(first.graph).as_default():
        if first.dtype.base_dtype is not wanted:
            value = _cast_items(value, wanted)
        packed: Tensor = _pack_items(value, wanted, name)
        return packed


def _cast_items(value: Any, wanted: DType) -> Any:
    """The same nested lists, with all tensors of one dtype."""
    from sessrun.reference.build.build import apply_op  # noqa: PLC0415 - build imports this module

    if isinstance(value, list | tuple):
        return [_cast_items(item, wanted) for item in value]
    if not _is_symbolic(value) or value.dtype.base_dtype is wanted:
        return value
    return apply_op("Cast", {"x": value}, {"DstT": wanted}).outputs[0]


def _pack_items(value: Any, wanted: DType, name: str) -> Any:
    """A `Pack` of a list, whose inner lists come first; the list if no tensor is in it."""
    from sessrun.reference.build.build import apply_op  # noqa: PLC0415 - build imports this module

    with get_default_graph().name_scope(name) as scope:
        items = []
        for index, item in enumerate(value):
            if _is_symbolic(item) and item.dtype.base_dtype is not wanted:
                raise bad_type(
                    f"Cannot convert a list containing a tensor of dtype {item.dtype} to "
                    f"{wanted} (Tensor is: {item!r})"
                )
            inner = isinstance(item, list | tuple)
            items.append(_pack_items(item, wanted, str(index)) if inner else item)
        if not any(_is_symbolic(item) for item in items):
            return items
        tensors = [
            item if _is_symbolic(item) else convert_to_tensor(item, wanted, name=str(index))
            for index, item in enumerate(items)
        ]
        return apply_op("Pack", {"values": tensors}, {"axis": 0}, scope).outputs[0]


def _of_shape(shape: TensorShape, dtype: DType | None, name: str) -> Tensor:
    if not shape.is_fully_defined():
        raise bad_value(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    sizes = shape.as_list()
    if dtype is None:
        small = all(size is not None and size < 2**31 for size in sizes)
        dtype = dtypes.int32 if small else dtypes.int64
    elif dtype not in {dtypes.int32, dtypes.int64}:
        raise bad_type(
            f"Cannot convert TensorShape {shape} to dtype {dtype}. "
            "Allowed dtypes are tf.int32 and tf.int64."
        )
    if dtype is dtypes.int32 and any(size is not None and size >= 2**31 for size in sizes):
        raise bad_value(
            f"Cannot convert TensorShape {shape} to dtype int32; a dimension is too large. "
            "Consider using tf.int64."
        )
    return constant(np.array(sizes, dtype.as_numpy_dtype), name)


def _of_dimension(dimension: Dimension, dtype: DType | None, name: str) -> Tensor:
    if dimension.value is None:
        raise bad_value(f"Cannot convert unknown Dimension {dimension} to a Tensor.")
    wanted = dtype or dtypes.int32
    if wanted not in {dtypes.int32, dtypes.int64}:
        raise bad_type(
            f"Cannot convert Dimension {dimension} to dtype {dtype}. "
            "Allowed dtypes are tf.int32 and tf.int64."
        )
    return constant(np.array(dimension.value, wanted.as_numpy_dtype), name)
