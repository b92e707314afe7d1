"""The adapter of JAX: our own translator, since JAX reads no GraphDefs."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final

from sessrun.adapters.backend import Description
from sessrun.adapters.client_layer import ClientLayer, EngineSession, NotOfferedError
from sessrun.adapters.client_layer.compiled import CompiledSession, Program
from sessrun.adapters.client_layer.graph import Part
from sessrun.adapters.errors import AdapterError
from sessrun.spec.proto import ConfigProto, GraphDef

__all__ = ["backend"]

_DEVICE: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
#: What a configuration may say without changing what a run must give.
_HARMLESS: Final = frozenset({
    "allow_soft_placement", "graph_options", "inter_op_parallelism_threads",
    "intra_op_parallelism_threads", "log_device_placement",
})  # fmt: skip


def backend(argument: str | None = None) -> ClientLayer:
    """JAX under our client, on the CPU, with 64-bit dtypes.

    Raises:
      AdapterError: it is not installed; an argument is given.

    """
    if argument is not None:
        raise AdapterError(f"the adapter 'jax' takes no argument, got {argument!r}")
    try:
        jax = importlib.import_module("jax")
    except ImportError as error:
        raise AdapterError(f"JAX is not installed: pip install 'sessrun[jax]' ({error})") from error
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    program = importlib.import_module("sessrun.adapters.jax.program")
    return ClientLayer(_Engine(jax.__version__, program))


class _Engine:
    """JAX (`sessrun.adapters.client_layer.GraphEngine`).

    Args:
      version: JAX's.
      program: the module `sessrun.adapters.jax.program`, which imports JAX.

    """

    def __init__(self, version: str, program: Any) -> None:
        self._version = version
        self._program = program

    def describe(self) -> Description:
        """Who this is, and the operations that have a translation."""
        return Description(
            "jax",
            self._version,
            frozenset(),
            (_DEVICE,),
            operations=self._program.declared_operations(),
        )

    def open(self, graph: GraphDef, config: ConfigProto) -> EngineSession:
        """A session whose programs are compiled when they are run."""
        strange = {field.name for field, _ in config.ListFields()} - _HARMLESS
        if strange:
            raise NotOfferedError("config", min(strange))
        return CompiledSession(graph, self)

    def reset(self, containers: Sequence[str]) -> None:
        """Decline: there is no state."""
        raise NotOfferedError("reset", ", ".join(containers))

    def compile(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part; control inputs from what does nothing are satisfied."""
        program: Program = self._program.compile_part(part, shapes)
        return program
