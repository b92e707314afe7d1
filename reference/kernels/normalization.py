"""Kernels of batch normalization and of its gradients.

The first one, which takes the moments, is in graphs up to version 8; later ones compose the same.
"""

from __future__ import annotations

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.kernels.input_shapes import require_rank, require_same_shape
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel


def _float(attr: float) -> Array:
    """An attribute as the float32 that a GraphDef holds."""
    number: Array = dtype_of("float32").type(attr)
    return number


class _BatchNorm:
    """The attributes of a batch normalization or its gradient."""

    def __init__(self, bind: Bind) -> None:
        self.xp, self.name = bind.xp, bind.node.type
        self.first = bind.attrs["data_format"].startswith("NC")
        self.training = bind.attrs["is_training"]
        self.epsilon = _float(bind.attrs["epsilon"])
        self.dtype = dtype_of(bind.attrs["T"])
        self.extra = self.name == "FusedBatchNormV3"

    def rows(self, x: Array) -> Array:
        """The batch as a float32 matrix [elements, channels]."""
        if x.ndim not in ({4, 5} if self.name.endswith("V3") else {4}):
            raise InvalidArgument(f"{self.name}: input must be 4-dimensional: {x.shape}")
        last = x.transpose((0, *range(2, x.ndim), 1)) if self.first else x
        return last.reshape(-1, last.shape[-1]).astype("float32", copy=False)

    def back(self, rows: Array, shape: tuple[int, ...]) -> Array:
        """The rows in the batch's shape and dtype."""
        if self.first:
            last = rows.reshape(shape[0], *shape[2:], shape[1])
            rows = last.transpose((0, last.ndim - 1, *range(1, last.ndim - 1)))
        return rows.reshape(shape).astype(self.dtype, copy=False)

    def check(self, channels: int, **vectors: Array) -> None:
        """Check that these are vectors with an element for each channel.

        Raises:
          KernelError: an array is not such a vector.

        """
        for name, vector in vectors.items():
            if vector.ndim != 1 or vector.shape[0] != channels:
                raise InvalidArgument(
                    f"{name} must have the same number of elements as the "
                    f"channels of x, got {vector.shape} and {channels}"
                )


def _mean(xp: ArrayModule, rows: Array) -> Array:
    """The mean of each column, summed by blocks of rows first to keep rounding errors small."""
    count, channels = rows.shape
    block = 64
    in_blocks = count // block * block
    total = xp.add.reduce(rows[in_blocks:], axis=0)
    if in_blocks:
        parts = xp.add.reduce(rows[:in_blocks].reshape(-1, block, channels), axis=1)
        total = total + xp.add.reduce(parts, axis=0)
    return total / _float(max(count, 1))


@binder("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def batch_norm(bind: Bind) -> KernelFunction:
    """Each channel normalized to mean 0 and variance 1, scaled and shifted; mean and variance.

    The variance output is that of a sample (over n - 1); normalization divides by that over n.
    """
    norm, factor = _BatchNorm(bind), _float(bind.attrs["exponential_avg_factor"])

    def compute(
        x: Array, scale: Array, offset: Array, mean: Array, variance: Array
    ) -> tuple[Array, ...]:
        xp, rows = norm.xp, norm.rows(x)
        channels = rows.shape[1]
        norm.check(channels, scale=scale, offset=offset)
        if not norm.training or factor != 1:
            norm.check(channels, mean=mean, variance=variance)
        rest = (xp.zeros((), scale.dtype),) if norm.extra else ()
        if not norm.training:
            factors = scale / xp.sqrt(variance + norm.epsilon)
            y = norm.back((rows - mean) * factors + offset, x.shape)
            return y, mean, variance, mean, variance, *rest
        if not len(rows):
            return _empty(xp, norm, x, mean, variance, factor, scale, rest)
        centre = _mean(xp, rows)
        moved = rows - centre
        spread = _mean(xp, moved * moved)
        factors = scale / xp.sqrt(spread + norm.epsilon)
        y = norm.back(moved * factors + offset, x.shape)
        sample = spread * _float(len(rows) / max(len(rows) - 1, 1))
        if factor == 1:
            return y, centre, sample, centre, spread, *rest
        new = [
            (1 - factor) * old + factor * seen for old, seen in ((mean, centre), (variance, sample))
        ]
        return y, *new, centre, spread, *rest

    return compute


def _empty(
    xp: ArrayModule,
    norm: _BatchNorm,
    x: Array,
    mean: Array,
    variance: Array,
    factor: Array,
    scale: Array,
    rest: tuple[Array, ...],
) -> tuple[Array, ...]:
    """The outputs of an empty batch: NaN for mean and variance, or the old ones."""
    kept = factor != 1
    nothing = xp.full(scale.shape, xp.nan, scale.dtype)
    old = (mean, variance) if kept else (nothing, nothing)
    zeros = xp.zeros(scale.shape, scale.dtype)
    return xp.zeros(x.shape, norm.dtype), *old, zeros, zeros, *rest


@binder("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def batch_norm_grad(bind: Bind) -> KernelFunction:
    """The gradients of a batch normalization by input, scale and offset."""
    norm = _BatchNorm(bind)

    def compute(
        dy: Array, x: Array, scale: Array, mean: Array, variance: Array, *_: object
    ) -> tuple[Array, Array, Array, Array, Array]:
        require_same_shape(dy=dy, x=x)
        xp, rows, above = norm.xp, norm.rows(x), norm.rows(dy)
        channels = rows.shape[1]
        norm.check(channels, scale=scale, reserve_space_1=mean, reserve_space_2=variance)
        nothing = xp.zeros(0, scale.dtype)
        inverse = 1 / xp.sqrt(variance + norm.epsilon)
        moved = rows - mean
        count = _float(max(len(rows), 1))
        by_offset = _mean(xp, above) * count
        by_factor = _mean(xp, above * moved) * count
        by_scale = by_factor * inverse
        dx = above * (scale * inverse)
        if norm.training:
            dx = (scale * inverse) * (
                above - by_offset / count - moved * (inverse * inverse * by_factor / count)
            )
        return norm.back(dx, x.shape), by_scale, by_offset, nothing, nothing

    return compute


def _check(t: Array, vectors: dict[str, Array]) -> None:
    require_rank(4, t=t)
    for name, vector in vectors.items():
        if vector.shape != t.shape[3:]:
            raise InvalidArgument(
                f"{name} must have one element for each channel: {vector.shape}, {t.shape}"
            )


@kernel("BatchNormWithGlobalNormalization")
@widened
def normalized(
    xp: ArrayModule,
    t: Array,
    m: Array,
    v: Array,
    beta: Array,
    gamma: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Array:
    """(t - m) / sqrt(v + epsilon), scaled by gamma if the attribute says so, plus beta."""
    _check(t, {"mean": m, "var": v, "beta": beta, "gamma": gamma})
    scale = 1 / xp.sqrt(v + v.dtype.type(variance_epsilon))
    if scale_after_normalization:
        scale = scale * gamma
    return (t - m) * scale + beta


@kernel("BatchNormWithGlobalNormalizationGrad")
def normalized_grad(
    xp: ArrayModule,
    t: Array,
    m: Array,
    v: Array,
    gamma: Array,
    backprop: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> tuple[Array, ...]:
    """The gradients by all inputs; that by gamma is 0 unless it scales."""
    _check(t, {"mean": m, "var": v, "gamma": gamma})
    require_same_shape(backprop=backprop, t=t)
    dtype, wide = t.dtype, "float32" if t.dtype.itemsize == 2 else t.dtype
    t, m, v, gamma, backprop = (
        operand.astype(wide, copy=False) for operand in (t, m, v, gamma, backprop)
    )
    scale = 1 / xp.sqrt(v + v.dtype.type(variance_epsilon))
    apart = xp.add.reduce(backprop * (t - m), axis=(0, 1, 2))
    by_beta = xp.add.reduce(backprop, axis=(0, 1, 2))
    slope = scale * gamma if scale_after_normalization else scale
    by_variance = apart * slope * scale * scale * v.dtype.type(-0.5)
    by_gamma = apart * scale if scale_after_normalization else xp.zeros_like(apart)
    gradients = (backprop * slope, -by_beta * slope, by_variance, by_beta, by_gamma)
    return tuple(gradient.astype(dtype, copy=False) for gradient in gradients)
