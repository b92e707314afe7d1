"""`tf.train.get_or_create_global_step`: the variable that counts steps. Source: TF 2.21."""

from __future__ import annotations

import logging
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.variables.init_ops import Zeros
from sessrun.reference.api.variables.state_ops import assign_add
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_lists import is_variable_initialized
from sessrun.reference.api.variables.variable_scopes import get_variable
from sessrun.reference.api.variables.variable_traits import VariableAggregation
from sessrun.reference.base.dtypes import int64
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.graph.default_graph import control_dependencies, get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.session.session import BaseSession

__all__ = [
    "get_global_step",
    "get_or_create_global_step_read",
    "increment_global_step",
    "needed_global_step_read",
]

#: The collection of the tensor that reads the steps.
_READ_KEY: Final = "global_step_read_op_cache"


@public("train.global_step")
def global_step(sess: BaseSession, global_step_tensor: Variable | Tensor) -> int:
    """The number of steps in a session."""
    return int(sess.run(global_step_tensor))


@public("train.get_global_step")
def get_global_step(graph: Graph | None = None) -> Any:
    """The variable of the graph that counts steps, or None.

    Raises:
      TypeError: as `assert_global_step`.

    """
    graph = graph or get_default_graph()
    steps = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(steps) > 1:
        logging.getLogger("sessrun").error("Multiple tensors in global_step collection.")
        return None
    if steps:
        step = steps[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


@public("train.create_global_step")
def create_global_step(graph: Graph | None = None) -> Variable:
    """A new variable that counts steps.

    Raises:
      ValueError: the graph has one.

    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        variable: Variable = get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=int64,
            initializer=Zeros(),
            trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )
        return variable


@public("train.get_or_create_global_step")
def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The global step of the graph; created if the graph has none."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


@public("train.assert_global_step")
def assert_global_step(global_step_tensor: Variable) -> None:
    """Hold that it is a variable or a tensor that can count steps.

    Raises:
      TypeError: it is not a Tensor or Variable of an integer dtype, or its static rank is not 0.

    """
    step = global_step_tensor
    if not isinstance(step, Variable | Tensor):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {step}.')
    if not step.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {step.dtype}')
    shape = step.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


def get_or_create_global_step_read(graph: Graph | None = None) -> Tensor | None:
    """A tensor with the value of the global step, built once for a graph; None without one.

    Where the variable is not initialized yet, it is the variable's initial value.

    Raises:
      RuntimeError: several are kept.

    """
    graph = graph or get_default_graph()
    kept = graph.get_collection(_READ_KEY)
    if len(kept) > 1:
        raise RuntimeError(
            f"There are multiple items in collection {_READ_KEY}. There should be only one."
        )
    step = None if kept else get_global_step(graph)
    if kept or step is None:
        return kept[0] if kept else None
    with graph.as_default(), graph.name_scope(None), graph.name_scope(f"{step.op.name}/"):
        value = step
        if isinstance(step, Variable):
            is_initialized = is_variable_initialized(step)
            value = cond(is_initialized, step.read_value, lambda: step.initial_value)
        read: Tensor = value + 0
        graph.add_to_collection(_READ_KEY, read)
    return read


def needed_global_step_read(who: str) -> Tensor:
    """As `get_or_create_global_step_read`, for hooks; an error without a global step.

    Raises:
      RuntimeError: nothing counts the steps.

    """
    read = get_or_create_global_step_read()
    if read is None:
        raise RuntimeError(f"Global step should be created to use {who}.")
    return read


def increment_global_step(increment: TensorLike, graph: Graph | None = None) -> Any:
    """An operation that increments the global step after it was read.

    Raises:
      ValueError: nothing counts the steps.

    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError(
            "Global step tensor should be created by tf.train.get_or_create_global_step before "
            "calling increment."
        )
    read = get_or_create_global_step_read(graph)
    scope = graph.name_scope(f"{step.op.name}/")
    with graph.as_default(), graph.name_scope(None), scope, control_dependencies([read]):
        result: Tensor | Variable = assign_add(step, increment)
        return result
