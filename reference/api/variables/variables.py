"""Creating variables: the kind, the variable creators of scopes, and the public names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from sessrun.reference.api.variables.ref_variables import RefVariable
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.api.variables.variable_arguments import DeviceChoice
from sessrun.reference.api.variables.variable_base import Variable, VariableV1
from sessrun.reference.api.variables.variable_traits import (
    VariableAggregation,
    VariableAggregationV2,
    VariableSynchronization,
)
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import init_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.spec.proto import VariableDef
from sessrun.spec.proto.foreign import adopt

__all__ = [
    "Variable",
    "VariableAggregationV2",
    "VariableV1",
    "create",
    "create_resource",
    "disable_resource_variables",
    "enable_resource_variables",
    "resource_variables_enabled",
    "variable_creator_scope",
]

#: What makes a variable; a creator scope's takes the next one first.
Creator = Callable[..., Any]


class _Toggle:
    """The switch whether variables are resource variables by default."""

    resource = False


@public("enable_resource_variables")
def enable_resource_variables() -> None:
    """Make variables resource variables by default from now on."""
    _Toggle.resource = True


@public("disable_resource_variables")
def disable_resource_variables() -> None:
    """Make variables reference variables by default from now on."""
    _Toggle.resource = False


@public("resource_variables_enabled")
def resource_variables_enabled() -> bool:
    """Whether variables are resource variables by default."""
    return _Toggle.resource


def create(
    initial_value: object = None,
    trainable: bool | None = None,
    collections: Iterable[str] | None = None,
    validate_shape: bool = True,
    caching_device: DeviceChoice = None,
    name: str | None = None,
    variable_def: VariableDef | None = None,
    dtype: DTypeLike | None = None,
    expected_shape: ShapeLike = None,
    import_scope: str | None = None,
    constraint: Callable[[Tensor], Tensor] | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
    shape: ShapeLike = None,
) -> Variable:
    """Make a variable.

    Args:
      initial_value: a tensor, what becomes one, or a function of no arguments that gives it.
      trainable: whether it goes into the collection of trainable variables.
      collections: keys of the graph's collections; by default that of global variables.
      validate_shape: whether the shape of the initial value must be known, and stays.
      caching_device: a device on which its value is kept for readers.
      name: its name in the current name scope, made unique; `Variable` by default.
      variable_def: a VariableDef of a variable whose operations the default graph has.
      dtype: the dtype to convert the initial value to.
      expected_shape: not used, as in TensorFlow.
      import_scope: a name scope that is put before the names of `variable_def`.
      constraint: a function of the value that an optimizer applies after each update.
      use_resource: whether it is a resource variable.
      synchronization: a VariableSynchronization.
      aggregation: a VariableAggregation.
      shape: the shape it may have, where that is not the initial value's.

    Raises:
      ValueError: there is no initial value, its shape is not known or not compatible, or
        `synchronization` or `aggregation` is not one of their constants.
      InvalidArgumentTypeError: the initial value is not of the dtype.

    """
    return _through_creators(
        _default,
        initial_value=initial_value,
        trainable=trainable,
        collections=collections,
        validate_shape=validate_shape,
        caching_device=caching_device,
        name=name,
        variable_def=variable_def,
        dtype=dtype,
        expected_shape=expected_shape,
        import_scope=import_scope,
        constraint=constraint,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
        shape=shape,
    )


def create_resource(
    initial_value: TensorLike | None = None,
    trainable: bool | None = None,
    validate_shape: bool = True,
    caching_device: DeviceChoice = None,
    name: str | None = None,
    variable_def: VariableDef | None = None,
    dtype: DTypeLike | None = None,
    import_scope: str | None = None,
    constraint: Callable[[Tensor], Tensor] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
    shape: ShapeLike = None,
    **others: object,
) -> Any:
    """Make a resource variable, as `Variable` of TensorFlow 2 does.

    The arguments and errors are those of `create`; any others are for creators alone.

    Raises:
      ValueError: also if `variable_def` is that of a reference variable.

    """
    return _through_creators(
        _default_resource,
        initial_value=initial_value,
        trainable=trainable,
        validate_shape=validate_shape,
        caching_device=caching_device,
        name=name,
        variable_def=variable_def,
        dtype=dtype,
        import_scope=import_scope,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
        shape=shape,
        **{"experimental_enable_variable_lifting": True, **others},
    )


def _through_creators(next_creator: Creator, **arguments: object) -> Variable:
    """Create a variable through the graph's variable creators; `next_creator` is the last."""
    for creator in default_graph.get_default_graph().scopes.variable_creators:
        next_creator = partial(creator, next_creator)
    variable: Variable = next_creator(**arguments)
    return variable


def _default(
    next_creator: Creator | None = None,
    *,
    variable_def: VariableDef | None = None,
    expected_shape: ShapeLike = None,
    import_scope: str | None = None,
    use_resource: bool | None = None,
    **given: object,
) -> Variable:
    """The creator that makes the variable, after all others."""
    del next_creator, expected_shape
    if variable_def is not None:
        return _existing_variable(variable_def, given.get("initial_value"), import_scope)
    if use_resource is None:
        opened = default_graph.get_default_graph().scopes.variables
        use_resource = None if opened is None else opened.current.use_resource
    if use_resource is None:
        use_resource = _Toggle.resource
    variable: Variable = _new(ResourceVariable if use_resource else RefVariable, given)
    return variable


def _default_resource(
    *, variable_def: VariableDef | None = None, import_scope: str | None = None, **given: object
) -> Variable:
    """The creator of resource variables, after all others."""
    if variable_def is None:
        known = inspect.signature(ResourceVariable.__init__).parameters.keys() - {"collections"}
        variable: Variable = _new(
            ResourceVariable, {key: given[key] for key in known & given.keys()}
        )
        return variable
    if not adopt(variable_def, VariableDef).is_resource:
        raise bad_value(
            "Trying to restore a reference variable as a resource variable: make it with "
            f"`tf.Variable`. Got variable_def={variable_def}"
        )
    return _existing_variable(variable_def, given.get("initial_value"), import_scope)


def _existing_variable(
    variable_def: VariableDef,
    initial_value: object,
    import_scope: str | None,
) -> Variable:
    """The variable that the default graph has of this description."""
    if initial_value is not None:
        raise bad_value("variable_def and initial_value are mutually exclusive.")
    proto = adopt(variable_def, VariableDef)
    kind = ResourceVariable if proto.is_resource else RefVariable
    return kind.of_proto(proto, import_scope)


def _new(kind: Callable[..., object], given: Mapping[str, object]) -> Any:
    # A function's body has no variables of its own: the outer graph has them.
    is_body = default_graph.get_default_graph().building_function
    with init_scope() if is_body else nullcontext():
        return kind(**given)


@public("variable_creator_scope")
@contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Make variables through `variable_creator(next_creator, **kwargs)` inside the `with`.

    The innermost creator is called first; `next_creator(**kwargs)` calls the next outer one.

    Raises:
      RuntimeError: an inner one is still open at the end.

    """
    scopes = default_graph.get_default_graph().scopes
    creators = (*scopes.variable_creators, variable_creator)
    with scopes.replaced(_bad_nesting, variable_creators=creators):
        yield


def _bad_nesting() -> RuntimeError:
    return RuntimeError("Exiting variable_creator_scope without proper nesting.")


public("Variable")(VariableV1)
public("VariableAggregation")(VariableAggregation)
public("VariableSynchronization")(VariableSynchronization)
