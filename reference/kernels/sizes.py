"""How many elements an array may have: no more than 64 bits can count."""

from __future__ import annotations

from collections.abc import Iterable

from sessrun.reference.base.kernel_errors import InvalidArgument

__all__ = ["check_size"]


def check_size(shape: Iterable[int]) -> None:
    """Refuse a shape of more elements than 64 bits can count.

    Raises:
      KernelError: it has more.

    """
    count = 1
    for size in shape:
        if count * size >= 2**63:
            raise InvalidArgument(
                f"Encountered overflow when multiplying {count} with {size}, result: -1"
            )
        count *= size
