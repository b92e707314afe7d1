"""Resources that programs list in a graph's collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sessrun.reference.api.ops import array_ops
from sessrun.reference.base.dtypes import string
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build import framework_ops, generated
from sessrun.reference.build.constant_op import constant
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "initialize_resources",
    "local_resources",
    "register_resource",
    "report_uninitialized_resources",
    "shared_resources",
]

_REPORTING_DEVICE: Final = "/cpu:0"


class _Resource(NamedTuple):
    """A resource in a collection: its handle, its creating operation, whether it is created."""

    handle: Tensor
    create: Operation
    is_initialized: Tensor


def register_resource(
    handle: Tensor, create_op: Operation, is_initialized_op: Tensor, is_shared: bool = True
) -> None:
    """List a resource in the default graph.

    Args:
      handle: the resource.
      create_op: the operation that makes it.
      is_initialized_op: a bool tensor, whether it is initialized.
      is_shared: whether all workers share it; one that they do not is listed as a local one.

    """
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    default_graph.add_to_collection(key, _Resource(handle, create_op, is_initialized_op))


def shared_resources() -> list[_Resource]:
    """The resources that all workers share."""
    return default_graph.get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[_Resource]:
    """The resources of one worker."""
    return default_graph.get_collection(GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(
    resource_list: Sequence[_Resource] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """The names of those resources that are not initialized: a string vector.

    Args:
      resource_list: resources; by default all shared and local ones.
      name: the name scope of the operations.

    """
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with name_scope(name), default_graph.device(_REPORTING_DEVICE):
        if not resource_list:
            return constant([], dtype=string)
        is_initialized = array_ops.stack([resource.is_initialized for resource in resource_list])
        missing = generated.logical_not(is_initialized)
        names = constant([resource.handle.name for resource in resource_list])
        uninitialized: Tensor = array_ops.boolean_mask(names, missing)
        return uninitialized


def initialize_resources(
    resource_list: Sequence[_Resource] | None, name: str = "init"
) -> Operation:
    """An operation that makes the resources of a list."""
    if not resource_list:
        return framework_ops.no_op(name=name)
    return framework_ops.group(*(resource.create for resource in resource_list), name=name)
