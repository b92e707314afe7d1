"""The registry of what is run in two namespaces and compared: functions to plain data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Behaviour = Callable[[Any], Any]
BEHAVIOURS: dict[str, Behaviour] = {}


class Caught:
    """An error, shown by the classes that it is."""

    def __init__(self, error: Exception) -> None:
        self.names = [cls.__name__ for cls in type(error).__mro__]
        self.error = error

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


def behaviour(function: Behaviour) -> Behaviour:
    BEHAVIOURS[function.__name__] = function
    return function


def caught(function: Callable[[], Any]) -> Any:
    try:
        return plain(function())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is compared
        return Caught(error)


def plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    return str(getattr(value, "name", type(value).__name__))


#: Reference variables, resource variables.
KINDS = (False, True)
