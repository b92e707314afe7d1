"""Kernels of elementwise arithmetic and functions: most of them one function of the array module.

Integers wrap around. 16-bit floats are widened to float32 where one operation takes several
steps, and rounded once.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import Internal, InvalidArgument, KernelError
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.input_shapes import require_same_shape
from sessrun.reference.kernels.limits import limited
from sessrun.reference.kernels.registry import UNWIDENED, Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.tensor_list import TensorList, added
from sessrun.reference.state.optional_values import Optional

__all__ = ["is_integer", "truncated_quotient", "widened"]

#: Operations that are one function of the array module.
_DIRECT: Final = {
    "RealDiv": "true_divide",
    "NextAfter": "nextafter",
    "Neg": "negative",
    "Abs": "absolute",
    "ComplexAbs": "absolute",
    "Square": "square",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Expm1": "expm1",
    "Log": "log",
    "Log1p": "log1p",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "Asin": "arcsin",
    "Acos": "arccos",
    "Atan": "arctan",
    "Atan2": "arctan2",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Tanh": "tanh",
    "Asinh": "arcsinh",
    "Acosh": "arccosh",
    "Atanh": "arctanh",
    "Floor": "floor",
    "Ceil": "ceil",
    "Rint": "rint",
    "Conj": "conj",
    "Real": "real",
    "Imag": "imag",
    "Angle": "angle",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Invert": "invert",
}


def _direct(name: str) -> Callable[[Bind], KernelFunction]:
    def bind(bind: Bind) -> KernelFunction:
        function: KernelFunction = getattr(bind.xp, name)
        return function

    return bind


for _op, _name in _DIRECT.items():
    binder(_op)(_direct(_name))


#: The elements of sums that are added at a time.
_BLOCK: Final = 16384


def is_integer(array: Array) -> bool:
    """Whether the elements are integers, signed or not."""
    return array.dtype.kind in "iu"


def widened(function: Callable[..., Array]) -> Callable[..., Array]:
    """`function(xp, *arrays)` with 16-bit floats widened to float32 and the result rounded.

    A kernel whose attribute `T` is another dtype is bound to the function itself.
    """

    @functools.wraps(function)
    def wide(xp: ArrayModule, *arrays: Array, **attrs: object) -> Array:
        dtype = arrays[0].dtype
        if dtype.itemsize != 2 or is_integer(arrays[0]):
            return function(xp, *arrays, **attrs)
        result = function(xp, *(array.astype("float32") for array in arrays), **attrs)
        return result.astype(dtype)

    # The registry reads which attributes a kernel names; wraps keeps its signature.
    setattr(wide, UNWIDENED, function)
    return wide


@binder("Add", "AddV2")
def add(bind: Bind) -> KernelFunction:
    """Elementwise x + y; strings are joined."""
    if bind.attrs["T"] != "string":
        # On numpy scalars the operator takes 0.05 us, the ufunc 1.1; on arrays they are one.
        return operator.add
    # A ufunc gives the bare bytes of a 0-d result; asarray cannot hold bytes as an object.
    return lambda x, y: (
        bind.xp.add(x.reshape((1, *x.shape)), y.reshape((1, *y.shape)))[0, ...]
        if x.ndim == y.ndim == 0
        else bind.xp.add(x, y)
    )


@binder("Maximum", "Minimum")
def extremum(bind: Bind) -> KernelFunction:
    """The larger or the smaller of x and y."""
    function = bind.xp.maximum if bind.node.type == "Maximum" else bind.xp.minimum
    return functools.partial(limited, function) if bind.xp is HOST else function


@binder("Sub")
def sub(_: Bind) -> KernelFunction:
    """Elementwise x - y."""
    return operator.sub


@binder("Mul")
def mul(_: Bind) -> KernelFunction:
    """Elementwise x * y."""
    return operator.mul


@kernel("MulNoNan")
def mul_no_nan(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x * y, but 0 where y is 0."""
    return xp.where(y == 0, xp.zeros((), x.dtype), x * y)


@kernel("DivNoNan")
def div_no_nan(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x / y, but 0 where y is 0."""
    return xp.where(y == 0, xp.zeros((), x.dtype), xp.true_divide(x, y))


def _checked(xp: ArrayModule, x: Array, y: Array, kind: type[KernelError]) -> None:
    """Raise `kind` if a divisor is zero, unless the dividend is empty."""
    if x.size and not xp.all(y):
        raise kind("Integer division by zero")


def truncated_quotient(xp: ArrayModule, x: Array, y: Array) -> Array:
    """The quotient of integers, rounded toward zero."""
    quotient = xp.floor_divide(x, y)
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)


@kernel("Div")
def div(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x / y; integers truncate toward zero."""
    if not is_integer(x):
        return xp.true_divide(x, y)
    _checked(xp, x, y, InvalidArgument)
    return truncated_quotient(xp, x, y)


@kernel("TruncateDiv")
def truncate_div(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x / y, rounded toward zero."""
    if not is_integer(x):
        return xp.trunc(xp.true_divide(x, y))
    _checked(xp, x, y, Internal)
    return truncated_quotient(xp, x, y)


@kernel("FloorDiv")
def floor_div(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x / y, rounded down."""
    if not is_integer(x):
        return xp.floor(xp.true_divide(x, y))
    _checked(xp, x, y, InvalidArgument)
    return xp.floor_divide(x, y)


@kernel("FloorMod")
def floor_mod(xp: ArrayModule, x: Array, y: Array) -> Array:
    """The remainder with y's sign."""
    if is_integer(x):
        _checked(xp, x, y, InvalidArgument)
        return xp.remainder(x, y)
    rest = xp.fmod(x, y)
    return xp.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


@kernel("Mod")
def mod(xp: ArrayModule, x: Array, y: Array) -> Array:
    """The remainder with x's sign."""
    if is_integer(x):
        _checked(xp, x, y, InvalidArgument)
    return xp.fmod(x, y)


@kernel("TruncateMod")
def truncate_mod(xp: ArrayModule, x: Array, y: Array) -> Array:
    """The remainder with x's sign."""
    if is_integer(x):
        _checked(xp, x, y, Internal)
    return xp.fmod(x, y)


@kernel("Pow")
def power(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x to the power of y; an integer to a negative power is an error."""
    if is_integer(y) and x.size and xp.any(y < 0):
        raise InvalidArgument("Integers to negative integer powers are not allowed")
    return xp.power(x, y)


@kernel("SquaredDifference")
def squared_difference(xp: ArrayModule, x: Array, y: Array) -> Array:
    """(x - y) squared."""
    difference = x - y
    return (
        difference * xp.conj(difference)
        if difference.dtype.kind == "c"
        else (difference * difference)
    )


@kernel("Xdivy")
def xdivy(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x / y, but 0 where x is 0."""
    return xp.where(x == 0, xp.zeros((), x.dtype), xp.true_divide(x, y))


@kernel("Xlogy")
def xlogy(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x * log(y), but 0 where x is 0; a 16-bit logarithm is rounded, as in TF."""
    return xp.where(x == 0, xp.zeros((), x.dtype), x * xp.log(y))


@kernel("Xlog1py")
def xlog1py(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x * log(1 + y), but 0 where x is 0; a 16-bit logarithm is rounded."""
    return xp.where(x == 0, xp.zeros((), x.dtype), x * xp.log1p(y))


@kernel("Sign")
def sign(xp: ArrayModule, x: Array) -> Array:
    """-1, 0 or 1; z / |z| for complex numbers, 0 for 0."""
    if x.dtype.kind != "c":
        return xp.sign(x)
    return xp.where(x == 0, x, x / xp.absolute(x))


@kernel("Rsqrt")
@widened
def rsqrt(xp: ArrayModule, x: Array) -> Array:
    """1 / sqrt(x)."""
    return xp.ones((), x.dtype) / xp.sqrt(x)


@kernel("Reciprocal", "Inv")
def reciprocal(xp: ArrayModule, x: Array) -> Array:
    """1 / x."""
    return xp.ones((), x.dtype) / x


@kernel("Sigmoid")
@widened
def sigmoid(xp: ArrayModule, x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    one = x.dtype.type(1)
    if not x.ndim or x.dtype.kind == "c":
        quotient: Array = one / (one + xp.exp(-x))
        return quotient
    power = xp.negative(x)
    xp.exp(power, out=power)  # infinite far below zero, where the result is 0
    power += one
    return xp.divide(one, power, out=power)


@kernel("Round")
def round_(xp: ArrayModule, x: Array) -> Array:
    """The nearest integer, halves to the even one."""
    return x if is_integer(x) else xp.rint(x)


@kernel("AddN")
def add_n(xp: ArrayModule, *inputs: Any) -> Any:
    """The sum of the inputs, from left to right."""
    total = inputs[0]
    if isinstance(total, TensorList | Optional):
        return functools.reduce(functools.partial(added, xp), inputs)
    for item in inputs[1:]:
        require_same_shape(item=item, total=total)
    if xp is HOST and len(inputs) > 2 and total.size >= _BLOCK:
        return _sum_in_blocks(inputs)
    return functools.reduce(xp.add, inputs)


def _sum_in_blocks(inputs: Sequence[Array]) -> Array:
    """The sum of large arrays, in blocks that stay in the cache."""
    out = HOST.empty(inputs[0].shape, inputs[0].dtype)
    sums, *flat = (array.reshape(-1) for array in (out, *inputs))
    for start in range(0, len(sums), _BLOCK):
        part = slice(start, start + _BLOCK)
        total = HOST.add(flat[0][part], flat[1][part], out=sums[part])
        for item in flat[2:]:
            HOST.add(total, item[part], out=total)
    return out


@kernel("AccumulateNV2")
def accumulate_n(xp: ArrayModule, *inputs: Array) -> Array:
    """The sum of the inputs, from left to right."""
    total: Array = add_n(xp, *inputs)
    return total


@kernel("Complex")
def complex_(xp: ArrayModule, real: Array, imag: Array, *, Tout: str) -> Array:
    """Elementwise real + 1j * imag, exact in both parts."""
    dtype = dtype_of(Tout)
    real, imag = xp.broadcast_arrays(real, imag)
    pairs = xp.stack([real, imag], axis=-1)
    return pairs.view(dtype)[..., 0]


@kernel("ClipByValue")
def clip_by_value(xp: ArrayModule, t: Array, low: Array, high: Array) -> Array:
    """max(min(t, high), low); for complex numbers the real and imaginary parts separately.

    Raises:
      KernelError: a bound is neither a scalar nor of t's shape.

    """
    for bound in (low, high):
        if bound.ndim and bound.shape != t.shape:
            raise InvalidArgument(
                "clip_value_min and clip_value_max must be either of the same "
                f"shape as input, or a scalar: {t.shape}, {bound.shape}"
            )
    if t.dtype.kind != "c":
        return xp.maximum(xp.minimum(t, high), low)
    parts, least, most = (_parts(xp, x) for x in (t, low, high))
    return xp.maximum(xp.minimum(parts, most), least).view(t.dtype)[..., 0]


def _parts(xp: ArrayModule, x: Array) -> Array:
    """Real and imaginary parts as a last dimension."""
    kind = "float32" if x.dtype.itemsize == 8 else "float64"
    return xp.ascontiguousarray(x).reshape((*x.shape, 1)).view(kind)


@kernel("LeftShift")
def left_shift(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x shifted left; counts are clipped to [0, width - 1]."""
    return xp.left_shift(x, _count(xp, y))


@kernel("RightShift")
def right_shift(xp: ArrayModule, x: Array, y: Array) -> Array:
    """Elementwise x shifted right; counts are clipped to [0, width - 1]."""
    return xp.right_shift(x, _count(xp, y))


def _count(xp: ArrayModule, y: Array) -> Array:
    return xp.clip(y, 0, y.dtype.itemsize * 8 - 1)


@kernel("PopulationCount")
def population_count(xp: ArrayModule, x: Array) -> Array:
    """The number of bits that are one, by adding up neighbouring fields of bits."""
    wide = x.dtype.itemsize * 8
    bits = x.view(f"uint{wide}").astype("uint64")
    for shift, mask in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)):
        field = xp.asarray(mask, dtype="uint64")
        bits = (bits & field) + ((bits >> xp.asarray(shift, dtype="uint64")) & field)
    return (bits * xp.asarray(0x0101010101010101, "uint64") >> xp.asarray(56, "uint64")).astype(
        "uint8"
    )
