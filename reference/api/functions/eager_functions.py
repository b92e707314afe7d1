"""`run_functions_eagerly`: whether `tf.function` calls the Python function without tracing."""

from __future__ import annotations

from typing import Final

__all__ = ["functions_run_eagerly", "run_functions_eagerly"]

_AT_ONCE: Final = [False]


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Say whether a call from now on is one of the Python function itself: nothing is traced."""
    _AT_ONCE[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether it is."""
    return _AT_ONCE[0]
