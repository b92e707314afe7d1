"""Kernels of operations as they were before there were resources: handles are references.

Such a kernel is the newer operation's, around which references become what is behind them, and a
handle that it gives becomes a reference to two strings, its container and name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_octets, attribute_text
from sessrun.reference.kernels.host import frozen, string_array
from sessrun.reference.kernels.registry import Bind, Entry, Node, older_form
from sessrun.reference.state.resources import DEFAULT_CONTAINER, HandleReference
from sessrun.spec.operations import Operation

__all__ = ["behind", "older_kernel", "reference_to"]


def reference_to(resource: Any, container: str, name: str) -> HandleReference:
    """An older handle, whose value is [container, name]."""
    told = string_array([attribute_octets(container), attribute_octets(name)], (2,))
    return HandleReference(resource, name, frozen(told))


def behind(handle: Any) -> Any:
    """The resource behind an older handle.

    Raises:
      InvalidArgument: it is none, but strings that were assigned to or fed.

    """
    if not isinstance(handle, HandleReference):
        raise InvalidArgument("The handle is not one that its operation made in this run")
    return handle.resource


@older_form
def older_kernel(operation: Operation, entry: Entry) -> Entry:
    """The kernel of an older form, from that of the newer operation.

    Args:
      operation: the older form.
      entry: the kernel of the newer one.

    """
    first = 1 if entry.needs_step else 0
    places = [first + place for place, arg in enumerate(operation.inputs) if arg.is_ref]

    def bind(bind: Bind) -> Callable[..., Any]:
        compute = entry.bind(replace(bind, node=Node(bind.node.name, operation.newer)))
        if operation.outputs and operation.outputs[0].is_ref:
            container = attribute_text(bind.attrs["container"]) or DEFAULT_CONTAINER
            name = attribute_text(bind.attrs["shared_name"]) or bind.node.name
            return lambda *args: reference_to(compute(*args), container, name)

        def unwrapped(*args: Any) -> Any:
            given = list(args)
            for place in places:
                given[place] = behind(given[place])
            return compute(*given)

        return unwrapped

    return replace(entry, bind=bind)
