"""Kernels of Fourier transforms over the last one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import ints
from sessrun.reference.kernels.registry import kernel


def _check_rank(x: Array, rank: int) -> None:
    if x.ndim < rank:
        raise InvalidArgument(f"Input must have rank of at least {rank} but got: {list(x.shape)}")


def _register(op_type: str, name: str, rank: int) -> None:
    @kernel(op_type)
    def transform(xp: ArrayModule, x: Array) -> Array:
        _check_rank(x, rank)
        if not x.size:
            return x
        function: Callable[..., Array] = getattr(xp.fft, name)
        return function(x, axes=tuple(range(-rank, 0))).astype(x.dtype)


for _rank, _suffix in enumerate(("", "2D", "3D"), start=1):
    _register(f"FFT{_suffix}", "fftn", _rank)
    _register(f"IFFT{_suffix}", "ifftn", _rank)


def _lengths(x: Array, fft_length: Array, rank: int) -> list[int]:
    """The lengths of the real signal in the transformed dimensions.

    Raises:
      KernelError: their number is not the rank, or one is negative.

    """
    _check_rank(x, rank)
    lengths = ints(fft_length)
    if fft_length.ndim != 1 or len(lengths) != rank:
        raise InvalidArgument(f"fft_length must have shape [{rank}]")
    if min(lengths) < 0:
        raise InvalidArgument(f"fft_length must be >= 0, but got: {lengths}")
    return lengths


def _cropped(x: Array, sides: list[int]) -> Array:
    """The first elements of the last dimensions.

    Raises:
      KernelError: a dimension is shorter.

    """
    first = x.ndim - len(sides)
    for axis, wanted in enumerate(sides, start=first):
        size = x.shape[axis]
        # An empty dimension counts as one of zeros.
        if x.size and size < wanted:
            raise InvalidArgument(
                f"Input dimension {axis} must have length of at least {wanted} but got: {size}"
            )
    return x[(..., *map(slice, sides))]


def _register_real(op_type: str, rank: int) -> None:
    @kernel(op_type, host_inputs=("fft_length",))
    def transform(xp: ArrayModule, x: Array, fft_length: Array) -> Array:
        lengths = _lengths(x, fft_length, rank)
        dtype = "complex64" if x.dtype == "float32" else "complex128"
        part = _cropped(x, lengths)
        half = lengths[-1] // 2 + 1 if lengths[-1] else 0
        shape = (*x.shape[: x.ndim - rank], *lengths[:-1], half)
        if not part.size:
            return xp.zeros(shape, dtype=dtype)
        return xp.fft.rfftn(part, axes=tuple(range(-rank, 0))).astype(dtype)


def _register_inverse(op_type: str, rank: int) -> None:
    @kernel(op_type, host_inputs=("fft_length",))
    def transform(xp: ArrayModule, x: Array, fft_length: Array) -> Array:
        lengths = _lengths(x, fft_length, rank)
        dtype = "float32" if x.dtype == "complex64" else "float64"
        part = _cropped(x, [*lengths[:-1], lengths[-1] // 2 + 1])
        shape = (*x.shape[: x.ndim - rank], *lengths)
        if not part.size or not all(lengths):
            return xp.zeros(shape, dtype=dtype)
        return xp.fft.irfftn(part, lengths, axes=tuple(range(-rank, 0))).astype(dtype)


for _rank, _suffix in enumerate(("", "2D", "3D"), start=1):
    _register_real(f"RFFT{_suffix}", _rank)
    _register_inverse(f"IRFFT{_suffix}", _rank)
