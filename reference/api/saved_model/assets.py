"""The assets of saved models: files that constants of the graph name, copied beside it."""

from __future__ import annotations

import filecmp
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from google.protobuf.any_pb2 import Any as AnyMessage

from sessrun.reference.api.saved_model.model_files import assets_folder, make_folder
from sessrun.reference.api.saved_model.names import ASSETS_KEY
from sessrun.reference.base import dtypes
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.state.files.files import copy, exists, join
from sessrun.spec.proto import AssetFileDef, MetaGraphDef

__all__ = ["add_to_collection", "add_to_message", "copied", "named"]

_LOGGER: Final = logging.getLogger("sessrun")
#: From the name that an asset gets to the path where it is.
Assets = dict[bytes, bytes]


def add_to_message(target: MetaGraphDef) -> Callable[[AssetFileDef], None]:
    """A function that adds assets to the MetaGraphDef."""
    return target.asset_file_def.append


def add_to_collection(asset: AssetFileDef) -> None:
    """Note an asset in a collection of the default graph."""
    packed = AnyMessage()
    packed.Pack(asset)
    get_default_graph().add_to_collection(ASSETS_KEY, packed)


def named(tensors: Iterable[Any] | None, note: Callable[[AssetFileDef], None]) -> Assets:
    """The assets of a graph, each under a unique name.

    Args:
      tensors: the constants that name them.
      note: called with every tensor and its asset, to record them.

    Raises:
      TypeError: a tensor is not a constant of a single string.
      ValueError: the string is empty.

    """
    assets: Assets = {}
    for tensor in tensors or ():
        path = _path_of(tensor)
        if not path:
            raise ValueError(f"Asset filepath tensor {tensor} in is invalid.")
        name = _name_of(path, assets)
        asset = AssetFileDef(filename=name.decode())
        asset.tensor_info.name = tensor.name
        note(asset)
        assets[name] = path
    return assets


def _path_of(tensor: Tensor) -> bytes:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Asset path tensor {tensor} must be a Tensor.")
    if tensor.op.type != "Const":
        raise TypeError(
            f"Asset path tensor {tensor} must be of type constant. Has type {tensor.op.type} "
            "instead."
        )
    if tensor.dtype != dtypes.string:
        raise TypeError(
            f"Asset path tensor {tensor} must be of dtype string. Has type {tensor.dtype} instead."
        )
    values = tensor.op.get_attr("value").string_val
    if len(values) != 1:
        raise TypeError(f"Asset path tensor {tensor} must be a scalar.")
    path: bytes = values[0]
    return path


def _name_of(path: bytes, taken: Mapping[bytes, bytes]) -> bytes:
    """The file's name; with a number if another file has it."""
    base = name = os.path.basename(path)  # noqa: PTH119 - of bytes
    if name not in taken or taken[name] == path or filecmp.cmp(path, taken[name], shallow=False):
        return name
    number = 1
    while name in taken:
        name = base + b"_%d" % number
        number += 1
    return name


def copied(assets: Assets, export_dir: str, done: set[str]) -> None:
    """Copy assets into the folder of a model.

    Args:
      assets: what to copy, and where it is.
      export_dir: the model's folder.
      done: the files that were copied already; this call adds its own.

    Raises:
      OpError: a file cannot be copied.

    """
    if not assets:
        return
    folder = make_folder(assets_folder(export_dir))
    for name, path in assets.items():
        target: str = join(folder, name.decode())
        if target in done or path.decode() == target or not exists(path):
            continue
        copy(path, target, overwrite=True)
        done.add(target)
    _LOGGER.info("Assets written to: %s", folder)
