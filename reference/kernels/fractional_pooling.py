"""Kernels of fractional poolings, whose windows have random sizes, and of their gradients."""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Callable, Iterator
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.host import HOST, host_array, ints
from sessrun.reference.kernels.number_inputs import vector_of
from sessrun.reference.kernels.philox import Stream, interleaved
from sessrun.reference.kernels.registry import Bind, binder

__all__: list[str] = []

#: What a random double is made of: 52 bits of two words.
_BITS: Final = (1 << 52) - 1


class _Sequences:
    """Where windows begin and end, drawn as TensorFlow draws them."""

    def __init__(self, bind: Bind) -> None:
        attrs = bind.attrs
        seeds = attrs["seed"], attrs["seed2"]
        if not attrs["deterministic"] and any(seeds):
            raise InvalidArgument("Both seed and seed2 should be 0 if deterministic is false.")
        # Without seeds a session has some of its own, and every run of it draws the same.
        self.seeds = seeds if any(seeds) else (secrets.randbits(63), secrets.randbits(63))
        self.evenly = not attrs["pseudo_random"]

    def stream(self) -> Stream:
        """The numbers of one run, the same in each."""
        return Stream(HOST, *self.seeds)

    def drawn(self, stream: Stream, size: int, out: int) -> list[int]:
        """The borders of `out` windows over `size` elements, from 0 to `size`."""
        if self.evenly:
            lengths = [size // out + (place < size % out) for place in range(out)]
            _shuffle(lengths, _words(stream, out))
            borders = [0]
            for length in lengths:
                borders.append(borders[-1] + length)
            return borders
        alpha, least = size / out, size // out
        most = min((least + 2) / alpha - 1, (size + 1 - least) / alpha - (out - 1))
        words = _words(stream, 2)
        shift = ((words[0] & 0xFFFFF) << 32 | words[1]) / (_BITS + 1) * most
        return [0, *(int(alpha * (place + shift)) for place in range(1, out)), size]


def _words(stream: Stream, count: int) -> list[int]:
    """So many words of a stream, whole groups of four reserved for them."""
    groups = -(-count // 4)
    words = HOST.empty((groups, 4), dtype="uint32")
    for block, even, odd in stream.groups(stream.reserve(groups), groups):
        interleaved(words[block], even, odd)
    return ints(words)[:count]


def _shuffle(items: list[int], words: list[int]) -> None:
    """Each item but the last changes places with one of those from it on."""
    for place in range(len(items) - 1):
        other = place + words[place] % (len(items) - place)
        items[place], items[other] = items[other], items[place]


def _spans(borders: list[int], overlapping: bool, size: int) -> list[slice]:
    """The windows; overlapping ones have the first element of the next one, too."""
    more = 1 if overlapping else 0
    return [slice(start, min(end + more, size)) for start, end in itertools.pairwise(borders)]


def _over(function: Callable[..., Any], xp: Any, x: Any, axis: int, spans: list[slice]) -> Any:
    lead = (slice(None),) * axis
    return xp.stack([function(x[(*lead, span)], axis=axis) for span in spans], axis=axis)


def _sizes(x: Any, ratio: tuple[float, ...]) -> list[int]:
    """The shape of what is given.

    Raises:
      KernelError: the rank is not 4, or a ratio is not possible.

    """
    if x.ndim != 4:
        raise InvalidArgument(f"tensor_in must be 4-dimensional: {x.shape}")
    if ratio[0] != 1 or ratio[3] != 1:
        raise Unimplemented(
            "Fractional pooling is not yet supported on the batch nor channel dimension."
        )
    for place, (size, each) in enumerate(zip(x.shape, ratio, strict=True)):
        if size < each:
            raise InvalidArgument(
                "Pooling ratio is higher than input dimension size for dimension "
                f"{place}. Input dim size: {size} pooling ratio: {each}"
            )
    return [
        math.floor(size / HOST.float32(each)) for size, each in zip(x.shape, ratio, strict=True)
    ]


def _pooling(bind: Bind, function: Callable[..., Any]) -> Callable[..., Any]:
    sequences, ratio = _Sequences(bind), tuple(bind.attrs["pooling_ratio"])
    overlapping, xp = bind.attrs["overlapping"], bind.xp

    def compute(x: Any) -> Any:
        out, stream = _sizes(x, ratio), sequences.stream()
        borders = [sequences.drawn(stream, x.shape[axis], out[axis]) for axis in (1, 2)]
        spans = [_spans(each, overlapping, x.shape[axis]) for axis, each in enumerate(borders, 1)]
        return function(xp, x, spans), *(host_array(each, "int64") for each in borders)

    return compute


def _largest(xp: Any, x: Any, spans: list[list[slice]]) -> Any:
    return _over(xp.max, xp, _over(xp.max, xp, x, 1, spans[0]), 2, spans[1])


def _mean(xp: Any, x: Any, spans: list[list[slice]]) -> Any:
    total = _over(xp.sum, xp, _over(xp.sum, xp, x, 1, spans[0]), 2, spans[1]).astype(x.dtype)
    counts = _counts(xp, spans).astype(x.dtype)
    return total / counts if x.dtype.kind == "f" else _quotient(xp, total, counts)


def _quotient(xp: Any, total: Any, counts: Any) -> Any:
    """The quotient of integers, rounded towards zero as C does."""
    return xp.sign(total) * (xp.absolute(total) // counts)


def _counts(xp: Any, spans: list[list[slice]]) -> Any:
    rows, columns = ([span.stop - span.start for span in each] for each in spans)
    return xp.asarray(rows)[None, :, None, None] * xp.asarray(columns)[None, None, :, None]


_OUTPUTS: Final = ("row_pooling_sequence", "col_pooling_sequence")


@binder("FractionalMaxPool", host_outputs=_OUTPUTS)
def fractional_max_pool(bind: Bind) -> Callable[..., Any]:
    """The largest number of each window, and where the windows begin."""
    return _pooling(bind, _largest)


@binder("FractionalAvgPool", host_outputs=_OUTPUTS)
def fractional_average_pool(bind: Bind) -> Callable[..., Any]:
    """The mean of each window, and where the windows begin."""
    return _pooling(bind, _mean)


def _borders(sequence: Any, size: int, axis: int) -> list[int]:
    """A sequence of borders along rows (1) or columns (2).

    Raises:
      KernelError: it is no vector of rising numbers up to `size`.

    """
    found = ints(sequence)
    if min(found, default=0) < 0:
        what = "Row" if axis == 1 else "Column"
        raise InvalidArgument(f"{what} sequence tensor values must not be negative, got {found}")
    if len(found) < 2 or sorted(found) != found or found[-1] > size:
        raise InvalidArgument(f"a pooling sequence must rise to {size}, got {found}")
    return found


def _elements(xp: Any, spans: list[list[slice]]) -> Iterator[tuple[Any, Any]]:
    """For each element of the largest window the windows that have it, and where it is in them.

    No two windows have the same element at the same place.
    """
    deepest = [max(span.stop - span.start for span in each) for each in spans]
    for offset in itertools.product(*map(range, deepest)):
        pairs = [
            [
                (place, span.start + step)
                for place, span in enumerate(each)
                if span.start + step < span.stop
            ]
            for each, step in zip(spans, offset, strict=True)
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


@binder("FractionalMaxPoolGrad", host_inputs=_OUTPUTS)
def fractional_max_pool_grad(bind: Bind) -> Callable[..., Any]:
    """Each gradient where its window has its largest number first."""
    overlapping, xp = bind.attrs["overlapping"], bind.xp

    def compute(x: Any, y: Any, grad: Any, rows: Any, columns: Any) -> Any:
        spans = [
            _spans(_borders(each, x.shape[axis], axis), overlapping, x.shape[axis])
            for axis, each in ((1, rows), (2, columns))
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
            found = (x[there] == top[here]) & left[here]
            left[here] ^= found
            out[there] += grad[here] * found
        return out

    return compute


@binder("FractionalAvgPoolGrad", host_inputs=("orig_input_tensor_shape", *_OUTPUTS))
def fractional_average_pool_grad(bind: Bind) -> Callable[..., Any]:
    """Each gradient shared out over its window."""
    overlapping, xp = bind.attrs["overlapping"], bind.xp

    def compute(sizes: Any, grad: Any, rows: Any, columns: Any) -> Any:
        shape = vector_of(sizes, "orig_input_tensor_shape")
        if len(shape) != 4 or grad.ndim != 4 or min(shape) < 0:
            raise InvalidArgument(f"original input tensor shape must be 4-dimensional, got {shape}")
        spans = [
            _spans(_borders(each, shape[axis], axis), overlapping, shape[axis])
            for axis, each in ((1, rows), (2, columns))
        ]
        wanted = (shape[0], len(spans[0]), len(spans[1]), shape[3])
        if grad.shape != wanted:
            raise InvalidArgument(f"out_backprop must be of shape {wanted}, not {grad.shape}")
        out = xp.zeros(tuple(shape), "float64")
        each = grad.astype("float64") / _counts(xp, spans)
        # From the last element of a window to the first: an element is in earlier windows first.
        for here, there in reversed(list(_elements(xp, spans))):
            out[there] += each[here]
        return out.astype(grad.dtype)

    return compute
