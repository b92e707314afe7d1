"""The limit of the number of elements of an array: less than 2**63."""

from __future__ import annotations

from collections.abc import Iterable

from sessrun.reference.base.kernel_errors import InvalidArgument

__all__ = ["check_size"]


def check_size(shape: Iterable[int]) -> None:
    """Check that a shape has less than 2**63 elements.

    Raises:
      KernelError: the shape has more elements.

    """
    count = 1
    for size in shape:
        if count * size >= 2**63:
            raise InvalidArgument(
                f"Encountered overflow when multiplying {count} with {size}, result: -1"
            )
        count *= size
