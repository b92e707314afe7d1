"""Kernels of fractional poolings, whose windows have random sizes, and of their gradients."""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Callable, Iterator
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.host import HOST, host_array, ints
from sessrun.reference.kernels.input_shapes import require_rank, vector_of
from sessrun.reference.kernels.philox import Stream, interleaved
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel

#: The 52 bits of two words that make a random double.
_BITS: Final = (1 << 52) - 1


class _Sequences:
    """The borders of windows, drawn as TensorFlow draws them."""

    def __init__(self, bind: Bind) -> None:
        attrs = bind.attrs
        seeds = attrs["seed"], attrs["seed2"]
        if not attrs["deterministic"] and any(seeds):
            raise InvalidArgument("Both seed and seed2 should be 0 if deterministic is false.")
        # Without seeds the node gets random ones, once: every run of the session draws the same.
        self.seeds = seeds if any(seeds) else (secrets.randbits(63), secrets.randbits(63))
        self.evenly = not attrs["pseudo_random"]

    def stream(self) -> Stream:
        """The random words of one run, the same in every run."""
        return Stream(HOST, *self.seeds)

    def drawn(self, stream: Stream, size: int, out: int) -> list[int]:
        """The borders of `out` windows over `size` elements, from 0 to `size`."""
        if self.evenly:
            lengths = [size // out + (i < size % out) for i in range(out)]
            _shuffle(lengths, _words(stream, out))
            borders = [0]
            for length in lengths:
                borders.append(borders[-1] + length)
            return borders
        alpha, least = size / out, size // out
        most = min((least + 2) / alpha - 1, (size + 1 - least) / alpha - (out - 1))
        words = _words(stream, 2)
        shift = ((words[0] & 0xFFFFF) << 32 | words[1]) / (_BITS + 1) * most
        return [0, *(int(alpha * (i + shift)) for i in range(1, out)), size]


def _words(stream: Stream, count: int) -> list[int]:
    """So many words of a stream, for which full groups of four are reserved."""
    groups = -(-count // 4)
    words = HOST.empty((groups, 4), dtype="uint32")
    for block, even, odd in stream.groups(stream.reserve(groups), groups):
        interleaved(words[block], even, odd)
    return ints(words)[:count]


def _shuffle(items: list[int], words: list[int]) -> None:
    """Shuffle in place: swap each item but the last with one at or behind it."""
    for i in range(len(items) - 1):
        other = i + words[i] % (len(items) - i)
        items[i], items[other] = items[other], items[i]


def _spans(borders: list[int], overlapping: bool, size: int) -> list[slice]:
    """The windows between borders; overlapping ones include the first element of the next."""
    more = 1 if overlapping else 0
    return [slice(start, min(end + more, size)) for start, end in itertools.pairwise(borders)]


def _over(
    function: Callable[..., Array], xp: ArrayModule, x: Array, axis: int, spans: list[slice]
) -> Array:
    lead = (slice(None),) * axis
    return xp.stack([function(x[(*lead, span)], axis=axis) for span in spans], axis=axis)


def _sizes(x: Array, ratio: tuple[float, ...]) -> list[int]:
    """The shape of the output.

    Raises:
      KernelError: the rank is not 4, or a ratio is not supported.

    """
    require_rank(4, tensor_in=x)
    if ratio[0] != 1 or ratio[3] != 1:
        raise Unimplemented(
            "Fractional pooling is not yet supported on the batch nor channel dimension."
        )
    for axis, (size, divisor) in enumerate(zip(x.shape, ratio, strict=True)):
        if size < divisor:
            raise InvalidArgument(
                "Pooling ratio is higher than input dimension size for dimension "
                f"{axis}. Input dim size: {size} pooling ratio: {divisor}"
            )
    return [
        math.floor(size / HOST.float32(divisor))
        for size, divisor in zip(x.shape, ratio, strict=True)
    ]


def _pooling(bind: Bind, function: KernelFunction) -> KernelFunction:
    sequences, ratio = _Sequences(bind), tuple(bind.attrs["pooling_ratio"])
    overlapping, xp = bind.attrs["overlapping"], bind.xp

    def compute(x: Array) -> tuple[object, ...]:
        out, stream = _sizes(x, ratio), sequences.stream()
        borders = [sequences.drawn(stream, x.shape[axis], out[axis]) for axis in (1, 2)]
        spans = [
            _spans(sequence, overlapping, x.shape[axis]) for axis, sequence in enumerate(borders, 1)
        ]
        return function(xp, x, spans), *(host_array(sequence, "int64") for sequence in borders)

    return compute


def _largest(xp: ArrayModule, x: Array, spans: list[list[slice]]) -> Array:
    return _over(xp.max, xp, _over(xp.max, xp, x, 1, spans[0]), 2, spans[1])


def _mean(xp: ArrayModule, x: Array, spans: list[list[slice]]) -> Array:
    total = _over(xp.sum, xp, _over(xp.sum, xp, x, 1, spans[0]), 2, spans[1]).astype(x.dtype)
    counts = _counts(xp, spans).astype(x.dtype)
    return total / counts if x.dtype.kind == "f" else _quotient(xp, total, counts)


def _quotient(xp: ArrayModule, total: Array, counts: Array) -> Array:
    """The quotient of integers, rounded towards zero as C does."""
    return xp.sign(total) * (xp.absolute(total) // counts)


def _counts(xp: ArrayModule, spans: list[list[slice]]) -> Array:
    rows, columns = ([span.stop - span.start for span in windows] for windows in spans)
    return xp.asarray(rows)[None, :, None, None] * xp.asarray(columns)[None, None, :, None]


_OUTPUTS: Final = ("row_pooling_sequence", "col_pooling_sequence")


@binder("FractionalMaxPool", host_outputs=_OUTPUTS)
def fractional_max_pool(bind: Bind) -> KernelFunction:
    """The maximum of each window, and the borders of the windows."""
    return _pooling(bind, _largest)


@binder("FractionalAvgPool", host_outputs=_OUTPUTS)
def fractional_average_pool(bind: Bind) -> KernelFunction:
    """The mean of each window, and the borders of the windows."""
    return _pooling(bind, _mean)


def _borders(sequence: Array, size: int, axis: int) -> list[int]:
    """A sequence of borders along rows (1) or columns (2).

    Raises:
      KernelError: the borders are not increasing numbers from 0 to `size`.

    """
    borders = ints(sequence)
    if min(borders, default=0) < 0:
        what = "Row" if axis == 1 else "Column"
        raise InvalidArgument(f"{what} sequence tensor values must not be negative, got {borders}")
    if len(borders) < 2 or sorted(borders) != borders or borders[-1] > size:
        raise InvalidArgument(f"a pooling sequence must rise to {size}, got {borders}")
    return borders


#: An index into images [batch, rows, columns, channels] that selects rows and columns.
Index = tuple[slice, Array, Array]


def _elements(xp: ArrayModule, spans: list[list[slice]]) -> Iterator[tuple[Index, Index]]:
    """For each offset in a window: the windows that have it, and the input's elements at it.

    No two windows have the same element at the same offset.
    """
    deepest = [max(span.stop - span.start for span in windows_of_axis) for windows_of_axis in spans]
    for offset in itertools.product(*map(range, deepest)):
        pairs = [
            [
                (window, span.start + step)
                for window, span in enumerate(windows_of_axis)
                if span.start + step < span.stop
            ]
            for windows_of_axis, step in zip(spans, offset, strict=True)
        ]
        if all(pairs):
            windows, elements = (
                (
                    slice(None),
                    xp.asarray([pair[side] for pair in pairs[0]])[:, None],
                    xp.asarray([pair[side] for pair in pairs[1]])[None, :],
                )
                for side in (0, 1)
            )
            yield windows, elements


@kernel("FractionalMaxPoolGrad", host_inputs=_OUTPUTS)
def fractional_max_pool_grad(
    xp: ArrayModule,
    x: Array,
    y: Array,
    grad: Array,
    rows: Array,
    columns: Array,
    *,
    overlapping: bool,
) -> Array:
    """Adds each gradient to the first maximum of its window."""
    spans = [
        _spans(_borders(sequence, x.shape[axis], axis), overlapping, x.shape[axis])
        for axis, sequence in ((1, rows), (2, columns))
    ]
    shape = (x.shape[0], len(spans[0]), len(spans[1]), x.shape[3])
    if y.shape != shape or grad.shape != shape:
        raise InvalidArgument(
            f"Expected orig_output and out_backprop of shape {shape}, but got "
            f"{y.shape} and {grad.shape}"
        )
    if len(ints(rows)) * len(ints(columns)) > x.size:
        raise InvalidArgument("Pooling region has more elements than the input tensor.")
    out = xp.zeros(x.shape, x.dtype)
    left = xp.ones(grad.shape, "bool")
    top = _largest(xp, x, spans)
    for here, there in _elements(xp, spans):
        is_first = (x[there] == top[here]) & left[here]
        left[here] ^= is_first
        out[there] += grad[here] * is_first
    return out


@kernel("FractionalAvgPoolGrad", host_inputs=("orig_input_tensor_shape", *_OUTPUTS))
def fractional_average_pool_grad(
    xp: ArrayModule, sizes: Array, grad: Array, rows: Array, columns: Array, *, overlapping: bool
) -> Array:
    """Distributes each gradient evenly over its window."""
    shape = vector_of(sizes, "orig_input_tensor_shape")
    if len(shape) != 4 or grad.ndim != 4 or min(shape) < 0:
        raise InvalidArgument(f"original input tensor shape must be 4-dimensional, got {shape}")
    spans = [
        _spans(_borders(sequence, shape[axis], axis), overlapping, shape[axis])
        for axis, sequence in ((1, rows), (2, columns))
    ]
    wanted = (shape[0], len(spans[0]), len(spans[1]), shape[3])
    if grad.shape != wanted:
        raise InvalidArgument(f"out_backprop must be of shape {wanted}, not {grad.shape}")
    out = xp.zeros(tuple(shape), "float64")
    sequence = grad.astype("float64") / _counts(xp, spans)
    # From the last element of a window to the first: an element is in earlier windows first.
    for here, there in reversed(list(_elements(xp, spans))):
        out[there] += sequence[here]
    return out.astype(grad.dtype)
