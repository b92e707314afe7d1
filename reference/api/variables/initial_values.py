"""Initial values of variables, and VariableDefs, the messages that describe variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.build import apply_flat
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue, VariableDef

if TYPE_CHECKING:
    from sessrun.reference.api.variables.variable_base import Variable
    from sessrun.reference.graph.graph import Graph
    from sessrun.reference.graph.operation import Operation

__all__ = [
    "check_not_in_control_flow",
    "colocated_with_new",
    "imported_element",
    "safe_initial_value",
    "value_of_function",
    "variable_def",
]

#: Operations that keep their input variable: it may be uninitialized, or is read on purpose.
_KEPT: Final = frozenset({"IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp"})
_NEXT_ITERATIONS: Final = frozenset({"NextIteration", "RefNextIteration"})
_VARIABLES: Final = frozenset({"VarHandleOp", "Variable", "VariableV2"})


def colocated_with_new(graph: Graph, scope: str) -> AbstractContextManager[None]:
    """Colocate operations inside of the `with` with a variable that is not created yet.

    Args:
      graph: the graph.
      scope: the name scope of the variable, whose name the variable will have.

    """
    group = b"loc:@" + scope.removesuffix("/").encode()
    beside = AttrValue(list=AttrValue.ListValue(s=[group]))
    return graph._attr_scope({"_class": beside})  # noqa: SLF001 - TensorFlow's own name


def value_of_function(function: Callable[[], object], dtype: DTypeLike) -> Tensor:
    """The tensor of an initial value that is given as a function, in the scope `Initializer`.

    Raises:
      InvalidArgumentTypeError, InvalidArgumentValueError: the function's result cannot be
        converted to a tensor of the dtype.

    """
    graph = get_default_graph()
    with graph.name_scope("Initializer"), graph.device(None):
        return convert_to_tensor(function(), dtype=dtype, name="initial_value")


def check_not_in_control_flow(initial: Tensor, name: str | None) -> None:
    """Check that an initial value is not from inside of a loop or a branch.

    Raises:
      ValueError: the value is from inside of a loop or a branch.

    """
    if initial.op._control_flow_context is not None:  # noqa: SLF001 - where it was created
        raise ValueError(
            f"The `initial_value` passed to `tf.Variable` {name} is from inside a control-flow "
            f"construct, a loop or a branch: use a function that gives it. Got: {initial}"
        )


def safe_initial_value(scope: str, initial: Tensor) -> Tensor:
    """The initial value of a new variable, computed from `initialized_value()` of other variables.

    So `Variable(w * 2)` can be initialized together with `w`, in any order. The operations from
    `w` to the initial value are copied. A value that depends on a loop is returned as it is.

    Args:
      scope: the name scope of the new variable.
      initial: its initial value.

    Raises:
      TypeError: `initial` is not a Tensor.

    """
    if not isinstance(initial, Tensor):
        raise TypeError(f"initial_value needs to be a Tensor: {initial}")
    return initial if _depends_on_loop(initial.op) else _SafeCopy(scope).tensor(initial)


def _depends_on_loop(op: Operation) -> bool:
    """Whether an operation depends on a loop, so that the graph before it has a cycle."""
    seen, pending = {op}, [op]
    while pending:
        current = pending.pop()
        if current.type in _NEXT_ITERATIONS:
            return True
        sources = {*(tensor.op for tensor in current.inputs), *current.control_inputs} - seen
        seen |= sources
        pending += sources
    return False


class _SafeCopy:
    """Copies operations before an initial value, with initialized values in place of variables.

    Args:
      scope: the name scope of the new variable, a suffix of the copies' names.

    """

    def __init__(self, scope: str) -> None:
        self._scope = scope
        self._copies: dict[Operation, Sequence[Tensor]] = {}

    def tensor(self, tensor: Tensor) -> Tensor:
        """The copy of a tensor; the tensor itself if it does not depend on a variable."""
        # A chain of operations may exceed Python's recursion limit, so this uses an explicit stack.
        pending = [tensor.op]
        while pending:
            op = pending[-1]
            sources = [] if self._is_end(op) else [source.op for source in op.inputs]
            missing = [source for source in sources if source not in self._copies]
            if missing and op not in self._copies:
                pending += missing
                continue
            pending.pop()
            if op not in self._copies:
                self._copies[op] = self._copied(op)
        return self._copies[tensor.op][tensor.value_index]

    def _is_end(self, op: Operation) -> bool:
        return not op.inputs or op.type in _KEPT

    def _copied(self, op: Operation) -> Sequence[Tensor]:
        """The outputs of an operation's copy; its own outputs if no input was replaced."""
        if op.type in _VARIABLES:
            initial = _initialized(op)
            return op.outputs if initial is None else (initial,)
        if self._is_end(op):
            return op.outputs
        inputs = [self._copies[source.op][source.value_index] for source in op.inputs]
        if all(new is old for new, old in zip(inputs, op.inputs, strict=True)):
            return op.outputs
        name = f"{op.name}_{self._scope}".replace(":", "_")
        # A reference to a variable has become a value.
        op_type = "Switch" if op.type == "RefSwitch" else op.type
        return apply_flat(op.graph, op_type, inputs, dict(op.node_def.attr), name).outputs


def _initialized(op: Operation) -> Tensor | None:
    """`initialized_value()` of the variable of an operation; None if no collection has it."""
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in op.graph.get_collection(key):
            if getattr(variable, "op", None) is op and hasattr(variable, "initialized_value"):
                initialized: Tensor = variable.initialized_value()
                return initialized
    return None


def imported_element(graph: Graph, import_scope: str | None) -> Callable[[str], Any]:
    """A function from the name that a tensor or operation had before an import to that element."""
    prefix = "" if not import_scope else import_scope.rstrip("/") + "/"
    return lambda name: graph.as_graph_element(prefix + name)


def variable_def(
    variable: Variable, snapshot: str, export_scope: str | None, *, is_resource: bool
) -> VariableDef | None:
    """The VariableDef of a variable, with names relative to `export_scope`.

    None if the variable is not in that scope.
    """
    if export_scope is not None and not variable.name.startswith(export_scope):
        return None

    def stripped(name: str) -> str:
        prefix = "" if not export_scope else export_scope.rstrip("/") + "/"
        return name.removeprefix(prefix)

    message = VariableDef(
        variable_name=stripped(variable.name),
        initializer_name=stripped(variable.initializer.name),
        snapshot_name=stripped(snapshot),
        is_resource=is_resource,
        trainable=variable.trainable,
    )
    message.synchronization = variable.synchronization.value  # type: ignore[assignment]  # a number
    message.aggregation = variable.aggregation.value  # type: ignore[assignment]  # a number
    if variable.initial_value is not None:
        message.initial_value_name = stripped(variable.initial_value.name)
    slice_info = variable._save_slice_info  # noqa: SLF001 - TensorFlow's name
    if slice_info is not None and (slice_def := slice_info.to_proto(export_scope)) is not None:
        message.save_slice_info_def.CopyFrom(slice_def)
    return message
