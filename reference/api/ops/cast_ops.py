"""Casts, complex numbers and their parts; and `one`, which builds a single operation.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["cast", "complex_", "conj", "imag", "one", "real"]


def one(
    op_type: str, inputs: Mapping[str, object], name: str | None = None, **attrs: object
) -> Tensor:
    """The output of a new operation that has one output."""
    return apply_op(op_type, inputs, attrs, name).outputs[0]


@public("cast", "dtypes.cast")
def cast(x: Any, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Convert a tensor to another dtype; a tensor or variable of that dtype is returned as is.

    Args:
      x: a tensor of numbers or bools, or a SparseTensor, whose values are converted.
      dtype: the new dtype.
      name: the operation's name.

    """
    wanted = dtypes.as_dtype(dtype).base_dtype
    if (isinstance(x, Tensor) or _is_resource_variable(x)) and x.dtype is wanted:
        return x  # type: ignore[no-any-return]  # a tensor, or what becomes one
    with name_scope(name, "Cast", [x]) as scope:
        if hasattr(x, "with_values"):
            return x.with_values(cast(x.values, wanted, scope))  # type: ignore[no-any-return]  # sparse, as x is
        value = convert_to_tensor(x, name="x")
        if value.dtype is wanted:
            return value
        return one("Cast", {"x": value}, scope, DstT=wanted)


def _is_resource_variable(x: TensorLike) -> bool:
    return getattr(getattr(x, "handle", None), "dtype", None) is dtypes.resource


def _cast_to(dtype: DType, default: str) -> Callable[..., Tensor]:
    def convert(x: TensorLike, name: str = default) -> Tensor:
        """The tensor converted to the dtype that the function's name says."""
        return cast(x, dtype, name)

    return convert


@public("dtypes.saturate_cast", "saturate_cast")
def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """As `cast`, but values out of the range of the dtype become its least or largest number.

    Complex numbers are cast to a real dtype by their real part.
    """
    wanted = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "saturate_cast", [value]) as scope:
        source = convert_to_tensor(value, name="value")
        if source.dtype.is_complex and wanted.is_complex:
            have, want = source.dtype.real_dtype, wanted.real_dtype
            if have.min < want.min or have.max > want.max:
                low, high = complex(want.min, want.min), complex(want.max, want.max)
                source = _clamped(source, low, high)
            return cast(source, wanted, scope)
        if source.dtype.is_complex:
            source = real(source)
        low, high = _limits(source.dtype, wanted.real_dtype)
        return cast(_clamped(source, low, high), wanted, scope)


def _clamped(value: Tensor, low: TensorLike, high: TensorLike) -> Tensor:
    bounds = {
        "clip_value_min": convert_to_tensor(low, dtype=value.dtype),
        "clip_value_max": convert_to_tensor(high, dtype=value.dtype),
    }
    return one("ClipByValue", {"t": value, **bounds}, "clamp")


def _limits(have: DType, want: DType) -> tuple[Any, Any]:
    """The least and the largest number of `have` that `want` can represent."""
    kind = have.as_numpy_dtype
    try:
        wide = np.promote_types(kind, want.as_numpy_dtype)
    except TypeError:  # bfloat16 and another 16-bit float
        wide = np.dtype(float)
    limits = []
    for limit, chosen in ((want.min, max(have.min, want.min)), (want.max, min(have.max, want.max))):
        near = kind(chosen)
        exact = np.array([near, limit], dtype=wide)
        is_beyond = exact[0] < exact[1] if limit == want.min else exact[0] > exact[1]
        limits.append(np.nextafter(near, kind(0), dtype=kind) if is_beyond else near)
    return limits[0], limits[1]


@public("complex", "dtypes.complex", "math.complex")
def complex_(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Complex numbers from their real and imaginary parts, both float32 or both float64.

    Raises:
      TypeError: the dtypes differ, or are not float32 or float64.

    """
    with name_scope(name, "Complex") as scope:
        first = convert_to_tensor(real, name="real")
        second = convert_to_tensor(imag, name="imag")
        pair = (first.dtype.base_dtype, second.dtype.base_dtype)
        complex_dtypes = {
            (dtypes.float64,) * 2: dtypes.complex128,
            (dtypes.float32,) * 2: dtypes.complex64,
        }
        if pair not in complex_dtypes:
            raise bad_type(f"The `real` and `imag` components have incorrect types: {pair}.")
        return one("Complex", {"real": first, "imag": second}, scope, Tout=complex_dtypes[pair])


def _part(op_type: str) -> Callable[..., Tensor]:
    def part(input: TensorLike, name: str | None = None) -> Tensor:  # noqa: A002 - TensorFlow's name
        """The part (or angle) of complex numbers that the function's name says."""
        with name_scope(name, op_type, [input]) as scope:
            value = convert_to_tensor(input, name="input")
            if value.dtype.is_complex:
                return one(op_type, {"input": value}, scope, Tout=value.dtype.real_dtype)
            if op_type == "Real":
                if value.dtype.is_numeric:
                    return value
                raise bad_type(
                    f"input must be a numeric tensor, but got tensor with dtype {value.dtype}"
                )
            zero = one("ZerosLike", {"x": value})
            return (
                zero
                if op_type == "Imag"
                else one(
                    "Select",
                    {
                        "condition": one("Less", {"x": value, "y": zero}),
                        "t": one("AddV2", {"x": zero, "y": convert_to_tensor(_PI, value.dtype)}),
                        "e": zero,
                    },
                )
            )

    return part


_PI: Final = 3.141592653589793
imag = _part("Imag")
real = _part("Real")


@public("conj", "math.conj")
def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor is returned unchanged.

    Raises:
      TypeError: the tensor is not numeric.

    """
    value = convert_to_tensor(x, name="x")
    if value.dtype.is_complex:
        with name_scope(name, "Conj", [value]) as scope:
            return one("Conj", {"input": value}, scope)
    if value.dtype.is_floating or value.dtype.is_integer:
        return value
    raise bad_type(f"Expected numeric or variant tensor, got dtype {value.dtype!r}.")


for _word, _title, _dtype in (
    ("float", "Float", dtypes.float32),
    ("double", "Double", dtypes.float64),
    ("int32", "Int32", dtypes.int32),
    ("int64", "Int64", dtypes.int64),
    ("bfloat16", "BFloat16", dtypes.bfloat16),
    ("complex64", "Complex64", dtypes.complex64),
    ("complex128", "Complex128", dtypes.complex128),
):
    public(f"to_{_word}")(_cast_to(_dtype, f"To{_title}"))
public("angle", "math.angle")(_part("Angle"))
public("imag", "math.imag")(imag)
public("math.real", "real")(real)
