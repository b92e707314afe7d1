"""The adapter of JAX: our own translator, since JAX reads no GraphDefs."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType

from sessrun.adapters.client_layer import ClientLayer
from sessrun.adapters.client_layer.compiled import Program
from sessrun.adapters.client_layer.converting import ConvertingEngine
from sessrun.adapters.client_layer.graph import Part
from sessrun.adapters.extras import import_engine

__all__ = ["backend"]


def backend(argument: str | None = None) -> ClientLayer:
    """JAX under our client, on the CPU, with 64-bit dtypes.

    Raises:
      AdapterError: it is not installed; an argument is given.

    """
    (jax,) = import_engine("jax", argument, "JAX", "jax", "jax")
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    program = importlib.import_module("sessrun.adapters.jax.program")
    return ClientLayer(_Engine(jax.__version__, program))


class _Engine(ConvertingEngine):
    """JAX, which declares the operations that have a translation.

    Args:
      version: JAX's.
      program: the module `sessrun.adapters.jax.program`, which imports JAX.

    """

    def __init__(self, version: str, program: ModuleType) -> None:
        super().__init__("jax", version, program.declared_operations())
        self._program = program

    def compile(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part; control inputs from what does nothing are satisfied."""
        program: Program = self._program.compile_part(part, shapes)
        return program
