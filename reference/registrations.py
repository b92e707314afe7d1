"""What packages leave to those above them: the one place where it is registered.

A graph makes operations, a tensor has operators, a variable may build branches, and some values are
known while a graph is built; how, is decided further up. What every program needs is imported here
and registers itself; the rest is imported when it is first called.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from sessrun.reference.api import overloads
from sessrun.reference.api.variables import variable_base
from sessrun.reference.build import node_operations, packing, static_values

__all__ = ["node_operations", "overloads", "packing"]


def _later(module: str, name: str) -> Callable[..., Any]:
    """A function of a module of the runtime that is imported at the first call."""

    def call(*arguments: Any, **options: Any) -> Any:
        function = getattr(importlib.import_module(f"sessrun.reference.{module}"), name)
        return function(*arguments, **options)

    return call


static_values.EVALUATORS["CPU"] = _later("kernels.constant_folding", "outputs_of")
variable_base.MAKERS.update(
    Variable=_later("api.variables.variables", "create_resource"),
    VariableV1=_later("api.variables.variables", "create"),
    cond=_later("api.control_flow.conditional", "cond"),
)
