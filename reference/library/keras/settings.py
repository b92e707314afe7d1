"""Defaults of Keras: float dtype, epsilon, image data format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

__all__ = [
    "epsilon",
    "float_array",
    "floatx",
    "image_data_format",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]

_FLOATS: Final = {"float16", "float32", "float64"}
_FORMATS: Final = {"channels_last", "channels_first"}


@dataclass(slots=True)
class _Settings:
    floatx: str = "float32"
    epsilon: float = 1e-7
    data_format: str = "channels_last"


_SETTINGS: Final = _Settings()


def floatx() -> str:
    """The name of the dtype that floats have by default."""
    return _SETTINGS.floatx


def set_floatx(value: str) -> None:
    """Choose the dtype of floats.

    Raises:
      ValueError: `value` is not float16, float32 or float64.

    """
    if value not in _FLOATS:
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of {sorted(_FLOATS)}")
    _SETTINGS.floatx = str(value)


def epsilon() -> float:
    """The small number that is added to divisors."""
    return _SETTINGS.epsilon


def set_epsilon(value: float) -> None:
    """Set the small number that is added to divisors."""
    _SETTINGS.epsilon = value


def image_data_format() -> str:
    """The default data format: `channels_last` or `channels_first`."""
    return _SETTINGS.data_format


def set_image_data_format(data_format: str) -> None:
    """Set the default data format.

    Raises:
      ValueError: `data_format` is neither `channels_last` nor `channels_first`.

    """
    if data_format not in _FORMATS:
        raise ValueError(
            f"Unknown `data_format`: {data_format}. Expected one of {sorted(_FORMATS)}"
        )
    _SETTINGS.data_format = str(data_format)


def float_array(value: object) -> np.ndarray:
    """A number or an array as an array of the default dtype."""
    return np.asarray(value, dtype=_SETTINGS.floatx)
