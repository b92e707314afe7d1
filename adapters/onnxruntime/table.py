"""The table of the translator: for each op type a function, and the dtypes it is offered in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.adapters.client_layer import EngineError, NotOfferedError
from sessrun.adapters.onnxruntime.onnx_graph import ENUMS, OnnxGraph
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.operations import Operation
from sessrun.spec.tables.ops import OPERATIONS

__all__ = [
    "ALL",
    "FLOATS",
    "INTEGERS",
    "NUMBERS",
    "SINGLE",
    "TRANSLATIONS",
    "WIDE",
    "Call",
    "Tensor",
    "Translation",
    "operations",
    "translates",
    "translates_by_name",
]

#: Sets of dtypes that kernels of ONNX Runtime's CPU provider have (1.32, operator set 21).
SINGLE: Final = frozenset({"float32"})
FLOATS: Final = frozenset({"float32", "float64"})
WIDE: Final = FLOATS | {"int32", "int64"}
INTEGERS: Final = frozenset(name for name in ENUMS if "int" in name)
NUMBERS: Final = FLOATS | INTEGERS
ALL: Final = frozenset(ENUMS)

#: The dtypes that hold every value of a dtype. What has no kernel for it is computed in the first
#: of these that has one, and cast back: integers wrap, halves are rounded once an operation.
_WIDER: Final[Mapping[str, tuple[str, ...]]] = {
    "bfloat16": ("float32",),
    "bool": ("uint8", "int32"),
    "float16": ("float32",),
    "int8": ("int32", "int64"),
    "int16": ("int32", "int64"),
    "int32": ("int64",),
    "uint8": ("int32", "int64"),
    "uint16": ("int32", "int64"),
    "uint32": ("int64",),
}

#: An index beyond the end of every axis.
_BEYOND: Final = 2**62


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the ONNX graph that stands for one of the TensorFlow graph.

    Attributes:
      name: its name in the ONNX graph.
      dtype: its dtype there.
      shape: its static shape, None for an unknown dimension; None if the rank is unknown.

    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True, slots=True)
class Call:
    """One TensorFlow node to translate.

    Attributes:
      graph: the ONNX graph, which its nodes are written to.
      op: the op type.
      node: the node's name.
      attrs: every attribute: dtypes by name, shapes as tuples.
      inputs: its inputs, those of lists laid flat.
      shapes: the shapes of its outputs, as far as they are known.
      dtype: the dtype to compute in.
      own: the dtype that the node has, which may be narrower.

    """

    graph: OnnxGraph
    op: str
    node: str
    attrs: Mapping[str, Any]
    inputs: Sequence[Tensor]
    shapes: Sequence[tuple[int | None, ...] | None]
    dtype: str
    own: str

    @property
    def names(self) -> list[str]:
        """The names of its inputs in the ONNX graph."""
        return [tensor.name for tensor in self.inputs]

    def emit(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Write an ONNX node with one output: that output's name."""
        return self.graph.emit(op, *inputs, **attributes)[0]

    def constant(self, value: Any, dtype: str = "int64") -> str:
        """A constant of a dtype: `self.dtype` for that of the node's values."""
        return self.graph.constant(np.asarray(value).astype(BY_NAME[dtype].numpy))

    def cast(self, name: str, dtype: str) -> str:
        """A tensor cast to a dtype."""
        return self.emit("Cast", name, to=ENUMS[dtype])

    def rounded(self, name: str) -> str:
        """A tensor as it is in the node's own dtype, which is narrower for halves."""
        return name if self.own == self.dtype else self.cast(self.cast(name, self.own), self.dtype)

    def inside(self, indices: str, dtype: str) -> str:
        """Indices, the negative ones beyond the end: ONNX would count them from there.

        Args:
          indices: a tensor of indices.
          dtype: its dtype; the result is of int64.

        """
        wide = indices if dtype == "int64" else self.cast(indices, "int64")
        is_negative = self.emit("Less", wide, self.constant(0))
        return self.emit("Where", is_negative, self.constant(_BEYOND), wide)

    def value(self, index: int) -> np.ndarray:
        """The value of an input, which must not depend on what is fed.

        Raises:
          NotOfferedError: it does.

        """
        value = self.graph.known(self.inputs[index].name)
        if value is None:
            raise self.declined(f"input {index} is not constant")
        return value

    def integers(self, index: int) -> list[int]:
        """The elements of an input as integers; see `value`."""
        return [int(element) for element in self.value(index).reshape(-1)]

    def rank(self, index: int = 0) -> int:
        """The rank of an input.

        Raises:
          NotOfferedError: it is not known.

        """
        shape = self.inputs[index].shape
        if shape is None:
            raise self.declined(f"the rank of input {index} is not known")
        return len(shape)

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """The shape of an input.

        Raises:
          NotOfferedError: it is not known.

        """
        return self._known_sizes(self.inputs[index].shape, f"the shape of input {index}")

    def output_shape(self, index: int = 0) -> tuple[int, ...]:
        """The shape of an output.

        Raises:
          NotOfferedError: it is not known.

        """
        return self._known_sizes(self.shapes[index], f"the shape of output {index}")

    def _known_sizes(self, shape: tuple[int | None, ...] | None, what: str) -> tuple[int, ...]:
        if shape is None or None in shape:
            raise self.declined(f"{what} is not known")
        return tuple(size for size in shape if size is not None)

    def declined(self, reason: str) -> NotOfferedError:
        """What to raise where ONNX cannot express the node, or not without knowing more."""
        return NotOfferedError("op", f"{self.op}: {reason}")

    def invalid(self, reason: str) -> EngineError:
        """What to raise where TensorFlow refuses the node's inputs."""
        return EngineError(3, f"{self.node}: {reason}", self.node)


#: Writes the ONNX nodes of a call: the name of its output, or those of several.
Function = Callable[[Call], str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Translation:
    """How an op type is translated.

    Attributes:
      operation: its declaration.
      function: writes its ONNX nodes.
      attr: the attribute that says the dtype of its values; None if that is fixed.
      computed: the dtypes it is offered in, with those it is computed in.

    """

    operation: Operation
    function: Function
    attr: str | None
    computed: Mapping[str, str]


TRANSLATIONS: Final[dict[str, Translation]] = {}


def translates(
    *ops: str, kernels: frozenset[str], widened: bool = True
) -> Callable[[Function], Function]:
    """Register a function that translates op types.

    Args:
      ops: the op types.
      kernels: the dtypes that every ONNX operator it writes has a kernel for.
      widened: whether other dtypes are computed in wider ones.

    """

    def register(function: Function) -> Function:
        for op in ops:
            operation = OPERATIONS[op]
            attr = _dtype_attr(operation)
            allowed = _allowed(operation, attr)
            computed = _computed(allowed if widened else kernels.intersection(allowed), kernels)
            TRANSLATIONS[op] = Translation(operation, function, attr, computed)
        return function

    return register


def translates_by_name(names: Mapping[str, tuple[str, frozenset[str]]]) -> None:
    """Register op types that are one ONNX operator on the same inputs.

    Args:
      names: op type to the operator's name and the dtypes that it has a kernel for.

    """
    for op, (operator, kernels) in names.items():
        translates(op, kernels=kernels)(_by_name(operator))


def _by_name(operator: str) -> Function:
    return lambda call: call.emit(operator, *call.names)


def operations() -> dict[str, frozenset[str]]:
    """The op types that are offered, each with the dtypes of its values."""
    return {op: frozenset(row.computed) for op, row in sorted(TRANSLATIONS.items())}


def _dtype_attr(operation: Operation) -> str | None:
    """The attribute that says the dtype of its values; None for several, or a fixed one."""
    attr = operation.attr("T")
    if attr is not None:
        return attr.name if attr.type == "type" else None
    args = operation.inputs or operation.outputs
    return args[0].type_attr


def _allowed(operation: Operation, attr: str | None) -> Collection[str]:
    declared = operation.attr(attr) if attr is not None else None
    if declared is not None:
        return declared.allowed or tuple(ENUMS)
    dtype = (operation.inputs or operation.outputs)[0].dtype
    return tuple(ENUMS) if dtype is None else (dtype,)


def _computed(allowed: Collection[str], kernels: frozenset[str]) -> dict[str, str]:
    """The dtypes that can be computed in one of `kernels`, with the one that is chosen."""
    chosen = {}
    for dtype in allowed:
        wide = [name for name in (dtype, *_WIDER.get(dtype, ())) if name in kernels]
        if wide:
            chosen[dtype] = wide[0]
    return chosen
