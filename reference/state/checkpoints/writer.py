"""Writes checkpoints: tensors, and slices of tensors, in one data file and its index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.state.checkpoints.bundle_files import write_files_at_once
from sessrun.reference.state.checkpoints.table import table_bytes
from sessrun.reference.state.checkpoints.tensor_data import BYTE_ORDERS, written_tensor
from sessrun.reference.state.checkpoints.tensor_slices import message_of, slice_key
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import DataType
from sessrun.spec.proto.checkpoint_pb2 import BundleEntryProto, BundleHeaderProto
from sessrun.spec.tensor_slices import TensorSlice

__all__ = ["Saved", "header_bytes", "index_bytes", "write_checkpoint"]

_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Saved:
    """A tensor, or a part of one, that is to be written.

    Attributes:
      name: the name of the tensor.
      array: its values.
      dtype: the spec name of its dtype.
      shape: of a part, the shape of the tensor; else None.
      part: of a part, its slice; else None.

    """

    name: bytes
    array: Array | HostArray
    dtype: str
    shape: tuple[int, ...] | None = None
    part: TensorSlice | None = None


def write_checkpoint(prefix: str, tensors: Iterable[Saved], order: str = "<") -> None:
    """Write a checkpoint: completely, or not at all.

    Args:
      prefix: the path that the names of its files begin with.
      tensors: the tensors.
      order: the order of bytes, one of `tensor_data.BYTE_ORDERS`.

    Raises:
      KernelError: two tensors have one name, a dtype cannot be written, or a file cannot be.

    """
    tensors = list(tensors)
    write_files_at_once(
        prefix, lambda file: _written(file, tensors, order), lambda entries: _index(entries, order)
    )


def _written(
    file: IO[bytes], tensors: Sequence[Saved], order: str
) -> dict[bytes, BundleEntryProto]:
    """Write the data; return the entries of the index."""
    entries: dict[bytes, BundleEntryProto] = {}
    offset = 0
    for tensor in tensors:
        key = _key(entries, tensor)
        if key in entries or not key:
            raise InvalidArgument(f"Adding duplicate key: {key.decode(errors='replace')}")
        data, crc = written_tensor(tensor.array, tensor.dtype, order)
        file.write(data)
        entries[key] = _entry(tensor.dtype, tensor.array.shape)
        entries[key].offset, entries[key].size, entries[key].crc32c = offset, len(data), crc
        offset += len(data)
    return entries


def _entry(dtype: str, shape: Sequence[int]) -> BundleEntryProto:
    entry = BundleEntryProto(dtype=DataType.Name(BY_NAME[dtype].enum))
    entry.shape.SetInParent()
    for size in shape:
        entry.shape.dim.add().size = size
    return entry


def _key(entries: dict[bytes, BundleEntryProto], tensor: Saved) -> bytes:
    """The key of the values; a part is noted in the entry of its tensor, too."""
    if tensor.part is None or tensor.shape is None or tensor.array.shape == tensor.shape:
        return tensor.name
    entry = _entry(tensor.dtype, tensor.shape)
    known = entries.setdefault(tensor.name, entry)
    if (known.dtype, known.shape) != (entry.dtype, entry.shape) or known.size:
        raise InvalidArgument(
            f"The slices of {tensor.name.decode(errors='replace')} are not of one tensor"
        )
    known.slices.append(message_of(tensor.part))
    return slice_key(tensor.name, tensor.part)


def header_bytes(shards: int, order: str = "<") -> bytes:
    """The value of the empty key in the index."""
    kind = BundleHeaderProto.Endianness.Name(BYTE_ORDERS.index(order))
    header = BundleHeaderProto(num_shards=shards, endianness=kind)
    header.version.producer = _VERSION
    return bytes(header.SerializeToString(deterministic=True))


def index_bytes(header: bytes, entries: dict[bytes, BundleEntryProto]) -> bytes:
    """The index file."""
    rows = (
        (key, entry.SerializeToString(deterministic=True)) for key, entry in sorted(entries.items())
    )
    return table_bytes([(b"", header), *rows])


def _index(entries: dict[bytes, BundleEntryProto], order: str) -> bytes:
    return index_bytes(header_bytes(1, order), entries)
