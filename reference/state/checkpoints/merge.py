"""Merges checkpoints: their data files are renamed, their indices become one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from sessrun.reference.base.kernel_errors import InvalidArgument, NotFound
from sessrun.reference.state.checkpoints.bundle_files import (
    data_path,
    index_path,
    kernel_errors,
    make_folder,
    settle,
    write_at_once,
)
from sessrun.reference.state.checkpoints.reader import Checkpoint
from sessrun.reference.state.checkpoints.tensor_data import BYTE_ORDERS
from sessrun.reference.state.checkpoints.writer import header_bytes, index_bytes
from sessrun.spec.proto.checkpoint_pb2 import BundleEntryProto

__all__ = ["merge_checkpoints"]


def merge_checkpoints(
    prefixes: Sequence[str], destination: str, *, delete_folders: bool, allow_missing: bool
) -> None:
    """Make one checkpoint of several, which are removed.

    Args:
      prefixes: the prefixes of the checkpoints.
      destination: the prefix of the new checkpoint.
      delete_folders: whether the folders of the checkpoints are removed, if they are empty then.
      allow_missing: whether some checkpoints may not exist.

    Raises:
      InvalidArgument: a checkpoint does not exist, two have a tensor of the same name, or their
        orders of bytes differ; or a file cannot be read or written.

    """
    parts = [part for prefix in prefixes for part in _opened(prefix, missing=allow_missing)]
    if not parts:
        raise InvalidArgument("At least one prefix checkpoint file must exist, but none existed.")
    orders = {part.header.endianness for part in parts}
    if len(orders) > 1:
        raise InvalidArgument("Merging bundles with conflicting endianness")
    entries: dict[bytes, BundleEntryProto] = {}
    moved: list[str] = []
    for part in parts:
        _add(entries, part, len(moved))
        count = part.header.num_shards
        moved += [data_path(part.prefix, shard, count) for shard in range(count)]
    order = BYTE_ORDERS[orders.pop()]
    with kernel_errors(destination):
        make_folder(destination)
        settle(destination)
        for shard, path in enumerate(moved):
            os.replace(path, data_path(destination, shard, len(moved)))
        write_at_once(destination + ".index", index_bytes(header_bytes(len(moved), order), entries))
        for part in parts:
            os.unlink(index_path(part.prefix))
    if delete_folders:
        for folder in {os.path.dirname(prefix) for prefix in prefixes}:
            with contextlib.suppress(OSError):  # it has other files
                os.rmdir(folder)


def _opened(prefix: str, *, missing: bool) -> list[Checkpoint]:
    try:
        return [Checkpoint(prefix)]
    except NotFound as error:
        if missing:
            return []
        raise InvalidArgument(
            f"allow_missing_files was set to false and {prefix} did not exist."
        ) from error


def _add(entries: dict[bytes, BundleEntryProto], part: Checkpoint, shards: int) -> None:
    """Add the entries of a checkpoint, whose data files come after `shards` others."""
    for key, entry in part.entries().items():
        entry.shard_id += 0 if entry.slices else shards
        known = entries.setdefault(key, entry)
        if known is entry:
            continue
        if not (known.slices and entry.slices) or (known.dtype, known.shape) != (
            entry.dtype,
            entry.shape,
        ):
            raise InvalidArgument(
                f"Duplicate tensor keyed by {key.decode(errors='replace')} encountered, "
                f"when merging prefix: {part.prefix}"
            )
        known.slices.extend(entry.slices)
