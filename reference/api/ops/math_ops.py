"""Arithmetic and comparison functions that build more than one operation, or of another name.

Node names and op types are those of `tensorflow.compat.v1`; functions that are a single operation
of the same name are in `generated.py`, the operators of tensors in `overloads.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sessrun.reference.api.ops.cast_ops import cast, conj, one
from sessrun.reference.base import dtypes
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, as_shape
from sessrun.reference.build.conversion import (
    convert_to_tensor,
    is_tensor,
    register_tensor_conversion_function,
)
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Overloads, Tensor
from sessrun.reference.public import public

__all__ = ["add", "matmul", "range_", "truediv"]


@public("add", "math.add")
def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The sum x + y, element by element.

    Args:
      x: a tensor of numbers or strings.
      y: a tensor of the same dtype; the shapes broadcast.
      name: the operation's name.

    """
    with name_scope(name, "Add", [x]) as scope:
        left = convert_to_tensor(x, name="x")
        right = convert_to_tensor(y, dtype_hint=left.dtype.base_dtype, name="y")
        op_type = "Add" if left.dtype.base_dtype is dtypes.string else "AddV2"
        return one(op_type, {"x": left, "y": right}, scope)


@public("divide", "math.divide")
def divide(x: TensorLike, y: Any, name: str | None = None) -> Tensor:
    """The quotient x / y as in Python 3: integers are divided as floats.

    Without a name it is the operator `/`, so that a number is converted to the dtype of the other.
    """
    if name is not None:
        return truediv(x, y, name)
    if not is_tensor(x):
        x = convert_to_tensor(x, y.dtype.base_dtype if is_tensor(y) else None)
    quotient: Tensor = x / y
    return quotient


@public("math.truediv", "truediv")
def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient x / y as floats: 8- and 16-bit integers as float32, wider ones as float64.

    Raises:
      TypeError: the dtypes of x and y differ.

    """
    with name_scope(name, "truediv", [x, y]) as scope:
        left = convert_to_tensor(x, name="x")
        right = convert_to_tensor(y, dtype_hint=left.dtype.base_dtype, name="y")
        left, right = _as_floats(left, right)
        return one("RealDiv", {"x": left, "y": right}, scope)


def _as_floats(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Both operands as floats: integers of up to 16 bits as float32, wider ones as float64."""
    dtype, other = left.dtype.base_dtype, right.dtype.base_dtype
    if dtype is not other:
        raise bad_type(f"`x` and `y` must have the same dtype, got {dtype!r} != {other!r}.")
    if dtype.is_integer:
        wide = dtypes.float32 if dtype.size <= _SHORT else dtypes.float64
        return cast(left, wide), cast(right, wide)
    return left, right


#: Bytes of the widest integer that is divided as float32.
_SHORT: Final = 2


@public("div")
def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient x / y as in Python 2: that of integers is rounded down."""
    with name_scope(name, "div", [x, y]) as scope:
        left = convert_to_tensor(x, name="x")
        right = convert_to_tensor(y, name="y", dtype=left.dtype.base_dtype)
        real_numbers = left.dtype.is_floating or left.dtype.is_complex
        return one("RealDiv" if real_numbers else "FloorDiv", {"x": left, "y": right}, scope)


@public("floordiv", "math.floordiv")
def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient x / y, rounded down."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return one("FloorDiv", {"x": x, "y": y}, scope)


@public("div_no_nan", "math.divide_no_nan")
def div_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient x / y, but 0 where y is 0; integers are divided as floats.

    Raises:
      TypeError: the dtypes of x and y differ.

    """
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        if is_tensor(y) and not is_tensor(x):
            right = convert_to_tensor(y, name="y")
            left = convert_to_tensor(x, right.dtype.base_dtype, name="x")
        else:
            left = convert_to_tensor(x, name="x")
            right = convert_to_tensor(y, dtype_hint=left.dtype.base_dtype, name="y")
        left, right = _as_floats(left, right)
        return one("DivNoNan", {"x": left, "y": right}, scope)


@public("math.multiply_no_nan")
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The product x * y, but 0 where y is 0."""
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        left = convert_to_tensor(x, name="x")
        right = convert_to_tensor(y, name="y", dtype=left.dtype.base_dtype)
        return one("MulNoNan", {"x": left, "y": right}, scope)


@public("math.scalar_mul", "scalar_mul")
def scalar_mul(scalar: TensorLike, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor or IndexedSlices, which stay IndexedSlices.

    Raises:
      ValueError: the scalar is not of rank 0.

    """
    base = x.dtype.base_dtype if hasattr(x, "dtype") else None
    factor = convert_to_tensor(scalar, dtype=base, name="scalar")
    if factor.shape.ndims != 0:
        raise bad_value(f"The input scalar must be a 0-D value. Received shape {factor.shape}.")
    if hasattr(x, "_stands_for_its_op"):
        rows = one("Mul", {"x": factor, "y": x.values}, name)
        return type(x)(rows, x.indices, x.dense_shape)
    return one("Mul", {"x": factor, "y": x}, name)


def absolute(x: TensorLike, name: str | None = None) -> Tensor:
    """The absolute value of each element, complex or not."""
    with name_scope(name, "Abs", [x]) as scope:
        value = convert_to_tensor(x, name="x")
        if value.dtype.is_complex:
            return one("ComplexAbs", {"x": value}, scope, Tout=value.dtype.real_dtype)
        return one("Abs", {"x": value}, scope)


def sign_(x: TensorLike, name: str | None = None) -> Tensor:
    """The signs -1, 0 or 1; z / |z| for complex numbers z, 0 for 0."""
    value = convert_to_tensor(x)
    if not value.dtype.is_complex:
        return one("Sign", {"x": value}, name)
    size = one("ComplexAbs", {"x": value}, Tout=value.dtype.real_dtype)
    return one("DivNoNan", {"x": value, "y": cast(size, value.dtype)}, name)


@public("math.round", "round")
def round_(x: TensorLike, name: str | None = None) -> Tensor:
    """Round to the nearest integer, halves to the even one; integers are returned unchanged."""
    value = convert_to_tensor(x, name="x")
    return value if value.dtype.is_integer else one("Round", {"x": value}, name)


@public("log_sigmoid", "math.log_sigmoid", "nn.log_sigmoid")
def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the sigmoid, computed as -softplus(-x)."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        value = convert_to_tensor(x, name="x")
        plus = one("Softplus", {"features": one("Neg", {"x": value})})
        return one("Neg", {"x": plus}, scope)


@public("linalg.matmul", "matmul")
def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of batches of them.

    Args:
      a: a tensor of rank 2 or more.
      b: a tensor of the same dtype.
      transpose_a: whether `a` is transposed.
      transpose_b: whether `b` is transposed.
      adjoint_a: whether `a` is conjugated and transposed.
      adjoint_b: whether `b` is conjugated and transposed.
      a_is_sparse: whether `a` has many zeros.
      b_is_sparse: whether `b` has many zeros.
      output_type: the dtype of the product, if it is not that of the factors.
      grad_a: whether the product is the gradient with respect to the first factor of a product.
      grad_b: whether it is that with respect to the second factor.
      name: the operation's name.

    Raises:
      ValueError: a matrix is to be both transposed and adjoint.

    """
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise bad_value("Only one of `transpose` and `adjoint` can be True.")
    with name_scope(name, "MatMul", [a, b]) as scope:
        left = convert_to_tensor(a, name="a")
        right = convert_to_tensor(b, dtype_hint=left.dtype.base_dtype, name="b")
        is_hinted = a_is_sparse or b_is_sparse
        flat = _is_matrix(left) and _is_matrix(right)
        turned = transpose_a or adjoint_a, transpose_b or adjoint_b
        marks = {"grad_a": grad_a, "grad_b": grad_b}
        if not flat and not is_hinted:
            left = conj(left) if transpose_a else left
            right = conj(right) if transpose_b else right
            return _of_batches(left, right, turned, marks, output_type, scope)
        left = conj(left) if adjoint_a else left
        right = conj(right) if adjoint_b else right
        sides = {"transpose_a": turned[0], "transpose_b": turned[1]}
        if _is_for_sparse(left, right, hinted=is_hinted):
            hints = {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
            product = one("SparseMatMul", {"a": left, "b": right}, scope, **sides, **hints)
            is_short = left.dtype == right.dtype == dtypes.bfloat16
            return cast(product, dtypes.bfloat16) if is_short else product
        if _is_of_another(left, right, output_type):
            return _of_batches(left, right, turned, marks, output_type, scope)
        return one("MatMul", {"a": left, "b": right}, scope, **sides, **marks)


def _is_matrix(tensor: Tensor) -> bool:
    """Whether a tensor is known not to be a batch of matrices."""
    return tensor.sizes is not None and len(tensor.sizes) <= _MATRIX


def _is_of_another(left: Tensor, right: Tensor, output_type: DTypeLike | None) -> bool:
    """Whether the product has a dtype that differs from that of a factor."""
    wanted = output_type and dtypes.as_dtype(output_type)
    return bool(wanted) and not left.dtype == right.dtype == wanted


def _of_batches(
    left: Tensor,
    right: Tensor,
    turned: tuple[bool, bool],
    marks: dict[str, bool],
    output_type: DTypeLike | None,
    scope: str,
) -> Tensor:
    attrs: AttrValues = {
        "adj_x": turned[0],
        "adj_y": turned[1],
        "grad_x": marks["grad_a"],
        "grad_y": marks["grad_b"],
    }
    if _is_of_another(left, right, output_type):
        attrs["Tout"] = output_type
    op_type = "BatchMatMulV3" if "Tout" in attrs else "BatchMatMulV2"
    return one(op_type, {"x": left, "y": right}, scope, **attrs)


def _is_for_sparse(left: Tensor, right: Tensor, *, hinted: bool) -> bool:
    """Whether `SparseMatMul` is used: a factor is declared sparse, or dtypes mix with bfloat16."""
    if left.dtype is right.dtype and not hinted:
        return False
    kinds = {left.dtype.name, right.dtype.name}
    is_mixed = kinds > {"bfloat16"} and not kinds & {"int8", "uint8"}
    return (hinted and kinds <= {"float32", "bfloat16"}) or is_mixed


#: The rank of a matrix.
_MATRIX: Final = 2


@public("add_n", "math.add_n")
def add_n(inputs: Iterable[TensorLike], name: str | None = None) -> Tensor:
    """The sum of tensors of one shape and dtype.

    Raises:
      ValueError: there are no tensors.

    """
    items = [convert_to_tensor(item) for item in inputs]
    if not items:
        raise bad_value(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the "
            "same dtype and shape."
        )
    if len(items) == 1:
        return identity(items[0], name) if name else items[0]
    return one("AddN", {"inputs": items}, name)


@public("accumulate_n", "math.accumulate_n")
def accumulate_n(
    inputs: Sequence[TensorLike],
    shape: ShapeLike = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The sum of tensors of one shape and dtype.

    Raises:
      ValueError: there are no tensors, or their dtypes or shapes differ.
      TypeError: their dtype is not `tensor_dtype`.

    """
    items = [convert_to_tensor(item) for item in inputs] if isinstance(inputs, list | tuple) else []
    if not items or any(item.dtype != items[0].dtype for item in items):
        raise bad_value("inputs must be a list of at least one Tensor of one dtype and shape")
    static_shape = as_shape(shape)
    for item in items:
        static_shape = static_shape.merge_with(item.shape)
    if tensor_dtype is not None and items[0].dtype != tensor_dtype:
        raise bad_type(f"tensor_dtype is {tensor_dtype}, but input is of type {items[0].dtype}")
    return items[0] if len(items) == 1 and name is None else add_n(items, name)


@public("equal", "math.equal")
def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether x == y, element by element."""
    return one("Equal", {"x": x, "y": y}, name)


@public("math.not_equal", "not_equal")
def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether x != y, element by element."""
    return one("NotEqual", {"x": x, "y": y}, name)


@public("logical_xor", "math.logical_xor")
def logical_xor(x: TensorLike | Overloads, y: TensorLike, name: str = "LogicalXor") -> Tensor:
    """Whether exactly one of x and y holds, element by element."""
    either = one("LogicalOr", {"x": x, "y": y})
    both = one("LogicalNot", {"x": one("LogicalAnd", {"x": x, "y": y})})
    return one("LogicalAnd", {"x": either, "y": both}, name)


_NUMBERS: Final = (
    dtypes.int32,
    dtypes.int64,
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
)


@public("range")
def range_(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = "range",
) -> Tensor:
    """The numbers from `start` (0 if only one argument is given) up to `limit`, excluded.

    Args:
      start: a scalar.
      limit: a scalar.
      delta: the step, a scalar that is not 0.
      dtype: the dtype; by default the widest dtype of the three arguments.
      name: the operation's name.

    """
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        parts = [
            value if isinstance(value, Tensor) else convert_to_tensor(value, wanted, name=part)
            for part, value in (("start", start), ("limit", limit), ("delta", delta))
        ]
        if wanted is None:
            wanted = max((part.dtype.base_dtype for part in parts), key=_NUMBERS.index)
        first, last, step = (cast(part, wanted) for part in parts)
        return one("Range", {"start": first, "limit": last, "delta": step}, scope)


@public("approximate_equal")
def approximate_equal(
    x: TensorLike, y: TensorLike, tolerance: float = 1e-5, name: str | None = None
) -> Tensor:
    """Whether |x - y| < tolerance, element by element."""
    return one("ApproximateEqual", {"x": x, "y": y}, name, tolerance=tolerance)


def _of_range(
    value: range, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    """A Python range as a `Range` operation."""
    del as_ref
    return range_(value.start, value.stop, value.step, dtype, name)


register_tensor_conversion_function(range, _of_range)
