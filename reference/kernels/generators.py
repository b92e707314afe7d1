"""Kernels of random generators, whose state a resource variable holds: counter, then key.

A generator's numbers are those of an operation with seeds whose stream begins at its state. Then
the counter of 128 bits has moved on by 256 for each number, whatever was used.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import HOST, dtype_of, frozen, host_array, ints, scalar_int
from sessrun.reference.kernels.normal import normal_numbers, truncated_numbers
from sessrun.reference.kernels.philox import RESERVED, Stream
from sessrun.reference.kernels.random import numbers_between, uniform_numbers, whole_numbers
from sessrun.reference.kernels.registry import Bind, VariableBuffer, binder
from sessrun.reference.kernels.rejection import binomial_numbers
from sessrun.reference.kernels.resources import Handle
from sessrun.reference.kernels.stateless import check_algorithm

__all__: list[str] = []

_CPU: Final = ("CPU",)
_HALF: Final = 2**64
_WORD: Final = 2**32
#: How many numbers' counters a binomial number may use, and for how many more there is room.
_TRIED, _SPARE, _GROUP = 2 * 100, 3, 4
_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
_WHOLE: Final = ("int32", "int64", "uint32", "uint64")


def _state(buffer: VariableBuffer) -> list[int]:
    """Both halves of the counter, and the key.

    Raises:
      InvalidArgument: the variable holds something else.

    """
    value = buffer.read()
    if value.dtype != dtype_of("int64"):
        raise InvalidArgument(f"dtype of RNG state variable must be int64, not {value.dtype}")
    if value.ndim != 1:
        raise InvalidArgument(f"RNG state must have one and only one dimension, not {value.ndim}")
    if len(value) < 3:
        raise InvalidArgument(
            f"For the Philox algorithm, the size of state must be at least 3; got {len(value)}"
        )
    return ints(value)


def _skip(buffer: VariableBuffer, state: list[int], numbers: int) -> None:
    """Move the counter on; the buffer is locked."""
    low, high, *rest = state
    counters = numbers * RESERVED % _HALF
    lower = low % _WORD + counters % _WORD
    # as TensorFlow carries: to a whole word, which then is 0, one more is lost
    upper = (counters // _WORD + lower // _WORD) % _WORD + low % _HALF // _WORD
    moved = upper % _WORD * _WORD + lower % _WORD, (high + upper // _WORD) % _HALF
    signed = [half - _HALF if half >= _HALF // 2 else half for half in moved]
    buffer.value = frozen(host_array([*signed, *rest], "int64"))


def _taken(handle: Handle, numbers: int) -> list[int]:
    """The state, which has moved on by so many numbers."""
    buffer = handle.find()
    with buffer.lock:
        state = _state(buffer)
        _skip(buffer, state, numbers)
    return state


def _stream(handle: Handle, numbers: int) -> Stream:
    """The stream that begins at the state, which has moved on by so many numbers."""
    low, high, key, *_ = _taken(handle, numbers)
    stream = Stream(HOST, key, high)
    stream.reserve(low % _HALF)
    return stream


def _scalar(name: str, number: Any) -> int:
    if number.ndim:
        raise InvalidArgument(f"{name} must have shape [], not {list(number.shape)}")
    return scalar_int(number)


def _algorithm(number: Any) -> None:
    check_algorithm(_scalar("algorithm", number))


@binder("RngReadAndSkip", devices=_CPU)
def read_and_skip(bind: Bind) -> Callable[..., Any]:
    """The state before it moves on."""
    del bind

    def compute(handle: Handle, alg: Any, delta: Any) -> Any:
        _algorithm(alg)
        return host_array(_taken(handle, _scalar("delta", delta))[:3], "int64")

    return compute


@binder("RngSkip", devices=_CPU)
def skip(bind: Bind) -> Callable[..., Any]:
    """Moves the state on."""
    del bind

    def compute(handle: Handle, algorithm: Any, delta: Any) -> None:
        _algorithm(algorithm)
        _taken(handle, _scalar("delta", delta))

    return compute


def _check_dtype(bind: Bind, allowed: tuple[str, ...]) -> str:
    dtype: str = bind.attrs["dtype"]
    if dtype not in allowed:
        raise InvalidArgument(
            f"No OpKernel was registered to support Op '{bind.node.type}' with dtype {dtype}"
        )
    return dtype


#: From the array module, a stream, a shape and a dtype's name to numbers.
Make = Callable[[Any, Stream, tuple[int, ...], str], Any]


def _register(op_type: str, make: Make, allowed: tuple[str, ...]) -> None:
    @binder(op_type, devices=_CPU)
    def bind(bind: Bind) -> Callable[..., Any]:
        dtype = _check_dtype(bind, allowed)

        def compute(handle: Handle, algorithm: Any, shape: Any) -> Any:
            _algorithm(algorithm)
            dims = checked_shape(shape)
            return make(HOST, _stream(handle, math.prod(dims)), dims, dtype)

        return compute


def _whole(xp: Any, stream: Stream, dims: tuple[int, ...], dtype: str) -> Any:
    return whole_numbers(xp, stream, dims, dtype_of(dtype))


_register("StatefulStandardNormalV2", normal_numbers, _FLOATS)
_register("StatefulTruncatedNormal", truncated_numbers, _FLOATS)
_register("StatefulUniform", uniform_numbers, _FLOATS)
_register("StatefulUniformFullInt", _whole, _WHOLE)


@binder("StatefulUniformInt", devices=_CPU)
def uniform_int(bind: Bind) -> Callable[..., Any]:
    """Integers in [minval, maxval)."""
    dtype = dtype_of(_check_dtype(bind, _WHOLE))

    def compute(handle: Handle, algorithm: Any, shape: Any, minval: Any, maxval: Any) -> Any:
        _algorithm(algorithm)
        if minval.ndim or maxval.ndim:
            raise InvalidArgument("minval and maxval must be 0-D")
        dims, interval = checked_shape(shape), (scalar_int(minval), scalar_int(maxval))
        if interval[0] >= interval[1]:
            raise InvalidArgument(f"Need minval < maxval, got {interval}")
        stream = _stream(handle, math.prod(dims))
        return numbers_between(HOST, stream, dims, dtype, interval)

    return compute


@binder("StatefulRandomBinomial", devices=_CPU)
def random_binomial(bind: Bind) -> Callable[..., Any]:
    """Binomial numbers."""
    dtype = dtype_of(bind.attrs["dtype"])

    def compute(handle: Handle, algorithm: Any, shape: Any, counts: Any, probs: Any) -> Any:
        if _scalar("algorithm", algorithm) != 1:
            raise InvalidArgument(f"Unsupported algorithm id: {algorithm}")

        def stream(rows: int, each: int) -> Stream:
            return _stream(handle, rows * _TRIED * (each + _SPARE) // _GROUP)

        return binomial_numbers(stream, checked_shape(shape), (counts, probs), dtype)

    return compute


@binder("NonDeterministicInts", devices=_CPU)
def non_deterministic_ints(bind: Bind) -> Callable[..., Any]:
    """Integers of what the system draws."""
    dtype = dtype_of(_check_dtype(bind, _WHOLE))

    def compute(shape: Any) -> Any:
        dims = checked_shape(shape)
        drawn = secrets.token_bytes(math.prod(dims) * dtype.itemsize)
        return HOST.frombuffer(drawn, dtype=dtype).reshape(dims)

    return compute
