"""The adapter of ONNX Runtime: a translator from GraphDef to ONNX, and the engine that runs it.

`engine` is the adapter, `model` translates the part of a graph that a run needs, `table` holds a
function for each op type and the dtypes that are offered of it. The other modules are these
functions, by subject.
"""

from __future__ import annotations

from sessrun.adapters.client_layer import ClientLayer
from sessrun.adapters.extras import import_engine

__all__ = ["backend"]


def backend(argument: str | None = None) -> ClientLayer:
    """ONNX Runtime on the CPU, under our client.

    Raises:
      AdapterError: it or `onnx` is not installed; an argument is given.

    """
    name = "onnxruntime"
    (engine,) = import_engine(
        name, argument, "ONNX Runtime", name, "sessrun.adapters.onnxruntime.engine"
    )
    return ClientLayer(engine.Engine())
