"""The adapter of ONNX Runtime: a translator from GraphDef to ONNX, and the engine that runs it.

`engine` is the adapter, `model` translates the part of a graph that a run needs, `table` holds a
function for each op type and the dtypes that are offered of it. The other modules are these
functions, by subject.
"""

from __future__ import annotations

import importlib

from sessrun.adapters.client_layer import ClientLayer
from sessrun.adapters.errors import AdapterError

__all__ = ["backend"]


def backend(argument: str | None = None) -> ClientLayer:
    """ONNX Runtime on the CPU, under our client.

    Raises:
      AdapterError: it or `onnx` is not installed; an argument is given.

    """
    if argument is not None:
        raise AdapterError(f"the adapter 'onnxruntime' takes no argument, got {argument!r}")
    try:
        engine = importlib.import_module("sessrun.adapters.onnxruntime.engine")
    except ImportError as error:
        raise AdapterError(
            f"ONNX Runtime is not installed: pip install 'sessrun[onnxruntime]' ({error})"
        ) from error
    return ClientLayer(engine.Engine())
