"""The kernel of histogram summaries: counts of values in buckets with TensorFlow's limits.

The limits are powers of 1.1 times 1e-12 up to 1e20,
their negatives, and the least and the greatest float64.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.summaries import scalar_tag, serialized

if TYPE_CHECKING:
    from sessrun.spec.proto.summary_pb2 import HistogramProto

__all__ = ["bucket_limits", "histogram_of"]

_CPU: Final = ("CPU",)
_FIRST: Final = 1e-12
_LAST: Final = 1e20
_RATIO: Final = 1.1


@functools.cache
def bucket_limits() -> Array:
    """The upper limits of the buckets, exclusive, in ascending order."""
    above = []
    limit = _FIRST
    while limit < _LAST:
        above.append(limit)
        limit *= _RATIO
    above.append(float(HOST.finfo("float64").max))
    limits = HOST.array([*(-limit_above for limit_above in reversed(above)), 0.0, *above])
    limits.flags.writeable = False
    return limits


def histogram_of(values: Array) -> HistogramProto:
    """The HistogramProto of finite numbers; a run of empty buckets is merged into one.

    Args:
      values: an array of numbers.

    Raises:
      KernelError: a number is not finite.

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
    # The greatest float64 is counted in the last bucket, although its limit is exclusive.
    buckets = HOST.minimum(HOST.searchsorted(limits, numbers, side="right"), len(limits) - 1)
    counts = HOST.bincount(buckets, minlength=len(limits))
    # Of a run of empty buckets only the last is kept.
    is_kept = counts > 0
    is_kept[:-1] |= counts[1:] > 0
    is_kept[-1] = True
    with HOST.errstate(over="ignore"):
        # Added one after the other, so that the sums equal those of a loop to the last bit.
        total, squares = (
            float(HOST.cumsum(HOST.concatenate(([0.0], summands)))[-1])
            for summands in (numbers, numbers * numbers)
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
def histogram_summary(_: ArrayModule, tag: Array, values: Array) -> Array:
    """A Summary of a histogram."""
    from sessrun.spec.proto.summary_pb2 import Summary  # noqa: PLC0415 - as above

    word = scalar_tag(tag)
    summary = Summary()
    summary.value.add(tag=word, histo=histogram_of(values))
    return serialized(summary)
