"""Kernels of optional values, and of parameters that are never read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import dtype_of, string_array
from sessrun.reference.kernels.registry import EVERY, Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.tensor_list import shape_of
from sessrun.reference.state.optional_values import Optional

#: Stands for a value of dtype variant or resource that is never read.
_NO_VALUE: Final = object()

#: Sizes, None for an unknown one; None for an unknown shape.
Shape = tuple[int | None, ...] | None


def _known(value: object) -> Optional:
    if not isinstance(value, Optional):
        raise InvalidArgument("The given input is no optional value.")
    return value


@binder("OptionalNone", host_outputs=("optional",))
def none(_: Bind) -> KernelFunction:
    """An optional without a value."""
    return lambda: Optional(None)


@binder("OptionalFromValue", host_inputs=(EVERY,), host_outputs=("optional",))
def some(bind: Bind) -> KernelFunction:
    """An optional of the values."""
    dtypes = bind.attrs["Toutput_types"]
    return lambda *values: Optional(values, dtypes)


@binder("OptionalHasValue", host_inputs=("optional",), host_outputs=("has_value",))
def has(bind: Bind) -> KernelFunction:
    """Whether an optional has values."""
    xp = bind.xp
    return lambda value: xp.bool_(_known(value).values is not None)


@kernel("OptionalGetValue", host_inputs=("optional",), host_outputs=(EVERY,))
def get(
    _: ArrayModule,
    value: object,
    *,
    output_types: Sequence[str],
    output_shapes: Sequence[tuple[int | None, ...] | None],
) -> object:
    """The values of an optional, checked against the declared dtypes and shapes."""
    held = _known(value)
    if held.values is None:
        raise InvalidArgument("The given optional does not have a value.")
    _check(held, output_types, output_shapes)
    return held.values[0] if len(output_types) == 1 else held.values


def _check(held: Optional, dtypes: Sequence[str], shapes: Sequence[Shape]) -> None:
    values = held.values or ()
    if len(values) != len(dtypes):
        raise InvalidArgument(
            f"The given optional has {len(values)} components, expected {len(dtypes)}."
        )
    for number, value in enumerate(values):
        if held.dtypes[number] != dtypes[number] or not _fits(value, shapes[number]):
            raise InvalidArgument(
                "The given optional does not match the expected type and "
                f"shape of component {number}: {dtypes[number]} {shapes[number]}."
            )


def _fits(value: Array, shape: Shape) -> bool:
    """Whether a value has a partially known shape; handles count as scalars."""
    sizes = shape_of(value)
    return shape is None or (
        len(sizes) == len(shape)
        and all(want in {None, size} for want, size in zip(shape, sizes, strict=True))
    )


@binder("FakeParam", host_outputs=("output",))
def fake(bind: Bind) -> KernelFunction:
    """Zeros of the shape with unknown sizes as 0; a scalar for an unknown rank."""
    dtype, shape = bind.attrs["dtype"], bind.attrs["shape"]
    sizes = tuple(size or 0 for size in shape or ())
    if dtype in {"resource", "variant"}:
        return lambda: _NO_VALUE
    if dtype == "string":
        return lambda: string_array([b""] * bind.xp.zeros(sizes).size, sizes)
    return lambda: bind.xp.zeros(sizes, dtype_of(dtype))
