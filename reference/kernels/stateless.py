"""Kernels of stateless random numbers: a key and a counter determine the random words.

A pair of seeds is scrambled to a key and the upper half of a counter. The numbers are
those of a stateful operation whose stream begins there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import HOST, dtype_of, host_array, ints, scalar_int
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.normal import normal_numbers, truncated_numbers
from sessrun.reference.kernels.philox import Stream
from sessrun.reference.kernels.random import (
    drawn_classes,
    full_range_integers,
    numbers_between,
    uniform_numbers,
)
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel

__all__ = ["check_algorithm", "keyed_stream", "per_parameter", "seeded_stream"]

_CPU: Final = ("CPU",)
#: The key with which a pair of seeds, as a counter, is scrambled.
_SCRAMBLING: Final = 0x02461E293EC8F720
#: The numbers of the algorithms: Philox, ThreeFry, and the best one, which is Philox.
_PHILOX, _THREEFRY, _ANY = 1, 2, 3


def _scrambled(seed: Array) -> tuple[int, int]:
    """The key and the upper half of the counter for a pair of seeds.

    Raises:
      InvalidArgument: the seeds are not a vector of two.

    """
    if seed.shape != (2,):
        raise InvalidArgument(f"seed must have shape [2], not {list(seed.shape)}")
    low, high = ints(seed)
    stream = Stream(HOST, _SCRAMBLING, high)
    even, odd = stream.at(HOST.asarray([low % 2**64], dtype="uint64"))
    (first, third), (second, fourth) = even[:, 0].tolist(), odd[:, 0].tolist()
    return first | second << 32, third | fourth << 32


def seeded_stream(xp: ArrayModule, seed: Array) -> Stream:
    """The stream of a pair of seeds."""
    return Stream(xp, *_scrambled(seed))


def check_algorithm(number: int) -> None:
    """Raise InvalidArgument for an unknown algorithm, Unimplemented for ThreeFry."""
    if number == _THREEFRY:
        raise Unimplemented("The ThreeFry algorithm is not supported on a CPU")
    if number not in {_PHILOX, _ANY}:
        raise InvalidArgument(f"Unsupported algorithm id: {number}")


def keyed_stream(xp: ArrayModule, key: Array, counter: Array, alg: Array) -> Stream:
    """The stream of a key and a counter.

    Raises:
      InvalidArgument: the algorithm is not supported, or the shapes are wrong.

    """
    if alg.ndim or key.shape != (1,) or counter.ndim != 1:
        raise InvalidArgument("alg must be a scalar, key of shape [1], counter a vector")
    if scalar_int(alg) not in {_PHILOX, _ANY}:
        raise InvalidArgument(f"Unsupported algorithm id: {scalar_int(alg)}")
    if counter.shape[0] < 2:
        raise InvalidArgument(f"counter must have 2 elements, has {counter.shape[0]}")
    low, high = ints(counter)[:2]
    stream = Stream(xp, ints(key)[0], high)
    stream.reserve(low)
    return stream


def per_parameter(dims: tuple[int, ...], parameters: Sequence[Array]) -> list[Array]:
    """The parameters broadcast to one shape, as vectors.

    Raises:
      KernelError: the shapes do not broadcast, or `dims` does not end with their broadcast shape.

    """
    try:
        broadcast = HOST.broadcast_arrays(*parameters)
    except ValueError:
        raise InvalidArgument("parameters must have compatible batch dimensions") from None
    shape = broadcast[0].shape
    if dims[len(dims) - len(shape) :] != shape:
        raise InvalidArgument(
            f"The shape {list(dims)} must end with that of the parameters, {list(shape)}"
        )
    return [parameter.reshape(-1) for parameter in broadcast]


@kernel("StatelessRandomGetKeyCounter", devices=_CPU)
def get_key_counter(_: ArrayModule, seed: Array) -> tuple[Array, Array]:
    """The key and the counter of a pair of seeds."""
    key, upper = _scrambled(seed)
    return host_array([key], "uint64"), host_array([0, upper], "uint64")


@kernel("StatelessRandomGetAlg", devices=_CPU)
def get_algorithm(_: ArrayModule) -> Array:
    """The number of the best algorithm: Philox."""
    return host_array([_PHILOX], "int32").reshape(())


@kernel("StatelessRandomGetKeyCounterAlg", devices=_CPU)
def get_key_counter_algorithm(_: ArrayModule, seed: Array) -> tuple[Array, Array, Array]:
    """The key, the counter and the algorithm of a pair of seeds."""
    key, upper = _scrambled(seed)
    number = host_array([_PHILOX], "int32").reshape(())
    return host_array([key], "uint64"), host_array([0, upper], "uint64"), number


#: From the array module, a stream, a shape and a dtype's name to random numbers.
Make = Callable[[ArrayModule, Stream, tuple[int, ...], str], Array]


def _register(op_type: str, make: Make) -> None:
    @binder(op_type, devices=_CPU)
    def seeded(bind: Bind) -> KernelFunction:
        dtype = bind.attrs["dtype"]

        def compute(shape: Array, seed: Array) -> Array:
            return make(bind.xp, seeded_stream(bind.xp, seed), checked_shape(shape), dtype)

        return compute

    @binder(f"{op_type}V2", devices=_CPU)
    def keyed(bind: Bind) -> KernelFunction:
        dtype = bind.attrs["dtype"]

        def compute(shape: Array, key: Array, counter: Array, alg: Array) -> Array:
            stream = keyed_stream(bind.xp, key, counter, alg)
            return make(bind.xp, stream, checked_shape(shape), dtype)

        return compute


_register("StatelessRandomUniform", uniform_numbers)
_register("StatelessRandomNormal", normal_numbers)
_register("StatelessTruncatedNormal", truncated_numbers)
_register(
    "StatelessRandomUniformFullInt",
    lambda xp, stream, dims, dtype: full_range_integers(xp, stream, dims, dtype_of(dtype)),
)


def _between(xp: ArrayModule, stream: Stream, shape: Array, minval: Array, maxval: Array) -> Array:
    require_rank(0, minval=minval, maxval=maxval)
    interval = scalar_int(minval), scalar_int(maxval)
    return numbers_between(xp, stream, checked_shape(shape), minval.dtype, interval)


@kernel("StatelessRandomUniformInt", devices=_CPU)
def stateless_random_uniform_int(
    xp: ArrayModule, shape: Array, seed: Array, minval: Array, maxval: Array
) -> Array:
    """Integers in [minval, maxval)."""
    return _between(xp, seeded_stream(xp, seed), shape, minval, maxval)


@kernel("StatelessRandomUniformIntV2", devices=_CPU)
def stateless_random_uniform_int_v2(
    xp: ArrayModule,
    shape: Array,
    key: Array,
    counter: Array,
    alg: Array,
    minval: Array,
    maxval: Array,
) -> Array:
    """Integers in [minval, maxval)."""
    return _between(xp, keyed_stream(xp, key, counter, alg), shape, minval, maxval)


@kernel("StatelessMultinomial", devices=_CPU)
def stateless_multinomial(
    xp: ArrayModule, logits: Array, num_samples: Array, seed: Array, *, output_dtype: str
) -> Array:
    """Classes drawn from rows of logits."""
    return drawn_classes(xp, seeded_stream(xp, seed), logits, num_samples, dtype_of(output_dtype))
