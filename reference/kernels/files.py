"""Kernels of files: reading, writing, matching names against patterns."""

from __future__ import annotations

import os

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.readers import as_kernel_errors
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.state.files.file_names import file_errors, local_path
from sessrun.reference.state.files.files import glob, makedirs
from sessrun.reference.state.input.record_stream import RecordStream


def _item(array: Array, what: str) -> bytes:
    require_rank(0, **{what: array})
    return bytes(array.item())


@kernel("ReadFile", devices=("CPU",))
def read_file(_: ArrayModule, filename: Array) -> Array:
    """The contents of a file."""
    path = os.fsdecode(_item(filename, "Input filename"))
    with as_kernel_errors(), file_errors(path), open(local_path(path), "rb") as file:
        return string_array([file.read()], ())


@kernel("WriteFile", devices=("CPU",))
def write_file(_: ArrayModule, filename: Array, contents: Array) -> None:
    """Writes a file, replacing an old one; creates its folder if necessary."""
    path = os.fsdecode(_item(filename, "Input filename"))
    data = _item(contents, "Contents")
    with as_kernel_errors():
        local = local_path(path)
        folder = os.path.dirname(local)
        if not os.path.exists(folder):
            makedirs(folder)
        with file_errors(path), open(local, "wb") as file:
            file.write(data)


@binder("RecordInput", devices=("CPU",))
def record_input(bind: Bind) -> KernelFunction:
    """A batch of records of the files; the position in the epoch is kept per node and session."""
    attrs = bind.attrs
    count, at_once = attrs["batch_size"], attrs["file_parallelism"]
    if at_once < 0:
        raise InvalidArgument(f"file_parallelism should >= 0, got {at_once}")
    if count < 0:
        raise InvalidArgument(f"batch_size must be non-negative but got {count}")

    def stream() -> RecordStream:
        return RecordStream(
            attribute_text(attrs["file_pattern"]),
            attrs["file_random_seed"],
            attrs["file_shuffle_shift_ratio"],
            attrs["file_buffer_size"],
            attribute_text(attrs["compression_type"]),
        )

    def compute() -> Array:
        with as_kernel_errors():
            kept = bind.resources.get_or_create(
                "", bind.node.name, RecordStream, stream, bind.node.type
            )
            return string_array(kept.take(count), (count,))

    return compute


@kernel("MatchingFiles", devices=("CPU",))
def matching_files(_: ArrayModule, pattern: Array) -> Array:
    """The names of the files that match any of the patterns, in order."""
    with as_kernel_errors():
        names = [
            os.fsencode(path)
            for item in pattern.reshape(-1).tolist()
            for path in glob(os.fsdecode(item))
        ]
    return string_array(sorted(names), (len(names),))
