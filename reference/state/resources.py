"""The store of a session's resources, by container and name, and references to them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.devices.variable_buffers import VariableBuffer

__all__ = ["DEFAULT_CONTAINER", "HandleReference", "ResourceStore"]

#: The container of a resource whose node names none.
DEFAULT_CONTAINER: Final = "localhost"

R = TypeVar("R")


class HandleReference(VariableBuffer):
    """An old-style handle of a resource: a reference to its container and name.

    Attributes:
      resource: the resource.

    """

    __slots__ = ("resource",)

    def __init__(self, resource: object, name: str, value: Array) -> None:
        super().__init__(name)
        self.value = value
        self.resource: Any = resource


class ResourceStore:
    """A session's resources by (container, shared name); safe for threads.

    Resources of the same container and name that are different ones, such as variables on two
    devices, are kept under different scopes.

    Attributes:
      removals: how often resources were removed: as long as it is the same, what was found lasts.

    """

    def __init__(self) -> None:
        self.removals = 0
        self._lock = threading.RLock()
        self._items: dict[tuple[str, str, str], Any] = {}

    def get_or_create(
        self, container: str, name: str, kind: type[R], make: Callable[[], R], scope: str = ""
    ) -> R:
        """The resource of that name; `make` makes it if it does not exist.

        Raises:
          InvalidArgument: the name is taken by a resource of another kind.

        """
        key = (container or DEFAULT_CONTAINER, name, scope)
        with self._lock:
            resource = self._items.get(key)
            if resource is None:
                resource = self._items[key] = make()
        if not isinstance(resource, kind):
            raise InvalidArgument(
                f"Trying to access resource {name} located in container {key[0]}: "
                f"wrong type, it is a {type(resource).__name__}"
            )
        return resource

    def get(self, container: str, name: str, scope: str = "") -> Any:
        """The resource of that name, or None."""
        return self._items.get((container or DEFAULT_CONTAINER, name, scope))  # needs no lock

    def remove(self, container: str, name: str, scope: str = "") -> Any:
        """Remove the resource and return it; None if it does not exist."""
        with self._lock:
            self.removals += 1
            return self._items.pop((container or DEFAULT_CONTAINER, name, scope), None)

    def clear(self, containers: Iterable[str] = ()) -> None:
        """Remove the resources of these containers; of all containers if none is named."""
        wanted = set(containers)
        with self._lock:
            self.removals += 1
            for key in [key for key in self._items if not wanted or key[0] in wanted]:
                del self._items[key]
