"""The file of a saved model, in bytes or as text, and the folders around it.

Messages inside of an `Any` name their own type. On our side that is `sessrun.AssetFileDef`, so that
`Unpack` finds it; in files it is TensorFlow's name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Final

from google.protobuf import text_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError

from sessrun.reference.api.saved_model import names
from sessrun.reference.state.files.file_names import as_given, file_errors, local_path
from sessrun.reference.state.files.files import exists, join, makedirs
from sessrun.spec.proto import MetaGraphDef, SavedModel

__all__ = [
    "assets_folder",
    "make_folder",
    "maybe_saved_model_directory",
    "read_model",
    "text_path",
    "variables_path",
    "write_model",
]

_OURS: Final = "type.googleapis.com/sessrun."
_THEIRS: Final = "type.googleapis.com/tensorflow."
#: Such a name where text has the message spelled out. It begins a line, as no string does.
_TYPE: Final = re.compile(rf"(?m)^(\s*\[){re.escape(_THEIRS)}")


def _path(export_dir: str | bytes | PathLike[str], name: str) -> str:
    path: str = join(as_given(export_dir), name)
    return path


def text_path(export_dir: str | bytes | PathLike[str]) -> str:
    """The path of the file of text."""
    return _path(export_dir, names.SAVED_MODEL_FILENAME_PBTXT)


def variables_path(export_dir: str | bytes | PathLike[str]) -> str:
    """The path of the checkpoint of the variables."""
    return _path(_path(export_dir, names.VARIABLES_DIRECTORY), names.VARIABLES_FILENAME)


def assets_folder(export_dir: str | bytes | PathLike[str]) -> str:
    """The path of the folder of assets."""
    return _path(export_dir, names.ASSETS_DIRECTORY)


def make_folder(path: str) -> str:
    """Create a folder and its parents if they do not exist; returns its path."""
    makedirs(path)
    return path


def maybe_saved_model_directory(export_dir: str | bytes | PathLike[str]) -> bool:
    """Whether a folder has the file of a saved model."""
    kinds = (
        names.SAVED_MODEL_FILENAME_PBTXT,
        names.SAVED_MODEL_FILENAME_PB,
        names.SAVED_MODEL_FILENAME_CPB,
    )
    return any(exists(_path(export_dir, name)) for name in kinds)


def read_model(export_dir: str | bytes | PathLike[str]) -> SavedModel:
    """The saved model of a folder; the file of bytes goes before that of text.

    Raises:
      OSError: the folder has no saved model, or its file is not one.

    """
    path = _path(export_dir, names.SAVED_MODEL_FILENAME_PB)
    if exists(path):
        try:
            model = SavedModel.FromString(_read(path))
        except DecodeError as error:
            raise OSError(f"Cannot parse file {path}: {error}.") from error
        _rename(model, _THEIRS, _OURS)
        return model
    path = text_path(export_dir)
    if exists(path):
        try:
            text = _TYPE.sub(rf"\g<1>{_OURS}", _read(path).decode())
            model = text_format.Parse(text, SavedModel())
        except text_format.ParseError as error:
            raise OSError(f"Cannot parse file {path}: {error}.") from error
        _rename(model, _THEIRS, _OURS)
        return model
    raise OSError(
        f"SavedModel file does not exist at: {as_given(export_dir)}{os.path.sep}"
        f"{{{names.SAVED_MODEL_FILENAME_PBTXT}|{names.SAVED_MODEL_FILENAME_PB}}}"
    )


def _read(path: str) -> bytes:
    with file_errors(path), Path(local_path(path)).open("rb") as file:
        return file.read()


def write_model(
    model: SavedModel, export_dir: str | bytes | PathLike[str], *, as_text: bool
) -> str:
    """Write the file of a saved model.

    Args:
      model: the model.
      export_dir: the folder.
      as_text: whether it is a file of text.

    Returns:
      The file's path.

    Raises:
      OpError: the file cannot be written.

    """
    copy = SavedModel()
    copy.CopyFrom(model)
    _rename(copy, _OURS, _THEIRS)
    if as_text:
        path, data = text_path(export_dir), text_format.MessageToString(copy).encode()
    else:
        path = _path(export_dir, names.SAVED_MODEL_FILENAME_PB)
        data = copy.SerializeToString(deterministic=True)
    with file_errors(path), Path(local_path(path)).open("wb") as file:
        file.write(data)
    return path


def _rename(model: SavedModel, old: str, new: str) -> None:
    for message in (inner for graph in model.meta_graphs for inner in _any_messages(graph)):
        if message.type_url.startswith(old):
            message.type_url = new + message.type_url.removeprefix(old)


def _any_messages(graph: MetaGraphDef) -> Iterator[AnyMessage]:
    yield graph.meta_info_def.any_info
    for collection in graph.collection_def.values():
        if collection.WhichOneof("kind") == "any_list":
            yield from collection.any_list.value
