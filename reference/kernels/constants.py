"""Kernels of constants, identities, checks and conversions."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.host import dtype_of, string_array
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.resources import Handle
from sessrun.reference.kernels.tensor_list import zeros_like
from sessrun.spec.dtypes import BY_NAME

#: The narrow dtypes that `Cast` converts to and from wider ones: floats, integers.
_BYTE_FLOATS: Final = frozenset({"float8_e5m2", "float8_e4m3fn"})
_NIBBLES: Final = frozenset({"int4", "uint4"})
#: The bits of the fractions of floats, and the unsigned dtype of the same size.
_FRACTIONS: Final = {
    "float64": (52, "uint64"),
    "complex128": (52, "uint64"),
    "float32": (23, "uint32"),
    "complex64": (23, "uint32"),
    "float16": (10, "uint16"),
    "bfloat16": (7, "uint16"),
    "float8_e5m2": (2, "uint8"),
    "float8_e4m3fn": (3, "uint8"),
}


@binder("Const")
def const(bind: Bind) -> KernelFunction:
    """The attribute `value`: read-only, so that a fetch copies it; a numpy scalar for rank 0."""
    try:
        held = _array(bind.attrs["value"], bind.attrs["dtype"])
    except ValueError as error:
        return functools.partial(_refuse, f"Constant {bind.node.name}: {error}")
    value = held if bind.attrs["dtype"] == "string" else bind.xp.asarray(held)
    if value is held:
        value = held.view()
        value.flags.writeable = False
        if value.ndim == 0 and bind.attrs["dtype"] != "string":
            value = value[()]  # arithmetic on a numpy scalar is many times faster
    return lambda: value


def _array(held: Any, dtype: str) -> Array:
    """The array of a constant.

    Raises:
      ValueError: an imported graph's TensorProto is invalid, or of another dtype.

    """
    array: Array = held.array() if hasattr(held, "proto") else held
    if array.dtype != dtype_of(dtype):
        raise ValueError(f"Type mismatch between value ({array.dtype}) and dtype ({dtype})")
    return array


def _refuse(message: str) -> Array:
    raise InvalidArgument(message)


@kernel("Placeholder", "PlaceholderV2", host_outputs=("output",))
def placeholder(bind: Bind, *, dtype: str, shape: tuple[int | None, ...] | None) -> Array:
    """Raises: a placeholder is only executed if it is not fed."""
    name = bind.node.name
    known = (
        ""
        if shape is None
        else " and shape [" + ",".join("?" if dim is None else str(dim) for dim in shape) + "]"
    )
    raise InvalidArgument(
        f"You must feed a value for placeholder tensor '{name}' with dtype "
        f"{BY_NAME[dtype].opdef}{known}"
    )


@kernel(
    "PlaceholderWithDefault",
    "Identity",
    "Snapshot",
    "StopGradient",
    "PreventGradient",
    "DebugGradientIdentity",
)
def identity(_: ArrayModule, x: Array) -> Array:
    """The input itself."""
    return x


@kernel("GuaranteeConst")
def guarantee_const(_: ArrayModule, x: Array | Handle) -> Array:
    """The input itself, which must not be the handle of a variable."""
    if isinstance(x, Handle):
        raise InvalidArgument("Input tensor cannot be a resource variable handle.")
    return x


@kernel("IdentityN")
def identity_n(_: ArrayModule, *inputs: Array) -> tuple[Array, ...] | Array:
    """The inputs themselves."""
    return inputs if len(inputs) > 1 else inputs[0]


@kernel("NoOp")
def no_op(_: ArrayModule) -> None:
    """Does nothing."""


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


@kernel("CheckNumerics")
def check_numerics(xp: ArrayModule, x: Array, *, message: str) -> Array:
    """The input, if all elements are finite; else an error that names NaN and infinity."""
    if not xp.all(xp.isfinite(x)):
        kinds = [
            word
            for word, holds in (("Inf", xp.any(xp.isinf(x))), ("NaN", xp.any(xp.isnan(x))))
            if holds
        ]
        raise InvalidArgument(f"{_text(message)} : Tensor had {' and '.join(kinds)} values")
    return x


@kernel("CheckNumericsV2")
def check_numerics_apart(xp: ArrayModule, x: Array, *, message: str) -> Array:
    """As `CheckNumerics`, with an error that distinguishes the signs of infinities."""
    if xp.all(xp.isfinite(x)):
        return x
    is_infinite = xp.isinf(x)
    signs = (("-Inf", is_infinite & (x < 0)), ("+Inf", is_infinite & (x > 0)), ("NaN", xp.isnan(x)))
    kinds = [word for word, where in signs if xp.any(where)]
    listed = "-Inf, +Inf, and NaN" if len(kinds) == 3 else " and ".join(kinds)
    raise InvalidArgument(f"{_text(message)} : Tensor had {listed} values")


@kernel("EnsureShape")
def ensure_shape(_: ArrayModule, x: Array, *, shape: tuple[int | None, ...] | None) -> Array:
    """The input, if its shape fits."""
    if shape is not None and (
        len(shape) != x.ndim
        or any(want not in {None, have} for want, have in zip(shape, x.shape, strict=True))
    ):
        raise InvalidArgument(f"Shape of tensor {x.shape} is not compatible with expected {shape}")
    return x


@binder("Cast")
def cast(bind: Bind) -> KernelFunction:
    """The values converted: toward zero to integers, the real part of complex numbers."""
    xp, source, target = bind.xp, bind.attrs["SrcT"], bind.attrs["DstT"]
    if source == target:
        return lambda x: x
    if not _is_castable(source, target):

        def refuse(_x: object) -> Array:
            raise Unimplemented(f"Cast {source} to {target} is not supported")

        return refuse
    lost = _lost_bits(source, target) if bind.attrs.get("Truncate") else 0
    if lost:
        convert = _conversion(xp, source, target)
        return lambda x: convert(_without(xp, x, lost, _FRACTIONS[source][1]))
    return _conversion(xp, source, target)


def _conversion(xp: ArrayModule, source: str, target: str) -> Callable[[Array], Array]:
    dtype = dtype_of(target)
    if source.startswith("complex") and not target.startswith("complex"):
        return lambda x: xp.real(x).astype(dtype)  # to bool too: whether the real part is not 0
    if target == "bool":
        return lambda x: x != xp.zeros((), dtype=x.dtype)
    if {source, target} == _NIBBLES:  # ml_dtypes does not convert between the two
        return lambda x: x.astype("int8").astype(dtype)
    return lambda x: x.astype(dtype)


def _lost_bits(source: str, target: str) -> int:
    """The bits of a fraction that are truncated; 0 where TensorFlow rounds nevertheless."""
    only = {"bfloat16": "float32", "complex64": "complex128"}.get(target, source)
    if source != only or not {source, target} <= _FRACTIONS.keys():
        return 0
    return max(_FRACTIONS[source][0] - _FRACTIONS[target][0], 0)


def _without(xp: ArrayModule, x: Array, count: int, words: str) -> Array:
    """The floats with their last bits set to 0."""
    bits = xp.ascontiguousarray(x).view(words)
    return (bits & ~xp.asarray((1 << count) - 1, dtype=words)).view(x.dtype).reshape(x.shape)


def _is_castable(source: str, target: str) -> bool:
    """Whether TensorFlow converts between two dtypes; it restricts the narrow ones."""
    ends = BY_NAME[source], BY_NAME[target]
    if not any(row.is_narrow for row in ends):
        return "string" not in {source, target}
    if target in _BYTE_FLOATS:
        return source in _BYTE_FLOATS or (ends[0].kind == "float" and not ends[0].is_narrow)
    if source in _BYTE_FLOATS:
        return target != "string" and not ends[1].is_narrow
    return all(
        row.name in _NIBBLES or (row.kind in {"int", "uint"} and not row.is_narrow) for row in ends
    )


@binder("Bitcast")
def bitcast(bind: Bind) -> KernelFunction:
    """The same bytes interpreted as another dtype."""
    numbers = [BY_NAME[bind.attrs[name]].enum for name in ("T", "type")]
    xp, dtype = bind.xp, dtype_of(bind.attrs["type"])

    def compute(x: Array) -> Array:
        size = x.dtype.itemsize
        contiguous = xp.ascontiguousarray(x).reshape(x.shape)
        if size == dtype.itemsize:
            return contiguous.view(dtype)
        if size > dtype.itemsize:
            return contiguous.reshape((*x.shape, 1)).view(dtype)
        ratio = dtype.itemsize // size
        if x.ndim == 0 or x.shape[-1] != ratio:
            raise InvalidArgument(f"Cannot bitcast from {numbers[0]} to {numbers[1]}")
        return contiguous.view(dtype).reshape(x.shape[:-1])

    return compute


@binder("ZerosLike", "OnesLike")
def filled_like(bind: Bind) -> KernelFunction:
    """Zeros (false, empty strings), or ones, of the input's shape."""
    xp = bind.xp
    if bind.attrs["T"] == "string":
        return lambda x: string_array([b""] * x.size, x.shape)
    if bind.attrs["T"] == "variant":
        return lambda x: zeros_like(xp, x)
    make = xp.zeros if bind.node.type == "ZerosLike" else xp.ones
    return lambda x: make(x.shape, dtype=x.dtype)


@kernel("Timestamp", devices=("CPU",))
def timestamp(xp: ArrayModule) -> Array:
    """The seconds since the beginning of 1970."""
    return xp.float64(time.time())
