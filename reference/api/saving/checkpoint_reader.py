"""Checkpoints for people: `tf.train.load_checkpoint` and its kin. Source: TF 2.21."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

import numpy as np

from sessrun.reference import errors
from sessrun.reference.api.saving.checkpoint_state import latest_checkpoint
from sessrun.reference.base import dtypes
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError, NotFound
from sessrun.reference.public import public
from sessrun.reference.state.checkpoints.reader import Checkpoint
from sessrun.reference.state.checkpoints.version1 import SliceFiles
from sessrun.reference.state.files import files
from sessrun.reference.state.files.file_names import as_given, local_path
from sessrun.spec.proto import DataType
from sessrun.spec.proto.checkpoint_pb2 import BundleEntryProto, SavedSliceMeta

__all__ = ["CheckpointReader"]


#: What a checkpoint says of a tensor, by its version.
Entry = BundleEntryProto | SavedSliceMeta


@contextlib.contextmanager
def _op_errors() -> Iterator[None]:
    try:
        yield
    except InvalidArgument as error:  # TensorFlow's reader raises a ValueError
        raise errors.bad_value(error.message) from error
    except KernelError as error:
        raise errors.make(error.code, error.message) from error


class CheckpointReader:
    """Reads a checkpoint without a graph.

    Args:
      filename: the checkpoint's path.

    Raises:
      NotFoundError: the checkpoint does not exist.
      DataLossError: the index is damaged.

    """

    def __init__(self, filename: str | bytes | PathLike[str]) -> None:
        with _op_errors():
            self._checkpoint = _opened(local_path(_path(filename)))
            entries: Mapping[bytes, Entry] = self._checkpoint.tensor_entries()
            self._entries = {name.decode(): entry for name, entry in sorted(entries.items())}

    def has_tensor(self, tensor_str: str | bytes) -> bool:
        """Whether it has a tensor of that name."""
        return _path(tensor_str) in self._entries

    def get_tensor(self, tensor_str: str | bytes) -> np.ndarray | np.generic:
        """The values of the tensor of that name.

        Raises:
          NotFoundError: the checkpoint has no tensor of that name.
          UnimplementedError: the tensor is in slices in a checkpoint of version 1.
          DataLossError: the tensor's data is damaged.

        """
        name = _path(tensor_str).encode()
        with _op_errors():
            if isinstance(self._checkpoint, SliceFiles):
                value = self._checkpoint.only_slice(name)
            else:
                value = self._checkpoint.tensor(name)
        return value if value.ndim else value[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The names of all tensors and their shapes."""
        return {
            name: [dim.size for dim in entry.shape.dim] for name, entry in self._entries.items()
        }

    def get_variable_to_dtype_map(self) -> dict[str, dtypes.DType]:
        """The names of all tensors and their dtypes."""
        return {name: dtypes.as_dtype(_enum(entry)) for name, entry in self._entries.items()}

    def debug_string(self) -> bytes:
        """A line for each tensor: name, dtype, shape."""
        lines = (
            f"{name} ({DataType.Name(_enum(entry))}) "
            f"[{','.join(str(dim.size) for dim in entry.shape.dim)}]"
            f"{_parts(entry)}\n"
            for name, entry in self._entries.items()
        )
        return "".join(lines).encode()


def _opened(path: str) -> Checkpoint | SliceFiles:
    """The checkpoint of that path, of either version."""
    return Checkpoint(path) if files.exists(path + ".index") else _of_files(path)


def _of_files(path: str) -> Checkpoint | SliceFiles:
    try:
        return SliceFiles(path)
    except NotFound:
        return Checkpoint(path)  # its index may be renamed to this path right now


def _enum(entry: Entry) -> int:
    return entry.type if isinstance(entry, SavedSliceMeta) else entry.dtype


def _parts(entry: Entry) -> str:
    """How many slices of a tensor there are, where version 1 tells."""
    count = len(entry.slice) if isinstance(entry, SavedSliceMeta) else 1
    return f", {count} slices" if count > 1 else ""


def _path(text: Any) -> str:
    try:
        return as_given(text)
    except TypeError as error:
        raise TypeError(f"Expected binary or unicode string, got {text!r}") from error


@public("train.NewCheckpointReader")
def new_checkpoint_reader(filepattern: Any) -> CheckpointReader:
    """A reader of a checkpoint; arguments and errors are those of `CheckpointReader`."""
    return CheckpointReader(filepattern)


@public("train.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file: str | bytes | PathLike[str]) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one of a folder.

    Raises:
      ValueError: the folder has no checkpoint.
      NotFoundError: the checkpoint does not exist.

    """
    path = _path(ckpt_dir_or_file)
    if not files.isdir(path):
        return CheckpointReader(path)
    checkpoint = latest_checkpoint(path)
    if checkpoint is None:
        raise ValueError(
            f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
        )
    return CheckpointReader(checkpoint)


@public("train.load_variable")
def load_variable(
    ckpt_dir_or_file: str | bytes | PathLike[str], name: str
) -> np.ndarray | np.generic:
    """The value of a variable of a checkpoint; the name may end with `:0`.

    Raises:
      NotFoundError, ValueError: as `load_checkpoint`; or there is no such variable.

    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


@public("train.list_variables")
def list_variables(ckpt_dir_or_file: str | bytes | PathLike[str]) -> list[tuple[str, list[int]]]:
    """The names and shapes of the variables of a checkpoint, in the order of names.

    Raises:
      NotFoundError, ValueError: as `load_checkpoint`.

    """
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return sorted(shapes.items())
