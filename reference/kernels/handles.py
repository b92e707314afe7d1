"""Kernels of the tensors that a session keeps under handles."""

from __future__ import annotations

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import Internal
from sessrun.reference.kernels.host import frozen, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.reference.state.session_handles import session_tensors


@binder("GetSessionHandle", host_outputs=("handle",))
def get_session_handle(bind: Bind) -> KernelFunction:
    """Keeps a copy of the tensor, as a fed array may still be written to; returns its handle."""
    kept, node, dtype = session_tensors(bind.resources), bind.node.name, bind.attrs["T"]

    def compute(value: Array) -> Array:
        handle = kept.keep(node, bind.device, dtype, frozen(bind.xp.array(value)))
        return string_array([handle.encode()], ())

    return compute


@binder("GetSessionTensor", host_inputs=("handle",))
def get_session_tensor(bind: Bind) -> KernelFunction:
    """The tensor that is kept under the handle; Internal if it has another dtype than declared."""
    kept, wanted = session_tensors(bind.resources), bind.attrs["dtype"]

    def compute(handle: Array) -> Array:
        dtype, value = kept.read(_text(handle))
        if dtype != wanted:
            raise Internal(f"Output 0 of type {dtype} does not match declared output type {wanted}")

        tensor: Array = value
        return tensor

    return compute


@binder("DeleteSessionTensor", host_inputs=("handle",))
def delete_session_tensor(bind: Bind) -> KernelFunction:
    """Forgets the tensor that is kept under the handle."""
    kept = session_tensors(bind.resources)
    return lambda handle: kept.delete(_text(handle))


def _text(handle: Array) -> str:
    require_rank(0, handle=handle)
    text: str = handle.item().decode(errors="replace")
    return text
