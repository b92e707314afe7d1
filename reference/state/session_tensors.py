"""The tensors that a session keeps under handles, beyond the run that made them."""

from __future__ import annotations

import threading
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.state.resources import ResourceStore

__all__ = ["SessionTensors", "session_tensors"]

#: The container and name of a session's kept tensors among its resources.
_RESOURCE: Final = ("session tensors", "kept")

#: Tensors of deleted handles are forgotten once there are more than these.
_MAX_DEAD: Final = 10


class SessionTensors:
    """The kept tensors of one session by handle; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[str, Array]] = {}
        self._dead: list[str] = []
        self._count = 0

    def keep(self, node: str, device: str, dtype: str, value: Array) -> str:
        """Keep an array, which must not be written to, and return its handle."""
        with self._lock:
            handle = f"{node};{self._count};{device}"
            self._count += 1
            self._kept[handle] = dtype, value
            if len(self._dead) > _MAX_DEAD:
                for dead in self._dead:
                    self._kept.pop(dead, None)
                self._dead.clear()
        return handle

    def read(self, handle: str) -> tuple[str, Array]:
        """The spec name of the dtype, and the array, that are kept under a handle.

        Raises:
          InvalidArgument: nothing is kept under it.

        """
        try:
            return self._kept[handle]
        except KeyError:
            text = f"The tensor with handle '{handle}' is not in the session store."
            raise InvalidArgument(text) from None

    def delete(self, handle: str) -> None:
        """Forget the tensor; raises as `read`."""
        self.read(handle)
        with self._lock:
            self._kept.pop(handle, None)

    def bury(self, handle: str) -> None:
        """Note that a handle's object was deleted; its tensor is forgotten later."""
        self._dead.append(handle)


def session_tensors(resources: ResourceStore) -> SessionTensors:
    """The kept tensors of the session that these resources belong to."""
    return resources.get_or_create(*_RESOURCE, SessionTensors, SessionTensors)
