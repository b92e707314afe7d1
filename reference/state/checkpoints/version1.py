"""Checkpoints of version 1: files that are tables of slices, each complete in itself.

The entry of the empty key lists the tensors of a file, and their slices; every slice has a key of
its own. The files of a checkpoint in shards are those that match a pattern.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from typing import Final

from google.protobuf.message import DecodeError

from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.kernel_errors import (
    DataLoss,
    Internal,
    NotFound,
    OutOfRange,
    Unimplemented,
)
from sessrun.reference.state.checkpoints.assembly import assembled
from sessrun.reference.state.checkpoints.bundle_files import kernel_errors, write_at_once
from sessrun.reference.state.checkpoints.slice_values import read_values, write_values
from sessrun.reference.state.checkpoints.table import read_table, table_bytes
from sessrun.reference.state.checkpoints.tensor_slices import (
    bounds_of,
    message_of,
    slice_key,
    slice_of,
)
from sessrun.reference.state.checkpoints.wire import lost
from sessrun.reference.state.checkpoints.writer import Saved
from sessrun.spec.dtypes import BY_ENUM, BY_NAME
from sessrun.spec.proto import DataType
from sessrun.spec.proto.checkpoint_pb2 import SavedSliceMeta, SavedTensorSlices
from sessrun.spec.tensor_slices import TensorSlice

__all__ = ["SliceFiles", "write_slices"]

_PRODUCER: Final = 1


def write_slices(path: str, tensors: Iterable[Saved]) -> None:
    """Write a file of version 1: completely, or not at all.

    Args:
      path: the file.
      tensors: the tensors, or slices of tensors.

    Raises:
      Internal: slices of one name are not of one tensor.
      Unimplemented, InvalidArgument: a dtype cannot be written.
      KernelError: the file cannot be written.

    """
    head = SavedTensorSlices()
    head.meta.versions.producer = _PRODUCER
    known: dict[bytes, SavedSliceMeta] = {}
    rows: dict[bytes, bytes] = {}
    for tensor in tensors:
        shape = tensor.array.shape if tensor.shape is None else tensor.shape
        part = tensor.part or TensorSlice((None,) * len(shape))
        fresh = _described(tensor, shape)
        noted = known.get(tensor.name)
        if noted is None:
            noted = known[tensor.name] = head.meta.tensor.add()
            noted.CopyFrom(fresh)
        elif (noted.type, noted.shape) != (fresh.type, fresh.shape):
            raise Internal(f"Mismatching shapes or types: {noted} and {fresh}")
        noted.slice.append(message_of(part))
        row = SavedTensorSlices()
        row.data.name = noted.name
        row.data.slice.CopyFrom(message_of(part))
        row.data.data.CopyFrom(write_values(tensor.array, tensor.dtype))
        rows.setdefault(slice_key(tensor.name, part), row.SerializeToString(deterministic=True))
    content = table_bytes(
        [(b"", head.SerializeToString(deterministic=True)), *sorted(rows.items())]
    )
    with kernel_errors(path):
        write_at_once(path, content)


def _described(tensor: Saved, shape: Iterable[int]) -> SavedSliceMeta:
    kind = DataType.Name(BY_NAME[tensor.dtype].enum)
    meta = SavedSliceMeta(name=tensor.name.decode(errors="replace"), type=kind)
    meta.shape.SetInParent()
    for size in shape:
        meta.shape.dim.add().size = size
    return meta


class _Tensor:
    """A tensor of a checkpoint: its dtype, its shape, and the rows of the file of each slice."""

    def __init__(self, meta: SavedSliceMeta) -> None:
        self.meta = meta
        self.slices: dict[TensorSlice, Mapping[bytes, bytes]] = {}

    @property
    def dtype(self) -> str:
        return BY_ENUM[self.meta.type].name

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(dim.size for dim in self.meta.shape.dim)


class SliceFiles:
    """The files of a checkpoint of version 1.

    Args:
      pattern: the path of the file, or a pattern that all files match.

    Raises:
      NotFound: no file matches.
      DataLoss: a file is damaged.

    """

    def __init__(self, pattern: str) -> None:
        self._tensors: dict[bytes, _Tensor] = {}
        paths = sorted(glob.glob(pattern))
        if not paths:
            raise NotFound(
                "Unsuccessful TensorSliceReader constructor: Failed to find any "
                f"matching files for {pattern}"
            )
        for path in paths:
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError as error:
                raise DataLoss(f"Unable to open table file {path}: {error.strerror}") from error
            self._add(path, _rows(data, path))

    def _add(self, path: str, rows: dict[bytes, bytes]) -> None:
        """Add the tensors of a file."""
        head = _message(rows.get(b"", b""), path)
        for meta in head.meta.tensor:
            if meta.type not in BY_ENUM or any(dim.size < 0 for dim in meta.shape.dim):
                raise lost(path, f"{meta.name} has no dtype or no shape")
            tensor = self._tensors.setdefault(meta.name.encode(), _Tensor(meta))
            if (tensor.meta.type, tensor.meta.shape) != (meta.type, meta.shape):
                raise Internal(f"Slices of {meta.name} in {path} are of another one")
            for proto in meta.slice:
                tensor.slices[slice_of(proto)] = rows

    def tensor_entries(self) -> Mapping[bytes, SavedSliceMeta]:
        """The message of each tensor, with its name, dtype and shape."""
        return {name: tensor.meta for name, tensor in self._tensors.items()}

    def _find(self, name: bytes) -> _Tensor:
        tensor = self._tensors.get(name)
        if tensor is None:
            raise NotFound(
                f'Tensor name "{name.decode(errors="replace")}" not found in checkpoint files'
            )
        return tensor

    def dtype(self, name: bytes) -> str:
        """The spec name of a tensor's dtype."""
        return self._find(name).dtype

    def shape(self, name: bytes) -> tuple[int, ...]:
        """A tensor's shape."""
        return self._find(name).shape

    def tensor(self, name: bytes, part: TensorSlice | None = None) -> HostArray:
        """The values of a tensor, or of one slice of the tensor.

        Raises:
          NotFound: there is no such tensor.
          DataLoss: the checkpoint is damaged.
          InvalidArgument: the slices in the checkpoint do not make up the part.

        """
        saved = self._find(name)
        wanted = part or TensorSlice((None,) * len(saved.shape))
        bounds = bounds_of(wanted, saved.shape)
        return assembled(
            name,
            saved.dtype,
            saved.shape,
            wanted,
            bounds,
            list(saved.slices),
            lambda slice_: _values(saved, name, slice_),
        )

    def only_slice(self, name: bytes) -> HostArray:
        """The values of a tensor that was saved in one piece.

        Raises:
          Unimplemented: it was saved in several; or as `tensor`.

        """
        if len(self._find(name).slices) != 1:
            raise Unimplemented("Sliced checkpoints are not supported")
        return self.tensor(name)


def _values(tensor: _Tensor, name: bytes, part: TensorSlice) -> HostArray:
    text = name.decode(errors="replace")
    row = _message(tensor.slices[part].get(slice_key(name, part), b""), text)
    if not row.HasField("data"):
        raise lost(text, f"the slice {part} is not there")
    sizes = [end - start for start, end in bounds_of(part, tensor.shape)]
    return read_values(row.data.data, tensor.dtype, sizes, text)


def _rows(data: bytes, path: str) -> dict[bytes, bytes]:
    """The entries of a file's table; DataLoss if it is too short."""
    try:
        return read_table(data, path)
    except OutOfRange as error:
        raise lost(path, "it is cut") from error


def _message(data: bytes, source: str) -> SavedTensorSlices:
    try:
        return SavedTensorSlices.FromString(data)
    except DecodeError as error:
        raise lost(source, "an entry is no message") from error
