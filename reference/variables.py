"""How variables are made: which kind, through which creators; and their public names."""




from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, Final

from sessrun.reference import stacks, variable_lists
from sessrun.reference.errors import bad_value
from sessrun.reference.name_scopes import init_scope
from sessrun.reference.ref_variables import RefVariable
from sessrun.reference.resource_variables import ResourceVariable
from sessrun.reference.variable_base import Variable, VariableAggregation, VariableSynchronization
from sessrun.reference.variable_store import scopes_of
from sessrun.spec.proto import VariableDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["EXPORTS", "Variable", "create", "disable_resource_variables",
           "enable_resource_variables", "resource_variables_enabled",
           "variable_creator_scope"]  # fmt: skip

Creator = Callable[..., Any]


class _Toggle:
    """Whether variables are resource variables unless something else is said."""

    resource = False


def enable_resource_variables() -> None:
    """Make variables resource variables by default from now on."""
    _Toggle.resource = True


def disable_resource_variables() -> None:
    """Make variables reference variables by default from now on."""
    _Toggle.resource = False


def resource_variables_enabled() -> bool:
    """Whether variables are resource variables by default."""
    return _Toggle.resource


def create(
    initial_value: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    constraint: Callable[[Any], Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    shape: Any = None,
) -> Any:
    """Make a variable.

    Args:
      initial_value: a tensor, what becomes one, or a function of no arguments that gives it.
      trainable: whether it goes into the collection of trainable variables.
      collections: keys of the graph's collections; by default that of global variables.
      validate_shape: whether the shape of the initial value must be known, and stays.
      caching_device: a device on which its value is kept for readers.
      name: its name in the current name scope, made unique; `Variable` by default.
      variable_def: a VariableDef; the variable is then the one the default graph has.
      dtype: the dtype to convert the initial value to.
      expected_shape: not used, as in TensorFlow.
      import_scope: a name scope that is put before the names of `variable_def`.
      constraint: a function of the value that an optimizer applies after each update.
      use_resource: whether it is a resource variable.
      synchronization: a VariableSynchronization.
      aggregation: a VariableAggregation.
      shape: the shape it may have, where that is not the initial value's.

    Raises:
      ValueError: there is no initial value, its shape is not known or not compatible, or an
        option is none.
      InvalidArgumentTypeError: the initial value is not of the dtype.

    """
    made: Creator = _default
    for creator in scopes_of(stacks.get_default_graph()).creators:
        made = partial(creator, made)
    return made(
        initial_value=initial_value, trainable=trainable, collections=collections,
        validate_shape=validate_shape, caching_device=caching_device, name=name,
        variable_def=variable_def, dtype=dtype, expected_shape=expected_shape,
        import_scope=import_scope, constraint=constraint, use_resource=use_resource,
        synchronization=synchronization, aggregation=aggregation, shape=shape,
    )  # fmt: skip


def _default(
    next_creator: Any = None,
    *,
    variable_def: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    use_resource: bool | None = None,
    **given: Any,
) -> Any:
    """The creator that makes the variable, after all others."""
    del next_creator, expected_shape
    if variable_def is not None:
        if given.get("initial_value") is not None:
            raise bad_value("variable_def and initial_value are mutually exclusive.")
        proto = adopt(variable_def, VariableDef)
        kind = ResourceVariable if proto.is_resource else RefVariable
        return kind.of_proto(proto, import_scope)
    if use_resource is None:
        use_resource = scopes_of(stacks.get_default_graph()).current.use_resource
    if use_resource is None:
        use_resource = _Toggle.resource
    kind_of_new = ResourceVariable if use_resource else RefVariable
    # A function's body has no variables of its own: they are made outside.
    is_body = stacks.get_default_graph().building_function
    with init_scope() if is_body else nullcontext():
        return kind_of_new(**given)


@contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Make variables through `variable_creator(next_creator, **kwargs)` inside the `with`.

    The innermost creator is called first; `next_creator(**kwargs)` calls the next outer one.
    """
    scopes = scopes_of(stacks.get_default_graph())
    before = scopes.creators
    scopes.creators = (*before, variable_creator)
    try:
        yield
    finally:
        scopes.creators = before


EXPORTS: Final[Mapping[str, Any]] = {
    "Variable": Variable,
    "VariableAggregation": VariableAggregation,
    "VariableSynchronization": VariableSynchronization,
    "disable_resource_variables": disable_resource_variables,
    "enable_resource_variables": enable_resource_variables,
    "resource_variables_enabled": resource_variables_enabled,
    "variable_creator_scope": variable_creator_scope,
    **variable_lists.EXPORTS,
}
