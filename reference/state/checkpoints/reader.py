"""Checkpoint: reads the names, dtypes, shapes and values of a checkpoint's tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from google.protobuf.message import DecodeError

from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.kernel_errors import (
    DataLoss,
    InvalidArgument,
    KernelError,
    NotFound,
    OutOfRange,
)
from sessrun.reference.state.checkpoints.assembly import assembled
from sessrun.reference.state.checkpoints.bundle_files import (
    data_path,
    kernel_errors,
    read_index_bytes,
)
from sessrun.reference.state.checkpoints.table import read_table
from sessrun.reference.state.checkpoints.tensor_data import BYTE_ORDERS, read_tensor
from sessrun.reference.state.checkpoints.tensor_slices import Bounds, bounds_of, slice_key, slice_of
from sessrun.spec.dtypes import BY_ENUM
from sessrun.spec.proto.checkpoint_pb2 import BundleEntryProto, BundleHeaderProto
from sessrun.spec.tensor_slices import TensorSlice

__all__ = ["Checkpoint"]

#: The version of the checkpoint format that is written and read.
_VERSION: Final = 1


class Checkpoint:
    """A checkpoint (of version 2: an index file and data files) on the disk.

    Args:
      prefix: the path that the names of the checkpoint's files begin with.

    Attributes:
      prefix: the same path.
      header: the header of the index.

    Raises:
      NotFound: the checkpoint does not exist.
      OutOfRange, DataLoss: the index is damaged.

    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        try:
            data = read_index_bytes(prefix)
        except NotFound as error:
            raise NotFound(
                "Unsuccessful TensorSliceReader constructor: Failed to find any "
                f"matching files for {prefix}"
            ) from error
        rows = read_table(data, prefix + ".index")
        # The header is the first row, whatever its key.
        self.header = self._header(rows[min(rows)] if rows else None)
        rows.pop(b"", None)
        self._rows = rows
        self._order = BYTE_ORDERS[self.header.endianness == BundleHeaderProto.BIG]

    def _header(self, data: bytes | None) -> BundleHeaderProto:
        if data is None:
            raise self._lost("it has no header")
        try:
            header = BundleHeaderProto.FromString(data)
        except DecodeError as error:
            raise self._lost("its header is no message") from error
        if header.version.min_consumer > _VERSION:
            raise InvalidArgument(
                f"Checkpoint min consumer version {header.version.min_consumer} above "
                f"current version {_VERSION} for TensorFlow: {self.prefix}"
            )
        return header

    def entries(self) -> dict[bytes, BundleEntryProto]:
        """The entries of the index: those of tensors by name, those of slices by `slice_key`.

        Raises:
          InvalidArgument, NotFound, DataLoss: the checkpoint is damaged.

        """
        return {key: self._entry(key, value) for key, value in self._rows.items()}

    def _entry(self, key: bytes, data: bytes) -> BundleEntryProto:
        name = key.decode(errors="replace")
        try:
            entry = BundleEntryProto.FromString(data)
        except DecodeError as error:
            raise self._lost(f"the entry of {name} is no message") from error
        if any(dim.size < 0 for dim in entry.shape.dim):
            raise self._lost(f"the entry of {name} has no shape")
        if entry.dtype not in BY_ENUM or min(entry.offset, entry.size) < 0:
            raise InvalidArgument(f"The entry of {name} has no dtype or no place")
        if not 0 <= entry.shard_id < self.header.num_shards:
            raise NotFound(f"{self.prefix} has no shard {entry.shard_id}")
        return entry

    def _lost(self, reason: str) -> KernelError:
        return DataLoss(f"Unable to read the file {self.prefix}.index: {reason}")

    def tensor_entries(self) -> Mapping[bytes, BundleEntryProto]:
        """The entries of tensors, without those of their slices."""
        entries = self.entries()
        parts = {
            slice_key(name, slice_of(part))
            for name, entry in entries.items()
            for part in entry.slices
        }
        return {name: entry for name, entry in entries.items() if name not in parts}

    def find(self, name: bytes) -> BundleEntryProto:
        """The entry of a tensor.

        Raises:
          NotFound: there is no such tensor.
          DataLoss: the checkpoint is damaged.

        """
        row = self._rows.get(name)
        if row is None:
            raise NotFound(f"Key {name.decode(errors='replace')} not found in checkpoint")
        return self._entry(name, row)

    def dtype(self, name: bytes) -> str:
        """The spec name of a tensor's dtype."""
        return BY_ENUM[self.find(name).dtype].name

    def shape(self, name: bytes) -> tuple[int, ...]:
        """A tensor's shape."""
        return _shape(self.find(name))

    def tensor(self, name: bytes, part: TensorSlice | None = None) -> HostArray:
        """The values of a tensor, or of one slice of the tensor.

        Raises:
          NotFound: there is no such tensor.
          OutOfRange: the data file is too short.
          DataLoss: the checkpoint is damaged.
          InvalidArgument: the slices in the checkpoint do not make up the part.

        """
        entry = self.find(name)
        shape = _shape(entry)
        part = part or TensorSlice((None,) * len(shape))
        bounds = bounds_of(part, shape)
        if entry.slices:
            return self._of_slices(name, entry, part, bounds)
        values = self._values(name, entry)
        if not bounds:
            return values  # indexing would give the element, without the nulls at its end
        return values[tuple(slice(*bound) for bound in bounds)]

    def _values(self, key: bytes, entry: BundleEntryProto) -> HostArray:
        path = data_path(self.prefix, entry.shard_id, self.header.num_shards)
        with kernel_errors(path), open(path, "rb") as file:
            file.seek(entry.offset)
            data = file.read(entry.size)
        name = f"{path} at {entry.offset}: {key.decode(errors='replace')}"
        if len(data) != entry.size:
            raise OutOfRange(f"TensorBundle at {name}: truncated data file")
        dtype = BY_ENUM[entry.dtype].name
        return read_tensor(data, dtype, _shape(entry), entry.crc32c, name, self._order)

    def _of_slices(
        self, name: bytes, entry: BundleEntryProto, wanted: TensorSlice, bounds: Bounds
    ) -> HostArray:
        """A part of a tensor, assembled from the slices that were written."""
        parts = {part: slice_key(name, part) for part in map(slice_of, entry.slices)}
        return assembled(
            name,
            BY_ENUM[entry.dtype].name,
            _shape(entry),
            wanted,
            bounds,
            list(parts),
            lambda part: self._values(parts[part], self.find(parts[part])),
        )


def _shape(entry: BundleEntryProto) -> tuple[int, ...]:
    return tuple(dim.size for dim in entry.shape.dim)
