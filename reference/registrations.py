"""The registrations of functions that packages call and that packages above them define.

A graph makes operations, a tensor has operators, a variable may build branches, and some values are
known while a graph is built; how, is decided further up. What every program needs is imported here
and registers itself; the rest is imported when it is first called.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.api import overloads
from sessrun.reference.base.upper_functions import UPPER
from sessrun.reference.build import node_operations, packing

__all__ = ["node_operations", "overloads", "packing"]

#: By the module, the functions that modules further down call.
_FUNCTIONS: Final = {
    "api.control_flow.conditional": ("cond", "Conditional.from_proto"),
    "api.control_flow.loops": ("Loop.from_proto",),
    "api.list_tensor_arrays": ("new_list_array",),
    "api.queues.queue_runner": ("QueueRunner.from_proto",),
    "api.saving.saver": ("Saver.from_proto",),
    "api.variables.variables": ("create", "create_resource"),
    "gradient.function_bodies": ("gradient_of",),
    "gradient.functions": ("register_gradients",),
    "kernels.constant_folding": ("outputs_of",),
}


def _later(module: str, name: str) -> Callable[..., Any]:
    """What imports a module of the runtime, and puts its function into its own place."""

    def call(*arguments: Any, **options: Any) -> Any:
        function = operator.attrgetter(name)(importlib.import_module(f"{__package__}.{module}"))
        UPPER[name] = function
        return function(*arguments, **options)

    return call


for _module, _names in _FUNCTIONS.items():
    UPPER.update({name: _later(_module, name) for name in _names})
