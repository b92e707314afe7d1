"""Value domains of random numbers of seeds, of keys and counters, and of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.sampling import draw_interval, draw_seeds, drawn_shape

__all__: list[str] = []


def _pair(draw: Draw) -> dict[str, Any]:
    draw.attrs["Tseed"] = draw.random.choice(("int32", "int64"))
    limits = np.iinfo(draw.integers("seed", []).dtype)
    ends = draw.random.choice(((0, 1), (0, 2**31 - 1), (int(limits.min), int(limits.max))))
    return {"seed": draw.integers("seed", [draw.random.randint(*ends) for _ in range(2)])}


def _key(draw: Draw) -> dict[str, Any]:
    words = [draw.random.getrandbits(draw.random.choice((1, 32, 64))) for _ in range(3)]
    return {
        "key": np.array(words[:1], np.uint64),
        "counter": np.array(words[1:], np.uint64),
        "alg": draw.integers("alg", draw.random.choice((1, 3))),
    }


@domain
def seed_pair(draw: Draw, seed: str) -> Arguments:
    """Two seeds."""
    del seed
    return draw.arguments(**_pair(draw))


@domain
def seeded_numbers(draw: Draw, shape: str) -> Arguments:
    """A shape and two seeds."""
    return draw.arguments(**{shape: draw.integers(shape, drawn_shape(draw))}, **_pair(draw))


@domain
def keyed_numbers(draw: Draw, shape: str) -> Arguments:
    """A shape, a key and a counter."""
    return draw.arguments(**{shape: draw.integers(shape, drawn_shape(draw))}, **_key(draw))


def _interval(draw: Draw) -> dict[str, Any]:
    low, high = draw_interval(draw, "minval")
    return {"minval": draw.integers("minval", low), "maxval": draw.integers("maxval", high)}


@domain
def seeded_between(draw: Draw, shape: str) -> Arguments:
    """A shape, two seeds and an interval of signed integers."""
    draw.attrs["dtype"] = draw.random.choice(("int32", "int64"))
    sizes = draw.integers(shape, drawn_shape(draw))
    return draw.arguments(**{shape: sizes}, **_pair(draw), **_interval(draw))


@domain
def keyed_between(draw: Draw, shape: str) -> Arguments:
    """A shape, a key, a counter and an interval of signed integers."""
    draw.attrs["dtype"] = draw.random.choice(("int32", "int64"))
    sizes = draw.integers(shape, drawn_shape(draw))
    return draw.arguments(**{shape: sizes}, **_key(draw), **_interval(draw))


@domain
def seeded_classes(draw: Draw, logits: str, num_samples: str, seed: str) -> Arguments:
    """Unnormalised logarithms of probabilities, how many samples, and two seeds."""
    del seed
    draw.attrs["T"] = draw.random.choice(("float32", "float64"))
    rows = (draw.dim(), draw.dim(1))
    return draw.arguments(
        **{
            logits: draw.tensor(logits, rows, "plain"),
            num_samples: draw.integers(num_samples, draw.random.randint(0, 9)),
        },
        **_pair(draw),
    )


def _parameters(draw: Draw, name: str) -> np.ndarray:
    """Positive parameters, small and large ones and 1."""
    shape = draw.shape(0, 2, 1)
    values = [
        draw.random.choice((1.0, draw.random.uniform(0.1, 2), draw.random.uniform(2, 40)))
        for _ in range(int(np.prod(shape)))
    ]
    array: np.ndarray = np.array(values).reshape(shape).astype(draw.tensor(name, ()).dtype)
    return array


@domain
def drawn_parameters(draw: Draw, shape: str, parameters: str) -> Arguments:
    """A shape, parameters and the seeds of an operation."""
    draw_seeds(draw)
    sizes = [draw.dim(0, 5) for _ in range(draw.rank(0, 2))]
    return draw.arguments(
        **{
            shape: draw.integers(shape, sizes),
            parameters: _parameters(draw, parameters),
        }
    )


def _with_shape(draw: Draw, parameters: str) -> dict[str, Any]:
    """Parameters, and a shape that ends with theirs."""
    given = _parameters(draw, parameters)
    sizes = [draw.dim(0, 5) for _ in range(draw.rank(0, 2))]
    return {"shape": draw.integers("shape", [*sizes, *given.shape]), parameters: given}


@domain
def seeded_parameters(draw: Draw, parameters: str) -> Arguments:
    """Parameters, a shape that ends with theirs, and two seeds."""
    return draw.arguments(**_with_shape(draw, parameters), **_pair(draw))


@domain
def keyed_parameters(draw: Draw, parameters: str) -> Arguments:
    """Parameters, a shape that ends with theirs, a key and a counter."""
    return draw.arguments(**_with_shape(draw, parameters), **_key(draw))


@domain
def gamma_gradient(draw: Draw, alpha: str, sample: str) -> Arguments:
    """Shapes of gamma distributions, and numbers near their means."""
    shapes = _parameters(draw, alpha)
    near = [value * draw.random.uniform(0.5, 2.0) for value in shapes.reshape(-1).tolist()]
    return draw.arguments(
        **{
            alpha: shapes,
            sample: np.array(near).reshape(shapes.shape).astype(shapes.dtype),
        }
    )


#: Bounds in deviations from the mean: of both signs, near, far, and open on one side.
_BOUNDS: Final = (
    (-2.0, 2.0),
    (-0.5, 3.0),
    (0.1, 0.3),
    (2.0, 2.5),
    (4.0, float("inf")),
    (-float("inf"), -3.0),
    (-1.0, float("inf")),
    (-3.0, -0.1),
)


def _bounded(
    draw: Draw, names: tuple[str, ...], shapes: Sequence[tuple[int, ...]]
) -> dict[str, Any]:
    """Means, deviations and bounds of those shapes, which broadcast.

    Bounds are far enough apart wherever the means differ by little.
    """
    low, high = draw.random.choice(_BOUNDS)
    dtype = draw.attrs["dtype"]
    mean, width = draw.random.uniform(-2, 2), draw.random.choice((0.5, 1.0, 2.0))
    wanted = (mean, width, mean + low * width, mean + high * width)
    parameters = {}
    for name, value, shape in zip(names, wanted, shapes, strict=True):
        values = [value + draw.random.uniform(0, 0.02) for _ in range(int(np.prod(shape)))]
        parameters[name] = np.array(values).reshape(shape).astype(dtype)
    return parameters


@domain
def bounded_rows(draw: Draw, shape: str, *names: str) -> Arguments:
    """A shape, seeds, and parameters for each of its rows, or for all.

    TensorFlow shares out many numbers over its threads, each of which has words of its own: so
    there are few.
    """
    draw_seeds(draw)
    draw.attrs["dtype"] = draw.random.choice(("float16", "float32", "float64"))
    dims = [draw.dim(0, 4), *(draw.dim(0, 3) for _ in range(draw.rank(0, 2)))]
    shapes = [draw.random.choice(((), (1,), (dims[0],))) for _ in names]
    return draw.arguments(**{shape: draw.integers(shape, dims)}, **_bounded(draw, names, shapes))


def _broadcast(draw: Draw, count: int) -> tuple[list[int], list[tuple[int, ...]]]:
    """A shape of few elements, and those of parameters that broadcast to its end."""
    widest = tuple(draw.dim(1, 3) for _ in range(draw.rank(0, 2)))
    shapes = [tuple(size if draw.chance(0.7) else 1 for size in widest) for _ in range(count - 1)]
    return [*(draw.dim(0, 4) for _ in range(draw.rank(0, 1))), *widest], [widest, *shapes]


@domain
def seeded_bounds(draw: Draw, shape: str, *names: str) -> Arguments:
    """Parameters that broadcast, a shape that ends with theirs, and two seeds."""
    dims, shapes = _broadcast(draw, len(names))
    sizes = draw.integers(shape, dims)
    return draw.arguments(**{shape: sizes}, **_pair(draw), **_bounded(draw, names, shapes))


@domain
def seeded_trials(draw: Draw, shape: str, counts: str, probs: str) -> Arguments:
    """How many trials and their chances, a shape that ends with theirs, and two seeds."""
    draw.attrs["T"] = kind = draw.random.choice(("float16", "float32", "float64"))
    dims, shapes = _broadcast(draw, 2)
    trials = [draw.random.choice((0, 1, 7, 50, 400)) for _ in range(int(np.prod(shapes[0])))]
    chances = [
        draw.random.choice((0.0, 1.0, draw.random.random(), draw.random.random()))
        for _ in range(int(np.prod(shapes[1])))
    ]
    return draw.arguments(
        **{
            shape: draw.integers(shape, dims),
            counts: np.array(trials).reshape(shapes[0]).astype(kind),
            probs: np.array(chances).reshape(shapes[1]).astype(kind),
        },
        **_pair(draw),
    )


@domain
def keyed_rows(draw: Draw, value: str) -> Arguments:
    """A tensor of any dtype, a key and a counter."""
    return draw.arguments(**{value: draw.tensor(value, drawn_shape(draw))}, **_key(draw))


@domain
def shuffled_places(draw: Draw, index: str, seed: str, max_index: str) -> Arguments:
    """Indices up to a largest one; each of the three for all, or for each.

    The rounds are even and 4 at least: of others TensorFlow reads keys that there are not.
    """
    draw.attrs["rounds"] = draw.random.choice((4, 4, 6, 8, 24))
    count = draw.dim(1)
    kinds = [draw.chance(0.5) for _ in range(3)]
    limit = np.iinfo(draw.integers(index, 0).dtype).max
    largest = [
        min(int(limit), draw.random.choice((0, 1, 9, 2**16, 2**31 - 1, 2**40 + 7)))
        for _ in range(count if kinds[0] else 1)
    ]
    places = [draw.random.randint(0, min(largest)) for _ in range(count if kinds[1] else 1)]
    words = [[draw.random.randint(0, 2**31 - 1) for _ in range(3)] for _ in range(count)]
    return draw.arguments(
        **{
            index: draw.integers(index, places if kinds[1] else places[0]),
            seed: draw.integers(seed, words if kinds[2] else words[0]),
            max_index: draw.integers(max_index, largest if kinds[0] else largest[0]),
        }
    )
