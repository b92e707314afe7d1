"""Kernels of random generators, whose state a resource variable holds: counter, then key.

A generator's numbers are those of a seeded operation whose stream begins at its state. Then
the counter of 128 bits is advanced by 256 for each number, used or not.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import HOST, dtype_of, frozen, host_array, ints, scalar_int
from sessrun.reference.kernels.input_shapes import one_number, require_rank
from sessrun.reference.kernels.normal import normal_numbers, truncated_numbers
from sessrun.reference.kernels.philox import RESERVED, Stream
from sessrun.reference.kernels.random import full_range_integers, numbers_between, uniform_numbers
from sessrun.reference.kernels.registry import Bind, KernelFunction, VariableBuffer, binder, kernel
from sessrun.reference.kernels.rejection import binomial_numbers
from sessrun.reference.kernels.resources import Handle
from sessrun.reference.kernels.stateless import check_algorithm

_CPU: Final = ("CPU",)
_HALF: Final = 2**64
_WORD: Final = 2**32
#: The counters that a binomial number may use, the numbers reserved beyond, the words of a counter.
_TRIED, _SPARE, _GROUP = 2 * 100, 3, 4
_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
_INTEGERS: Final = ("int32", "int64", "uint32", "uint64")


def _state(buffer: VariableBuffer) -> list[int]:
    """The two halves of the counter, and the key.

    Raises:
      InvalidArgument: the variable is not a vector of at least three int64.

    """
    value = buffer.read()
    if value.dtype != dtype_of("int64"):
        raise InvalidArgument(f"dtype of RNG state variable must be int64, not {value.dtype}")
    require_rank(1, rng_state=value)
    if len(value) < 3:
        raise InvalidArgument(
            f"For the Philox algorithm, the size of state must be at least 3; got {len(value)}"
        )
    return ints(value)


def _skip(buffer: VariableBuffer, state: list[int], numbers: int) -> None:
    """Advance the counter; the buffer must be locked."""
    low, high, *rest = state
    counters = numbers * RESERVED % _HALF
    lower = low % _WORD + counters % _WORD
    # as TensorFlow carries: a carry out of the full 64-bit word beside another one is lost
    upper = (counters // _WORD + lower // _WORD) % _WORD + low % _HALF // _WORD
    moved = upper % _WORD * _WORD + lower % _WORD, (high + upper // _WORD) % _HALF
    signed = [half - _HALF if half >= _HALF // 2 else half for half in moved]
    buffer.value = frozen(host_array([*signed, *rest], "int64"))


def _taken(handle: Handle, numbers: int) -> list[int]:
    """The state before it is advanced by the given number of samples."""
    buffer = handle.find()
    with buffer.lock:
        state = _state(buffer)
        _skip(buffer, state, numbers)
    return state


def _stream(handle: Handle, numbers: int) -> Stream:
    """The stream that begins at the state, which is advanced by the given number of samples."""
    low, high, key, *_ = _taken(handle, numbers)
    stream = Stream(HOST, key, high)
    stream.reserve(low % _HALF)
    return stream


def _algorithm(number: Array) -> None:
    check_algorithm(one_number(number, "algorithm"))


@kernel("RngReadAndSkip", devices=_CPU)
def read_and_skip(_: ArrayModule, handle: Handle, alg: Array, delta: Array) -> Array:
    """The state before it is advanced."""
    _algorithm(alg)
    return host_array(_taken(handle, one_number(delta, "delta"))[:3], "int64")


@kernel("RngSkip", devices=_CPU)
def skip(_: ArrayModule, handle: Handle, algorithm: Array, delta: Array) -> None:
    """Advances the state."""
    _algorithm(algorithm)
    _taken(handle, one_number(delta, "delta"))


def _check_dtype(bind: Bind, allowed: tuple[str, ...]) -> str:
    dtype: str = bind.attrs["dtype"]
    if dtype not in allowed:
        raise InvalidArgument(
            f"No OpKernel was registered to support Op '{bind.node.type}' with dtype {dtype}"
        )
    return dtype


#: From the array module, a stream, a shape and a dtype's name to random numbers.
Make = Callable[[ArrayModule, Stream, tuple[int, ...], str], Array]


def _register(op_type: str, make: Make, allowed: tuple[str, ...]) -> None:
    @binder(op_type, devices=_CPU)
    def bind(bind: Bind) -> KernelFunction:
        dtype = _check_dtype(bind, allowed)

        def compute(handle: Handle, algorithm: Array, shape: Array) -> Array:
            _algorithm(algorithm)
            dims = checked_shape(shape)
            return make(HOST, _stream(handle, math.prod(dims)), dims, dtype)

        return compute


def _full_range(xp: ArrayModule, stream: Stream, dims: tuple[int, ...], dtype: str) -> Array:
    return full_range_integers(xp, stream, dims, dtype_of(dtype))


_register("StatefulStandardNormalV2", normal_numbers, _FLOATS)
_register("StatefulTruncatedNormal", truncated_numbers, _FLOATS)
_register("StatefulUniform", uniform_numbers, _FLOATS)
_register("StatefulUniformFullInt", _full_range, _INTEGERS)


@binder("StatefulUniformInt", devices=_CPU)
def uniform_int(bind: Bind) -> KernelFunction:
    """Integers in [minval, maxval)."""
    dtype = dtype_of(_check_dtype(bind, _INTEGERS))

    def compute(
        handle: Handle, algorithm: Array, shape: Array, minval: Array, maxval: Array
    ) -> Array:
        _algorithm(algorithm)
        require_rank(0, minval=minval, maxval=maxval)
        dims, interval = checked_shape(shape), (scalar_int(minval), scalar_int(maxval))
        if interval[0] >= interval[1]:
            raise InvalidArgument(f"Need minval < maxval, got {interval}")
        stream = _stream(handle, math.prod(dims))
        return numbers_between(HOST, stream, dims, dtype, interval)

    return compute


@binder("StatefulRandomBinomial", devices=_CPU)
def random_binomial(bind: Bind) -> KernelFunction:
    """Binomial numbers."""
    dtype = dtype_of(bind.attrs["dtype"])

    def compute(
        handle: Handle, algorithm: Array, shape: Array, counts: Array, probs: Array
    ) -> Array:
        if one_number(algorithm, "algorithm") != 1:
            raise InvalidArgument(f"Unsupported algorithm id: {algorithm}")

        def stream(rows: int, count: int) -> Stream:
            return _stream(handle, rows * _TRIED * (count + _SPARE) // _GROUP)

        return binomial_numbers(stream, checked_shape(shape), (counts, probs), dtype)

    return compute


@binder("NonDeterministicInts", devices=_CPU)
def non_deterministic_ints(bind: Bind) -> KernelFunction:
    """Integers of the system's random bytes."""
    dtype = dtype_of(_check_dtype(bind, _INTEGERS))

    def compute(shape: Array) -> Array:
        dims = checked_shape(shape)
        drawn = secrets.token_bytes(math.prod(dims) * dtype.itemsize)
        return HOST.frombuffer(drawn, dtype=dtype).reshape(dims)

    return compute
