"""Value domains of gathering, scattering, searching and sorting out."""

from __future__ import annotations

import itertools
import math

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []


def _indices(draw: Draw, name: str, shape: tuple[int, ...], limit: int) -> np.ndarray:
    count = math.prod(shape)
    return draw.integers(name, [draw.random.randrange(limit) for _ in range(count)]).reshape(shape)


@domain
def gathered(draw: Draw, params: str, indices: str) -> Arguments:
    """Rows and indices of some of them, in any shape."""
    shape = draw.shape(1, 4, 1)
    return draw.arguments(
        **{
            params: draw.tensor(params, shape, "bits"),
            indices: _indices(draw, indices, draw.shape(0, 3), shape[0]),
        }
    )


@domain
def gathered_axis(draw: Draw, params: str, indices: str, axis: str, batch_dims: str) -> Arguments:
    """A tensor, an axis, indices along it, and leading dimensions that both share."""
    shape = draw.shape(1, 4, 1)
    gathered = draw.random.randrange(len(shape))
    batch = draw.attrs[batch_dims] = draw.random.randint(0, gathered) if draw.chance(0.4) else 0
    where = (*shape[:batch], *draw.shape(0, 2))
    along = gathered - len(shape) if draw.chance(0.3) else gathered
    return draw.arguments(
        **{
            params: draw.tensor(params, shape, "bits"),
            indices: _indices(draw, indices, where, shape[gathered]),
            axis: draw.integers(axis, along),
        }
    )


def _vectors(
    draw: Draw, name: str, shape: tuple[int, ...], outer: tuple[int, ...], depth: int
) -> np.ndarray:
    vectors = [
        [draw.random.randrange(shape[i]) for i in range(depth)] for _ in range(math.prod(outer))
    ]
    return draw.integers(name, vectors).reshape((*outer, depth))


@domain
def gathered_nd(draw: Draw, params: str, indices: str) -> Arguments:
    """A tensor and index vectors, as long as its rank or shorter."""
    draw.attrs["bad_indices_policy"] = ""
    shape = draw.shape(1, 4, 1)
    depth = draw.random.randint(0, len(shape))
    outer = draw.shape(0, 2)
    return draw.arguments(
        **{
            params: draw.tensor(params, shape, "bits"),
            indices: _vectors(draw, indices, shape, outer, depth),
        }
    )


@domain
def scattered_nd(draw: Draw, indices: str, updates: str, shape: str) -> Arguments:
    """Index vectors, updates (repeated ones are added) and the result's shape."""
    draw.attrs["bad_indices_policy"] = ""
    if draw.attrs["T"] == "string":
        draw.attrs["T"] = "float32"
    dims = draw.shape(1, 4, 1)
    depth = draw.random.randint(1, len(dims))
    outer = (draw.dim(1),)
    return draw.arguments(
        **{
            indices: _vectors(draw, indices, dims, outer, depth),
            updates: draw.tensor(updates, (*outer, *dims[depth:]), _sum_style(draw, updates)),
            shape: draw.integers(shape, list(dims)),
        }
    )


def _sum_style(draw: Draw, name: str) -> str:
    return "any" if BY_NAME[draw.dtype(name)].kind in {"int", "uint", "string"} else "small"


@domain
def scattered_into(
    draw: Draw, tensor: str, indices: str, updates: str, repeat: str = "often"
) -> Arguments:
    """A tensor, index vectors and updates; with 'once' no vector comes twice."""
    draw.attrs["bad_indices_policy"] = ""
    shape = draw.shape(1, 4, 1)
    depth = draw.random.randint(1, len(shape))
    places = list(itertools.product(*(range(dim) for dim in shape[:depth])))
    count = draw.random.randint(1, min(len(places), 6))
    if repeat == "once":
        vectors = draw.random.sample(places, count)
    else:
        vectors = [draw.random.choice(places) for _ in range(count)]
    style = "bits" if repeat == "once" else _sum_style(draw, tensor)
    return draw.arguments(
        **{
            tensor: draw.tensor(tensor, shape, style),
            indices: draw.integers(indices, vectors).reshape(count, depth),
            updates: draw.tensor(updates, (count, *shape[depth:]), style),
        }
    )


@domain
def one_hot(
    draw: Draw, indices: str, depth: str, on_value: str, off_value: str, axis: str
) -> Arguments:
    """Indices, some out of range (they light nothing), and the depth."""
    shape = draw.shape(0, 3)
    size = draw.random.randint(0, 5)
    low = -1 if BY_NAME[draw.dtype(indices)].kind == "int" else 0
    numbers = [draw.random.randint(low, size + 1) for _ in range(math.prod(shape))]
    draw.attrs[axis] = draw.random.randint(-1, len(shape))
    return draw.arguments(
        **{
            indices: draw.integers(indices, numbers).reshape(shape),
            depth: draw.integers(depth, size),
            on_value: draw.tensor(on_value, (), "bits"),
            off_value: draw.tensor(off_value, (), "bits"),
        }
    )


@domain
def partitioned(draw: Draw, data: str, partitions: str, num_partitions: str) -> Arguments:
    """Slices and the number of the tensor that each goes to."""
    shape = draw.shape(1, 3)
    ranks = draw.random.randint(1, len(shape))
    count = draw.attrs[num_partitions] = draw.random.randint(1, 4)
    return draw.arguments(
        **{
            data: draw.tensor(data, shape, "bits"),
            partitions: _indices(draw, partitions, shape[:ranks], count),
        }
    )


@domain
def stitched(draw: Draw, indices: str, data: str) -> Arguments:
    """Parts that together cover 0 to n - 1, each place once.

    Left out: a place in two parts (which one wins is undefined on a GPU) and in none (what is
    there is undefined).
    """
    rest = draw.shape(0, 2)
    total = draw.random.randint(1, 12)
    order = draw.random.sample(range(total), total)
    cuts = sorted(draw.random.randint(0, total) for _ in range(draw.random.randint(0, 3)))
    parts = [order[a:b] for a, b in itertools.pairwise([0, *cuts, total])]
    return draw.arguments(
        **{
            indices: [draw.integers(indices, part) for part in parts],
            data: [draw.tensor(data, (len(part), *rest), "bits") for part in parts],
        }
    )


def _rows(draw: Draw, name: str) -> np.ndarray:
    return draw.tensor(name, draw.shape(1, 3, 1), draw.random.choice(["small", "finite"]))


@domain
def top_k(draw: Draw, x: str, k: str) -> Arguments:
    """Rows without NaN and how many are wanted; always sorted, else the order is undefined."""
    draw.attrs["sorted"] = True
    rows = _rows(draw, x)
    wanted = draw.integers(k, draw.random.randint(0, rows.shape[-1]))
    return draw.arguments(**{x: rows, k: wanted})


@domain
def in_top_k(draw: Draw, predictions: str, targets: str, k: str = "") -> Arguments:
    """Rows of predictions and their targets, some out of range."""
    rows = draw.tensor(predictions, (draw.dim(1), draw.dim(1)), "moderate")
    numbers = [draw.random.randint(-1, rows.shape[1]) for _ in range(len(rows))]
    inputs = {predictions: rows, targets: draw.integers(targets, numbers)}
    count = draw.random.randint(0, rows.shape[1])
    if k:
        return draw.arguments(**inputs, **{k: draw.integers(k, count)})
    draw.attrs["k"] = count
    return draw.arguments(**inputs)


@domain
def sparse_to_dense(
    draw: Draw, indices: str, shape: str, values: str, default_value: str
) -> Arguments:
    """Places in rising order, each once, their values (or one for all) and the rest's value."""
    dims = draw.shape(1, 3, 1)
    places = list(itertools.product(*(range(dim) for dim in dims)))
    chosen = sorted(draw.random.sample(places, draw.random.randint(1, min(len(places), 6))))
    amounts = (len(chosen),) if draw.chance(0.7) else ()
    return draw.arguments(
        **{
            indices: draw.integers(indices, chosen).reshape(len(chosen), len(dims)),
            shape: draw.integers(shape, list(dims)),
            values: draw.tensor(values, amounts, "bits"),
            default_value: draw.tensor(default_value, (), "bits"),
        }
    )


@domain
def sorted_search(draw: Draw, rows: str, values: str) -> Arguments:
    """Sorted rows and the values that are sought in each; no NaN."""
    batch = draw.dim(1, 3)
    ordered = np.sort(draw.tensor(rows, (batch, draw.dim(1)), "small"), axis=-1)
    return draw.arguments(
        **{rows: ordered, values: draw.tensor(values, (batch, draw.dim(1)), "small")}
    )
