"""Windows that slide along dimensions: how many places they have, and what is padded.

Convolutions, poolings and their kin share this arithmetic; shape rules, value domains and kernels
ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Axis", "axes", "channel_axis", "spatial_axes", "stretched"]


def stretched(window: int, dilation: int) -> int:
    """The extent of a window whose elements are `dilation` apart."""
    return (window - 1) * dilation + 1


def channel_axis(data_format: str, rank: int) -> int:
    """The axis of the channels: 1 of `NCHW` and the like, else the last."""
    return 1 if data_format.startswith("NC") else rank - 1


def spatial_axes(data_format: str, rank: int) -> range:
    """The axes that windows slide along."""
    return range(2, rank) if data_format.startswith("NC") else range(1, rank - 1)


@dataclass(frozen=True, slots=True)
class Axis:
    """A window along one dimension.

    Attributes:
      size: the dimension's size.
      window: how many elements the window has.
      stride: how far it moves.
      dilation: how far its elements are apart.
      before: how many elements are added before the first.
      after: and behind the last; it may be negative where the last ones are not reached.
      out: how many places the window has; negative if it is far too large.

    """

    size: int
    window: int
    stride: int
    dilation: int
    before: int
    after: int
    out: int

    def within(self, offset: int) -> tuple[slice, slice]:
        """The places at which the window's element `offset` is not padding, and these elements.

        Both slices have the same length; it is 0 if there is none.
        """
        shift = offset * self.dilation - self.before
        low = max(-(shift // self.stride), 0)
        high = min((self.size - 1 - shift) // self.stride + 1, self.out)
        if high <= low:
            return slice(0, 0), slice(0, 0)
        start = low * self.stride + shift
        return slice(low, high), slice(
            start, start + (high - low - 1) * self.stride + 1, self.stride
        )


def axes(
    sizes: Sequence[int],
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    pads: Sequence[tuple[int, int]] = (),
) -> tuple[Axis, ...]:
    """The window along each dimension.

    Args:
      sizes: the dimensions' sizes.
      windows: the window's.
      strides: how far it moves along each.
      dilations: how far its elements are apart.
      padding: `SAME`, `VALID` or `EXPLICIT`.
      pads: for `EXPLICIT`, what is added before and behind.

    """
    explicit = pads if padding == "EXPLICIT" else [(0, 0)] * len(sizes)
    along = []
    for size, window, stride, dilation, (before, after) in zip(
        sizes, windows, strides, dilations, explicit, strict=True
    ):
        extent = stretched(window, dilation)
        if padding == "SAME":
            out = -(-size // stride)
            missing = max((out - 1) * stride + extent - size, 0)
            begin, end = missing // 2, missing - missing // 2
        else:
            # As in C, which rounds towards zero: slightly too large a window has no place.
            out = int((size + before + after - extent + stride) / stride)
            begin, end = before, after
        along.append(Axis(size, window, stride, dilation, begin, end, out))
    return tuple(along)
