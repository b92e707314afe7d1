"""The special functions of the stand-in for a GPU's array module: scipy's underneath."""

from __future__ import annotations

from typing import Any

import scipy.special
from stand_in import stood_in


def __getattr__(name: str) -> Any:
    return stood_in(getattr(scipy.special, name), name)
