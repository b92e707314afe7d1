"""The contract of an engine below the client: it opens graphs and runs them, and checks no more.

Fetches and feeds are endpoints here, no names. Each of them is in the graph, no tensor is fetched
twice or both fed and fetched, and a fed value has its tensor's dtype and fits its static shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np

from sessrun.adapters.backend import Description
from sessrun.spec.errors import BY_CODE
from sessrun.spec.proto import ConfigProto, GraphDef, RunOptions

__all__ = [
    "Endpoint",
    "EngineError",
    "EngineSession",
    "GraphEngine",
    "NotOfferedError",
    "TensorFacts",
]


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    """One output of an operation: `operation:index`."""

    operation: str
    index: int

    def __str__(self) -> str:
        return f"{self.operation}:{self.index}"


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """The static type of a tensor, which an engine knows before any run.

    Attributes:
      dtype: its dtype's name (`sessrun.spec.dtypes`).
      shape: its static shape, None for an unknown dimension; None if the rank is unknown.

    """

    dtype: str
    shape: tuple[int | None, ...] | None = None


class EngineError(Exception):
    """A call of the engine failed.

    Args:
      code: 1 to 16 (`sessrun.spec.errors`).
      message: for people.
      node: the graph node at fault, if it is known.

    Raises:
      ValueError: there is no such code.

    """

    def __init__(self, code: int, message: str, node: str | None = None) -> None:
        if code not in BY_CODE:
            raise ValueError(f"there is no error code {code}: {message}")
        super().__init__(message)
        self.code = code
        self.node = node


class NotOfferedError(Exception):
    """The engine declines a call.

    Args:
      capability: what it lacks: one of `sessrun.spec.cases.engine.CAPABILITIES`, a method's name,
        or `op`, `dtype`, `config`, `options`, `control_inputs` with the name in the message.
      message: for people.

    """

    def __init__(self, capability: str, message: str = "") -> None:
        super().__init__(message)
        self.capability = capability


class EngineSession:
    """A session of the engine on one graph.

    A subclass has at least `has_operation`, `facts`, `run` and `close`; the rest is declined where
    it is not overridden. Each method may raise EngineError or NotOfferedError; any other exception
    is the adapter's own error. An engine that declares `concurrent` is called by several threads.
    """

    def has_operation(self, name: str) -> bool:
        """Whether the graph has an operation of this name."""
        raise NotImplementedError

    def facts(self, tensor: Endpoint) -> TensorFacts | None:
        """The static type of a tensor; None if the graph has no such output."""
        raise NotImplementedError

    def run(
        self,
        fetches: Sequence[Endpoint],
        feeds: Mapping[Endpoint, np.ndarray],
        targets: Sequence[str],
        options: RunOptions,
    ) -> Sequence[np.ndarray]:
        """One step: the values of `fetches` in order; the operations `targets` are executed too."""
        raise NotImplementedError

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of another GraphDef; their inputs may be older nodes."""
        decline("extend", graph)

    def setup(
        self, fetches: Sequence[Endpoint], feeds: Sequence[Endpoint], targets: Sequence[str]
    ) -> Any:
        """Set up a partial run: an opaque handle, which is given to `partial`."""
        decline("partial_runs", fetches, feeds, targets)

    def partial(
        self,
        handle: Any,
        fetches: Sequence[Endpoint],
        feeds: Mapping[Endpoint, np.ndarray],
        targets: Sequence[str],
    ) -> Sequence[np.ndarray]:
        """Continue a partial run."""
        decline("partial_runs", handle, fetches, feeds, targets)

    def devices(self) -> Sequence[str]:
        """Full names of the session's devices."""
        decline("devices")

    def close(self) -> None:
        """Close the session; runs under way are cancelled."""
        decline("close")

    def forget(self) -> None:
        """Free what a closed session still holds: no call is under way, and none follows."""


class GraphEngine(Protocol):
    """An engine below the client."""

    def describe(self) -> Description:
        """Who this is. `callables` need not be declared: the layer makes them of runs."""

    def open(self, graph: GraphDef, config: ConfigProto) -> EngineSession:
        """Load the graph and open a session on it.

        Raises:
          EngineError: the graph is refused.
          NotOfferedError: an operation, or something in the configuration that changes what a run
            gives, is not offered.

        """

    def reset(self, containers: Sequence[str]) -> None:
        """Clear resource containers, all if none is named.

        Raises:
          NotOfferedError: it has none (`reset`).

        """


def decline(capability: str, *_: Any) -> NoReturn:
    """Raise NotOfferedError, whatever arguments the declined method has."""
    raise NotOfferedError(capability)
