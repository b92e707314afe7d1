"""The table of translated operations, and the node that a translation takes.

A translation is a function of a node and its inputs. An input that is known when the program is
translated (a constant, a shape, and what is computed of such) is a numpy array, any other one a
JAX array that is being traced. It returns one array, or a sequence of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np

from sessrun.adapters.client_layer import EngineError, NotOfferedError
from sessrun.adapters.client_layer.attributes import attributes_of
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.inference import value_attrs
from sessrun.spec.operations import AttrDecl
from sessrun.spec.proto import NodeDef
from sessrun.spec.tables.ops import OPERATIONS

if TYPE_CHECKING:
    import jax

__all__ = [
    "ALL",
    "BOOL",
    "COMPLEX",
    "FLOATS",
    "INTEGERS",
    "NUMBERS",
    "REALS",
    "RULES",
    "SIGNED",
    "Array",
    "Node",
    "Rule",
    "Translation",
    "node_of",
    "numpy_of",
    "plain",
    "rule",
]

#: A numpy array, or one of JAX.
Array: TypeAlias = "np.ndarray | jax.Array"
#: A translation of a node: it takes the node and its inputs.
Translation: TypeAlias = "Callable[..., Array | Sequence[Array]]"

_Function = TypeVar("_Function", bound=Translation)

FLOATS: Final = frozenset({"float16", "bfloat16", "float32", "float64"})
SIGNED: Final = frozenset({"int8", "int16", "int32", "int64"})
INTEGERS: Final = SIGNED | {"uint8", "uint16", "uint32", "uint64"}
COMPLEX: Final = frozenset({"complex64", "complex128"})
REALS: Final = FLOATS | INTEGERS
NUMBERS: Final = REALS | COMPLEX
BOOL: Final = frozenset({"bool"})
ALL: Final = NUMBERS | BOOL


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph, as a translation sees it.

    Attributes:
      name: its name.
      op: its op type.
      attrs: every attribute by name, or its default: dtypes by their names, shapes as tuples.

    """

    name: str
    op: str
    attrs: Mapping[str, Any]

    def __getitem__(self, attr: str) -> Any:
        return self.attrs[attr]

    def check(self, condition: bool, message: str) -> None:
        """Refuse the node unless the condition holds.

        Raises:
          EngineError: code 3.

        """
        if not condition:
            raise EngineError(3, f"{self.op} {self.name}: {message}", self.name)

    def check_range(self, indices: Array, limit: int | Sequence[int] | np.ndarray) -> None:
        """Refuse known indices that are not in [0, limit); those of a run are not known yet."""
        if isinstance(indices, np.ndarray):
            inside = bool(np.all((indices >= 0) & (indices < np.asarray(limit))))
            self.check(inside, f"an index is not in [0, {limit})")


@dataclass(frozen=True, slots=True)
class Rule:
    """How an operation is translated.

    Attributes:
      function: the translation.
      dtypes: the dtypes of values that it is right in.
      constants: names of the inputs that it must know: shapes, axes, sizes.
      attrs: names of the attributes that give the dtypes of its values.

    """

    function: Translation
    dtypes: frozenset[str]
    constants: frozenset[str]
    attrs: tuple[str, ...]

    def check(self, node: Node) -> None:
        """Decline a node whose values have a dtype that is not translated.

        Raises:
          NotOfferedError: `dtype`.

        """
        for attr in self.attrs:
            if node[attr] not in self.dtypes:
                raise NotOfferedError("dtype", node[attr])


#: The translated operations by op type.
RULES: Final[dict[str, Rule]] = {}


def rule(
    *ops: str, dtypes: frozenset[str], constants: str = ""
) -> Callable[[_Function], _Function]:
    """Register a translation.

    Args:
      ops: the op types.
      dtypes: the dtypes of its values; those that TensorFlow has no such operation of are left out.
      constants: the names of the inputs that it must know, separated by spaces.

    """

    def register(function: _Function) -> _Function:
        for op in ops:
            if op in RULES:
                raise ValueError(f"{op} has two translations")
            names = frozenset(constants.split())
            attrs = value_attrs(OPERATIONS[op], names)
            held = dtypes & _allowed(op, attrs)
            RULES[op] = Rule(function, held, names, tuple(attr.name for attr in attrs))
        return function

    return register


def plain(functions: Mapping[str, Translation], dtypes: frozenset[str]) -> None:
    """Register functions of the inputs alone, by op type."""
    for op, function in functions.items():
        rule(op, dtypes=dtypes)(lambda _node, *inputs, function=function: function(*inputs))


def _allowed(op: str, attrs: Sequence[AttrDecl]) -> frozenset[str]:
    """The dtypes that TensorFlow's declaration has: of its attributes, or of its first input."""
    if not attrs:
        return frozenset(arg.dtype for arg in OPERATIONS[op].inputs[:1] if arg.dtype) or ALL
    return frozenset().union(*(attr.allowed or ALL for attr in attrs))


def numpy_of(dtype: str) -> np.dtype:
    """The numpy dtype of a dtype's name."""
    kind: np.dtype = np.dtype(BY_NAME[dtype].numpy)
    return kind


def node_of(definition: NodeDef) -> Node:
    """A node with its attributes as Python values."""
    attrs = attributes_of(definition, OPERATIONS[definition.op])
    return Node(definition.name, definition.op, attrs)
