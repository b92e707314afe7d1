"""FuncGraph: the graph in which the body of a function is built.

A tensor of another graph that an operation of the body takes is *captured*: a placeholder stands
for it, which becomes one more argument of the function, and every call passes the tensor. Source:
TF 2.21, `function.Defun`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_scopes import get_variable_scope
from sessrun.reference.api.variables.variable_store import STORE_KEY, Request, store_of
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.build import apply_unary
from sessrun.reference.build.framework_ops import placeholder
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import stacks
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["FuncGraph"]

#: The options of a body's `get_variable` that its variable, of the outer graph, is created with.
_VARIABLE_OPTIONS: Final = frozenset(
    {"shape", "dtype", "initializer", "reuse", "trainable", "collections", "use_resource"}
)
#: Collections of the body that are those of the graph outside.
_SHARED: Final = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.CONCATENATED_VARIABLES,
    STORE_KEY,
)


class FuncGraph(Graph):
    """The body of a function, while it is built and after.

    Args:
      name: what the function is called.
      by_value: whether what is captured is copied into the body instead.
      may_copy: operations with effects that may be copied all the same.
      reads_variables: whether a resource variable stands for its value at the call.

    Attributes:
      name: what the function is called.
      outer_graph: the graph that was the default one when this was created.
      inputs: the placeholders of the arguments, then of what was captured.
      outputs: what it returns.
      extra_inputs: the captured tensors, in order.
      extra_args: their placeholders.
      extra_vars: the variables that the body asked for.
      outer_scope: the variable scope that was open when it was created.

    """

    def __init__(
        self,
        name: str,
        *,
        by_value: bool = False,
        may_copy: Collection[Operation] = (),
        reads_variables: bool = True,
    ) -> None:
        super().__init__()
        self._building_function = True
        self.name = name
        self.outer_graph = stacks.get_default_graph()
        self.functions = self.outer_graph.functions
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.extra_inputs: list[Tensor] = []
        self.extra_args: list[Tensor] = []
        self.extra_vars: list[Any] = []
        self._by_value = by_value
        self._may_copy = may_copy
        self._reads_variables = reads_variables
        self._captured: dict[Tensor, Tensor] = {}
        self.outer_scope = get_variable_scope()
        store_of(self.outer_graph)  # there from now on, so that it is shared
        self.share_collections(self.outer_graph, _SHARED)

    @property
    def captures(self) -> list[tuple[Tensor, Tensor]]:
        """Pairs of the captured tensors and their placeholders."""
        return list(self._captured.items())

    def captured(self, groups: list[Any], name: str) -> list[Tensor | list[Tensor]]:
        """The inputs of a new operation as tensors of this graph: those of others are captured."""
        with self.name_scope(name + "/"):
            return [
                [self.capture(tensor) for tensor in group]
                if type(group) is list
                else self.capture(group)
                for group in groups
            ]

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph that stands for a tensor of another graph.

        Raises:
          InvalidArgumentValueError: it cannot be copied: it depends on a placeholder, or on an
            operation with effects.

        """
        if tensor.graph is self:
            return tensor
        inside = self._captured.get(tensor)
        if inside is None:
            inside = self._copied(tensor) if self._by_value else self._argument(tensor, name)
            self._captured[tensor] = inside
        return inside

    def outer(self, tensor: Tensor) -> Tensor:
        """The captured tensor that an argument stands for; any other tensor as it is."""
        outside = next((out for out, inner in self._captured.items() if inner is tensor), None)
        return tensor if outside is None else outside.graph.outer(outside)

    def _argument(self, tensor: Tensor, name: str | None) -> Tensor:
        with self.as_default(), self.control_dependencies(None):
            argument = placeholder(tensor.dtype.base_dtype, tensor.shape, name)
        self.extra_inputs.append(tensor)
        self.extra_args.append(argument)
        self.inputs.append(argument)
        if _is_guaranteed(tensor.op):
            with self.as_default(), self.control_dependencies(None):
                return apply_unary("GuaranteeConst", argument)
        return argument

    def _copied(self, tensor: Tensor) -> Tensor:
        """A copy of the tensor and of all that it is computed from."""
        op = tensor.op
        kind = "stateful node" if op.declaration.stateful else "placeholder"
        if (op.declaration.stateful and op not in self._may_copy) or op.type == "Placeholder":
            raise bad_value(f"Cannot capture a {kind} (name:{op.name}, type:{op.type}) by value.")
        inputs = [self.capture(source) for source in op.inputs]
        copy = self.create_op(op.type, inputs, name=op.name, attrs=op.node_def.attr)
        self._captured.update(zip(op.outputs, copy.outputs, strict=True))
        return copy.outputs[tensor.value_index]

    def variable(self, getter: object, name: str, **arguments: Any) -> Any:
        """Create a variable in the outer graph: the custom getter of the body.

        Args:
          getter: the getter that it stands before; not used.
          name: the variable's name.
          **arguments: those of `get_variable`.

        """
        del getter
        given = {key: value for key, value in arguments.items() if key in _VARIABLE_OPTIONS}
        with self.outer_graph.as_default():
            variable = self.outer_scope.get_variable(Request(name, **given))
            self.extra_vars.append(variable)
            reads = hasattr(variable, "handle") and self._reads_variables
            result: Tensor | Variable = variable.value() if reads else variable
            return result

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """A container for operations of the body and for variables of the outer graph."""
        with super().container(container_name), self.outer_graph.container(container_name):
            yield container_name


def _is_guaranteed(op: Operation) -> bool:
    """Whether its value is declared to be the same in every run: all that it comes from is."""
    seen, waiting = {op}, [op]
    while waiting:
        last = waiting.pop()
        if last.type == "GuaranteeConst":
            continue
        if not last.inputs:
            return False
        new = {tensor.op for tensor in last.inputs} - seen
        seen |= new
        waiting += new
    return True
