"""Modules that programs import by TensorFlow's own paths, such as `python.ops.nn_ops`.

Those of messages are below `core`, such as `core.protobuf.config_pb2`.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from sessrun.spec.cases.namespace import Namespace

__all__ = ["module_of"]


def module_of(tf: Namespace, path: str, below: str = "python") -> ModuleType:
    """A module of TensorFlow's internal path, in the package of a namespace.

    Args:
      tf: the namespace.
      path: the module's path below that folder.
      below: the folder, `python` or `core`.

    Raises:
      ImportError: there is no such module.

    """
    own = f"{tf.__name__}.{below}"
    has_own = importlib.util.find_spec(tf.__name__) and importlib.util.find_spec(own)
    root = own if has_own else f"{tf.__name__.partition('.')[0]}.{below}"
    return importlib.import_module(f"{root}.{path}")
