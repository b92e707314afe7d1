"""Value domains of operations that move the elements of sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.sparse import draw_places, draw_sparse
from sessrun.spec.rules.domains.strings import drawn_texts

__all__: list[str] = []


def _dims(draw: Draw) -> list[int]:
    return [draw.dim(1, 5) for _ in range(draw.rank(1, 4))]


@domain
def sparse_concat(draw: Draw, indices: str, values: str, shapes: str) -> Arguments:
    """Sparse tensors that are the same but for one dimension."""
    shape = _dims(draw)
    axis = draw.axis(len(shape))
    draw.attrs["concat_dim"] = axis
    parts: dict[str, list[Any]] = {indices: [], values: [], shapes: []}
    for _ in range(draw.random.randint(2, 4)):
        shape[axis] = draw.dim(1, 4)
        for name, value in draw_sparse(draw, tuple(parts), shape).items():
            parts[name].append(value)
    return draw.arguments(**parts)


@domain
def sparse_split(draw: Draw, dim: str, indices: str, values: str, shape: str) -> Arguments:
    """A sparse tensor, an axis, and into how many parts at most."""
    sizes = _dims(draw)
    axis = draw.axis(len(sizes))
    draw.attrs["num_split"] = draw.random.randint(1, sizes[axis])
    parts = draw_sparse(draw, (indices, values, shape), sizes)
    return draw.arguments(**{dim: draw.integers(dim, axis)}, **parts)


def _box(draw: Draw, shape: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Where a box begins, within the shape, and how large it is, perhaps larger."""
    start = [draw.random.randint(0, size) for size in shape]
    size = [draw.random.randint(0, size + 1) for size in shape]
    return np.array(start, np.int64), np.array(size, np.int64)


@domain
def sparse_slice(
    draw: Draw, indices: str, values: str, shape: str, start: str, size: str
) -> Arguments:
    """A sparse tensor and a box."""
    sizes = _dims(draw)
    begin, extent = _box(draw, sizes)
    parts = draw_sparse(draw, (indices, values, shape), sizes)
    return draw.arguments(**parts, **{start: begin, size: extent})


@domain
def sparse_slice_gradient(draw: Draw, grad: str) -> Arguments:
    """Places of a sparse tensor and those of a box of it."""
    draw.attrs["T"] = draw.random.choice(("float32", "float64", "int32", "int64"))
    sizes = _dims(draw)
    places, (start, size) = draw_places(draw, sizes), _box(draw, sizes)
    inside = ((places >= start) & (places < start + size)).all(axis=1)
    sliced = places[inside] - start
    return draw.arguments(
        **{
            grad: draw.tensor(grad, (len(sliced),), "plain"),
            "input_indices": places,
            "input_start": start,
            "output_indices": sliced,
        }
    )


@domain
def sparse_reshape(draw: Draw, indices: str, shape: str, new_shape: str) -> Arguments:
    """Places, the shape that they are in, and another one of as many elements."""
    sizes = _dims(draw)
    wanted: list[int] = draw.random.sample(sizes, len(sizes))
    if len(wanted) > 1 and draw.chance(0.5):
        wanted[:2] = [wanted[0] * wanted[1]]
    if draw.chance(0.3):
        wanted.insert(draw.random.randint(0, len(wanted)), 1)
    if draw.chance(0.4) and 0 not in wanted:
        wanted[draw.random.randrange(len(wanted))] = -1
    return draw.arguments(
        **{
            indices: draw_places(draw, sizes),
            shape: np.array(sizes, np.int64),
            new_shape: np.array(wanted, np.int64),
        }
    )


def _mix(draw: Draw, parts: dict[str, Any], indices: str) -> None:
    """Put the indices in any order."""
    count = len(parts[indices])
    parts[indices] = parts[indices][draw.random.sample(range(count), count)]


@domain
def sparse_mixed(draw: Draw, indices: str, values: str, shape: str) -> Arguments:
    """A sparse tensor whose elements are in any order."""
    parts = draw_sparse(draw, (indices, values, shape), _dims(draw))
    _mix(draw, parts, indices)
    return draw.arguments(**parts)


@domain
def sparse_filled(draw: Draw, indices: str, values: str, shape: str, default: str) -> Arguments:
    """A sparse tensor some of whose rows are empty, its rows perhaps not in order."""
    parts = draw_sparse(draw, (indices, values, shape), _dims(draw))
    if draw.chance(0.3):
        _mix(draw, parts, indices)
    return draw.arguments(**parts, **{default: draw.tensor(default, ())})


@domain
def sparse_filled_gradient(draw: Draw, places: str, grad: str) -> Arguments:
    """Where elements went, and what came back."""
    draw.attrs["T"] = draw.random.choice(("float32", "float64", "int32", "int64"))
    count = draw.random.randint(0, 9)
    chosen = sorted(draw.random.sample(range(count), draw.random.randint(0, count)))
    return draw.arguments(
        **{
            places: np.array(chosen, np.int64),
            grad: draw.tensor(grad, (count,), "plain"),
        }
    )


def _features(draw: Draw, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    if dtype == "int64":
        size = int(np.prod(shape))
        return np.array([draw.random.randint(-3, 99) for _ in range(size)], np.int64).reshape(shape)
    return drawn_texts(draw, (b"", b"red", b"a longer feature of it"), shape)


@domain
def crossed(draw: Draw, indices: str, values: str, shapes: str, dense: str) -> Arguments:
    """Sparse and dense columns of one number of rows, of both dtypes."""
    rows, sparse = draw.dim(1, 3), draw.random.randint(0, 2)
    kinds = [draw.random.choice(("int64", "string")) for _ in range(sparse + 2)]
    sparse_kinds = tuple(kinds[:sparse])
    dense_kinds = tuple(kinds[sparse : sparse + draw.random.randint(0 if sparse else 1, 2)])
    draw.attrs |= {"N": sparse, "sparse_types": sparse_kinds, "dense_types": dense_kinds}
    if "hashed_output" in draw.attrs:
        hashed = draw.attrs["hashed_output"]
        is_text = set(sparse_kinds) | set(dense_kinds) == {"string"}
        draw.attrs |= {
            "out_type": "int64" if hashed else "string",
            "hash_key": 956888297470,
            "internal_type": "string" if is_text else "int64",
            "num_buckets": draw.random.choice((0, 7, 1000)),
        }
    sizes = [(rows, draw.dim(0, 3)) for _ in kinds]
    places = [draw_places(draw, size, 5) for size in sizes[:sparse]]
    more: dict[str, Any] = {}
    if any(arg.name == "sep" for arg in draw.operation.inputs):
        more["sep"] = np.array(b"-", dtype=object)
    return draw.arguments(
        **{
            indices: places,
            shapes: [np.array(size, np.int64) for size in sizes[:sparse]],
            values: [
                _features(draw, kind, (len(indices_of_column),))
                for kind, indices_of_column in zip(sparse_kinds, places, strict=True)
            ],
            dense: [
                _features(draw, kind, size)
                for kind, size in zip(dense_kinds, sizes[sparse:], strict=False)
            ],
            **more,
        }
    )
