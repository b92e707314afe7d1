"""The file `checkpoint` beside checkpoints: which there are, and which is the latest.

Source: `tf.train` as TensorFlow 2.21 was seen to behave.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Final

from google.protobuf import text_format

from sessrun.reference import errors
from sessrun.reference.public import public
from sessrun.reference.state.checkpoints.bundle_files import write_at_once
from sessrun.reference.state.files import files
from sessrun.reference.state.files.file_names import FilePath, as_given, file_errors, local_path
from sessrun.spec.proto import SaverDef
from sessrun.spec.proto.checkpoint_pb2 import CheckpointState

__all__ = [
    "checkpoint_exists",
    "generate_checkpoint_state_proto",
    "get_checkpoint_mtimes",
    "get_checkpoint_state",
    "latest_checkpoint",
    "meta_graph_path",
    "remove_checkpoint",
    "update_checkpoint_state",
    "update_checkpoint_state_internal",
]

_LOGGER: Final = logging.getLogger("sessrun")
_SHARD: Final = re.compile(r"-[\d?]+-of-\d+$")


def _state_path(folder: str, latest_filename: str | None) -> str:
    return os.path.join(folder, latest_filename or "checkpoint")


@public("train.generate_checkpoint_state_proto")
def generate_checkpoint_state_proto(
    save_dir: str | bytes | PathLike[str],
    model_checkpoint_path: str,
    all_model_checkpoint_paths: list[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> CheckpointState:
    """The message of a checkpoint state file.

    Args:
      save_dir: the folder that it is in; relative paths in it become relative to it.
      model_checkpoint_path: the latest checkpoint.
      all_model_checkpoint_paths: all of them, the latest last, which is added if it is not.
      all_model_checkpoint_timestamps: when they were written, in seconds since 1970.
      last_preserved_timestamp: when the last was written that is kept for good.

    Raises:
      ValueError: there are not as many times as checkpoints.

    """
    folder = as_given(save_dir)
    paths = [] if all_model_checkpoint_paths is None else all_model_checkpoint_paths
    if not paths or paths[-1] != model_checkpoint_path:
        _LOGGER.info(
            "%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path
        )
        paths.append(model_checkpoint_path)
    times = all_model_checkpoint_timestamps
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {times})"
        )
    latest = model_checkpoint_path
    if not os.path.isabs(folder):
        latest = _relative(latest, folder)
        paths = [_relative(path, folder) for path in paths]
    return CheckpointState(
        model_checkpoint_path=latest,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def _relative(path: str, folder: str) -> str:
    return path if os.path.isabs(path) else os.path.relpath(path, folder)


@public("train.update_checkpoint_state")
def update_checkpoint_state(
    save_dir: str | bytes | PathLike[str],
    model_checkpoint_path: str,
    all_model_checkpoint_paths: list[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write the file anew, at once.

    Args:
      save_dir: its folder.
      model_checkpoint_path: the latest checkpoint.
      all_model_checkpoint_paths: all of them, the latest last.
      latest_filename: the file's name, `checkpoint` by default.
      all_model_checkpoint_timestamps: when they were written, in seconds since 1970.
      last_preserved_timestamp: when the last was written that is kept for good.

    Raises:
      RuntimeError: the latest checkpoint has the file's name.
      ValueError: there are not as many times as checkpoints.
      OpError: the file cannot be written.

    """
    update_checkpoint_state_internal(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        latest_filename,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def update_checkpoint_state_internal(
    save_dir: str | bytes | PathLike[str],
    model_checkpoint_path: str,
    all_model_checkpoint_paths: list[str] | None = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """`update_checkpoint_state` that can make paths relative.

    Args:
      save_dir: as of `update_checkpoint_state`.
      model_checkpoint_path: likewise.
      all_model_checkpoint_paths: likewise.
      latest_filename: likewise.
      save_relative_paths: whether the file is to name checkpoints relative to its folder.
      all_model_checkpoint_timestamps: as of `update_checkpoint_state`.
      last_preserved_timestamp: likewise.

    Raises:
      RuntimeError: the latest checkpoint has the file's name.
      ValueError: there are not as many times as checkpoints.
      OpError: the file cannot be written.

    """
    if save_relative_paths:
        folder = as_given(save_dir)
        model_checkpoint_path, *all_model_checkpoint_paths = (
            os.path.relpath(path, folder) if os.path.isabs(path) else path
            for path in (model_checkpoint_path, *(all_model_checkpoint_paths or ()))
        )
    state = generate_checkpoint_state_proto(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    path = _state_path(as_given(save_dir), latest_filename)
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
            "Please use a different save path."
        )
    with file_errors(path):
        write_at_once(local_path(path), text_format.MessageToString(state).encode())


@public("train.get_checkpoint_state")
def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """Read a checkpoint state file, relative paths joined to the folder; None without one.

    Args:
      checkpoint_dir: its folder.
      latest_filename: the file's name, `checkpoint` by default.

    Raises:
      ValueError: the file names no latest checkpoint, or is not a valid text message.

    """
    folder = as_given(checkpoint_dir)
    path = _state_path(folder, latest_filename)
    state = CheckpointState()
    try:
        if not files.exists(path):
            return None
        with file_errors(path), open(local_path(path), "rb") as file:
            content = file.read()
        text_format.Merge(content.decode(), state)
    except (errors.OpError, text_format.ParseError) as error:
        _LOGGER.warning("%s: %s", type(error).__name__, error)
        _LOGGER.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {folder}")
    state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    state.all_model_checkpoint_paths[:] = [
        os.path.join(folder, known_path) for known_path in state.all_model_checkpoint_paths
    ]
    return state


@public("train.latest_checkpoint")
def latest_checkpoint(
    checkpoint_dir: str | bytes | PathLike[str], latest_filename: str | None = None
) -> str | None:
    """The path of the latest checkpoint of a folder, or None if there is none.

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file that tells, `checkpoint` by default.

    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    latest: str = state.model_checkpoint_path
    if _matching(latest):
        return latest
    _LOGGER.error("Couldn't match files for checkpoint %s", latest)
    return None


def _matching(prefix: str) -> list[str]:
    """The files whose existence shows that a checkpoint exists: the index, or the only file."""
    for path in (prefix + ".index", prefix):
        try:
            matches = files.glob(path)
        except errors.NotFoundError:
            continue
        if matches:
            return matches
    return []


@public("train.checkpoint_exists")
def checkpoint_exists(checkpoint_prefix: str | bytes | PathLike[str]) -> bool:
    """Whether there is a checkpoint of that path; it may have wildcards."""
    return bool(_matching(as_given(checkpoint_prefix)))


@public("train.get_checkpoint_mtimes")
def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[FilePath]) -> list[float]:
    """When the checkpoints were written, in seconds; those that are not there are left out."""
    times = []
    for prefix in checkpoint_prefixes:
        matches = _matching(as_given(prefix))
        if matches:
            times.append(files.stat(matches[0]).mtime_nsec / 1e9)
    return times


def meta_graph_path(checkpoint: str, suffix: str = "meta") -> str:
    """The path of the meta graph of a checkpoint."""
    return f"{_SHARD.sub('', checkpoint)}.{suffix}"


@public("train.remove_checkpoint")
def remove_checkpoint(
    checkpoint_prefix: str | bytes | PathLike[str],
    checkpoint_format_version: int = SaverDef.V2,
    meta_graph_suffix: str = "meta",
) -> None:
    """Remove a checkpoint's files, those that exist.

    Args:
      checkpoint_prefix: its path.
      checkpoint_format_version: the version of its format.
      meta_graph_suffix: the end of the name of its graph's file.

    """
    prefix = as_given(checkpoint_prefix)
    patterns = [meta_graph_path(prefix, meta_graph_suffix)]
    if checkpoint_format_version == SaverDef.V2:
        # The index goes first: a checkpoint is there only while it has one.
        patterns += [prefix + ".index", prefix + ".data-?????-of-?????"]
    else:
        patterns.append(prefix)
    for pattern in patterns:
        for path in files.glob(pattern):
            files.remove(path)
