"""The Python operators on tensors (and on variables): each makes one operation.

Op types and names are TensorFlow's: `a + b` makes an `AddV2` named `add`, `-a` a `Neg`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sessrun.reference.graph.stacks import get_default_graph, graph_for

if TYPE_CHECKING:
    from sessrun.reference.graph.tensor import Tensor

__all__ = ["OPERATORS", "Overloads"]

# The dtype in which two integers are divided by `/`.
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


class Overloads:
    """The operator methods; the right or left operand may be anything that becomes a tensor."""

    __slots__ = ()

    @property
    def graph(self) -> Any:
        """The graph it belongs to."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Tensor:
        return _binary(_addition(self), "add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return _reflected(_addition(self), "add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return _binary("Sub", "sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _reflected("Sub", "sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        times = getattr(other, "_times_dense", None)  # a SparseTensor's, which stays sparse
        return _binary("Mul", "mul", self, other) if times is None else times(self)

    def __rmul__(self, other: Any) -> Tensor:
        return _reflected("Mul", "mul", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return _true_divide(self, other, _like(self))

    def __rtruediv__(self, other: Any) -> Tensor:
        return _true_divide(other, self, _like(self))

    def __floordiv__(self, other: Any) -> Tensor:
        return _binary("FloorDiv", "floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return _reflected("FloorDiv", "floordiv", other, self)

    def __mod__(self, other: Any) -> Tensor:
        return _binary("FloorMod", "mod", self, other)

    def __rmod__(self, other: Any) -> Tensor:
        return _reflected("FloorMod", "mod", other, self)

    def __pow__(self, other: Any) -> Tensor:
        return _binary("Pow", "pow", self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return _reflected("Pow", "pow", other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return _matmul(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return _matmul(other, self)

    def __and__(self, other: Any) -> Tensor:
        return _logical("And", "and", self, other)

    def __rand__(self, other: Any) -> Tensor:
        return _logical("And", "and", other, self)

    def __or__(self, other: Any) -> Tensor:
        return _logical("Or", "or", self, other)

    def __ror__(self, other: Any) -> Tensor:
        return _logical("Or", "or", other, self)

    def __xor__(self, other: Any) -> Tensor:
        return _logical("Xor", "xor", self, other)

    def __rxor__(self, other: Any) -> Tensor:
        return _logical("Xor", "xor", other, self)

    def __lt__(self, other: Any) -> Tensor:
        return _binary("Less", "Less", self, other)

    def __le__(self, other: Any) -> Tensor:
        return _binary("LessEqual", "LessEqual", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return _binary("Greater", "Greater", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return _binary("GreaterEqual", "GreaterEqual", self, other)

    def __neg__(self) -> Tensor:
        return _unary("Neg", "Neg", self)

    def __abs__(self) -> Tensor:
        if _like(self).startswith("complex"):
            attrs = {"Tout": "double" if _like(self) == "complex128" else "float"}
            return _apply("ComplexAbs", {"x": self}, attrs, "Abs")
        return _unary("Abs", "Abs", self)

    def __invert__(self) -> Tensor:
        if _like(self) == "bool":
            return _unary("LogicalNot", "LogicalNot", self)
        return _unary("Invert", "Invert", self)

    def __getitem__(self, key: Any) -> Tensor:
        from sessrun.reference.api.ops.slicing import strided_slice  # noqa: PLC0415 - imports tensor

        return strided_slice(self, key)


#: The names of the operators on tensors; equality is Python's own.
OPERATORS: Final = frozenset(
    {name for name in vars(Overloads) if callable(vars(Overloads)[name])} | {"__eq__", "__ne__"}
)


def tensor_equals(self: Any, other: Any) -> bool:
    """Whether two tensors are one: what `==` is in graphs."""
    return other is not None and self is other


def tensor_not_equals(self: Any, other: Any) -> bool:
    """Whether two tensors are not one: what `!=` is in graphs."""
    return not tensor_equals(self, other)


def _like(value: Any) -> str:
    """The name of the dtype of an operand that has one."""
    name: str = value.dtype.base_dtype.spec_name
    return name


def _apply(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], name: str) -> Tensor:
    from sessrun.reference.build.build import apply_op  # noqa: PLC0415 - build imports tensor

    return apply_op(op_type, inputs, attrs, name).outputs[0]


def _unary(op_type: str, name: str, x: Any) -> Tensor:
    from sessrun.reference.build.build import apply_unary  # noqa: PLC0415 - build imports tensor

    return apply_unary(op_type, x, name)


def _binary(op_type: str, name: str, x: Any, y: Any) -> Tensor:
    return _apply(op_type, {"x": x, "y": y}, {}, name)


def _reflected(op_type: str, name: str, x: Any, y: Any) -> Tensor:
    """`x` is no tensor: it becomes one of the dtype of `y`."""
    return _apply(op_type, {"x": x, "y": y}, {"T": _like(y)}, name)


def _matmul(a: Any, b: Any) -> Tensor:
    """Matrices are multiplied by `MatMul`, what may be a stack of them by `BatchMatMulV2`."""
    from sessrun.reference.build.conversion import convert_to_tensor  # noqa: PLC0415 - imports tensor

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


def _true_divide(x: Any, y: Any, like: str) -> Tensor:
    """Integers are divided as floats."""
    from sessrun.reference.build.build import apply_op  # noqa: PLC0415 - build imports tensor
    from sessrun.reference.build.conversion import convert_to_tensor  # noqa: PLC0415 - the same

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


def _logical(word: str, name: str, x: Any, y: Any) -> Tensor:
    like = next(_like(value) for value in (x, y) if isinstance(value, Overloads))
    graph = graph_for(next(each.graph for each in (x, y) if isinstance(each, Overloads)))
    if like == "bool":
        if word == "Xor":
            return _logical_xor(graph, name, x, y)
        return _apply("Logical" + word, {"x": x, "y": y}, {}, name)
    with graph.as_default(), graph.name_scope(name):
        op_type = "Bitwise" + word
        return _apply(op_type, {"x": x, "y": y}, {"T": like}, op_type)


def _logical_xor(graph: Any, name: str, x: Any, y: Any) -> Tensor:
    """Made of three operations: there is none of its own."""
    from sessrun.reference.api.ops.math_ops import logical_xor  # noqa: PLC0415 - the same
    from sessrun.reference.build.conversion import convert_to_tensor  # noqa: PLC0415 - imports tensor

    with graph.as_default(), graph.name_scope(name) as scope:
        left = x if isinstance(x, Overloads) else convert_to_tensor(x, "bool", name="x")
        return logical_xor(left, y, scope)


def _addition(value: Any) -> str:
    """Strings are joined by the older operation."""
    return "Add" if _like(value) == "string" else "AddV2"
