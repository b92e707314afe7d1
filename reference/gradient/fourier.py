"""Gradients of Fourier transforms. Source: TF 2.21, whose nodes and order these are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.reference.api.ops.array_ops import concat, expand_dims, reshape, transpose
from sessrun.reference.api.ops.cast_ops import cast, conj, real
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.fourier_ops import irfft, irfft2d, rfft, rfft2d
from sessrun.reference.api.ops.math_ops import matmul, range_
from sessrun.reference.api.ops.reduce_ops import reduce_prod
from sessrun.reference.api.ops.shape_ops import rank as rank_of
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build import generated as functions
from sessrun.reference.build.generated import exp, reciprocal, tile
from sessrun.reference.build.gradient_nodes import gradient
from sessrun.reference.build.gradient_registry import GradientFunction, Gradients
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


def _count(grad: Tensor, rank: int) -> Tensor:
    """The number of elements of one transform."""
    return reduce_prod(shape(grad)[-rank:])


def _of_transform(inverse: Callable[[Tensor], Tensor], rank: int) -> GradientFunction:
    def function(_: Operation, grad: Tensor) -> Gradients:
        size = cast(_count(grad, rank), grad.dtype)
        return inverse(grad) * size

    return function


def _of_inverse(transform: Callable[[Tensor], Tensor], rank: int) -> GradientFunction:
    def function(_: Operation, grad: Tensor) -> Gradients:
        share = cast(1.0 / cast(_count(grad, rank), grad.dtype.real_dtype), grad.dtype)
        return transform(grad) * share

    return function


for _rank, _suffix in enumerate(("", "2_d", "3_d"), start=1):
    _forward = getattr(functions, f"fft{_suffix}")
    _backward = getattr(functions, f"ifft{_suffix}")
    _mark = _suffix.replace("_", "").upper()
    gradient(f"FFT{_mark}")(_of_transform(_backward, _rank))
    gradient(f"IFFT{_mark}")(_of_inverse(_forward, _rank))


def _signs(length: Tensor, dtype: DType) -> Tensor:
    """1, -1, 1, -1 and so on."""
    return cast(1 - 2 * (range_(length) % 2), dtype)


def _powers(length: Tensor, dtype: DType) -> Tensor:
    """The matrix of a Fourier transform of that length."""
    columns = tile(expand_dims(range_(length), 0), (length, 1))
    rows = transpose(columns, [1, 0])
    return exp(-2j * np.pi * cast(columns * rows, dtype) / cast(length, dtype))


def _repeated(matrix: Tensor, like: Tensor) -> Tensor:
    """A matrix repeated for a batch as that of `like`."""
    before = ones([rank_of(like) - 2], dtypes.int32)
    spread = reshape(matrix, concat([before, shape(matrix)], 0))
    return tile(spread, concat([shape(like)[:-2], [1, 1]], 0))


def _ends_of_one(grad: Tensor, sizes: Tensor, is_even: Tensor) -> Tensor:
    """The share of the first and, if the length is even, the last element: each counts once."""
    first = grad[..., 0:1]
    last = grad[..., -1:]
    return first + is_even * last * _signs(sizes[-1], grad.dtype)


def _ends_of_two(grad: Tensor, sizes: Tensor, is_even: Tensor) -> Tensor:
    """The share of the first and, if the width is even, the last column: each counts once."""
    first = grad[..., 0:1]
    powers = _repeated(_powers(sizes[-2], grad.dtype), first)
    total = matmul(powers, conj(first))
    last = grad[..., -1:]
    others = matmul(powers, conj(last))
    width = sizes[-1]
    counts = concat([ones([rank_of(grad) - 1], dtypes.int32), [width]], 0)
    others = tile(others, counts) * _signs(width, grad.dtype)
    return total + is_even * others


def _of_real(
    rank: int, ends: Callable[..., Tensor], inverse: Callable[..., Tensor]
) -> GradientFunction:
    def function(op: Operation, grad: Tensor) -> Gradients:
        length = op.inputs[1]
        sizes = shape(op.inputs[0])
        is_even = cast(1 - length[-1] % 2, grad.dtype)
        more = ends(grad, sizes, is_even)
        count = cast(_count(op.inputs[0], rank), grad.dtype.real_dtype)
        transformed = inverse(grad, length)
        return 0.5 * (transformed * count + real(more)), None

    return function


gradient("RFFT")(_of_real(1, _ends_of_one, irfft))
gradient("RFFT2D")(_of_real(2, _ends_of_two, irfft2d))


def _of_real_inverse(rank: int, transform: Callable[..., Tensor]) -> GradientFunction:
    def function(op: Operation, grad: Tensor) -> Gradients:
        known = constant_value(op.inputs[1])
        length = op.inputs[1] if known is None else known
        dtype = dtypes.complex64 if grad.dtype == dtypes.float32 else dtypes.complex128
        is_odd = functions.floor_mod(length[-1], 2, name="mod")
        width = shape(op.inputs[0])[-1]
        # Each element but the first, and the last of an even length, counts twice.
        middle = 2.0 * ones([width - 2 + is_odd], grad.dtype)
        mask = concat([[1.0], middle, ones([1 - is_odd], grad.dtype)], 0)
        share = reciprocal(cast(_count(grad, rank), grad.dtype))
        transformed = transform(grad, length)
        return transformed * cast(share * mask, dtype), None

    return function


gradient("IRFFT")(_of_real_inverse(1, rfft))
gradient("IRFFT2D")(_of_real_inverse(2, rfft2d))
