"""Kernels of random numbers without a state: a key and a counter say which words are taken.

A pair of seeds is scrambled to a key and the upper half of a counter. From then on the numbers are
those of an operation with a state whose stream begins there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import HOST, dtype_of, host_array, ints, scalar_int
from sessrun.reference.kernels.normal import normal_numbers, truncated_numbers
from sessrun.reference.kernels.philox import Stream
from sessrun.reference.kernels.random import (
    drawn_classes,
    numbers_between,
    uniform_numbers,
    whole_numbers,
)
from sessrun.reference.kernels.registry import Bind, binder, kernel

__all__ = ["check_algorithm", "keyed_stream", "of_each", "seeded_stream"]

_CPU: Final = ("CPU",)
#: The key under which two seeds, as a counter, are scrambled.
_SCRAMBLING: Final = 0x02461E293EC8F720
#: The numbers of the algorithms: Philox, ThreeFry, whichever is best, which is Philox.
_PHILOX, _THREEFRY, _ANY = 1, 2, 3


def _scrambled(seed: Any) -> tuple[int, int]:
    """The key and the upper half of the counter that two seeds stand for.

    Raises:
      InvalidArgument: there are not two.

    """
    if seed.shape != (2,):
        raise InvalidArgument(f"seed must have shape [2], not {list(seed.shape)}")
    low, high = ints(seed)
    stream = Stream(HOST, _SCRAMBLING, high)
    even, odd = stream.at(HOST.asarray([low % 2**64], dtype="uint64"))
    (first, third), (second, fourth) = even[:, 0].tolist(), odd[:, 0].tolist()
    return first | second << 32, third | fourth << 32


def seeded_stream(xp: Any, seed: Any) -> Stream:
    """The stream of two seeds."""
    return Stream(xp, *_scrambled(seed))


def check_algorithm(number: int) -> None:
    """Raise InvalidArgument for an unknown algorithm, Unimplemented for one that is not there."""
    if number == _THREEFRY:
        raise Unimplemented("The ThreeFry algorithm is not there on a CPU")
    if number not in {_PHILOX, _ANY}:
        raise InvalidArgument(f"Unsupported algorithm id: {number}")


def keyed_stream(xp: Any, key: Any, counter: Any, alg: Any) -> Stream:
    """The stream of a key and a counter.

    Raises:
      InvalidArgument: the algorithm is not there or the shapes are wrong.

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


def of_each(dims: tuple[int, ...], parameters: Sequence[Any]) -> list[Any]:
    """Each parameter as a vector of as many numbers as they broadcast to.

    Raises:
      KernelError: they do not broadcast, or the shape does not end with theirs.

    """
    try:
        whole = HOST.broadcast_arrays(*parameters)
    except ValueError:
        raise InvalidArgument("parameters must have compatible batch dimensions") from None
    shape = whole[0].shape
    if dims[len(dims) - len(shape) :] != shape:
        raise InvalidArgument("Shape passed in must end with broadcasted shape.")
    return [each.reshape(-1) for each in whole]


@kernel("StatelessRandomGetKeyCounter", devices=_CPU)
def get_key_counter(_: Any, seed: Any) -> Any:
    """A key and a counter, scrambled of two seeds."""
    key, upper = _scrambled(seed)
    return host_array([key], "uint64"), host_array([0, upper], "uint64")


@kernel("StatelessRandomGetAlg", devices=_CPU)
def get_algorithm(_: Any) -> Any:
    """The number of the algorithm that is best here: Philox."""
    return host_array([_PHILOX], "int32").reshape(())


@kernel("StatelessRandomGetKeyCounterAlg", devices=_CPU)
def get_key_counter_algorithm(_: Any, seed: Any) -> Any:
    """Key, counter and algorithm together."""
    key, upper = _scrambled(seed)
    number = host_array([_PHILOX], "int32").reshape(())
    return host_array([key], "uint64"), host_array([0, upper], "uint64"), number


#: From the array module, a stream, a shape and a dtype's name to numbers.
Make = Callable[[Any, Stream, tuple[int, ...], str], Any]


def _register(op_type: str, make: Make) -> None:
    @binder(op_type, devices=_CPU)
    def seeded(bind: Bind) -> Callable[..., Any]:
        dtype = bind.attrs["dtype"]

        def compute(shape: Any, seed: Any) -> Any:
            return make(bind.xp, seeded_stream(bind.xp, seed), checked_shape(shape), dtype)

        return compute

    @binder(f"{op_type}V2", devices=_CPU)
    def keyed(bind: Bind) -> Callable[..., Any]:
        dtype = bind.attrs["dtype"]

        def compute(shape: Any, key: Any, counter: Any, alg: Any) -> Any:
            stream = keyed_stream(bind.xp, key, counter, alg)
            return make(bind.xp, stream, checked_shape(shape), dtype)

        return compute


_register("StatelessRandomUniform", uniform_numbers)
_register("StatelessRandomNormal", normal_numbers)
_register("StatelessTruncatedNormal", truncated_numbers)
_register(
    "StatelessRandomUniformFullInt",
    lambda xp, stream, dims, dtype: whole_numbers(xp, stream, dims, dtype_of(dtype)),
)


def _between(xp: Any, stream: Stream, shape: Any, minval: Any, maxval: Any) -> Any:
    if minval.ndim or maxval.ndim:
        raise InvalidArgument("minval and maxval must be scalars")
    interval = scalar_int(minval), scalar_int(maxval)
    return numbers_between(xp, stream, checked_shape(shape), minval.dtype, interval)


@kernel("StatelessRandomUniformInt", devices=_CPU)
def stateless_random_uniform_int(xp: Any, shape: Any, seed: Any, minval: Any, maxval: Any) -> Any:
    """Integers in [minval, maxval)."""
    return _between(xp, seeded_stream(xp, seed), shape, minval, maxval)


@kernel("StatelessRandomUniformIntV2", devices=_CPU)
def stateless_random_uniform_int_v2(
    xp: Any, shape: Any, key: Any, counter: Any, alg: Any, minval: Any, maxval: Any
) -> Any:
    """Integers in [minval, maxval)."""
    return _between(xp, keyed_stream(xp, key, counter, alg), shape, minval, maxval)


@kernel("StatelessMultinomial", devices=_CPU)
def stateless_multinomial(
    xp: Any, logits: Any, num_samples: Any, seed: Any, *, output_dtype: str
) -> Any:
    """Classes drawn with the probabilities that unnormalised logarithms give."""
    return drawn_classes(xp, seeded_stream(xp, seed), logits, num_samples, dtype_of(output_dtype))
