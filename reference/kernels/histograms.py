"""The kernel of histograms: how often values lie between which limits.

The limits are those of TensorFlow: from 1e-12 on each is the one before it times 1.1, up to 1e20,
and the same below zero; the first and the last are the least and the greatest float64.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.summaries import scalar_tag, serialized

__all__ = ["bucket_limits", "histogram_of"]

_CPU: Final = ("CPU",)
_FIRST: Final = 1e-12
_LAST: Final = 1e20
_RATIO: Final = 1.1


@functools.cache
def bucket_limits() -> Any:
    """The limits in order: of each bucket the end, which it does not contain."""
    above = []
    limit = _FIRST
    while limit < _LAST:
        above.append(limit)
        limit *= _RATIO
    above.append(float(HOST.finfo("float64").max))
    limits = HOST.array([*(-each for each in reversed(above)), 0.0, *above])
    limits.flags.writeable = False
    return limits


def histogram_of(values: Any) -> Any:
    """The HistogramProto of finite numbers: runs of empty buckets are one.

    Args:
      values: an array of numbers.

    Raises:
      KernelError: one is not finite.

    """
    from sessrun.spec.proto.summary_pb2 import HistogramProto  # noqa: PLC0415 - few programs run summaries

    numbers = values.reshape(-1).astype("float64")
    for is_odd, name in ((HOST.isnan, "Nan"), (HOST.isinf, "Infinity")):
        if is_odd(numbers).any():
            raise InvalidArgument(f"{name} in summary histogram")
    limits = bucket_limits()
    if not numbers.size:
        least, greatest = float(limits[-1]), float(limits[0])
        return HistogramProto(min=least, max=greatest, bucket_limit=[least], bucket=[0.0])
    # The greatest float64 lies behind the last limit, and is counted before it.
    places = HOST.minimum(HOST.searchsorted(limits, numbers, side="right"), len(limits) - 1)
    counts = HOST.bincount(places, minlength=len(limits))
    # Of a run of empty buckets only the last is kept.
    is_kept = counts > 0
    is_kept[:-1] |= counts[1:] > 0
    is_kept[-1] = True
    with HOST.errstate(over="ignore"):
        # Added one after the other: the sums are those of a loop, to the last bit.
        total, squares = (
            float(HOST.cumsum(HOST.concatenate(([0.0], each)))[-1])
            for each in (numbers, numbers * numbers)
        )
    return HistogramProto(
        min=float(numbers[numbers.argmin()]),
        max=float(numbers[numbers.argmax()]),
        num=float(numbers.size),
        sum=total,
        sum_squares=squares,
        bucket_limit=limits[is_kept].tolist(),
        bucket=counts[is_kept].tolist(),
    )


@kernel("HistogramSummary", devices=_CPU)
def histogram_summary(_: Any, tag: Any, values: Any) -> Any:
    """A Summary of a histogram."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    word = scalar_tag(tag)
    summary = Summary()
    summary.value.add(tag=word, histo=histogram_of(values))
    return serialized(summary)
