"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, with the older name of one function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["getargspec"]


def getargspec(function: Callable[..., object]) -> inspect.FullArgSpec:
    """The arguments of a function, its `args` first."""
    return inspect.getfullargspec(function)


def __getattr__(name: str) -> Any:
    return getattr(inspect, name)
