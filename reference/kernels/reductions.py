"""Kernels of reductions, running sums and arguments of extrema.

16-bit floats are summed in float32 and rounded once; integers wrap around in their own dtype, and
in 64 bits for a mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule, UFunc
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.channel_blocks import leading_sums
from sessrun.reference.kernels.elementwise import is_integer, truncated_quotient, widened
from sessrun.reference.kernels.host import dtype_of, ints, scalar_int
from sessrun.reference.kernels.input_shapes import one_number
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.row_sums import row_sums
from sessrun.reference.kernels.scatters import scatter

__all__ = ["axis_of"]

#: The message about an axis out of range.
_NO_AXIS: Final = "Expected dimension in the range [-{rank}, {rank}), but got {axis}"


def axis_of(axis: int, rank: int, message: str = _NO_AXIS) -> int:
    """The axis counted from the front.

    Args:
      axis: the axis; a negative one counts from the back.
      rank: the number of axes.
      message: the message of the error, with `{axis}` and `{rank}` in it.

    Raises:
      InvalidArgument: the axis is not in [-rank, rank).

    """
    if not -rank <= axis < rank:
        raise InvalidArgument(message.format(axis=axis, rank=rank))
    return axis + rank if axis < 0 else axis


def _axes(indices: Array, rank: int) -> tuple[int, ...]:
    axes = []
    for axis in ints(indices):
        if not -rank <= axis < rank:
            raise InvalidArgument(f"Invalid reduction dimension {axis} for an input of rank {rank}")
        if axis % rank in axes:
            raise InvalidArgument(f"Invalid reduction dimensions: {axis % rank} is given twice")
        axes.append(axis % rank)
    return tuple(axes)


def _reduction(
    op_type: str, reduce: Callable[..., Array], indices: str = "reduction_indices"
) -> None:
    """Register a reduction from `reduce(xp, x, axes, keep_dims)`."""

    def bind(bind: Bind) -> KernelFunction:
        xp, keep_dims = bind.xp, bind.attrs["keep_dims"]
        return lambda x, axes: reduce(xp, x, axes=_axes(axes, x.ndim), keep=keep_dims)

    binder(op_type, host_inputs=(indices,))(bind)


@widened
def _sum(xp: ArrayModule, x: Array, *, axes: tuple[int, ...], keep: bool) -> Array:
    if axes == (x.ndim - 1,) and x.dtype.kind == "f":
        sums = row_sums(xp, x)
        return sums if keep else sums.reshape(x.shape[:-1])
    if len(axes) == x.ndim - 1 > 0 and x.ndim - 1 not in axes:
        sums = leading_sums(xp, x)
        return sums.reshape((1,) * len(axes) + sums.shape) if keep else sums
    # numpy sums pairwise along a contiguous axis only; else rounding errors add up.
    if x.ndim - 1 in axes and x.dtype.kind in "fc":
        x = xp.ascontiguousarray(x)
    return xp.add.reduce(x, axis=axes, dtype=x.dtype, keepdims=keep)


@widened
def _prod(xp: ArrayModule, x: Array, *, axes: tuple[int, ...], keep: bool) -> Array:
    return xp.multiply.reduce(x, axis=axes, dtype=x.dtype, keepdims=keep)


@widened
def _mean(xp: ArrayModule, x: Array, *, axes: tuple[int, ...], keep: bool) -> Array:
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    if not is_integer(x):
        divisor: Array = x.dtype.type(count)  # a scalar, which need not be uploaded
        return _sum(xp, x, axes=axes, keep=keep) / divisor
    wide = x.astype("int64" if x.dtype.kind == "i" else "uint64")
    total = _sum(xp, wide, axes=axes, keep=keep)
    if count:
        total = truncated_quotient(xp, total, xp.asarray(count, dtype=wide.dtype))
    return total.astype(x.dtype)


def _max(xp: ArrayModule, x: Array, *, axes: tuple[int, ...], keep: bool) -> Array:
    if all(x.shape[axis] for axis in axes):
        return xp.max(x, axis=axes, keepdims=keep)
    least = xp.iinfo(x.dtype).min if is_integer(x) else -xp.inf
    return xp.full(_reduced(x.shape, axes, keep), least, dtype=x.dtype)


def _min(xp: ArrayModule, x: Array, *, axes: tuple[int, ...], keep: bool) -> Array:
    if all(x.shape[axis] for axis in axes):
        return xp.min(x, axis=axes, keepdims=keep)
    greatest = xp.iinfo(x.dtype).max if is_integer(x) else xp.inf
    return xp.full(_reduced(x.shape, axes, keep), greatest, dtype=x.dtype)


def _reduced(shape: tuple[int, ...], axes: tuple[int, ...], keep: bool) -> tuple[int, ...]:
    """The shape after a reduction."""
    if keep:
        return tuple(1 if axis in axes else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in axes)


@widened
def _norm(xp: ArrayModule, x: Array, *, axes: tuple[int, ...], keep: bool) -> Array:
    squares = _sum(xp, x * xp.conj(x) if x.dtype.kind == "c" else x * x, axes=axes, keep=keep)
    return xp.sqrt(squares).astype(x.dtype)


_reduction("Sum", _sum)
_reduction("Mean", _mean)
_reduction("Prod", _prod)
_reduction("Max", _max)
_reduction("Min", _min)
_reduction("EuclideanNorm", _norm)
_reduction("All", lambda xp, x, *, axes, keep: xp.all(x, axis=axes, keepdims=keep))
_reduction("Any", lambda xp, x, *, axes, keep: xp.any(x, axis=axes, keepdims=keep))


def _argument(name: str) -> Callable[[Bind], KernelFunction]:
    def bind(bind: Bind) -> KernelFunction:
        xp, function, dtype = bind.xp, getattr(bind.xp, name), dtype_of(bind.attrs["output_type"])
        worst = -xp.inf if name == "argmax" else xp.inf

        def compute(x: Array, dimension: Array) -> Array:
            number = one_number(dimension, "dim")
            axis = axis_of(number, x.ndim)
            if x.shape[axis] == 0:
                raise InvalidArgument(
                    f"Reduction axis {axis} is empty in shape {bracketed(x.shape)}"
                )
            if not is_integer(x) and x.dtype.kind != "b":  # NaN is ignored
                x = xp.where(xp.isnan(x), xp.asarray(worst, dtype=x.dtype), x)
            positions: Array = function(x, axis=axis).astype(dtype)
            return positions

        return compute

    return bind


binder("ArgMax", host_inputs=("dimension",))(_argument("argmax"))
binder("ArgMin", host_inputs=("dimension",))(_argument("argmin"))


def _running(name: str, start: int) -> Callable[..., Array]:
    @widened
    def compute(xp: ArrayModule, x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
        flip = tuple(
            slice(None, None, -1) if reverse and i == axis else slice(None) for i in range(x.ndim)
        )
        function: UFunc = getattr(xp, name)
        running = function.accumulate(x[flip], axis=axis, dtype=x.dtype)
        if exclusive:
            edge = list(x.shape)
            edge[axis] = min(1, x.shape[axis])
            first = xp.full(tuple(edge), start, dtype=x.dtype)
            most = tuple(slice(0, -1) if i == axis else slice(None) for i in range(x.ndim))
            running = xp.concatenate([first, running[most]], axis=axis)
        return running[flip]

    return compute


def _cumulative(op_type: str, name: str, start: int) -> None:
    compute = _running(name, start)
    out_of_range = f"{op_type}: the axis must be in [-{{rank}}, {{rank}}), got {{axis}}"

    def bind(bind: Bind) -> KernelFunction:
        attrs = {key: bind.attrs[key] for key in ("exclusive", "reverse")}

        def run(x: Array, axis: Array) -> Array:
            dim = one_number(axis, "axis")
            dim = axis_of(dim, x.ndim, out_of_range)
            return compute(bind.xp, x, axis=dim, **attrs)

        return run

    binder(op_type, host_inputs=("axis",))(bind)


_cumulative("Cumsum", "add", 0)
_cumulative("Cumprod", "multiply", 1)


@kernel("Bincount", devices=("CPU",), host_inputs=("arr", "size"))
def bincount(xp: ArrayModule, arr: Array, size: Array, weights: Array) -> Array:
    """Counts, or sums of weights, of the numbers below `size`.

    Raises:
      KernelError: the size is no scalar or negative, a number is negative, or there are not as many
        weights than numbers.

    """
    if size.ndim or size < 0:
        raise InvalidArgument(f"Size must be a non-negative scalar, got {size.tolist()}")
    length = scalar_int(size)
    if weights.size and weights.size != arr.size:
        raise InvalidArgument(f"Weights of shape {weights.shape} for numbers of shape {arr.shape}")
    numbers = arr.reshape(-1)
    if (numbers < 0).any():
        raise InvalidArgument("Input arr must be non-negative!")
    inside = numbers < length
    bins = xp.zeros((length,), dtype=weights.dtype)
    amounts = weights.reshape(-1)[inside] if weights.size else xp.ones((), dtype=weights.dtype)
    scatter(xp, "add", bins, numbers[inside], amounts)
    return bins


# cupy's logaddexp does not accumulate.
@kernel("CumulativeLogsumexp", devices=("CPU",), host_inputs=("axis",))
@widened
def cumulative_logsumexp(
    xp: ArrayModule, x: Array, axis: Array, *, exclusive: bool, reverse: bool
) -> Array:
    """The running log-sum-exp along an axis, without overflow.

    If exclusive of the element itself, the first result is minus infinity.
    """
    if not x.ndim:
        return x
    along = xp.moveaxis(x, axis_of(scalar_int(axis), x.ndim), -1)
    along = along[..., ::-1] if reverse else along
    running = xp.logaddexp.accumulate(along, axis=-1) if x.size else along
    if exclusive:
        lowest = xp.full((*along.shape[:-1], 1), -xp.inf, dtype=x.dtype)
        running = xp.concatenate([lowest, running], axis=-1)[..., : along.shape[-1]]
    running = running[..., ::-1] if reverse else running
    return xp.moveaxis(running, -1, axis_of(scalar_int(axis), x.ndim)).astype(x.dtype)
