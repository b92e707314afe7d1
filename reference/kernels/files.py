"""Kernels of files: read, written, found by patterns."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import string_array
from sessrun.reference.kernels.readers import as_kernel_errors
from sessrun.reference.kernels.registry import Bind, binder, kernel
from sessrun.reference.state.files.file_names import file_errors, local_path
from sessrun.reference.state.files.files import glob, makedirs
from sessrun.reference.state.input.record_stream import RecordStream

__all__: list[str] = []


def _item(array: Any, what: str) -> bytes:
    if array.shape != ():
        raise InvalidArgument(
            f"{what} tensor must be scalar, but had shape: {bracketed(array.shape)}"
        )
    return bytes(array.item())


@kernel("ReadFile", devices=("CPU",))
def read_file(_: Any, filename: Any) -> Any:
    """All of a file."""
    path = os.fsdecode(_item(filename, "Input filename"))
    with as_kernel_errors(), file_errors(path), open(local_path(path), "rb") as file:
        return string_array([file.read()], ())


@kernel("WriteFile", devices=("CPU",))
def write_file(_: Any, filename: Any, contents: Any) -> None:
    """Writes a file anew, in a folder that is made if it is not there."""
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
def record_input(bind: Bind) -> Callable[..., Any]:
    """Records of the files; where the session's node is in its epoch goes on from run to run."""
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

    def compute() -> Any:
        with as_kernel_errors():
            kept = bind.resources.get_or_create(
                "", bind.node.name, RecordStream, stream, bind.node.type
            )
            return string_array(kept.take(count), (count,))

    return compute


@kernel("MatchingFiles", devices=("CPU",))
def matching_files(_: Any, pattern: Any) -> Any:
    """The names of the files that match any of the patterns, in order."""
    with as_kernel_errors():
        found = [
            os.fsencode(path)
            for item in pattern.reshape(-1).tolist()
            for path in glob(os.fsdecode(item))
        ]
    return string_array(sorted(found), (len(found),))
