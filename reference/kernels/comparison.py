"""Kernels of comparison, logic and choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.kernels.input_shapes import require_same_shape
from sessrun.reference.kernels.quantized_ranges import integers
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel

_DIRECT: Final = {
    "Less": "less",
    "LessEqual": "less_equal",
    "Greater": "greater",
    "GreaterEqual": "greater_equal",
    "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or",
    "LogicalNot": "logical_not",
    "IsNan": "isnan",
    "IsInf": "isinf",
    "IsFinite": "isfinite",
}


def _direct(name: str) -> Callable[[Bind], KernelFunction]:
    def bind(bind: Bind) -> KernelFunction:
        function: KernelFunction = getattr(bind.xp, name)
        return function

    return bind


for _op, _name in _DIRECT.items():
    binder(_op)(_direct(_name))


def _fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in {m, n} for m, n in zip(a[::-1], b[::-1], strict=False))


def _comparison(name: str, unlike: bool) -> Callable[[Bind], KernelFunction]:
    """The comparison; `unlike` for shapes that do not broadcast, if the attributes allow them."""

    def bind(bind: Bind) -> KernelFunction:
        xp = bind.xp
        compare: KernelFunction = getattr(xp, name)
        if bind.attrs["T"] == "string":
            plain, compare = compare, lambda x, y: xp.asarray(plain(x, y), dtype=bool)
        elif dtype_of(bind.attrs["T"]).names:
            quantized = compare
            compare = lambda x, y: quantized(integers(x), integers(y))  # noqa: E731 - the same
        if bind.attrs["incompatible_shape_error"]:
            return compare
        return lambda x, y: (
            compare(x, y) if _fits(x.shape, y.shape) else xp.asarray(unlike, dtype=bool)
        )

    return bind


binder("Equal")(_comparison("equal", unlike=False))
binder("NotEqual")(_comparison("not_equal", unlike=True))


@kernel("ApproximateEqual")
def approximate_equal(xp: ArrayModule, x: Array, y: Array, *, tolerance: float) -> Array:
    """|x - y| <= tolerance."""
    require_same_shape(x=x, y=y)
    bound = xp.asarray(tolerance, dtype="float32")  # a GraphDef holds the attribute as float32
    return xp.absolute(x - y) <= bound.astype(x.dtype)


@kernel("Select")
def select(xp: ArrayModule, condition: Array, t: Array, e: Array) -> Array:
    """Elementwise t where the condition holds, else e; a vector condition chooses rows."""
    require_same_shape(t=t, e=e)
    if condition.shape != t.shape:
        if condition.ndim > 1 or (condition.ndim == 1 and condition.shape != t.shape[:1]):
            raise InvalidArgument(f"condition of shape {condition.shape} does not fit {t.shape}")
        condition = condition.reshape(condition.shape + (1,) * (t.ndim - condition.ndim))
    return xp.where(condition, t, e)


@kernel("SelectV2")
def select_v2(xp: ArrayModule, condition: Array, t: Array, e: Array) -> Array:
    """Elementwise t where the condition holds, else e, all three broadcast."""
    return xp.where(condition, t, e)
