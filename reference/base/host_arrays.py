"""HostArray: an array in host memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["HostArray", "set_writeable"]

#: A numpy array of any dtype: strings are bytes in an array of objects.
HostArray = NDArray[np.generic]

#: Sets whether an array may be written to. `setflags` takes 0.05 µs with an argument of position;
#: with one of a name, which is all that numpy's types know, 0.5, and `flags.writeable = ...` 0.9.
set_writeable: Final = cast("Callable[[Any, bool], None]", np.ndarray.setflags)
