"""The adapter of an engine that has a Python namespace like `tensorflow.compat.v1`."""

from __future__ import annotations

import importlib

from sessrun.adapters.namespace import NamespaceBackend


def backend() -> NamespaceBackend:
    """The engine in this process; sessrun runs it in a worker of its own."""
    # Yours instead: a module with Graph, Session, import_graph_def, placeholder and so on. It is
    # imported here, not above, so that whoever only looks up this adapter does not pay for it.
    namespace = importlib.import_module("sessrun.reference")
    return NamespaceBackend(namespace, "my_engine", "0.1")
