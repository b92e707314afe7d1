"""Formulas of optimizers as one kernel of a GPU each, made of the formula that numpy computes.

The formula is run once on expressions instead of arrays, which write down what is done to them:
that is the source of a `cupy.ElementwiseKernel`. Products and sums are not contracted, so that each
step is rounded as numpy rounds it. A formula that looks at a number to choose what to do cannot be
written down so, and is computed array by array.

No GPU has compared these kernels with their formulas yet.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

from sessrun.reference.kernels.formulas import Formula, Numbers
from sessrun.reference.kernels.host import HOST

__all__ = ["UnfusableError", "on_new_kernel", "statements", "update"]

#: Called with the name of each kernel and the Python function that computes the same of arrays:
#: for whoever has no compiler of CUDA's language.
on_new_kernel: Final[list[Callable[[str, Callable[..., Any]], None]]] = []


class UnfusableError(TypeError):
    """A formula does what no kernel for single elements can."""


class _Source:
    """The statements of a kernel."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def value(self, text: str) -> Expression:
        """A new value of the variable's dtype."""
        name = f"t{len(self.lines)}"
        self.lines.append(f"const T {name} = {text};")
        return Expression(self, name)


def _text(value: Any) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"T({value!r})"
    raise UnfusableError(f"{value!r} is no number of the kernel's")


class Expression:
    """A value in a kernel's source; what is computed of it is written down."""

    def __init__(self, source: _Source, text: str) -> None:
        self.source = source
        self.text = text

    def _of(self, left: Any, sign: str, right: Any) -> Expression:
        return self.source.value(f"{_text(left)} {sign} {_text(right)}")

    def __add__(self, other: Any) -> Expression:
        return self._of(self, "+", other)

    def __sub__(self, other: Any) -> Expression:
        return self._of(self, "-", other)

    def __mul__(self, other: Any) -> Expression:
        return self._of(self, "*", other)

    def __truediv__(self, other: Any) -> Expression:
        return self._of(self, "/", other)

    def __neg__(self) -> Expression:
        return self.source.value(f"-{self.text}")

    def __bool__(self) -> bool:
        raise UnfusableError("a formula looks at a number")


class _Array(Expression):
    """An array that a formula changes: it stands for its latest value."""

    def _become(self, value: Expression) -> Self:
        self.text = value.text
        return self

    def __iadd__(self, other: Any) -> Self:
        return self._become(self + other)

    def __isub__(self, other: Any) -> Self:
        return self._become(self - other)

    def __imul__(self, other: Any) -> Self:
        return self._become(self * other)


class _Functions:
    """What stands for the array module: functions of CUDA's language."""

    def __init__(self, source: _Source) -> None:
        self._source = source

    def _call(self, text: str, out: Any) -> Any:
        value = self._source.value(text)
        return value if out is None else out._become(value)  # noqa: SLF001 - of this module

    def sqrt(self, x: Any) -> Any:
        """The square root."""
        return self._call(f"sqrt({_text(x)})", None)

    def exp(self, x: Any) -> Any:
        """The exponential."""
        return self._call(f"exp({_text(x)})", None)

    def abs(self, x: Any) -> Any:
        """The absolute value."""
        return self._call(f"{_text(x)} < T(0) ? -{_text(x)} : {_text(x)}", None)

    def sign(self, x: Any) -> Any:
        """-1, 0 or 1; NaN of NaN."""
        x = _text(x)
        return self._call(f"{x} > T(0) ? T(1) : {x} < T(0) ? T(-1) : {x}", None)

    def maximum(self, x: Any, y: Any, out: Any = None) -> Any:
        """The larger one; NaN if one of them is."""
        x, y = _text(x), _text(y)
        return self._call(f"{x} >= {y} || {x} != {x} ? {x} : {y}", out)


def statements(
    function: Formula, scalars: Sequence[str], attrs: Mapping[str, bool], count: int
) -> list[str] | None:
    """The statements of the kernel of a formula; None if it cannot be one.

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
    xp: Any,
    function: Formula,
    scalars: tuple[str, ...],
    attrs: tuple[tuple[str, bool], ...],
    count: int,
) -> Any:
    """The kernel of a formula; None if it cannot be one."""
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
) -> Callable[..., Any]:
    """The function of host arrays that gives what the kernel gives."""

    def compute(gradient: Any, *rest: Any) -> Any:
        named = dict(zip(scalars, rest, strict=False))
        arrays = [array.copy() for array in rest[len(scalars) :]]
        one, zero = (gradient.dtype.type(number) for number in (1, 0))
        numbers = Numbers(xp=HOST, one=one, zero=zero, **named, **attrs)
        function(numbers, gradient, *arrays)
        return tuple(arrays) if count > 1 else arrays[0]

    return compute


def update(h: Numbers, function: Formula, grad: Any, arrays: Sequence[Any]) -> bool:
    """Let a formula change arrays of a GPU by one kernel; False if it cannot be one.

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
