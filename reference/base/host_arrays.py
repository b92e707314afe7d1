"""HostArray: an array in host memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["HostArray"]

#: A numpy array of any dtype: strings are bytes in an array of objects.
HostArray = NDArray[np.generic]
