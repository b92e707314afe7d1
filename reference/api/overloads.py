"""The Python operators on tensors and variables: an operator builds one operation.

Op types and names are TensorFlow's: `a + b` makes an `AddV2` named `add`, `-a` a `Neg`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.math_ops import logical_xor
from sessrun.reference.api.ops.slicing import strided_slice
from sessrun.reference.base import dtypes
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.build.build import apply_op, apply_unary
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.default_graph import get_default_graph, graph_for
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.tensor import OPERATORS, Overloads, Tensor

__all__ = ["tensor_equals", "tensor_not_equals"]

# The dtype that `/` converts two integers to.
_QUOTIENT: Final = {
    "int8": "float32",
    "uint8": "float32",
    "int16": "float32",
    "uint16": "float32",
    "int32": "float64",
    "int64": "float64",
    "uint32": "float64",
    "uint64": "float64",
}


def tensor_equals(self: object, other: TensorLike) -> bool:
    """Whether two tensors are one: what `==` is in graphs."""
    return other is not None and self is other


def tensor_not_equals(self: object, other: TensorLike) -> bool:
    """Whether two tensors are not one: what `!=` is in graphs."""
    return not tensor_equals(self, other)


def _like(value: Any) -> str:
    """The name of the dtype of an operand that has one."""
    name: str = value.dtype.base_dtype.spec_name
    return name


def _apply(op_type: str, inputs: dict[str, object], attrs: AttrValues, name: str) -> Tensor:
    return apply_op(op_type, inputs, attrs, name).outputs[0]


def _binary(op_type: str, name: str) -> Callable[[TensorLike, TensorLike], Tensor]:
    """The operator that makes an operation of this type and name."""

    def operator(x: TensorLike, y: TensorLike) -> Tensor:
        return apply_op(op_type, {"x": x, "y": y}, {}, name).outputs[0]

    return operator


def _sum(x: Any, y: TensorLike) -> Tensor:
    return apply_op(_addition(x), {"x": x, "y": y}, {}, "add").outputs[0]


def _reflected(op_type: str, name: str, x: TensorLike, y: TensorLike) -> Tensor:
    """`x` is no tensor: it becomes one of the dtype of `y`."""
    return _apply(op_type, {"x": x, "y": y}, {"T": _like(y)}, name)


def _matmul(a: Tensor, b: Tensor) -> Tensor:
    """Matrices are multiplied by `MatMul`, what may be a stack of them by `BatchMatMulV2`."""
    like = next(_like(value) for value in (a, b) if isinstance(value, Overloads))
    graph = next(value.graph for value in (a, b) if isinstance(value, Overloads))
    graph = graph_for(graph)
    with graph.as_default(), graph.name_scope("matmul") as scope:
        left = convert_to_tensor(a, preferred_dtype=like, name="a")
        right = convert_to_tensor(b, preferred_dtype=like, name="b")
        ranks = (left.ndim, right.ndim)
        if any(rank not in {0, 1, 2} for rank in ranks):
            return _apply("BatchMatMulV2", {"x": left, "y": right}, {}, scope)
        return _apply("MatMul", {"a": left, "b": right}, {}, scope)


def _true_divide(x: TensorLike, y: TensorLike, like: str) -> Tensor:
    """Integers are divided as floats."""
    if like not in _QUOTIENT:
        return _apply("RealDiv", {"x": x, "y": y}, {"T": like}, "truediv")
    graph = next((v.graph for v in (x, y) if hasattr(v, "graph")), get_default_graph())
    graph = graph_for(graph)
    with graph.as_default(), graph.name_scope("truediv") as scope:
        left = convert_to_tensor(x, dtype=like, name="x")
        right = convert_to_tensor(y, dtype=like, name="y")
        attrs = {"DstT": _QUOTIENT[like]}
        left = apply_op("Cast", {"x": left}, attrs).outputs[0]
        right = apply_op("Cast", {"x": right}, attrs).outputs[0]
        return _apply("RealDiv", {"x": left, "y": right}, {}, scope)


def _logical(word: str, name: str, x: TensorLike, y: TensorLike) -> Tensor:
    like = next(_like(value) for value in (x, y) if isinstance(value, Overloads))
    graph = graph_for(next(operand.graph for operand in (x, y) if isinstance(operand, Overloads)))
    if like == "bool":
        if word == "Xor":
            return _logical_xor(graph, name, x, y)
        return _apply("Logical" + word, {"x": x, "y": y}, {}, name)
    with graph.as_default(), graph.name_scope(name):
        op_type = "Bitwise" + word
        return _apply(op_type, {"x": x, "y": y}, {"T": like}, op_type)


def _logical_xor(graph: Graph, name: str, x: TensorLike, y: TensorLike) -> Tensor:
    """Built from three operations, since there is no op type for it."""
    with graph.as_default(), graph.name_scope(name) as scope:
        left = x if isinstance(x, Overloads) else convert_to_tensor(x, "bool", name="x")
        return logical_xor(left, y, scope)


def _addition(value: Any) -> str:
    """Strings are joined by the older operation."""
    return "Add" if value.dtype.base_dtype is dtypes.string else "AddV2"


def _absolute(x: TensorLike) -> Tensor:
    if not _like(x).startswith("complex"):
        return apply_unary("Abs", x, "Abs")
    attrs = {"Tout": "double" if _like(x) == "complex128" else "float"}
    return _apply("ComplexAbs", {"x": x}, attrs, "Abs")


def _inverted(x: TensorLike) -> Tensor:
    op_type = "LogicalNot" if _like(x) == "bool" else "Invert"
    return apply_unary(op_type, x, op_type)


_times = _binary("Mul", "mul")


def _product(x: TensorLike, y: TensorLike) -> Tensor:
    times = getattr(y, "_times_dense", None)  # a SparseTensor's, which stays sparse
    return _times(x, y) if times is None else times(x)


OPERATORS.update(
    {
        "__add__": _sum,
        "__radd__": lambda x, y: _reflected(_addition(x), "add", y, x),
        "__sub__": _binary("Sub", "sub"),
        "__rsub__": lambda x, y: _reflected("Sub", "sub", y, x),
        "__mul__": _product,
        "__rmul__": lambda x, y: _reflected("Mul", "mul", y, x),
        "__truediv__": lambda x, y: _true_divide(x, y, _like(x)),
        "__rtruediv__": lambda x, y: _true_divide(y, x, _like(x)),
        "__floordiv__": _binary("FloorDiv", "floordiv"),
        "__rfloordiv__": lambda x, y: _reflected("FloorDiv", "floordiv", y, x),
        "__mod__": _binary("FloorMod", "mod"),
        "__rmod__": lambda x, y: _reflected("FloorMod", "mod", y, x),
        "__pow__": _binary("Pow", "pow"),
        "__rpow__": lambda x, y: _reflected("Pow", "pow", y, x),
        "__matmul__": _matmul,
        "__rmatmul__": lambda x, y: _matmul(y, x),
        "__and__": lambda x, y: _logical("And", "and", x, y),
        "__rand__": lambda x, y: _logical("And", "and", y, x),
        "__or__": lambda x, y: _logical("Or", "or", x, y),
        "__ror__": lambda x, y: _logical("Or", "or", y, x),
        "__xor__": lambda x, y: _logical("Xor", "xor", x, y),
        "__rxor__": lambda x, y: _logical("Xor", "xor", y, x),
        "__lt__": _binary("Less", "Less"),
        "__le__": _binary("LessEqual", "LessEqual"),
        "__gt__": _binary("Greater", "Greater"),
        "__ge__": _binary("GreaterEqual", "GreaterEqual"),
        "__neg__": lambda x: apply_unary("Neg", x, "Neg"),
        "__abs__": _absolute,
        "__invert__": _inverted,
        "__getitem__": strided_slice,
    }
)
