"""Where a window lies: which elements of images its elements meet at each of its places."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sessrun.spec.definitions.base import Array

__all__ = ["Window", "channels_first", "channels_last"]


def channels_last(x: Array, data_format: str) -> Array:
    """The images with channels behind, whatever the format."""
    return np.moveaxis(x, 1, -1) if data_format.startswith("NC") else x


def channels_first(x: Array, data_format: str) -> Array:
    """Images with channels behind, in the format."""
    return np.moveaxis(x, -1, 1) if data_format.startswith("NC") else x


@dataclass(frozen=True, slots=True)
class Window:
    """A window over the spatial dimensions of images, channels last.

    With SAME padding it has a place for each `stride` elements, begun or complete; what is missing
    is added on both sides, the odd one behind. With VALID it lies within; with EXPLICIT
    within what is there with `pads` added.

    Attributes:
      sizes: of the images.
      window: how many elements it has along each dimension.
      strides: how far it moves.
      rates: how far its elements are apart.
      padding: SAME, VALID or EXPLICIT.
      pads: what is added before and behind along each dimension, with EXPLICIT.

    """

    sizes: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    rates: tuple[int, ...]
    padding: str
    pads: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls,
        sizes: Sequence[int],
        window: Sequence[int],
        strides: Sequence[int],
        padding: str,
        *,
        rates: Sequence[int] = (),
        pads: Sequence[int] = (),
        data_format: str = "NHWC",
    ) -> Window:
        """A window of attributes that have a number for batch and channels, too.

        Args:
          sizes: of the images, spatial ones alone.
          window: the window's, likewise.
          strides: as the attribute.
          padding: as the attribute.
          rates: as the attribute `dilations`; 1 if empty.
          pads: as the attribute `explicit_paddings`.
          data_format: says where the channels are.

        """
        rank = len(sizes)
        inner = slice(2, 2 + rank) if data_format.startswith("NC") else slice(1, 1 + rank)
        pairs = (
            list(zip(pads[::2], pads[1::2], strict=True))[inner] if padding == "EXPLICIT" else []
        )
        return cls(
            tuple(map(int, sizes)),
            tuple(map(int, window)),
            tuple(map(int, strides[inner])),
            tuple(map(int, rates[inner])) or (1,) * rank,
            padding,
            tuple(pairs),
        )

    def _before(self, axis: int) -> int:
        if self.padding == "EXPLICIT":
            return int(self.pads[axis][0])
        if self.padding == "VALID":
            return 0
        extent = (self.window[axis] - 1) * self.rates[axis] + 1
        missing = (self.out[axis] - 1) * self.strides[axis] + extent - self.sizes[axis]
        return max(missing, 0) // 2

    @property
    def out(self) -> tuple[int, ...]:
        """How many places there are along each dimension."""
        counts = []
        for axis, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            extent = (self.window[axis] - 1) * self.rates[axis] + 1
            added = sum(self.pads[axis]) if self.padding == "EXPLICIT" else 0
            room = size if self.padding == "SAME" else size + added - extent + 1
            counts.append(max(math.ceil(room / stride), 0))
        return tuple(counts)

    def met(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
        """(place of the window, element of it, element of the image) but for what is padding."""
        before = [self._before(axis) for axis in range(len(self.sizes))]
        for position in product(*map(range, self.out)):
            for element in product(*map(range, self.window)):
                at = tuple(
                    p * s - b + e * r
                    for p, s, b, e, r in zip(
                        position, self.strides, before, element, self.rates, strict=True
                    )
                )
                if all(0 <= i < size for i, size in zip(at, self.sizes, strict=True)):
                    yield position, element, at
