"""Kernels of values that may be there or not, and of those that nothing reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.kernels.host import dtype_of, string_array
from sessrun.reference.kernels.registry import EVERY, Bind, KernelError, binder
from sessrun.reference.optional_values import Optional

__all__: list[str] = []

_INVALID: Final = 3
#: A value of dtype variant or resource that nothing can be read of.
_NO_VALUE: Final = object()


def _known(value: Any) -> Optional:
    if not isinstance(value, Optional):
        raise KernelError(_INVALID, "The given input is no optional value.")
    return value


@binder("OptionalNone", host_outputs=("optional",))
def none(_: Bind) -> Callable[..., Any]:
    """Nothing."""
    return lambda: Optional(None)


@binder("OptionalFromValue", host_inputs=(EVERY,), host_outputs=("optional",))
def some(_: Bind) -> Callable[..., Any]:
    """The values."""
    return lambda *values: Optional(values)


@binder("OptionalHasValue", host_inputs=("optional",), host_outputs=("has_value",))
def has(bind: Bind) -> Callable[..., Any]:
    """Whether they are there."""
    xp = bind.xp
    return lambda value: xp.bool_(_known(value).values is not None)


@binder("OptionalGetValue", host_inputs=("optional",), host_outputs=(EVERY,))
def get(_: Bind) -> Callable[..., Any]:
    """The values, which must be there."""

    def compute(value: Any) -> Any:
        values = _known(value).values
        if values is None:
            raise KernelError(_INVALID, "The given optional does not have a value.")
        return values[0] if len(values) == 1 else values

    return compute


@binder("FakeParam", host_outputs=("output",))
def fake(bind: Bind) -> Callable[..., Any]:
    """Zeros, none of them along a size that is not known; one where no rank is."""
    dtype, shape = bind.attrs["dtype"], bind.attrs["shape"]
    sizes = tuple(size or 0 for size in shape or ())
    if dtype in {"resource", "variant"}:
        return lambda: _NO_VALUE
    if dtype == "string":
        return lambda: string_array([b""] * bind.xp.zeros(sizes).size, sizes)
    return lambda: bind.xp.zeros(sizes, dtype_of(dtype))
