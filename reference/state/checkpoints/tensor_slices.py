"""Slices of tensors in checkpoints: messages and keys; errors are those of kernels."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.reference.base.kernel_errors import DataLoss, Internal, InvalidArgument
from sessrun.reference.state.checkpoints.wire import ordered_bytes, ordered_signed, ordered_unsigned
from sessrun.spec import tensor_slices
from sessrun.spec.proto.checkpoint_pb2 import TensorSliceProto
from sessrun.spec.tensor_slices import SliceError, TensorSlice

__all__ = ["Bounds", "bounds_of", "message_of", "read_spec", "slice_key", "slice_of"]


Bounds = tuple[tuple[int, int], ...]


def slice_of(proto: TensorSliceProto) -> TensorSlice:
    """The slice of a message.

    Raises:
      DataLoss: the message is not a valid slice.

    """
    extents: list[tuple[int, int] | None] = []
    for extent in proto.extent:
        if not extent.HasField("length"):
            extents.append(None)
        elif extent.start < 0 or extent.length <= 0:
            raise DataLoss("The checkpoint has a slice that is none")
        else:
            extents.append((extent.start, extent.length))
    return TensorSlice(tuple(extents))


def message_of(part: TensorSlice) -> TensorSliceProto:
    """The message of a slice."""
    proto = TensorSliceProto()
    for extent in part.extents:
        added = proto.extent.add()
        if extent is not None:
            added.start, added.length = extent
    return proto


def slice_key(name: bytes, part: TensorSlice) -> bytes:
    """The key of a tensor's slice in an index."""
    parts = [ordered_unsigned(0), ordered_bytes(name), ordered_unsigned(len(part.extents))]
    for start, length in (extent or (0, -1) for extent in part.extents):
        parts += [ordered_signed(start), ordered_signed(length)]
    return b"".join(parts)


def bounds_of(part: TensorSlice, shape: Sequence[int]) -> Bounds:
    """The start and the end of the slice in each dimension.

    Raises:
      Internal: the slice is not within a tensor of that shape.

    """
    try:
        return part.bounds(shape)
    except SliceError as error:
        raise Internal(error.message) from error


def read_spec(text: str) -> tuple[tuple[int, ...], TensorSlice, tuple[int, ...]]:
    """The shape of a tensor, a slice and its shape, from the text of the first two.

    Raises:
      InvalidArgument: the text has another form.
      Internal: the slice is not in the shape.

    """
    try:
        return tensor_slices.read_spec(text)
    except SliceError as error:
        kind = Internal if error.is_outside else InvalidArgument
        raise kind(error.message) from error
