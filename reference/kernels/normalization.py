"""Kernels of batch normalization and of its gradients.

The first one, which takes the moments, is in graphs up to version 8; later ones compose the same.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.channel_blocks import column_sums, scaled, scaled_difference
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.input_shapes import require_rank, require_same_shape
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel

#: The largest square of a mean, divided by its variance, that sums are not centred for: a
#: difference of such sums in float32 loses two bits.
_FAR: Final = 4


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


def _moments(xp: ArrayModule, rows: Array) -> tuple[Array, Array]:
    """The mean and the variance of each column of a matrix that is not empty."""
    if xp is HOST:
        totals, squares = column_sums([(rows, None), (rows, rows)])
        centre, square = totals / len(rows), squares / len(rows)
        spread = square - centre * centre
        if HOST.all(centre * centre <= _FAR * spread):
            return centre.astype("float32"), spread.astype("float32")
    centre = _mean(xp, rows)
    moved = rows - centre
    return centre, _mean(xp, moved * moved)


def _is_near(xp: ArrayModule, centre: Array, inverse: Array) -> bool:
    """Whether means are so small, times the inverse deviations, that sums need no centring."""
    return xp is HOST and bool(HOST.all(HOST.square(centre * inverse) <= _FAR))


def _normalized(
    norm: _BatchNorm, rows: Array, centre: Array, spread: Array, scale: Array, offset: Array
) -> Array:
    """The rows with this mean and variance, scaled and shifted."""
    xp = norm.xp
    deviation = xp.sqrt(spread + norm.epsilon)
    factors = scale / deviation
    if _is_near(xp, centre, 1 / deviation):
        return scaled(rows, factors, offset - centre * factors)
    return (rows - centre) * factors + offset


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
            y = norm.back(_normalized(norm, rows, mean, variance, scale, offset), x.shape)
            return y, mean, variance, mean, variance, *rest
        if not len(rows):
            return _empty(xp, norm, x, mean, variance, factor, scale, rest)
        centre, spread = _moments(xp, rows)
        y = norm.back(_normalized(norm, rows, centre, spread, scale, offset), x.shape)
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
        if _is_near(xp, mean, inverse):
            dx, by_scale, by_offset = _near_gradients(
                norm, above, rows, scale * inverse, mean, inverse
            )
            return norm.back(dx, x.shape), by_scale, by_offset, nothing, nothing
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


def _near_gradients(
    norm: _BatchNorm, above: Array, rows: Array, factors: Array, mean: Array, inverse: Array
) -> tuple[Array, Array, Array]:
    """The gradients by the rows, the scale and the offset, of means that `_is_near`."""
    totals, products = column_sums([(above, None), (above, rows)])
    by_factor = products - mean * totals
    by_scale, by_offset = (sums.astype("float32") for sums in (by_factor * inverse, totals))
    count = max(len(rows), 1)
    if norm.training:
        slopes = factors * inverse * inverse * by_factor / count
        offsets = factors * totals / count - slopes * mean
        vectors = (vector.astype("float32") for vector in (slopes, offsets))
        return scaled_difference(above, factors, rows, *vectors), by_scale, by_offset
    return above * factors, by_scale, by_offset


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
