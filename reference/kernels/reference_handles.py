"""Kernels of operations of before there were resources: their handles are references.

Such a kernel calls that of the newer operation, with references replaced by their resources; a
handle that it returns becomes a reference to two strings, its container and name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_octets, attribute_text
from sessrun.reference.kernels.host import frozen, string_array
from sessrun.reference.kernels.registry import Bind, Entry, KernelFunction, Node
from sessrun.reference.state.resources import DEFAULT_CONTAINER, HandleReference
from sessrun.spec.operations import Operation

__all__ = ["behind", "older_kernel", "reference_to"]


def reference_to(resource: object, container: str, name: str) -> HandleReference:
    """A reference handle of a resource, whose value is [container, name]."""
    names = string_array([attribute_octets(container), attribute_octets(name)], (2,))
    return HandleReference(resource, name, frozen(names))


def behind(handle: object) -> Any:
    """The resource of a reference handle.

    Raises:
      InvalidArgument: the handle was fed or assigned to, and is only strings.

    """
    if not isinstance(handle, HandleReference):
        raise InvalidArgument("The handle is not one that its operation created in this run")
    return handle.resource


def older_kernel(operation: Operation, entry: Entry) -> Entry:
    """The kernel of an operation with reference handles, from that of the newer operation.

    Args:
      operation: the operation with reference handles.
      entry: the kernel of the newer operation.

    """
    first = 1 if entry.needs_step else 0
    positions = [first + position for position, arg in enumerate(operation.inputs) if arg.is_ref]

    def bind(bind: Bind) -> KernelFunction:
        compute = entry.bind(replace(bind, node=Node(bind.node.name, operation.newer)))
        if operation.outputs and operation.outputs[0].is_ref:
            container = attribute_text(bind.attrs["container"]) or DEFAULT_CONTAINER
            name = attribute_text(bind.attrs["shared_name"]) or bind.node.name
            return lambda *args: reference_to(compute(*args), container, name)

        def unwrapped(*args: object) -> object:
            given = list(args)
            for position in positions:
                given[position] = behind(given[position])
            return compute(*given)

        return unwrapped

    return replace(entry, bind=bind)
