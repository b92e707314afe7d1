"""Matrix products in host memory: BLAS on one thread, large products split over own threads.

OpenBLAS' own threads wait for one another by spinning: where another process has a core, a small
product takes a hundred times as long. So BLAS is limited to one thread, in the entire process, from
the first product on, and large products are split into blocks of rows.

For processors with AVX-512 OpenBLAS has kernels for small products, which read both factors where
they lie. Other products copy them first into an order of their own, which takes a fifth of the time
of a product of a tall matrix by a narrow one: there it is computed as many small ones.
"""

from __future__ import annotations

import contextvars
import functools
import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import threadpoolctl

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.kernels.host import HOST

__all__ = [
    "aligned",
    "grouped",
    "multiply",
    "one_thread",
    "product",
    "rows_at_once",
    "shared_out",
]

#: The number of multiplications from which on a product is split: a millisecond of one core.
_WORTH_SHARING: Final = 100_000_000
#: Parts of a sum are added in so many groups, whatever the number of threads: no bit depends on it.
_GROUPS: Final = 8
#: Processors for which OpenBLAS has kernels for small products, by the names that it gives them.
_WITH_SMALL_KERNELS: Final = frozenset({"SkylakeX", "Cooperlake", "SapphireRapids"})
#: The most multiplications of a product that these kernels compute.
_SMALL: Final = 1_000_000
#: These kernels are fastest for a multiple of so many rows.
_ROWS: Final = 6
#: Bytes of a cache line: loads of 64 bytes that cross two lines take twice as long.
_LINE: Final = 64

P = TypeVar("P")
R = TypeVar("R")


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


def shared_out(function: Callable[[P], R], parts: Iterable[P], size: int | None) -> list[R]:
    """Call a function with each part, in threads if there are enough multiplications.

    Args:
      function: takes a part, and must not call `shared_out` itself.
      parts: the arguments of the calls.
      size: the number of multiplications of all calls; None for enough.

    Returns:
      the results, in the order of the parts.

    """
    pool, cores = _threads()
    if cores == 1 or (size is not None and size < _WORTH_SHARING):
        return [function(part) for part in parts]
    calls = [(contextvars.copy_context(), part) for part in parts]  # of what numpy warns of, too
    return list(pool.map(lambda call: call[0].run(function, call[1]), calls))


def grouped(items: Sequence[P], *, are_added: bool = True) -> list[Sequence[P]]:
    """A sequence in parts for `shared_out`.

    Args:
      items: the sequence.
      are_added: whether the results of the parts are added: then the number of parts does not
        depend on the machine.

    """
    count = _GROUPS if are_added else max(_GROUPS, _threads()[1])
    size = -(-len(items) // count)
    return [items[start : start + size] for start in range(0, len(items), size)]


@functools.cache
def _has_small_kernels() -> bool:
    """Whether BLAS computes small products without copying their factors first."""
    one_thread()
    return any(
        library.get("architecture") in _WITH_SMALL_KERNELS
        for library in threadpoolctl.threadpool_info()
    )


def rows_at_once(inner: int, columns: int) -> int:
    """The most rows of a left factor in a small product with a right one of that shape, or 0."""
    return _SMALL // max(inner * columns, 1) if _has_small_kernels() else 0


def aligned(shape: Sequence[int], dtype: DType) -> Array:
    """An array in host memory with unset elements, the first at the begin of a cache line."""
    size = math.prod(shape) * dtype.itemsize
    memory = HOST.empty(size + _LINE, "uint8")
    begin = -HOST.lib.array_utils.byte_bounds(memory)[0] % _LINE
    return memory[begin : begin + size].view(dtype).reshape(tuple(shape))


def multiply(left: Array, right: Array, out: Array) -> None:
    """Write products of matrices in host memory, as small products if there are kernels for them.

    Args:
      left: the left factors, (..., m, k).
      right: the right factor of all, (k, n); small products are slower if it is not `aligned`.
      out: what is written, (..., m, n).

    """
    height = left.shape[-2]
    step = _step(height, *right.shape)
    even = height - height % step
    if even == height:
        HOST.matmul(_in_steps(left, step), right, out=_in_steps(out, step))
        return
    for rows, size in ((slice(0, even), step), (slice(even, height), height - even)):
        parts = (_in_steps(matrices[..., rows, :], size) for matrices in (left, out))
        HOST.matmul(next(parts), right, out=next(parts))


@functools.lru_cache
def _step(height: int, inner: int, columns: int) -> int:
    """Of so many rows of a left factor, the number that are multiplied at once."""
    most = rows_at_once(inner, columns)
    if height <= most or most < _ROWS:
        return max(height, 1)
    divisors = [size for size in range(most, most // 2, -1) if height % size == 0]
    fast = [size for size in divisors if size % _ROWS == 0]
    return (fast or divisors or [most - most % _ROWS])[0]


def _in_steps(matrices: Array, size: int) -> Array:
    """A view of matrices as more of them, each with `size` rows."""
    return matrices.reshape(*matrices.shape[:-2], -1, size, matrices.shape[-1])
