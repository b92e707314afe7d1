"""What plug-ins of TensorBoard want to find beside an event file, kept with the graph.

Source: TF 2.21, `tensorflow.python.summary.plugin_asset`.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.stacks import get_default_graph

__all__ = ["PluginAsset", "get_all_plugin_assets", "get_plugin_asset"]

#: The collection of the names of plug-ins; with such a name after it, that of its one asset.
_NAMES: Final = "__tensorboard_plugin_asset__"


class PluginAsset(abc.ABC):
    """The files of a plug-in; a graph has at most one of each class.

    Attributes:
      plugin_name: of the plug-in; each class has its own.

    """

    plugin_name: str | None = None

    @abc.abstractmethod
    def assets(self) -> Mapping[str, str]:
        """What is to be written, by the files' names."""
        raise NotImplementedError


A = TypeVar("A", bound=PluginAsset)


def get_plugin_asset(plugin_asset_cls: type[A], graph: Graph | None = None) -> A:
    """The asset of a class that a graph has; a new one if it has none.

    Args:
      plugin_asset_cls: the class.
      graph: the graph, by default the default graph.

    Raises:
      ValueError: the class has no plugin_name, or another class has the same.

    """
    graph = graph or get_default_graph()
    name = plugin_asset_cls.plugin_name
    if not name:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    if graph.get_collection(_NAMES + name):
        asset = _only(graph, name)
    else:
        asset = plugin_asset_cls()
        graph.add_to_collection(_NAMES + name, asset)
        graph.add_to_collection(_NAMES, name)
    if not isinstance(asset, plugin_asset_cls):
        raise ValueError(  # noqa: TRY004 - as TensorFlow has it
            f"Plugin name collision between classes {name} and {type(asset).__name__}"
        )
    return asset


def get_all_plugin_assets(graph: Graph | None = None) -> list[Any]:
    """All assets of a graph, by default of the default graph.

    Raises:
      ValueError: a plug-in has several.

    """
    graph = graph or get_default_graph()
    return [_only(graph, name) for name in graph.get_collection(_NAMES)]


def _only(graph: Graph, name: str) -> Any:
    assets = graph.get_collection(_NAMES + name)
    if len(assets) != 1:
        raise ValueError(f"Collection for {_NAMES + name} had {len(assets)} items, expected 1")
    return assets[0]
