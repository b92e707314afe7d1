"""Sessions of the model: a graph, and the state that outlives a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sessrun.spec.model.graph import Graph
from sessrun.spec.model.values import Handle

__all__ = ["Session"]

Resource = TypeVar("Resource")


class Session:
    """A session.

    Args:
      graph: its graph, which may grow.

    Attributes:
      resources: what it keeps between runs, by kind, container and name.

    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.resources: dict[Handle, Any] = {}

    def resource(self, handle: Handle, make: Callable[[], Resource]) -> Resource:
        """The resource that a handle names, made if there is none."""
        if handle not in self.resources:
            self.resources[handle] = make()
        resource: Resource = self.resources[handle]
        return resource
