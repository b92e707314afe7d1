"""The adapter of a shared library that has TensorFlow's C API, loaded from a folder by ctypes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sessrun.adapters.backend import Description
from sessrun.adapters.client_layer import ClientLayer, EngineSession
from sessrun.adapters.tensorflow_c import engine_of
from sessrun.spec.proto import ConfigProto, GraphDef

#: The folder of `libtensorflow_cc.so.2` or `libtensorflow.so.2`, where no other is named after `#`.
FOLDER: Final = os.environ.get("MY_ENGINE_FOLDER")


class Engine:
    """The library's engine under its own name; override here what your library does otherwise."""

    def __init__(self, folder: str | None) -> None:
        self._engine = engine_of(folder)

    def describe(self) -> Description:
        """Who this is: the version is what `TF_Version` says."""
        return replace(self._engine.describe(), name="my_engine")

    def open(self, graph: GraphDef, config: ConfigProto) -> EngineSession:
        """Import the graph (`TF_GraphImportGraphDef`), open a session (`TF_NewSession`)."""
        return self._engine.open(graph, config)

    def reset(self, containers: Sequence[str]) -> None:
        """Clear resource containers (`TF_Reset`)."""
        self._engine.reset(containers)


def backend(folder: str | None = FOLDER) -> ClientLayer:
    """The engine under sessrun's client; without a folder that of the installed TensorFlow."""
    return ClientLayer(Engine(folder))
