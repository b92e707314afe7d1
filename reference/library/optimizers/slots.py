"""Slots: the variables that an optimizer keeps for each variable, such as its momentum."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.shape_ops import shape as shape_of
from sessrun.reference.api.variables.init_ops import Zeros
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.ref_variables import RefVariable
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.api.variables.save_slices import SaveSliceInfo
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_lists import is_variable_initialized
from sessrun.reference.api.variables.variable_scopes import get_variable, get_variable_scope
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.graph.default_graph import colocate_with
from sessrun.reference.graph.tensor import Tensor

__all__ = ["create_slot", "create_slot_with_initializer", "create_zeros_slot", "value_so_far"]


def create_slot(
    primary: Variable | Tensor,
    val: Tensor,
    name: str,
    colocate_with_primary: bool = True,
    *,
    copy_xla_sharding: bool = False,
) -> Variable:
    """Create a slot `PRIMARY/NAME` with an initial value.

    Args:
      primary: the variable or tensor that the slot belongs to.
      val: a tensor, the slot's initial value.
      name: the slot's name.
      colocate_with_primary: whether the slot is colocated with the primary.
      copy_xla_sharding: without effect: nothing is sharded.

    """
    del copy_xla_sharding
    validated = val.get_shape().is_fully_defined()
    return _created(primary, val, name, colocate_with_primary, validate_shape=validated)


def create_slot_with_initializer(
    primary: Variable | Tensor,
    initializer: Callable[..., Tensor] | TensorLike,
    shape: TensorShape,
    dtype: DTypeLike,
    name: str,
    colocate_with_primary: bool = True,
    *,
    copy_xla_sharding: bool = False,
) -> Variable:
    """Create a slot `PRIMARY/NAME` of a shape and dtype, with an initializer.

    Args:
      primary: the variable or tensor that the slot belongs to.
      initializer: a function `initializer(shape, dtype=...)`, or the initial value.
      shape: the slot's shape.
      dtype: the slot's dtype.
      name: the slot's name.
      colocate_with_primary: whether the slot is colocated with the primary.
      copy_xla_sharding: without effect: nothing is sharded.

    """
    del copy_xla_sharding
    return _created(
        primary,
        initializer,
        name,
        colocate_with_primary,
        shape=shape,
        dtype=dtype,
        validate_shape=shape.is_fully_defined(),
    )


def create_zeros_slot(
    primary: Variable | Tensor,
    name: str,
    dtype: DTypeLike | None = None,
    colocate_with_primary: bool = True,
    *,
    copy_xla_sharding: bool = False,
) -> Variable:
    """Create a slot `PRIMARY/NAME` of zeros, of the primary's shape and by default its dtype.

    The arguments are those of `create_slot`.
    """
    del copy_xla_sharding
    dtype = primary.dtype if dtype is None else dtype
    known = primary.get_shape()
    if known.is_fully_defined():
        return create_slot_with_initializer(
            primary, Zeros(), known, dtype, name, colocate_with_primary
        )
    value = value_so_far(primary) if isinstance(primary, Variable) else primary
    val = zeros(shape_of(value), dtype=dtype)
    return create_slot(primary, val, name, colocate_with_primary)


def value_so_far(variable: Variable) -> Tensor:
    """A variable's value, or its initial value if it is not initialized."""
    is_set = is_variable_initialized(variable)
    value: Tensor = cond(is_set, variable.read_value, lambda: variable.initial_value)
    return value


def _created(
    primary: Variable | Tensor,
    initializer: Callable[..., Tensor] | TensorLike,
    name: str,
    colocate: bool,
    *,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    validate_shape: bool,
) -> Variable:
    prefix = primary._shared_name if isinstance(primary, Variable) else primary.op.name  # noqa: SLF001 - our own variables
    beside: AbstractContextManager[object] = colocate_with(primary) if colocate else nullcontext()
    with variable_scope(None, f"{prefix}/{name}"), beside:
        scope = get_variable_scope()
        partitioner = scope.partitioner
        scope.set_partitioner(None)
        slot: Variable = get_variable(
            "",
            initializer=initializer,
            trainable=False,
            use_resource=_kind_of(primary),
            shape=shape if callable(initializer) else None,
            dtype=dtype,
            validate_shape=validate_shape,
        )
        scope.set_partitioner(partitioner)
    _slice_like(primary, slot)
    return slot


def _kind_of(primary: Variable | Tensor) -> bool | None:
    """The `use_resource` of a slot: whether the primary is a resource variable; None if unknown."""
    if isinstance(primary, ResourceVariable):
        return True
    return False if isinstance(primary, RefVariable) else None


def _slice_like(primary: Variable | Tensor, slot: Variable) -> None:
    """Give the slot of a part of a partitioned variable the SaveSliceInfo of that part."""
    part = primary._get_save_slice_info() if isinstance(primary, Variable) else None  # noqa: SLF001 - our own variables
    rank = slot.shape.ndims
    if part is None or rank == 0:
        return
    name = slot.name[len(primary.op.name) + 1 : -len(":0")]
    full_shape, offset, own = (
        list(dims or ())[:rank] for dims in (part.full_shape, part.var_offset, part.var_shape)
    )
    slot._set_save_slice_info(  # noqa: SLF001 - our own variables
        SaveSliceInfo(f"{part.full_name}/{name}", full_shape, offset, own)
    )
