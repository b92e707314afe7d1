"""Random generators, whose state is a resource variable that every sampling advances.

Node names and op types are those of `tensorflow.compat.v1`. The state of Philox is a counter of two
numbers and a key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.api import nest
from sessrun.reference.api.ops.array_ops import concat, reshape, stack, unstack
from sessrun.reference.api.ops.array_ops import shape as shape_of
from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.math_ops import add
from sessrun.reference.api.ops.reduce_ops import reduce_prod
from sessrun.reference.api.ops.stateless_ops import (
    Algorithm,
    AlgorithmLike,
    algorithm_number,
    unknown_algorithm,
)
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variables import create_resource
from sessrun.reference.base import dtypes
from sessrun.reference.base.dimension import dimension_value
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import bitcast, maximum
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import init_scope, name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["Generator", "create_rng_state", "non_deterministic_ints"]

#: The dtype of states and seeds.
STATE_TYPE: Final = "int64"
SEED_TYPE: Final = STATE_TYPE
_BITS: Final = 64
PHILOX_STATE_SIZE: Final = 3
THREEFRY_STATE_SIZE: Final = 2
RNG_ALG_PHILOX: Final = Algorithm.PHILOX.value
RNG_ALG_THREEFRY: Final = Algorithm.THREEFRY.value
_SIZES: Final[dict[object, int]] = {
    RNG_ALG_PHILOX: PHILOX_STATE_SIZE,
    RNG_ALG_THREEFRY: THREEFRY_STATE_SIZE,
    Algorithm.AUTO_SELECT.value: PHILOX_STATE_SIZE,
}


def non_deterministic_ints(shape: TensorLike, dtype: DTypeLike = dtypes.int64) -> Tensor:
    """Random integers that differ in every run.

    Args:
      shape: the shape of the result.
      dtype: an integer dtype of 32 or 64 bits.

    """
    return one("NonDeterministicInts", {"shape": shape}, dtype=dtype)


def _signed(number: Any) -> Any:
    """An unsigned 64-bit number as the signed one of the same bits; other values unchanged."""
    is_large = isinstance(number, int) and number >= 1 << _BITS - 1
    return number - (1 << _BITS) if is_large else number


def _state_tensor(value: TensorLike) -> Tensor:
    return cast(nest.map_structure(_signed, value), STATE_TYPE)


def _state_size(alg: AlgorithmLike) -> int:
    """The length of the state of an algorithm.

    Raises:
      ValueError: the algorithm is unknown.

    """
    if alg not in _SIZES:
        raise bad_value(unknown_algorithm(alg))
    return _SIZES[alg]


@public("random.create_rng_state", "random.experimental.create_rng_state")
def create_rng_state(seed: TensorLike, alg: AlgorithmLike) -> Tensor:
    """The initial state of a generator for a seed.

    Args:
      seed: an integer, which is split into 64-bit words, or a vector of integers.
      alg: `philox`, `threefry`, an `Algorithm` or its number.

    Returns:
      The seed as a vector, int64: [3] for Philox, [2] for ThreeFry, with zeros in front.

    Raises:
      ValueError: the algorithm is unknown.

    """
    size = _state_size(algorithm_number(alg))
    if isinstance(seed, int):
        seed = [seed >> _BITS * word & (1 << _BITS) - 1 for word in range(size)]
    given = reshape(_state_tensor(seed), [-1])[0:size]
    known = dimension_value(given.shape[0])
    count = shape_of(given)[0] if known is None else known
    state = concat([zeros([maximum(size - count, 0)], given.dtype), given], axis=0)
    state.set_shape([size])
    return state


def _joined(key: TensorLike, counter: TensorLike, size: int) -> Tensor:
    """The state, int64 [size], that a counter [size - 1] and a scalar key make up."""
    counters, one_key = _state_tensor(counter), _state_tensor(key)
    counters.shape.assert_is_compatible_with([size - 1])
    one_key.shape.assert_is_compatible_with([])
    return concat([counters, reshape(one_key, [1])], 0)


def _shape_tensor(shape: TensorLike) -> Tensor:
    """A shape as a tensor; int64 if it is an empty list."""
    is_empty = isinstance(shape, tuple | list) and not shape
    return convert_to_tensor(shape, dtypes.int64 if is_empty else None, name="shape")


@public("random.Generator", "random.experimental.Generator")
class Generator:
    """A generator of random numbers.

    Args:
      copy_from: another generator whose state and algorithm are copied; `state` and `alg` are then
        left out, and are required otherwise.
      state: an integer vector of the length of the algorithm's state (3 for Philox, 2 for
        ThreeFry), or a variable that holds one and that the generator then shares.
      alg: `philox`, `threefry`, an `Algorithm` or its number.

    Raises:
      AssertionError: `copy_from` is given with another argument, or one of the others is missing.
      ValueError: the algorithm is unknown, or the state has another length.

    """

    def __init__(
        self,
        copy_from: Generator | None = None,
        state: TensorLike | None = None,
        alg: AlgorithmLike | None = None,
    ) -> None:
        if copy_from is not None:
            if state is not None or alg:
                raise AssertionError
            self._alg = copy_from.algorithm
            self._state_var = _variable(copy_from.state)
            return
        if alg is None or state is None:
            raise AssertionError
        self._alg = algorithm_number(alg)
        is_variable = isinstance(state, Variable)
        value: Any = state if is_variable else _state_tensor(state)
        if not isinstance(self._alg, Tensor):
            value.shape.assert_is_compatible_with([_state_size(self._alg)])
        self._state_var = value if is_variable else _variable(value)

    @classmethod
    def from_state(cls, state: TensorLike, alg: AlgorithmLike) -> Generator:
        """A generator with a given state; arguments as for the class."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: TensorLike, alg: AlgorithmLike | None = None) -> Generator:
        """A generator with the state that `create_rng_state` makes of a seed; Philox by default."""
        number = algorithm_number(RNG_ALG_PHILOX if alg is None else alg)
        return cls(state=create_rng_state(seed, number), alg=number)

    @classmethod
    def from_non_deterministic_state(cls, alg: AlgorithmLike | None = None) -> Generator:
        """A generator with a random state."""
        number = algorithm_number(RNG_ALG_PHILOX if alg is None else alg)
        state = non_deterministic_ints(shape=[_state_size(number)], dtype=SEED_TYPE)
        return cls(state=state, alg=number)

    @classmethod
    def from_key_counter(
        cls, key: TensorLike, counter: TensorLike, alg: AlgorithmLike
    ) -> Generator:
        """A generator with a key, an integer scalar, and a counter, an integer vector."""
        number = algorithm_number(alg)
        return cls(state=_joined(key, counter, _state_size(number)), alg=number)

    def reset(self, state: TensorLike) -> None:
        """Add an assignment of another state to the graph."""
        value = _state_tensor(state)
        value.shape.assert_is_compatible_with([_state_size(self._alg)])
        self._state_var.assign(value)

    def reset_from_seed(self, seed: TensorLike) -> None:
        """Add an assignment of the state of a seed to the graph."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: TensorLike, counter: TensorLike) -> None:
        """Add an assignment of a key and a counter to the graph."""
        self._state_var.assign(_joined(key, counter, _state_size(self._alg)))

    @property
    def state(self) -> ResourceVariable:
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self) -> int | Tensor:
        """The algorithm's number."""
        return self._alg

    @property
    def key(self) -> Tensor:
        """The key, a scalar."""
        _state_size(self._alg)
        last: Tensor = self._state_var[-1]
        return last

    def skip(self, delta: TensorLike) -> Tensor:
        """Advance the state by `delta` samples; returns the former counter and key, int64."""
        inputs = {
            "resource": self._state_var.handle,
            "alg": cast(self._alg, dtypes.int32),
            "delta": cast(delta, dtypes.uint64),
        }
        return one("RngReadAndSkip", inputs)

    def _drawn(
        self, op_type: str, shape: Tensor, name: str | None = None, **rest: object
    ) -> Tensor:
        """Samples of a stateless operation, which gets this state's key and counter.

        The state is advanced by as many samples as the shape has elements.
        """
        state = self.skip(reduce_prod(shape))
        size = _state_size(self._alg) - 1
        counter = bitcast(state[:size], dtypes.uint64)
        key = bitcast(state[size : size + 1], dtypes.uint64)
        inputs = {"shape": shape, "key": key, "counter": counter, "alg": self._alg}
        if "dtype" in rest:
            return one(op_type, inputs, name, **rest)
        return one(op_type, {**inputs, **rest}, name)

    def _standard_normal(self, shape: Tensor, dtype: DTypeLike) -> Tensor:
        return self._drawn("StatelessRandomNormalV2", shape, dtype=dtype)

    def _truncated_normal(self, shape: Tensor, dtype: DTypeLike) -> Tensor:
        return self._drawn("StatelessTruncatedNormalV2", shape, dtype=dtype)

    def _uniform(self, shape: Tensor, dtype: DTypeLike) -> Tensor:
        return self._drawn("StatelessRandomUniformV2", shape, dtype=dtype)

    def _uniform_full_int(self, shape: Tensor, dtype: DTypeLike, name: str | None = None) -> Tensor:
        return self._drawn("StatelessRandomUniformFullIntV2", shape, name, dtype=dtype)

    def normal(
        self,
        shape: TensorLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Samples of a normal distribution.

        Args:
          shape: the shape of the result.
          mean: the mean, broadcast with the shape.
          stddev: the standard deviation, broadcast with the shape.
          dtype: a float dtype, that of the result.
          name: the operations' scope.

        """
        with name_scope(name, "stateful_normal", [shape, mean, stddev]) as scope:
            return _scaled(self._standard_normal, shape, mean, stddev, dtype, scope)

    def truncated_normal(
        self,
        shape: TensorLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """As `normal`, but without samples beyond two standard deviations from the mean."""
        with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
            return _scaled(self._truncated_normal, shape, mean, stddev, dtype, scope)

    def uniform(
        self,
        shape: TensorLike,
        minval: TensorLike | None = 0,
        maxval: TensorLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Samples of the uniform distribution on [minval, maxval).

        Args:
          shape: the shape of the result.
          minval: the least number; None, with `maxval`, for the full range of an integer dtype.
          maxval: the upper bound, excluded; by default 1, required for integers.
          dtype: a float dtype, or an integer one of 32 or 64 bits.
          name: the operation's name.

        Raises:
          ValueError: only one of the bounds of integers is given.

        """
        wanted = dtypes.as_dtype(dtype)
        if wanted.is_integer and (minval is None) != (maxval is None):
            raise bad_value(
                f"For integer dtype {wanted}, minval and maxval must be both `None` "
                f"or both non-`None`; got {minval} and {maxval}"
            )
        if not wanted.is_integer and maxval is None:
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            dims = _shape_tensor(shape)
            if wanted.is_integer and minval is None:
                return self._uniform_full_int(dims, wanted, scope)
            low = convert_to_tensor(minval, wanted, name="min")
            high = convert_to_tensor(maxval, wanted, name="max")
            if wanted.is_integer:
                return self._drawn(
                    "StatelessRandomUniformIntV2", dims, scope, minval=low, maxval=high
                )
            return add(self._uniform(dims, wanted) * (high - low), low, name=scope)

    def uniform_full_int(
        self, shape: TensorLike, dtype: DTypeLike = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Integers distributed uniformly over the full range of their dtype."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            return self._uniform_full_int(_shape_tensor(shape), dtypes.as_dtype(dtype), scope)

    def binomial(
        self,
        shape: TensorLike,
        counts: TensorLike,
        probs: TensorLike,
        dtype: DTypeLike = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """Samples of binomial distributions: the numbers of successes in `counts` trials.

        Args:
          shape: the shape of the result; its last dimensions are the broadcast shape of `counts`
            and `probs`.
          counts: the numbers of trials.
          probs: the probabilities of success.
          dtype: the dtype of the result.
          name: the operation's name.

        """
        with name_scope(name, "binomial", [shape, counts, probs]) as scope:
            trials = convert_to_tensor(counts, name="counts")
            chances = convert_to_tensor(probs, name="probs")
            inputs = {
                "resource": self._state_var.handle,
                "algorithm": self._alg,
                "shape": _shape_tensor(shape),
                "counts": trials,
                "probs": chances,
            }
            return one("StatefulRandomBinomial", inputs, scope, dtype=dtypes.as_dtype(dtype))

    def _make_int64_keys(self, shape: TensorLike = ()) -> Tensor:
        return self.uniform_full_int(shape=shape, dtype=dtypes.int64)

    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds for stateless operations, int64 of shape [2, count]."""
        keys = self._make_int64_keys(shape=[count])
        return stack([keys, zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """A list of `count` independent generators of the same algorithm."""
        zeros_before = [0] * (_state_size(self._alg) - 1)
        keys = unstack(self._make_int64_keys(shape=[count]), num=count)
        return [Generator(state=[*zeros_before, key], alg=self._alg) for key in keys]


def _scaled(
    draw: Callable[..., Tensor],
    shape: TensorLike,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DTypeLike,
    scope: str,
) -> Tensor:
    """The standard samples that `draw` returns, times `stddev`, plus `mean`."""
    dims = _shape_tensor(shape)
    centre = convert_to_tensor(mean, dtype, name="mean")
    width = convert_to_tensor(stddev, dtype, name="stddev")
    return add(draw(dims, dtype) * width, centre, name=scope)


def _variable(state: TensorLike) -> ResourceVariable:
    """A new variable that holds a state."""
    with name_scope("random_generator"):
        variable: ResourceVariable = create_resource(
            state, dtype=STATE_TYPE, trainable=False, name="StateVar"
        )
    return variable


#: The global generator; empty until the first call of `get_global_generator`.
_shared: list[Generator] = []


@public("random.experimental.get_global_generator", "random.get_global_generator")
def get_global_generator() -> Generator:
    """The global generator, which the first call creates."""
    if not _shared:
        with init_scope():
            _shared.append(Generator.from_non_deterministic_state())
    return _shared[0]


@public("random.experimental.set_global_generator", "random.set_global_generator")
def set_global_generator(generator: Generator) -> None:
    """Replace the global generator."""
    _shared[:] = [generator]
