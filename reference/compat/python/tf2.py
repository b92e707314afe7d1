"""`tensorflow.python.tf2`: whether version 2's behaviour is on; here it never is."""

from __future__ import annotations

__all__ = ["disable", "enable", "enabled"]


def enabled() -> bool:
    """Whether version 2's behaviour is on: no."""
    return False


def disable() -> None:
    """Do nothing: this is version 1's behaviour."""


def enable() -> None:
    """Refuse version 2's behaviour.

    Raises:
      NotImplementedError: always.

    """
    raise NotImplementedError("The behaviour of TensorFlow 2 is not here, only version 1's.")
