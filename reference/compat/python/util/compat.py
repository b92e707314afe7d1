"""`tensorflow.python.util.compat`: the group `compat`, and Python's abstract collections."""

from __future__ import annotations

import importlib
from collections import abc as collections_abc
from typing import Any

__all__ = ["collections_abc"]


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("sessrun.reference").compat, name)
