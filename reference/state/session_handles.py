"""Handles of tensors that a session keeps: `tf.get_session_handle` and its like.

A fetch of a handle returns a `TensorHandle`, which may be fed instead of the value.
Clauses: HANDLES.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sessrun.reference.base import dtypes
from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.framework_ops import placeholder
from sessrun.reference.errors import bad_type
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.state.resources import ResourceStore

__all__ = [
    "SessionTensors",
    "delete_session_tensor",
    "get_session_handle",
    "get_session_tensor",
    "session_tensors",
]


@public("get_session_handle")
def get_session_handle(data: object, name: str | None = None) -> Tensor:
    """A handle of the value of `data` in a run; the session keeps the value.

    Args:
      data: a Tensor.
      name: the operation's name.

    Raises:
      InvalidArgumentTypeError: `data` is no Tensor.

    """
    if not isinstance(data, Tensor):
        raise bad_type("`data` must be of type Tensor.")
    with data.graph.colocate_with(data):
        return apply_op("GetSessionHandle", {"value": data}, {}, name).outputs[0]


@public("get_session_tensor")
def get_session_tensor(
    handle: str | bytes, dtype: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A placeholder for a handle, and the tensor that the session keeps under it.

    Args:
      handle: the handle as a string, which names the device.
      dtype: the dtype of the kept tensor.
      name: the operation's name.

    Raises:
      ValueError: the handle's last part is no device name.

    """
    with _on_device_of(handle):
        holder = placeholder(dtypes.string)
        inputs: Mapping[str, object] = {"handle": holder}
        return holder, apply_op("GetSessionTensor", inputs, {"dtype": dtype}, name).outputs[0]


@public("delete_session_tensor")
def delete_session_tensor(handle: str | bytes, name: str | None = None) -> tuple[Tensor, Operation]:
    """A placeholder for a handle, and the operation that forgets the tensor kept under it.

    Raises:
      ValueError: the handle's last part is no device name.

    """
    with _on_device_of(handle):
        holder = placeholder(dtypes.string)
        return holder, apply_op("DeleteSessionTensor", {"handle": holder}, {}, name)


@contextlib.contextmanager
def _on_device_of(handle: str | bytes) -> Iterator[None]:
    text = handle.decode() if isinstance(handle, bytes) else str(handle)
    with default_graph.get_default_graph().device(text.rpartition(";")[2]):
        yield


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
