"""Formulas of optimizers as single GPU kernels, generated from the formulas that numpy computes.

A formula is run once on expressions instead of arrays, which record the operations on them:
the source of a `cupy.ElementwiseKernel`. Products and sums are not contracted, so that each
step is rounded as numpy rounds it. A formula that branches on a number cannot be
recorded, and is computed array by array.

No GPU has compared these kernels with their formulas yet.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Self

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.formulas import Formula, Numbers
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.registry import KernelFunction

__all__ = ["UnfusableError", "on_new_kernel", "statements", "update"]

#: Called with the name of a new kernel and the Python function that computes the same of arrays:
#: for simulations without a CUDA compiler.
on_new_kernel: Final[list[Callable[[str, KernelFunction], None]]] = []


class UnfusableError(TypeError):
    """A formula does what no elementwise kernel can."""


class _Source:
    """The statements of a kernel, recorded one by one."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def value(self, text: str) -> Expression:
        """A new value of the variable's dtype."""
        name = f"t{len(self.lines)}"
        self.lines.append(f"const T {name} = {text};")
        return Expression(self, name)


def _text(value: Expression | float) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"T({value!r})"
    raise UnfusableError(f"{value!r} is no number of the kernel's")


class Expression:
    """A value in a kernel's source; operations on it are recorded as statements."""

    def __init__(self, source: _Source, text: str) -> None:
        self.source = source
        self.text = text

    def _of(self, left: Expression, sign: str, right: Expression | float) -> Expression:
        return self.source.value(f"{_text(left)} {sign} {_text(right)}")

    def __add__(self, other: Expression | float) -> Expression:
        return self._of(self, "+", other)

    def __sub__(self, other: Expression | float) -> Expression:
        return self._of(self, "-", other)

    def __mul__(self, other: Expression | float) -> Expression:
        return self._of(self, "*", other)

    def __truediv__(self, other: Expression | float) -> Expression:
        return self._of(self, "/", other)

    def __neg__(self) -> Expression:
        return self.source.value(f"-{self.text}")

    def __bool__(self) -> bool:
        raise UnfusableError("a formula looks at a number")


class _Array(Expression):
    """An array that a formula changes in place: stands for its latest value."""

    def _become(self, value: Expression) -> Self:
        self.text = value.text
        return self

    def __iadd__(self, other: Expression | float) -> Self:
        return self._become(self + other)

    def __isub__(self, other: Expression | float) -> Self:
        return self._become(self - other)

    def __imul__(self, other: Expression | float) -> Self:
        return self._become(self * other)


class _Functions:
    """Stands for the array module: its functions are those of CUDA."""

    def __init__(self, source: _Source) -> None:
        self._source = source

    def _call(self, text: str, out: _Array | None) -> Expression:
        value = self._source.value(text)
        return value if out is None else out._become(value)  # noqa: SLF001 - of this module

    def sqrt(self, x: Expression) -> Expression:
        """The square root."""
        return self._call(f"sqrt({_text(x)})", None)

    def exp(self, x: Expression) -> Expression:
        """The exponential."""
        return self._call(f"exp({_text(x)})", None)

    def abs(self, x: Expression) -> Expression:
        """The absolute value."""
        return self._call(f"{_text(x)} < T(0) ? -{_text(x)} : {_text(x)}", None)

    def sign(self, x: Expression) -> Expression:
        """-1, 0 or 1; NaN of NaN."""
        text = _text(x)
        return self._call(f"{text} > T(0) ? T(1) : {text} < T(0) ? T(-1) : {text}", None)

    def maximum(
        self, x: Expression | float, y: Expression | float, out: _Array | None = None
    ) -> Expression:
        """The larger one; NaN if one of them is."""
        a, b = _text(x), _text(y)
        return self._call(f"{a} >= {b} || {a} != {a} ? {a} : {b}", out)


def statements(
    function: Formula, scalars: Sequence[str], attrs: Mapping[str, bool], count: int
) -> list[str] | None:
    """The statements of the kernel of a formula; None if it cannot be recorded.

    They read `gradient`, the scalars by name and `before0`, `before1`, ..., all of a type `T`, and
    set `after0`, `after1`, ....

    Args:
      function: the formula.
      scalars: the names of its scalar inputs.
      attrs: its attributes.
      count: how many arrays it changes.

    """
    source = _Source()
    arrays = [_Array(source, f"before{number}") for number in range(count)]
    named = {name: Expression(source, name) for name in scalars}
    one, zero = (Expression(source, text) for text in ("T(1)", "T(0)"))
    numbers = Numbers(xp=_Functions(source), one=one, zero=zero, **named, **attrs)
    try:
        function(numbers, Expression(source, "gradient"), *arrays)
    except (UnfusableError, AttributeError, TypeError):
        return None
    return [*source.lines, *(f"after{n} = {array.text};" for n, array in enumerate(arrays))]


@functools.cache
def _kernel(
    xp: ArrayModule,
    function: Formula,
    scalars: tuple[str, ...],
    attrs: tuple[tuple[str, bool], ...],
    count: int,
) -> Callable[..., object] | None:
    """The kernel of a formula; None if it cannot be recorded."""
    lines = statements(function, scalars, dict(attrs), count)
    if lines is None:
        return None
    inputs = ["gradient", *scalars, *(f"before{number}" for number in range(count))]
    name = "_".join((function.__name__, *(name for name, is_set in attrs if is_set)))
    for announce in on_new_kernel:
        announce(name, _python(function, scalars, dict(attrs), count))
    return xp.ElementwiseKernel(
        ", ".join(f"T {name}" for name in inputs),
        ", ".join(f"T after{number}" for number in range(count)),
        "\n".join(lines),
        name,
        options=("--fmad=false",),
    )


def _python(
    function: Formula, scalars: Sequence[str], attrs: Mapping[str, bool], count: int
) -> KernelFunction:
    """The function of host arrays that gives the same as the kernel."""

    def compute(gradient: Array, *rest: Array) -> tuple[Array, ...] | Array:
        named = dict(zip(scalars, rest, strict=False))
        arrays = [array.copy() for array in rest[len(scalars) :]]
        one, zero = (gradient.dtype.type(number) for number in (1, 0))
        numbers = Numbers(xp=HOST, one=one, zero=zero, **named, **attrs)
        function(numbers, gradient, *arrays)
        return tuple(arrays) if count > 1 else arrays[0]

    return compute


def update(h: Numbers, function: Formula, grad: Array, arrays: Sequence[Array]) -> bool:
    """Apply a formula to arrays of a GPU as one kernel; False if it cannot be recorded.

    Args:
      h: the numbers of the operation, its attributes, and the array module `xp`.
      function: the formula.
      grad: the gradient.
      arrays: the variable and its slots.

    """
    named = {name: value for name, value in vars(h).items() if name not in {"xp", "one", "zero"}}
    attrs = tuple(sorted((n, value) for n, value in named.items() if isinstance(value, bool)))
    scalars = tuple(sorted(n for n, value in named.items() if not isinstance(value, bool)))
    if any(named[name].dtype != grad.dtype for name in scalars):
        return False
    kernel = _kernel(h.xp, function, scalars, attrs, len(arrays))
    if kernel is None:
        return False
    kernel(grad, *(named[name] for name in scalars), *arrays, *arrays)
    return True
