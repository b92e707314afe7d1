"""Initializers of unit and orthogonal matrices, and of orthogonal kernels of convolutions.

A convolution with such a kernel keeps the norm of its input where the input is padded as a ring.
Source: TF 2.21; Xiao et al., "Dynamical Isometry and a Mean Field Theory of CNNs".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from sessrun.reference.api.ops import random_ops
from sessrun.reference.api.ops.array_ops import expand_dims, slice_, stack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.ops.linalg_ops import matrix_transpose
from sessrun.reference.api.ops.math_ops import matmul
from sessrun.reference.api.ops.matrix_diagonals import eye
from sessrun.reference.api.variables.init_ops import Initializer, Seeded, float_dtype
from sessrun.reference.api.variables.partition_layout import PartitionInfo
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.generated import diag_part, mul, reshape, scatter_nd, sign
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "ConvolutionDeltaOrthogonal",
    "ConvolutionOrthogonal",
    "ConvolutionOrthogonal1D",
    "ConvolutionOrthogonal2D",
    "ConvolutionOrthogonal3D",
    "Identity",
    "Orthogonal",
]

#: A kernel under construction: matrices by their spatial positions.
Blocks = dict[tuple[int, ...], Tensor]


@public("initializers.identity")
class Identity(Initializer):
    """Ones on the main diagonal of a matrix, times a gain."""

    _options = ("gain",)

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = dtypes.float32) -> None:
        super().__init__(float_dtype(dtype))
        self.gain = gain

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        """The matrix, or the part of the matrix that `partition_info` describes.

        Raises:
          ValueError: the full shape has not two dimensions.

        """
        full_shape = shape if partition_info is None else partition_info.full_shape
        if len(full_shape) != 2:
            raise bad_value(f"The tensor to initialize must be a matrix. Received shape={shape}")
        rows, columns = (int(size) for size in full_shape)
        matrix = eye(rows, columns, dtype=self.dtype if dtype is None else dtype)
        if partition_info is not None:
            matrix = slice_(matrix, partition_info.var_offset, shape)
        return self.gain * matrix


class _Gained(Seeded):
    """An initializer of orthogonal matrices, times a gain.

    Args:
      gain: what all is multiplied by.
      seed: the seed of the random numbers.
      dtype: the default dtype, a float.

    Raises:
      ValueError: the dtype is not a float.

    """

    _options = ("gain", "seed")

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        super().__init__(seed, float_dtype(dtype))
        self.gain = gain


def _orthogonal(matrix: Tensor, *, full: bool | None = None) -> Tensor:
    """A random orthogonal matrix, uniformly distributed."""
    attrs = {} if full is None else {"full_matrices": full}
    q, r = apply_op("Qr", {"input": matrix}, attrs).outputs
    return q * sign(diag_part(r))


@public("initializers.orthogonal", "orthogonal_initializer")
class Orthogonal(_Gained):
    """A matrix with orthogonal rows or columns, the fewer; more dimensions stand for the rows."""

    def _value(self, shape: Any, dtype: DType) -> Tensor:
        if len(shape) < 2:
            raise bad_value(
                f"The tensor to initialize must be at least two-dimensional. Received shape={shape}"
            )
        sizes = [int(size) for size in shape]
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        flat = (max(rows, columns), min(rows, columns))
        q = _orthogonal(random_ops.random_normal(flat, dtype=dtype, seed=self.seed), full=False)
        if rows < columns:
            q = matrix_transpose(q)
        return self.gain * reshape(q, shape)


def _check_kernel(shape: Sequence[int], ranks: Sequence[int]) -> None:
    if len(shape) not in ranks:
        raise bad_value(
            "The tensor to initialize must be "
            f"{'- or '.join(map(str, ranks))}-dimensional. Received shape={shape}"
        )
    if shape[-2] > shape[-1]:
        raise bad_value(
            f"In_filters, specified by shape[-2]={shape[-2]} cannot be greater than out_filters, "
            f"specified by shape[-1]={shape[-1]}."
        )


class ConvolutionDeltaOrthogonal(_Gained):
    """A kernel with an orthogonal matrix in its middle and zeros elsewhere."""

    def _value(self, shape: Any, dtype: DType) -> Tensor:
        _check_kernel(shape, (3, 4, 5))
        filters = shape[-1]
        drawn = random_ops.random_normal([filters, filters], dtype=dtype, seed=self.seed)
        q = _orthogonal(drawn, full=False)[: shape[-2], :]
        q *= cast(self.gain, dtype)
        middle = [(size - 1) // 2 for size in shape[:-2]]
        return scatter_nd([middle], expand_dims(q, 0), shape)


class ConvolutionOrthogonal(_Gained):
    """The base of kernels that are orthogonal as convolutions, of some number of dimensions."""

    _rank = 0

    def _value(self, shape: Any, dtype: DType) -> Tensor:
        if not self._rank:
            raise NotImplementedError
        _check_kernel(shape, (self._rank + 2,))
        if len(set(shape[:-2])) > 1:
            raise bad_value(f"Kernel sizes {list(shape[:-2])} must be equal.")
        return self._kernel(shape[0], shape[-2], shape[-1]) * cast(self.gain, dtype)

    def _next_seed(self) -> None:
        if self.seed:
            self.seed += 1

    def _matrix(self, size: int) -> Tensor:
        drawn = random_ops.random_normal([size, size], dtype=self.dtype, seed=self.seed)
        self._next_seed()
        return _orthogonal(drawn)

    def _projection(self, size: int) -> Tensor:
        """A random symmetric projection: some of the directions of an orthogonal matrix."""
        q = self._matrix(size)
        chosen = cast(random_ops.random_normal([size], seed=self.seed) > 0, self.dtype)
        self._next_seed()
        kept = mul(q, chosen)
        return matmul(kept, matrix_transpose(kept))

    def _kernel(self, size: int, inputs: int, outputs: int) -> Tensor:
        first = self._matrix(outputs)[0:inputs, :]
        if size == 1:
            for _ in range(self._rank):
                first = expand_dims(first, 0)
            return first
        blocks = self._block([self._projection(outputs) for _ in range(self._rank)])
        for _ in range(size - 2):
            more = self._block([self._projection(outputs) for _ in range(self._rank)])
            blocks = self._convolved(blocks, more, outputs)
        return self._joined(
            {position: matmul(first, block) for position, block in blocks.items()}, size
        )

    def _block(self, projections: Sequence[Tensor]) -> Blocks:
        """A kernel of size 2: products of the projections or their complements."""
        unit = eye(projections[0].shape.as_list()[0], dtype=self.dtype)
        blocks: Blocks = {}
        for position in itertools.product(range(2), repeat=self._rank):
            factors = [self._side(at, p, unit) for at, p in zip(position, projections, strict=True)]
            block = factors[0]
            for factor in factors[1:]:
                block = matmul(block, factor)
            blocks[position] = block
        return blocks

    def _side(self, at: int, projection: Tensor, unit: Tensor) -> Tensor:
        return unit - projection if at else projection

    def _convolved(self, one: Blocks, other: Blocks, filters: int) -> Blocks:
        """The kernel whose convolution equals those with two kernels, one after the other."""
        sizes = [max(map(max, blocks)) + 1 for blocks in (one, other)]
        products: Blocks = {}
        for position in itertools.product(range(sum(sizes) - 1), repeat=self._rank):
            total = zeros([filters, filters], self.dtype)
            reach = [range(min(sizes[0], at + 1)) for at in position]
            for first in itertools.product(*reach):
                second = tuple(at - begin for at, begin in zip(position, first, strict=True))
                if max(second) < sizes[1]:
                    total += matmul(one[first], other[second])
            products[position] = total
        return products

    def _joined(self, blocks: Blocks, size: int, before: tuple[int, ...] = ()) -> Tensor:
        """The blocks as one tensor."""
        if len(before) == self._rank:
            return blocks[before]
        return stack([self._joined(blocks, size, (*before, at)) for at in range(size)])


class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    """A kernel [size, inputs, outputs]."""

    _rank = 1


class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    """A kernel [size, size, inputs, outputs]."""

    _rank = 2


class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    """A kernel [size, size, size, inputs, outputs]."""

    _rank = 3

    def _side(self, at: int, projection: Tensor, unit: Tensor) -> Tensor:
        return at * projection + (1 - at) * (unit - projection)
