"""The type of the values that cases are written with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy.typing as npt

from sessrun.conformance.authoring.forms import Matcher, Recorded

__all__ = ["Written"]

#: A value of Python or numpy, a symbol, a matcher, or a structure of these: what has a JSON form.
Written: TypeAlias = (
    "npt.ArrayLike | Recorded | Matcher | slice | Sequence[Written] | Mapping[Any, Written] | None"
)
