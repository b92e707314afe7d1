"""Handles of tensors that a session keeps: `tf.get_session_handle` and its like.

A fetch of a handle returns a `TensorHandle`, which may be fed instead of the value.
Clauses: HANDLES.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.framework_ops import placeholder
from sessrun.reference.errors import bad_type
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["delete_session_tensor", "get_session_handle", "get_session_tensor"]


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
    with stacks.get_default_graph().device(text.rpartition(";")[2]):
        yield
