"""The operations that a supervisor finds in its graph, or creates (TF 2.21)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sessrun.reference.api.ops.summary_ops import merge_all
from sessrun.reference.api.saving.saver import Saver
from sessrun.reference.api.tables.table_initializers import tables_initializer
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from sessrun.reference.base import log_messages
from sessrun.reference.base.dtypes import int32, int64
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.framework_ops import group
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["SupervisedGraph"]

#: The value of an argument that is not given.
_USE_DEFAULT: Final = 0


class SupervisedGraph:
    """The operations of a graph that a supervisor needs; each None until it is found.

    Args:
      graph: the graph.

    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.ready_op: Tensor | None = None
        self.ready_for_local_init_op: Tensor | None = None
        self.init_op: Tensor | Operation | None = None
        self.local_init_op: Tensor | Operation | None = None
        self.saver: Saver | None = None
        self.summary_op: Tensor | None = None
        self.global_step: Tensor | Variable | None = None

    def find(self, name: str, given: object) -> None:
        """Set an operation: the given one, else the collection's first, else a default."""
        key, make = _SOURCES[name]
        if not (isinstance(given, int) and given == _USE_DEFAULT):
            setattr(self, name, given)
            return
        items = self._graph.get_collection(key)
        if len(items) > 1:
            log_messages.info("Found %d %s operations. Returning the first one.", len(items), key)
        item = items[0] if items else None
        if item is None:
            item = make(self._graph)
            if item is not None:
                self._graph.add_to_collection(key, item)
        setattr(self, name, item)

    def check_devices(self) -> None:
        """Check that every variable has a device.

        Raises:
          ValueError: a variable has no device.

        """
        for op in self._graph.get_operations():
            if op.type in {"Variable", "VariableV2"} and not op.device:
                raise ValueError(
                    f"When using replicas, all Variables must have their device set: {op}"
                )


def _ready_op(_: Graph) -> Tensor:
    return report_uninitialized_variables()


def _nothing(_: Graph) -> None:
    return None


def _init_op(_: Graph) -> Operation:
    return global_variables_initializer()


def _local_init_op(_: Graph) -> Operation:
    return group(local_variables_initializer(), tables_initializer())


def _saver(_: Graph) -> Saver | None:
    return Saver() if global_variables() else None


def _summary_op(_: Graph) -> Tensor | None:
    return merge_all()


def _global_step(graph: Graph) -> Tensor | None:
    """The tensor `global_step:0` if it is int32 or int64, else None."""
    try:
        step: Tensor = graph.get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if step.dtype.base_dtype in (int32, int64):
        return step
    log_messages.warning("Found 'global_step' is not an int type: %s", step.dtype)
    return None


#: For each operation its collection, and the function that builds a default.
_SOURCES: Final[Mapping[str, tuple[str, Callable[[Graph], object]]]] = {
    "ready_op": (GraphKeys.READY_OP, _ready_op),
    "ready_for_local_init_op": (GraphKeys.READY_FOR_LOCAL_INIT_OP, _nothing),
    "init_op": (GraphKeys.INIT_OP, _init_op),
    "local_init_op": (GraphKeys.LOCAL_INIT_OP, _local_init_op),
    "saver": (GraphKeys.SAVERS, _saver),
    "summary_op": (GraphKeys.SUMMARY_OP, _summary_op),
    "global_step": (GraphKeys.GLOBAL_STEP, _global_step),
}
