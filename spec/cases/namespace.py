"""The type of a namespace under test."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Namespace"]


class Namespace(Protocol):
    """What has TensorFlow 1's public names, as `tensorflow.compat.v1` does.

    Any engine may give one, and a faulty one is such a namespace with one behaviour changed:
    nothing is known of what a name gives.
    """

    def __getattr__(self, name: str, /) -> Any:
        """The class, function, group of names or constant of a public name."""
