"""The machine as one: with every module of operations, under the names that programs use.

What an operation does is registered when its module is imported; whoever runs graphs imports the
machine from here.
"""

from sessrun.spec.model import (
    accumulators,
    barriers,
    functions,
    queues,
    readers,
    staging,
    stateless,
    tables,
    variables,
)
from sessrun.spec.model.graph import Graph
from sessrun.spec.model.nodes import Output
from sessrun.spec.model.run import Run, perform, proceed
from sessrun.spec.model.session import Session
from sessrun.spec.model.values import FailedError, WaitsError

__all__ = [
    "FailedError",
    "Graph",
    "Output",
    "Run",
    "Session",
    "WaitsError",
    "accumulators",
    "barriers",
    "functions",
    "perform",
    "proceed",
    "queues",
    "readers",
    "staging",
    "stateless",
    "tables",
    "variables",
]
