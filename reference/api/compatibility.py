"""Functions of `tf.compat`: text and bytes, types of numbers, forward compatibility dates."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Final

import numpy as np

from sessrun.reference.base import text
from sessrun.reference.base.tensor_shape import dimension_at_index, dimension_value
from sessrun.reference.public import public

#: Formats changed since this day are not written yet: the day of TensorFlow 2.21's branch.
_RELEASE: Final = datetime.date(2026, 1, 16)
_horizon = [_RELEASE]


@public("compat.path_to_str")
def path_to_str(path: str | bytes | PathLike[str]) -> object:
    """A path object as text; any other value unchanged."""
    return text.as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


@public("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether formats changed on this date may be written: the horizon lies after it."""
    horizon = _horizon[0]
    return (horizon.year, horizon.month, horizon.day) > (year, month, day)


@public("compat.forward_compatibility_horizon")
@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """While the block runs, formats changed before another day may be written: for tests.

    A day before the release changes nothing; after the block the day is that of the release,
    within another block too.
    """
    wanted = datetime.date(year, month, day)
    if wanted >= _RELEASE:
        _horizon[0] = wanted
    try:
        yield
    finally:
        _horizon[0] = _RELEASE


public("compat.dimension_at_index")(dimension_at_index)
public("compat.dimension_value")(dimension_value)
public("compat.as_bytes")(text.as_bytes)
public("compat.as_str", "compat.as_text")(text.as_text)
public("compat.as_str_any")(text.as_str_any)
public("compat.bytes_or_text_types")((bytes, str))
public("compat.complex_types")((numbers.Complex, np.number))
public("compat.integral_types")((numbers.Integral, np.integer))
public("compat.real_types")((numbers.Real, np.integer, np.floating))
