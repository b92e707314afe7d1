"""Matrix products in host memory: BLAS on one thread, large ones shared out over threads of ours.

OpenBLAS' own threads wait for one another by spinning: where another process has a core, a small
product takes a hundred times as long. So BLAS is held to one thread, in the whole process, from
the first product on, and a product worth it is cut into blocks of rows.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import threadpoolctl

from sessrun.reference.kernels.host import HOST

__all__ = ["one_thread", "product", "shared_out"]

#: Multiplications below which a product stays whole: some milliseconds of one core.
_WORTH_SHARING: Final = 300_000_000


def one_thread() -> None:
    """Hold every BLAS that is loaded by now to one thread of its own."""
    threadpoolctl.ThreadpoolController().limit(limits=1, user_api="blas")


@functools.cache
def _threads() -> tuple[ThreadPoolExecutor, int]:
    """Threads of ours, one for each core, and how many; BLAS is held to one of its own."""
    one_thread()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    return ThreadPoolExecutor(cores, "sessrun-product"), cores


def product(xp: Any, left: Any, right: Any) -> Any:
    """The product of two matrices of shapes (m, k) and (k, n), or of batches of such.

    Args:
      xp: their array module.
      left: the left one.
      right: the right one.

    """
    if xp is not HOST:
        return xp.matmul(left, right)
    _, cores = _threads()
    if left.ndim > 2 or right.ndim > 2:
        return HOST.matmul(left, right)
    rows, inner = left.shape
    if cores == 1 or rows * inner * right.shape[1] < _WORTH_SHARING:
        return HOST.matmul(left, right)
    out = HOST.empty((rows, right.shape[1]), left.dtype)
    size = -(-rows // cores)
    blocks = [slice(start, start + size) for start in range(0, rows, size)]
    shared_out(lambda block: HOST.matmul(left[block], right, out=out[block]), blocks, size=None)
    return out


def shared_out(function: Callable[[Any], Any], parts: Iterable[Any], size: int | None) -> None:
    """Call a function with each part, in threads of ours if that is worth it.

    Args:
      function: takes a part, and may not share out again.
      parts: what it is called with.
      size: how many multiplications all calls do; None if that is known to be enough.

    """
    pool, cores = _threads()
    if cores == 1 or (size is not None and size < _WORTH_SHARING):
        for part in parts:
            function(part)
    else:
        list(pool.map(function, parts))  # waits, and raises what a part raised
