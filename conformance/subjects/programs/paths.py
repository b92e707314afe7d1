"""Modules that programs import by TensorFlow's own paths, such as `python.ops.nn_ops`."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

__all__ = ["module_of"]


def module_of(tf: Any, path: str) -> Any:
    """A module below `python` of a namespace, or of the package that the namespace stands in.

    Raises:
      ImportError: there is none.

    """
    own = f"{tf.__name__}.python"
    has_own = importlib.util.find_spec(tf.__name__) and importlib.util.find_spec(own)
    root = own if has_own else f"{tf.__name__.partition('.')[0]}.python"
    return importlib.import_module(f"{root}.{path}")
