"""A session of an engine that compiles: a program for each fetches, targets, feeds and shapes."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from sessrun.adapters.client_layer.engine import (
    Endpoint,
    EngineSession,
    NotOfferedError,
    TensorFacts,
)
from sessrun.adapters.client_layer.graph import Graph, Part, constant_of
from sessrun.spec.proto import GraphDef, NodeDef, RunOptions

__all__ = ["CompiledSession", "Compiler", "Program"]

#: Programs that a session keeps: the one that was used longest ago goes first.
_MAX_PROGRAMS: Final = 32

#: A compiled program: values of the part's feeds, in their order, to those of its fetches.
Program = Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]


class Compiler(Protocol):
    """What an engine that compiles has to offer."""

    def compile(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part.

        Args:
          part: the part; `part.dtypes` has the dtypes of its feeds.
          shapes: the shape of each feed, in their order.

        Raises:
          EngineError: TensorFlow could not run it either.
          NotOfferedError: an operation (`op`), a dtype (`dtype`), or an effect that only a control
            edge or a target asks for (`control_inputs`) is not offered.

        """


class CompiledSession(EngineSession):
    """A session without state: each part of the graph is compiled when it is first run.

    Args:
      definition: the graph.
      compiler: the engine.

    Raises:
      EngineError, NotOfferedError: see `Graph`.

    """

    def __init__(self, definition: GraphDef, compiler: Compiler) -> None:
        self._graph = Graph(definition)
        self._compiler = compiler
        self._programs: collections.OrderedDict[object, Program] = collections.OrderedDict()

    def has_operation(self, name: str) -> bool:
        """Whether the graph has an operation of this name."""
        return name in self._graph.nodes

    def facts(self, tensor: Endpoint) -> TensorFacts | None:
        """The dtype and shape of a tensor in the graph."""
        return self._graph.facts(tensor)

    def run(
        self,
        fetches: Sequence[Endpoint],
        feeds: Mapping[Endpoint, np.ndarray],
        targets: Sequence[str],
        options: RunOptions,
    ) -> Sequence[np.ndarray]:
        """Run the program of these fetches, targets, feeds and shapes, compiled at its first run.

        A constant without control inputs that is fetched is decoded here and never compiled.

        Raises:
          EngineError: see `Graph.part`, `Compiler.compile`, and the program's own.
          NotOfferedError: an option is set that changes what a run does; see `Compiler.compile`.

        """
        strange = [option.name for option, _ in options.ListFields()]
        if strange:
            raise NotOfferedError("options", strange[0])
        values = {
            tensor: constant_of(self._graph.nodes[tensor.operation])
            for tensor in fetches
            if self._is_constant(self._graph.nodes[tensor.operation])
        }
        compiled = [tensor for tensor in fetches if tensor not in values]
        if compiled or targets:
            values.update(zip(compiled, self._run_program(compiled, feeds, targets), strict=True))
        return [values[tensor] for tensor in fetches]

    @staticmethod
    def _is_constant(node: NodeDef) -> bool:
        return node.op == "Const" and not node.input

    def _run_program(
        self,
        fetches: Sequence[Endpoint],
        feeds: Mapping[Endpoint, np.ndarray],
        targets: Sequence[str],
    ) -> Sequence[np.ndarray]:
        fed = dict(sorted(feeds.items()))
        shapes = tuple(value.shape for value in fed.values())
        key = (tuple(fetches), tuple(fed), tuple(targets), shapes)
        program = self._programs.pop(key, None)
        if program is None:
            part = self._graph.part(fetches, fed.keys(), targets)
            if part.variables:
                raise NotOfferedError("state", part.variables[0])
            program = self._compiler.compile(part, shapes)
        self._programs[key] = program
        if len(self._programs) > _MAX_PROGRAMS:
            self._programs.popitem(last=False)
        return program(list(fed.values()))

    def close(self) -> None:
        """Forget the programs."""
        self._programs.clear()
