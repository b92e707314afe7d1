"""`tf.train.get_or_create_global_step`: the variable that counts steps. Source: TF 2.21."""

from __future__ import annotations

import logging
from typing import Any, Final

from sessrun.reference.dtypes import int64
from sessrun.reference.graph import Graph
from sessrun.reference.graph_keys import GraphKeys
from sessrun.reference.stacks import get_default_graph
from sessrun.reference.tensor import Tensor
from sessrun.reference.variables.init_ops import Zeros
from sessrun.reference.variables.variable_base import Variable, VariableAggregation
from sessrun.reference.variables.variable_scopes import get_variable

__all__ = ["EXPORTS"]


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The number of steps in a session."""
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Any:
    """The variable of the graph that counts steps, or None.

    Raises:
      TypeError: as `assert_global_step`.

    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        logging.getLogger("sessrun").error("Multiple tensors in global_step collection.")
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


def create_global_step(graph: Graph | None = None) -> Any:
    """A new variable that counts steps.

    Raises:
      ValueError: the graph has one.

    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP, shape=[], dtype=int64, initializer=Zeros(), trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )  # fmt: skip


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The variable of the graph that counts steps, made if there is none."""
    graph = graph or get_default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def assert_global_step(global_step_tensor: Any) -> None:
    """Hold that it is a variable or a tensor that can count steps.

    Raises:
      TypeError: it is neither, has no integer dtype, or is known to be no scalar.

    """
    step = global_step_tensor
    if not isinstance(step, Variable | Tensor):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {step}.')
    if not step.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {step.dtype}')
    shape = step.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


EXPORTS: Final[dict[str, Any]] = {
    "train.assert_global_step": assert_global_step,
    "train.create_global_step": create_global_step,
    "train.get_global_step": get_global_step,
    "train.get_or_create_global_step": get_or_create_global_step,
    "train.global_step": global_step,
}
