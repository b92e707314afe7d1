"""Fourier transforms of real signals, and shifts of spectra; complex ones are in `generated`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.api.ops.array_ops import concat, gather, pad, roll, stack, unstack, where
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.shape_ops import rank, shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import less, maximum
from sessrun.reference.build.get_static_value import seen_shape
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["irfft", "irfft2d", "rfft", "rfft2d"]


def _full_length(value: Tensor, axes: int, *, is_half: bool) -> Tensor:
    """The lengths of the real signal, from the signal or from the half of its spectrum."""
    sizes = value.shape[-axes:] if value.shape.rank is not None else None
    if sizes is None or not sizes.is_fully_defined():
        dynamic_lengths = shape(value)[-axes:]
        if not is_half:
            return dynamic_lengths
        parts = unstack(dynamic_lengths)
        parts[-1] = maximum(0, 2 * (parts[-1] - 1))
        return stack(parts)
    lengths: list[Any] = sizes.as_list()
    if is_half and lengths:
        lengths[-1] = max(0, 2 * (lengths[-1] - 1))
    return convert_to_tensor(lengths, dtypes.int32)


def _padded(value: Tensor, axes: int, length: Tensor, *, is_half: bool) -> Tensor:
    """The tensor, padded with zeros at the end to the given lengths."""
    wanted = seen_shape(length)
    sizes: Any = value.shape
    if sizes.rank is not None and 0 in sizes.as_list():
        return value
    if wanted.is_fully_defined() and sizes.rank is not None:
        sides = sizes[-len(wanted) :]
        if sides.is_fully_defined():
            lengths: list[Any] = wanted.as_list()
            if is_half:
                lengths[-1] = lengths[-1] // 2 + 1
            more = [
                [0, max(size - side, 0)]
                for size, side in zip(lengths, sides.as_list(), strict=False)
            ]
            if not any(after for _, after in more):
                return value
            return pad(value, [[0, 0]] * max(sizes.rank - len(wanted), 0) + more)
    count = rank(value)
    sides = shape(value)[-axes:]
    before = zeros([maximum(0, count - axes)], length.dtype)
    if is_half:
        length = concat([length[:-1], length[-1:] // 2 + 1], 0)
    after = concat([before, maximum(0, length - sides)], 0)
    return pad(value, stack([zeros_like(after), after], axis=1))


def _real_transform(op_type: str, axes: int, *, is_inverse: bool) -> Callable[..., Tensor]:
    name_ = op_type.lower()
    wanted = (
        (dtypes.complex64, dtypes.complex128) if is_inverse else (dtypes.float32, dtypes.float64)
    )

    def transform(
        input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
    ) -> Tensor:
        with name_scope(name, name_, [input_tensor, fft_length]) as scope:
            value = convert_to_tensor(input_tensor, preferred_dtype=wanted[0])
            if is_inverse:
                value.shape.with_rank_at_least(axes)
            if value.dtype not in wanted:
                kinds = " or ".join(f"tf.{dtype.name}" for dtype in wanted)
                raise bad_value(
                    f"{op_type[:-2] if axes > 1 else op_type} requires {kinds} inputs, got: {value}"
                )
            value.shape.with_rank_at_least(axes)
            if fft_length is None:
                length = _full_length(value, axes, is_half=is_inverse)
            else:
                length = convert_to_tensor(fft_length, dtypes.int32)
            value = _padded(value, axes, length, is_half=is_inverse)
            known = constant_value(length)
            is_single = value.dtype in {dtypes.float32, dtypes.complex64}
            if is_inverse:
                attrs = {"Treal": dtypes.float32 if is_single else dtypes.float64}
            else:
                attrs = {"Tcomplex": dtypes.complex64 if is_single else dtypes.complex128}
            inputs = {"input": value, "fft_length": length if known is None else known}
            return apply_op(op_type, inputs, attrs, scope).outputs[0]

    transform.__name__ = transform.__qualname__ = name_
    transform.__doc__ = f"""The operation {op_type}.

    Args:
      input_tensor: {"complex numbers" if is_inverse else "real numbers"}, of rank {axes} or more.
      fft_length: the {axes} lengths of the real signal, by default those of the input, which is
        cropped or padded with zeros.
      name: the operations' scope.

    Raises:
      ValueError: the dtype is not supported, or the rank is too low.

    """
    return transform


rfft: Final = _real_transform("RFFT", 1, is_inverse=False)
rfft2d: Final = _real_transform("RFFT2D", 2, is_inverse=False)
rfft3d: Final = _real_transform("RFFT3D", 3, is_inverse=False)
irfft: Final = _real_transform("IRFFT", 1, is_inverse=True)
irfft2d: Final = _real_transform("IRFFT2D", 2, is_inverse=True)
irfft3d: Final = _real_transform("IRFFT3D", 3, is_inverse=True)


def _halves(x: Tensor, axes: TensorLike | None) -> tuple[TensorLike, Tensor]:
    """The axes, and half of the size of each."""
    if axes is None:
        return tuple(range(x.shape.ndims or 0)), shape(x) // 2
    if isinstance(axes, int):
        return axes, shape(x)[axes] // 2
    count = rank(x)
    axes = where(less(axes, 0), axes + count, axes)
    return axes, gather(shape(x), axes) // 2


@public("signal.fftshift")
def fftshift(x: TensorLike, axes: TensorLike | None = None, name: str | None = None) -> Tensor:
    """Move frequency 0 of a spectrum to the middle.

    Args:
      x: a tensor.
      axes: the axes to shift, by default all.
      name: the operations' scope.

    """
    with name_scope(name, "fftshift") as scope:
        value = convert_to_tensor(x)
        axes, halves = _halves(value, axes)
        return roll(value, halves, axes, scope)


@public("signal.ifftshift")
def ifftshift(x: TensorLike, axes: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`; the arguments are the same."""
    with name_scope(name, "ifftshift") as scope:
        value = convert_to_tensor(x)
        axes, halves = _halves(value, axes)
        return roll(value, -halves, axes, scope)


_REAL: Final = (rfft, rfft2d, rfft3d, irfft, irfft2d, irfft3d)


public("signal.rfft", "spectral.rfft")(rfft)
public("signal.rfft2d", "spectral.rfft2d")(rfft2d)
public("signal.rfft3d", "spectral.rfft3d")(rfft3d)
public("signal.irfft", "spectral.irfft")(irfft)
public("signal.irfft2d", "spectral.irfft2d")(irfft2d)
public("signal.irfft3d", "spectral.irfft3d")(irfft3d)
