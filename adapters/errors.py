"""The error of choosing or starting a backend, raised before any case runs."""

from __future__ import annotations

__all__ = ["AdapterError"]


class AdapterError(Exception):
    """A backend cannot be found, loaded or started; the message says what to do about it."""
