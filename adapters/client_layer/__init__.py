"""What TensorFlow's Python client does, for engines without one: `ClientLayer(engine)`, a Backend.

`engine` is the contract of what stands below, `layer` the client itself. A layer imports the spec
and the Backend contract, never an engine.
"""

from sessrun.adapters.client_layer.engine import (
    Endpoint,
    EngineError,
    EngineSession,
    GraphEngine,
    NotOfferedError,
    TensorFacts,
)
from sessrun.adapters.client_layer.layer import ClientLayer

__all__ = [
    "ClientLayer",
    "Endpoint",
    "EngineError",
    "EngineSession",
    "GraphEngine",
    "NotOfferedError",
    "TensorFacts",
]
