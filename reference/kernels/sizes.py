"""How many elements an array may have: no more than 64 bits can count."""

from __future__ import annotations

from collections.abc import Iterable

from sessrun.reference.kernels.registry import KernelError

__all__ = ["check_size"]

_INVALID = 3


def check_size(shape: Iterable[int]) -> None:
    """Refuse a shape of more elements than 64 bits can count.

    Raises:
      KernelError: it has more.

    """
    count = 1
    for size in shape:
        if count * size >= 2**63:
            raise KernelError(_INVALID, f"Encountered overflow when multiplying {count} with "
                              f"{size}, result: -1")  # fmt: skip
        count *= size
