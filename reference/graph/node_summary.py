"""How an error shows the operation that is being built: `{{node a}} = AddV2[T=DT_FLOAT](x, y)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sessrun.reference.base.tensor_shape import Shape
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import DataType

if TYPE_CHECKING:
    from sessrun.reference.graph.tensor import Tensor
    from sessrun.spec.operations import Operation as Declaration

__all__ = ["bracketed", "node_summary"]


def node_summary(
    name: str, declaration: Declaration, inputs: Sequence[Tensor], attrs: Mapping[str, object]
) -> str:
    """The operation with its attributes, in alphabetical order, and its inputs."""
    kinds = sorted((attr.name, attr.type) for attr in declaration.attrs)
    values = [f"{attr}={_value(kind, attrs[attr])}" for attr, kind in kinds if attr in attrs]
    sources = [tensor._as_node_def_input() for tensor in inputs]  # noqa: SLF001 - as in a NodeDef
    return f"{{{{node {name}}}}} = {declaration.name}[{', '.join(values)}]({', '.join(sources)})"


def bracketed(shape: Shape) -> str:
    """A shape as errors of operations show it: `[2,?]`, `<unknown>`."""
    if shape is None:
        return "<unknown>"
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"


def _value(kind: str, value: Any) -> str:
    if kind.startswith("list("):
        return f"[{', '.join(_value(kind[5:-1], item) for item in value)}]"
    return _WRITERS.get(kind, str)(value)


def _quoted(value: str | bytes) -> str:
    return f'"{value.decode(errors="replace") if isinstance(value, bytes) else value}"'


_WRITERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "type": lambda name: str(DataType.Name(BY_NAME[name].enum)),
    "shape": bracketed,
    "string": _quoted,
    "bool": lambda value: str(value).lower(),
    "float": lambda value: f"{value:g}",
    "func": lambda value: f"{value.name}[]",
}
