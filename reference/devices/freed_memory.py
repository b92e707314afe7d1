"""Freed memory that the process keeps, so that the next run need not ask the system for it.

glibc hands blocks of 128 KiB and more back to the system as soon as they are freed, until a larger
one was freed: then it keeps blocks up to that size, and twice as much at the end of its heap, as
TensorFlow's allocator keeps all that it ever had. Each page that comes anew is a fault: an LSTM of
20 steps had 2,300 of them in a run, a quarter of its time.
"""

from __future__ import annotations

import functools
from typing import Final

import numpy as np

__all__ = ["keep_freed_memory"]

#: The largest block whose size glibc adopts, less its own words.
_LARGEST: Final = 2**25 - 2**14


@functools.cache
def keep_freed_memory() -> None:
    """Let blocks up to 32 MB, 64 MB in all, be kept; nothing changes where there is no glibc."""
    np.empty(_LARGEST, np.uint8)  # it is freed at once, and its pages are never touched
