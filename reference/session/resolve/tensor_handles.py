"""What a fetched handle is: of a kept tensor a TensorHandle, which may be fed; else its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.session.execute.steps import handed_out
from sessrun.reference.state.session_tensors import SessionTensors
from sessrun.spec.proto import ResourceHandleProto

if TYPE_CHECKING:
    from sessrun.reference.base.dtypes import DType
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.session.base import BaseSession

__all__ = ["HANDLE_OPS", "TensorHandle", "read_kept", "resource_bytes"]

#: What TensorFlow has for the elements of resource tensors, and for those of fetched ones.
_RESOURCE: Final = np.dtype([("resource", np.ubyte)])
_FETCHED_RESOURCE: Final = np.dtype([("resource", np.ubyte, (1,))])
#: The op types whose fetched value is a TensorHandle.
HANDLE_OPS: Final = frozenset({"GetSessionHandle"})


class TensorHandle:
    """A tensor that a session keeps, until the handle is deleted or garbage.

    Args:
      handle: the handle: bytes or text, or an array of it where it was fed.
      dtype: the dtype of the kept tensor.
      session: the session that keeps it.

    """

    def __init__(self, handle: Any, dtype: DType, session: BaseSession) -> None:
        text = handle.item() if hasattr(handle, "item") else handle
        self._handle: str = text.decode() if isinstance(text, bytes) else str(text)
        self._dtype = dtype
        self._session = session
        self._is_alive = True

    @property
    def handle(self) -> str:
        """The handle itself."""
        return self._handle

    def eval(self) -> Any:
        """The kept value.

        Raises:
          TypeError: it was deleted, or the raw handle was taken.
          RuntimeError: the session is closed.
          InvalidArgumentError: the session does not keep it any more.

        """
        self._check_alive()
        return read_kept(self._session.kept_tensors(), self._handle, self._dtype)

    def delete(self) -> None:
        """Make the session forget the value; raises as `eval`."""
        self._check_alive()
        self._is_alive = False
        try:
            self._session.kept_tensors().delete(self._handle)
        except KernelError as error:
            raise errors.InvalidArgumentError(None, None, error.message) from error

    def get_raw_handle(self) -> str:
        """The handle, which from now on outlives this object."""
        self._is_alive = False
        return self._handle

    def to_numpy_array(self) -> Any:
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
        if getattr(self, "_is_alive", False) and self._session.is_open:
            self._session.kept_tensors().bury(self._handle)


def resource_bytes(op: Operation, resource: Any) -> Any:
    """What a fetched scalar resource tensor is: the bytes of its ResourceHandleProto, [bytes].

    Their number is not TensorFlow 2.21's, which gives its own memory; 1.x gives this message.

    Args:
      op: the operation that gives it.
      resource: what kernels see of it.

    """
    name = getattr(resource, "name", None) or op.name
    container = getattr(resource, "container", "")
    proto = ResourceHandleProto(device=op.device, container=container, name=name)
    return _bytes_of(proto, _FETCHED_RESOURCE)


def _bytes_of(proto: ResourceHandleProto, dtype: Any) -> Any:
    return np.frombuffer(bytearray(proto.SerializeToString()), dtype)


def read_kept(kept: SessionTensors, handle: str, wanted: DType) -> Any:
    """The array that is kept under a handle, a copy.

    Raises:
      InvalidArgumentError: nothing is, or it is of another dtype.

    """
    try:
        dtype, value = kept.read(handle)
    except KernelError as error:
        raise errors.InvalidArgumentError(None, None, error.message) from error
    if dtype != wanted.spec_name:
        text = f"Expects {wanted.spec_name} but {dtype} is provided by the handle {handle}"
        raise errors.InvalidArgumentError(None, None, text)
    # An array of a GPU is copied into host memory.
    return handed_out(value.get()[()] if hasattr(value, "get") else value)
