"""Matrix products in host memory: BLAS on one thread, large products split over own threads.

OpenBLAS' own threads wait for one another by spinning: where another process has a core, a small
product takes a hundred times as long. So BLAS is limited to one thread, in the entire process, from
the first product on, and large products are split into blocks of rows.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import threadpoolctl

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.host import HOST

__all__ = ["one_thread", "product", "shared_out"]

#: The number of multiplications from which on a product is split: some milliseconds of one core.
_WORTH_SHARING: Final = 300_000_000

P = TypeVar("P")


def one_thread() -> None:
    """Limit every BLAS library that is loaded by now to one thread."""
    threadpoolctl.ThreadpoolController().limit(limits=1, user_api="blas")


@functools.cache
def _threads() -> tuple[ThreadPoolExecutor, int]:
    """A pool with a thread per core, and the number of cores; BLAS is limited to one thread."""
    one_thread()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    return ThreadPoolExecutor(cores, "sessrun-product"), cores


def product(xp: ArrayModule, left: Array, right: Array) -> Array:
    """The product of two matrices of shapes (m, k) and (k, n), or of batches of such.

    Args:
      xp: their array module.
      left: the left factor.
      right: the right factor.

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


def shared_out(function: Callable[[P], object], parts: Iterable[P], size: int | None) -> None:
    """Call a function with each part, in threads if there are enough multiplications.

    Args:
      function: takes a part, and must not call `shared_out` itself.
      parts: the arguments of the calls.
      size: the number of multiplications of all calls; None for enough.

    """
    pool, cores = _threads()
    if cores == 1 or (size is not None and size < _WORTH_SHARING):
        for part in parts:
            function(part)
    else:
        list(pool.map(function, parts))  # waits, and raises what a part raised
