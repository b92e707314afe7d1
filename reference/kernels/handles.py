"""Kernels of the tensors that a session keeps under handles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.kernels.host import frozen, string_array
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.reference.state.session_tensors import session_tensors

__all__: list[str] = []


@binder("GetSessionHandle", host_outputs=("handle",))
def get_session_handle(bind: Bind) -> Callable[..., Any]:
    """The handle of a copy that is kept: a fed array is still its owner's to write to."""
    kept, node, dtype = session_tensors(bind.resources), bind.node.name, bind.attrs["T"]

    def compute(value: Any) -> Any:
        handle = kept.keep(node, bind.device, dtype, frozen(bind.xp.array(value)))
        return string_array([handle.encode()], ())

    return compute


@binder("GetSessionTensor", host_inputs=("handle",))
def get_session_tensor(bind: Bind) -> Callable[..., Any]:
    """What is kept; Internal if it has another dtype than declared."""
    kept, wanted = session_tensors(bind.resources), bind.attrs["dtype"]

    def compute(handle: Any) -> Any:
        dtype, value = kept.read(_text(handle))
        if dtype != wanted:
            raise Internal(f"Output 0 of type {dtype} does not match declared output type {wanted}")
        return value

    return compute


@binder("DeleteSessionTensor", host_inputs=("handle",))
def delete_session_tensor(bind: Bind) -> Callable[..., Any]:
    """Forgets what is kept."""
    kept = session_tensors(bind.resources)
    return lambda handle: kept.delete(_text(handle))


def _text(handle: Any) -> str:
    if handle.shape != ():
        raise InvalidArgument(f"handle must be scalar, got shape {list(handle.shape)}")
    text: str = handle[()].decode(errors="replace")
    return text
