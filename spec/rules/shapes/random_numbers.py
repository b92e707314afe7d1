"""Shape rules of random numbers of seeds, of keys, and of parameters."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import (
    Dim,
    Shape,
    ShapeError,
    Value,
    broadcast_shapes,
    exactly,
    merge_dims,
    ranked,
    rule,
)
from sessrun.spec.rules.shapes.sources import multinomial

__all__: list[str] = []


def _seed(seed: Shape) -> None:
    pair = ranked(seed, 1, 1)
    if pair is not None:
        exactly(pair[0], 2)


def _interval(low: Shape, high: Shape) -> None:
    for name, end in (("minval", low), ("maxval", high)):
        if end:
            raise ShapeError(
                f"{name} must be a scalar; got a tensor of shape "
                f"{[-1 if dim is None else dim for dim in end]}"
            )


@rule
def drawn_between(dims: Shape, low: Shape, high: Shape) -> list[Shape]:
    """As `dims_shape`, of numbers between two scalars."""
    _interval(low, high)
    return [dims]


@rule
def seeded_between(dims: Shape, seed: Shape, low: Shape, high: Shape) -> list[Shape]:
    """As `seeded_numbers`, of numbers between two scalars."""
    _interval(low, high)
    return seeded_numbers(dims, seed)


@rule
def keyed_between(
    dims: Shape, key: Shape, counter: Shape, alg: Shape, low: Shape, high: Shape
) -> list[Shape]:
    """As `keyed_numbers`, of numbers between two scalars."""
    _interval(low, high)
    return keyed_numbers(dims, key, counter, alg)


@rule
def key_and_counter(seed: Shape) -> list[Shape]:
    """A key of one number, a counter of two."""
    _seed(seed)
    return [(1,), (2,)]


@rule
def key_counter_and_algorithm(seed: Shape) -> list[Shape]:
    """A key of one number, a counter of two, the number of an algorithm."""
    _seed(seed)
    return [(1,), (2,), ()]


@rule
def seeded_numbers(dims: Shape, seed: Shape) -> list[Shape]:
    """The requested shape; the seed is a pair."""
    _seed(seed)
    return [dims]


@rule
def keyed_numbers(dims: Shape, key: Shape, counter: Shape, alg: Shape) -> list[Shape]:
    """The requested shape."""
    one = ranked(key, 1, 1)
    if one is not None:
        exactly(one[0], 1)
    ranked(counter, 1, 1)
    ranked(alg, 0, 0)
    return [dims]


@rule
def parameter_numbers(dims: Shape, parameters: Shape) -> list[Shape]:
    """The requested shape, then that of the parameters."""
    return [None if dims is None or parameters is None else (*dims, *parameters)]


@rule
def bounded_numbers(dims: Shape, *parameters: Shape) -> list[Shape]:
    """The requested shape; parameters are scalars or vectors."""
    for shape in parameters:
        ranked(shape, 0, 1)
    return [dims]


@rule
def seeded_of_parameters(dims: Shape, seed: Shape, *parameters: Shape) -> list[Shape]:
    """The requested shape; the seed is a pair, and parameters broadcast."""
    _seed(seed)
    broadcast_shapes(*parameters)
    return [dims]


@rule
def seeded_classes(logits: Shape, num_samples: Value, seed: Shape) -> list[Shape]:
    """As `multinomial`; the seed is a pair."""
    _seed(seed)
    return multinomial(logits, num_samples)


@rule
def state_and_skip(algorithm: Shape, delta: Shape) -> list[Shape]:
    """Counter and key: a vector of 3."""
    skip(algorithm, delta)
    return [(3,)]


@rule
def skip(algorithm: Shape, delta: Shape) -> list[Shape]:
    """Nothing; the algorithm's number and how far are scalars."""
    ranked(algorithm, 0, 0)
    ranked(delta, 0, 0)
    return []


@rule
def of_generator(dims: Shape, algorithm: Shape) -> list[Shape]:
    """The requested shape; the algorithm's number is a scalar."""
    ranked(algorithm, 0, 0)
    return [dims]


@rule
def between_of_generator(dims: Shape, algorithm: Shape, low: Shape, high: Shape) -> list[Shape]:
    """As `of_generator`, of numbers between two scalars."""
    _interval(low, high)
    return of_generator(dims, algorithm)


@rule
def shuffled_places(index: Shape, seed: Shape, max_index: Shape) -> list[Shape]:
    """[n] if one of them is given for each of n, else a scalar: three seeds, or a row of three."""
    for shape, most in ((index, 1), (seed, 2), (max_index, 1)):
        ranked(shape, most - 1, most)
    if seed is not None and seed[-1] != 3:  # if it is not known, too
        shown = [-1 if size is None else size for size in seed]
        raise ShapeError(f"Seed must have shape [3] or [n, 3] but got {shown}.")
    counts = [*(index or ()), *(seed or ())[:-1], *(max_index or ())]
    if not counts:
        return [None if None in {index, seed, max_index} else ()]
    count: Dim = 1 if set(counts) == {1} else None
    for other in counts:
        count = count if other == 1 else merge_dims(count, other)
    return [(count,)]
