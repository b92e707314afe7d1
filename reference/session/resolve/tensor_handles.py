"""TensorHandle: what a fetched handle of a kept tensor is; of another resource it is bytes.

Clauses: HANDLES.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.lifetime import Lifetime
from sessrun.reference.session.resolve.unpacking import fetched_value
from sessrun.reference.state.resources import ResourceStore
from sessrun.reference.state.session_handles import SessionTensors, session_tensors
from sessrun.spec.proto import ResourceHandleProto

__all__ = ["HANDLE_OPS", "KeptTensors", "TensorHandle", "read_kept", "resource_bytes"]

#: What TensorFlow has for the elements of resource tensors, and for those of fetched ones.
_RESOURCE: Final = np.dtype([("resource", np.ubyte)])
_FETCHED_RESOURCE: Final = np.dtype([("resource", np.ubyte, (1,))])
#: The op types whose fetched value is a TensorHandle.
HANDLE_OPS: Final = frozenset({"GetSessionHandle"})


@dataclass(frozen=True, slots=True)
class KeptTensors:
    """The tensors that a session keeps under handles, as long as it is open.

    Attributes:
      lifetime: whether the session is open.
      resources: its resources, of which they are some.
      owner: gives the session itself, which each of its handles keeps alive.

    """

    lifetime: Lifetime
    resources: ResourceStore
    owner: weakref.ref[object]

    def tensors(self) -> SessionTensors:
        """The tensors by handle.

        Raises:
          RuntimeError: the session is closed.

        """
        self.lifetime.check_open()
        return session_tensors(self.resources)


class TensorHandle:
    """A tensor that a session keeps, until the handle is deleted or garbage.

    Args:
      handle: the handle: bytes or text, or an array of it where it was fed.
      dtype: the dtype of the kept tensor.
      kept: the tensors of the session that keeps it.

    """

    def __init__(self, handle: Any, dtype: DType, kept: KeptTensors) -> None:
        text = handle.item() if hasattr(handle, "item") else handle
        self._handle: str = text.decode() if isinstance(text, bytes) else str(text)
        self._dtype = dtype
        self._kept = kept
        self._owner = kept.owner()
        self._is_alive = True

    @property
    def handle(self) -> str:
        """The handle itself."""
        return self._handle

    def eval(self) -> Any:
        """The kept value.

        Raises:
          TypeError: the kept value was deleted, or the raw handle was taken.
          RuntimeError: the session is closed.
          InvalidArgumentError: the session does not keep it any more.

        """
        self._check_alive()
        return read_kept(self._kept.tensors(), self._handle, self._dtype)

    def delete(self) -> None:
        """Make the session forget the value; raises as `eval`."""
        self._check_alive()
        self._is_alive = False
        try:
            self._kept.tensors().delete(self._handle)
        except KernelError as error:
            raise errors.bad_argument(error.message) from error

    def get_raw_handle(self) -> str:
        """The handle, which from now on outlives this object."""
        self._is_alive = False
        return self._handle

    def to_numpy_array(self) -> np.ndarray:
        """The handle, not the value: the bytes of its ResourceHandleProto."""
        device = self._handle.rpartition(";")[2]
        proto = ResourceHandleProto(device=device, container="TensorHandle", name=self._handle)
        return _bytes_of(proto, _RESOURCE)

    def _check_alive(self) -> None:
        if not self._is_alive:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def __str__(self) -> str:
        return self._handle

    def __del__(self) -> None:
        """Let the session forget the value in time."""
        if getattr(self, "_is_alive", False) and not self._kept.lifetime.is_over:
            self._kept.tensors().bury(self._handle)


def resource_bytes(op: Operation, resource: Any) -> np.ndarray:
    """What a fetched scalar resource tensor is: the bytes of its ResourceHandleProto, [bytes].

    Their number is not TensorFlow 2.21's, which gives its own memory; 1.x gives this message.

    Args:
      op: the operation that gives it.
      resource: the value that kernels get.

    """
    name = getattr(resource, "name", None) or op.name
    container = getattr(resource, "container", "")
    proto = ResourceHandleProto(device=op.device, container=container, name=name)
    return _bytes_of(proto, _FETCHED_RESOURCE)


def _bytes_of(proto: ResourceHandleProto, dtype: np.dtype) -> np.ndarray:
    return np.frombuffer(bytearray(proto.SerializeToString()), dtype)


def read_kept(kept: SessionTensors, handle: str, wanted: DType) -> Any:
    """The array that is kept under a handle, a copy.

    Raises:
      InvalidArgumentError: nothing is, or it is of another dtype.

    """
    try:
        dtype, value = kept.read(handle)
    except KernelError as error:
        raise errors.bad_argument(error.message) from error
    if dtype != wanted.spec_name:
        raise errors.bad_argument(
            f"Expects {wanted.spec_name} but {dtype} is provided by the handle {handle}"
        )
    # An array of a GPU is copied into host memory.
    return fetched_value(value.get()[()] if hasattr(value, "get") else value)
