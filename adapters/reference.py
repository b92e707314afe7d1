"""The adapter of the reference runtime: the one module outside it that imports it."""

from __future__ import annotations

import importlib

import sessrun
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend

__all__ = ["backend"]


def backend(argument: str | None = None) -> NamespaceBackend:
    """The reference runtime in this process.

    Raises:
      AdapterError: an argument is given; there is nothing to choose.

    """
    if argument is not None:
        raise AdapterError(f"the adapter 'reference' takes no argument, got {argument!r}")
    namespace = importlib.import_module("sessrun.reference")  # lazily: 0.3 s that few pay
    return NamespaceBackend(namespace, "reference", sessrun.__version__)
