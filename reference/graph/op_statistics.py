"""What programs register about nodes of an op type: `flops`, `weight_parameters`, their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from sessrun.reference.graph.registry import Registry

if TYPE_CHECKING:
    from sessrun.reference.graph.graph import Graph
    from sessrun.spec.proto import NodeDef

__all__ = ["OpStats", "RegisterStatistics", "get_stats_for_node_def"]

F = TypeVar("F", bound=Callable[..., Any])

_FUNCTIONS: Final = Registry("statistical functions")


class OpStats:
    """A number of a certain kind, or None where it is not known; `+=` adds another one."""

    __slots__ = ("statistic_type", "value")

    def __init__(self, statistic_type: str, value: float | None = None) -> None:
        self.statistic_type = statistic_type
        self.value = value

    def __iadd__(self, other: OpStats) -> Self:
        """Add the other number, if it is known.

        Raises:
          ValueError: it is of another kind.

        """
        if other.statistic_type != self.statistic_type:
            raise ValueError(
                f"Cannot add statistics of '{other.statistic_type}' to those of "
                f"'{self.statistic_type}'."
            )
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


class RegisterStatistics:
    """A decorator: `f(graph, node_def)` gives the OpStats of this kind for nodes of this op type.

    Raises:
      TypeError: one of the two is no string, or has a comma.
      KeyError: on decorating: a function is registered for them.

    """

    def __init__(self, op_type: str, statistic_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._name = f"{op_type},{statistic_type}"

    def __call__(self, f: F) -> F:
        """Register the function."""
        _FUNCTIONS.register(f, self._name)
        return f


def get_stats_for_node_def(graph: Graph, node: NodeDef, statistic_type: str) -> Any:
    """What the registered function says of a node; an empty OpStats where there is none."""
    try:
        function = _FUNCTIONS.lookup(f"{node.op},{statistic_type}")
    except LookupError:
        return OpStats(statistic_type)
    return function(graph, node)
