"""Initial values of variables, and VariableDefs, the messages that describe variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.build import apply_flat
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.stacks import get_default_graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue, VariableDef

if TYPE_CHECKING:
    from sessrun.reference.api.variables.variable_base import Variable
    from sessrun.reference.graph.graph import Graph
    from sessrun.reference.graph.operation import Operation

__all__ = ["beside_new", "check_outside", "finder", "guarded", "of_function", "variable_def"]

#: Operations whose variables may be read while uninitialized, or are read on purpose.
_LEFT_ALONE: Final = frozenset({"IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp"})
#: Where a loop goes round.
_TURNS: Final = frozenset({"NextIteration", "RefNextIteration"})
_HOLDERS: Final = frozenset({"VarHandleOp", "Variable", "VariableV2"})


@contextmanager
def beside_new(graph: Graph, scope: str) -> Iterator[None]:
    """Put operations beside the variable named as the scope, which is not there yet."""
    group = b"loc:@" + scope.removesuffix("/").encode()
    beside = AttrValue(list=AttrValue.ListValue(s=[group]))
    with graph._attr_scope({"_class": beside}):  # noqa: SLF001 - TensorFlow's own name
        yield


def of_function(function: Callable[[], object], dtype: DTypeLike) -> Tensor:
    """The tensor that an initial value given as a function becomes, in its own name scope.

    Raises:
      InvalidArgumentTypeError, InvalidArgumentValueError: what the function returns is no
        tensor of the dtype.

    """
    graph = get_default_graph()
    with graph.name_scope("Initializer"), graph.device(None):
        return convert_to_tensor(function(), dtype=dtype, name="initial_value")


def check_outside(initial: Tensor, name: str | None) -> None:
    """Check that an initial value is there wherever the variable is initialized.

    Raises:
      ValueError: it is from inside of a loop or a branch.

    """
    if initial.op._control_flow_context is not None:  # noqa: SLF001 - where it was created
        raise ValueError(
            f"The `initial_value` passed to `tf.Variable` {name} is from inside a control-flow "
            f"construct, a loop or a branch: use a function that gives it. Got: {initial}"
        )


def guarded(scope: str, initial: Tensor) -> Tensor:
    """The initial value of a new variable, computed from the initial values of other variables.

    So `Variable(w * 2)` can be initialized together with `w`, in any order. Operations between
    the two are copied, with a conditional on whether `w` is initialized already. What comes
    out of a loop stays as it is.

    Args:
      scope: the name scope of the variable.
      initial: its initial value.

    Raises:
      TypeError: the initial value is no tensor.

    """
    if not isinstance(initial, Tensor):
        raise TypeError(f"initial_value needs to be a Tensor: {initial}")
    return initial if _is_cyclic(initial.op) else _Guard(scope).tensor(initial)


def _is_cyclic(op: Operation) -> bool:
    """Whether the operation depends on a loop: only there do operations lie in a circle."""
    seen, pending = {op}, [op]
    while pending:
        near = pending.pop()
        if near.type in _TURNS:
            return True
        sources = {*(tensor.op for tensor in near.inputs), *near.control_inputs} - seen
        seen |= sources
        pending += sources
    return False


class _Guard:
    """A walk back from an initial value, which visits an operation once."""

    def __init__(self, scope: str) -> None:
        self._scope = scope
        self._known: dict[Operation, Sequence[Tensor]] = {}

    def tensor(self, tensor: Tensor) -> Tensor:
        """The tensor, or its copy that reads initialized values of variables."""
        # A chain of operations may be longer than Python's stack: walk it with one of our own.
        pending = [tensor.op]
        while pending:
            op = pending[-1]
            sources = [] if self._is_end(op) else [source.op for source in op.inputs]
            missing = [source for source in sources if source not in self._known]
            if missing and op not in self._known:
                pending += missing
                continue
            pending.pop()
            if op not in self._known:
                self._known[op] = self._renewed(op)
        return self._known[tensor.op][tensor.value_index]

    def _is_end(self, op: Operation) -> bool:
        return not op.inputs or op.type in _LEFT_ALONE

    def _renewed(self, op: Operation) -> Sequence[Tensor]:
        if op.type in _HOLDERS:
            initial = _initialized(op)
            return op.outputs if initial is None else (initial,)
        if self._is_end(op):
            return op.outputs
        inputs = [self._known[source.op][source.value_index] for source in op.inputs]
        if all(new is old for new, old in zip(inputs, op.inputs, strict=True)):
            return op.outputs
        name = f"{op.name}_{self._scope}".replace(":", "_")
        # What stands for a variable now is a value.
        op_type = "Switch" if op.type == "RefSwitch" else op.type
        return apply_flat(op.graph, op_type, inputs, dict(op.node_def.attr), name).outputs


def _initialized(op: Operation) -> Tensor | None:
    """The initialized value of the variable that the operation holds, if it is known."""
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in op.graph.get_collection(key):
            if getattr(variable, "op", None) is op and hasattr(variable, "initialized_value"):
                initialized: Tensor = variable.initialized_value()
                return initialized
    return None


def finder(graph: Graph, import_scope: str | None) -> Callable[[str], Any]:
    """The function from the name of a tensor or operation, before import, to itself."""
    prefix = "" if not import_scope else import_scope.rstrip("/") + "/"
    return lambda name: graph.as_graph_element(prefix + name)


def variable_def(
    variable: Variable, snapshot: str, export_scope: str | None, *, is_resource: bool
) -> VariableDef | None:
    """The names of a variable's operations, without `export_scope`; None if it is not in that."""
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
