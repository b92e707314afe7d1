"""The variables of the default graph, and operations on many of them at once."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.api.ops import array_ops
from sessrun.reference.api.variables import state_ops
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import string
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build import generated
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.framework_ops import group, no_op
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

_HOLDERS: Final = frozenset({"Variable", "VariableV2"})
#: Reports are put together here, wherever the variables are.
_REPORTING_DEVICE: Final = "/cpu:0"


@public("global_variables")
def global_variables(scope: str | None = None) -> list[Variable]:
    """The variables that are shared by all; with `scope` those whose name matches at its start."""
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@public("local_variables")
def local_variables(scope: str | None = None) -> list[Variable]:
    """The variables of this process alone; with `scope` as `global_variables`."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@public("trainable_variables")
def trainable_variables(scope: str | None = None) -> list[Variable]:
    """The variables that are trained; with `scope` as `global_variables`."""
    return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@public("model_variables")
def model_variables(scope: str | None = None) -> list[Variable]:
    """The variables that inference needs; with `scope` as `global_variables`."""
    return get_default_graph().get_collection(GraphKeys.MODEL_VARIABLES, scope)


@public("moving_average_variables")
def moving_average_variables(scope: str | None = None) -> list[Variable]:
    """The variables that have a moving average; with `scope` as `global_variables`."""
    return get_default_graph().get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


@public("all_variables")
def all_variables() -> list[Variable]:
    """The old name of `global_variables`."""
    return global_variables()


@public("variables_initializer")
def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """The operation that sets all these variables to their initial values.

    Raises:
      AttributeError: an element is not a variable.

    """
    if not var_list:
        return no_op(name=name)
    return group(*[variable.initializer for variable in var_list], name=name)


@public("initialize_variables")
def initialize_variables(var_list: object, name: str = "init") -> Operation:
    """The old name of `variables_initializer`."""
    return variables_initializer(var_list, name)


@public("global_variables_initializer")
def global_variables_initializer() -> Operation:
    """The operation that sets all global variables to their initial values."""
    return variables_initializer(global_variables())


@public("initialize_all_variables")
def initialize_all_variables() -> Operation:
    """The old name of `global_variables_initializer`."""
    return global_variables_initializer()


@public("local_variables_initializer")
def local_variables_initializer() -> Operation:
    """The operation that sets all local variables to their initial values."""
    return variables_initializer(local_variables())


@public("initialize_local_variables")
def initialize_local_variables() -> Operation:
    """The old name of `local_variables_initializer`."""
    return local_variables_initializer()


@public("is_variable_initialized")
def is_variable_initialized(variable: Variable) -> Tensor:
    """Whether the variable has been set: a bool scalar."""
    return state_ops.is_variable_initialized(variable)


def _known() -> list[Any]:
    """Global and local variables; in a graph without any, the operations that holds variables."""
    return global_variables() + local_variables() or _held()


def _held() -> list[Tensor]:
    operations = get_default_graph().get_operations()
    return [op.outputs[0] for op in operations if op.type in _HOLDERS]


@public("report_uninitialized_variables")
def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """The names of those variables that are not set: a string vector.

    Args:
      var_list: variables; by default all global and local ones.
      name: the name scope of the operations.

    Raises:
      AttributeError: an element is not a variable.

    """
    if var_list is None:
        var_list = _known()
    graph = get_default_graph()
    with name_scope(name):
        known = [state_ops.is_variable_initialized(variable) for variable in var_list]
        with graph.device(_REPORTING_DEVICE):
            if not known:
                return constant([], dtype=string)
            missing = generated.logical_not(array_ops.stack(known))
            names = constant([variable.op.name for variable in var_list])
            uninitialized: Tensor = array_ops.boolean_mask(names, missing)
            return uninitialized


@public("assert_variables_initialized")
def assert_variables_initialized(var_list: Any = None) -> Tensor | None:
    """A tensor that fails with FailedPreconditionError while one of the variables is not set.

    Args:
      var_list: variables; by default all global and local ones.

    Returns:
      A tensor whose value has no meaning; None if there are no variables.

    """
    variables = (_known() if var_list is None else var_list) or _held()
    if not variables:
        return None
    ranks = []
    for variable in variables:
        with get_default_graph().colocate_with(variable.op):
            ranks.append(apply_op("Rank", {"input": variable}, {}).outputs[0])
    return ranks[0] if len(ranks) == 1 else array_ops.stack(ranks)
