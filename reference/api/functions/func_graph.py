"""FuncGraph: the graph in which the body of a function is built.

An operation of the body may take a tensor of another graph, which is then *captured*: a placeholder
in the body replaces it, an extra argument of the function, and every call passes the tensor.
Source: TF 2.21, `function.Defun`.
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
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["FuncGraph"]

#: The arguments of `get_variable` in a body that are passed on to the outer graph's variable.
_VARIABLE_OPTIONS: Final = frozenset(
    {"shape", "dtype", "initializer", "reuse", "trainable", "collections", "use_resource"}
)
#: The collections that the body shares with the outer graph.
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
      name: the function's name.
      by_value: whether a captured tensor is copied into the body, with all operations that it
        depends on, instead of becoming an argument.
      may_copy: stateful operations that may be copied so, too.
      reads_variables: whether `get_variable` in the body returns a resource variable's value, not
        the variable.

    Attributes:
      name: the function's name.
      outer_graph: the default graph when this was created.
      inputs: the placeholders of the arguments, then those of captured tensors.
      outputs: the results.
      extra_inputs: the captured tensors, in order.
      extra_args: their placeholders.
      extra_vars: the variables that the body got by `get_variable`.
      outer_scope: the variable scope that was open when this was created.

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
        self.building_function = True
        self.name = name
        self.outer_graph = default_graph.get_default_graph()
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
        store_of(self.outer_graph)  # creates the variable store if it is missing, to be shared
        self.share_collections(self.outer_graph, _SHARED)

    @property
    def captures(self) -> list[tuple[Tensor, Tensor]]:
        """Pairs of a captured tensor and the tensor of this graph that replaces it."""
        return list(self._captured.items())

    def captured(self, groups: list[Any], name: str) -> list[Tensor | list[Tensor]]:
        """The inputs of a new operation, with tensors of other graphs captured."""
        with self.name_scope(name + "/"):
            return [
                [self.capture(tensor) for tensor in group]
                if type(group) is list
                else self.capture(group)
                for group in groups
            ]

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph that replaces a tensor of another graph.

        Args:
          tensor: the tensor; one of this graph is returned unchanged.
          name: the name of the placeholder, or None.

        Raises:
          InvalidArgumentValueError: the tensor is to be copied, and depends on a placeholder or
            on a stateful operation.

        """
        if tensor.graph is self:
            return tensor
        inside = self._captured.get(tensor)
        if inside is None:
            inside = self._copied(tensor) if self._by_value else self._argument(tensor, name)
            self._captured[tensor] = inside
        return inside

    def outer(self, tensor: Tensor) -> Tensor:
        """The captured tensor that a tensor of this graph replaces; any other tensor itself.

        A tensor captured through several function bodies is that of the outermost graph.
        """
        outside = next((out for out, inner in self._captured.items() if inner is tensor), None)
        return tensor if outside is None else outside.graph.outer(outside)

    def _argument(self, tensor: Tensor, name: str | None) -> Tensor:
        """Add an argument for a captured tensor, behind a GuaranteeConst if the tensor is one."""
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
        """A copy of the tensor, with copies of all operations that it depends on."""
        op = tensor.op
        kind = "stateful node" if op.declaration.stateful else "placeholder"
        if (op.declaration.stateful and op not in self._may_copy) or op.type == "Placeholder":
            raise bad_value(f"Cannot capture a {kind} (name:{op.name}, type:{op.type}) by value.")
        inputs = [self.capture(source) for source in op.inputs]
        copy = self.create_op(op.type, inputs, name=op.name, attrs=op.node_def.attr)
        self._captured.update(zip(op.outputs, copy.outputs, strict=True))
        return copy.outputs[tensor.value_index]

    def variable(self, getter: object, name: str, **arguments: Any) -> Tensor | Variable:
        """Create a variable in the outer graph: the custom getter of the body.

        Args:
          getter: the getter that this one replaces; not used.
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
        """As `Graph.container`, for operations of the body and for variables of the outer graph."""
        with super().container(container_name), self.outer_graph.container(container_name):
            yield container_name


def _is_guaranteed(op: Operation) -> bool:
    """Whether every path back from an operation ends at a GuaranteeConst."""
    seen, pending = {op}, [op]
    while pending:
        current = pending.pop()
        if current.type == "GuaranteeConst":
            continue
        if not current.inputs:
            return False
        sources = {tensor.op for tensor in current.inputs} - seen
        seen |= sources
        pending += sources
    return True
