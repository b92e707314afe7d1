"""Faults of gathering, scattering and searching; on a CPU, since a GPU cannot report them."""

from __future__ import annotations

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.domains.base import Arguments
from sessrun.spec.rules.faults.base import Fault, changed, fault, valid

__all__: list[str] = []


@fault
def index_range(draw: Draw, params: str, indices: str) -> Fault:
    """An index that is not in the axis."""
    draw.attrs["bad_indices_policy"] = ""
    arguments = valid(draw)
    while not arguments.inputs[indices].size:
        arguments = valid(draw)
    wrong = arguments.inputs[indices].copy()
    wrong.flat[0] = draw.random.choice([-1, 100])
    del params
    return changed(draw, arguments, "run", **{indices: wrong})


@fault
def scatter_range(draw: Draw, indices: str, updates: str, shape: str) -> Fault:
    """An index vector outside the shape."""
    arguments = valid(draw)
    wrong = arguments.inputs[indices].copy()
    wrong.flat[0] = draw.random.choice([-1, 100])
    del updates, shape
    return changed(draw, arguments, "run", **{indices: wrong})


@fault
def partition_range(draw: Draw, data: str, partitions: str, num_partitions: str) -> Fault:
    """A partition that there is not."""
    draw.attrs[num_partitions] = 2
    arguments = Arguments({data: draw.tensor(data, (2,))}, draw.attrs)
    number = draw.random.choice([-1, 2])
    return changed(draw, arguments, "run", **{partitions: draw.integers(partitions, [0, number])})


@fault
def too_few(draw: Draw, x: str, k: str) -> Fault:
    """More elements wanted than a row has, or a negative number of them."""
    arguments = valid(draw)
    number = draw.random.choice([arguments.inputs[x].shape[-1] + 1, -1])
    return changed(draw, arguments, "values", **{k: draw.integers(k, number)})


@fault
def negative_depth(draw: Draw, indices: str, depth: str, on_value: str, off_value: str) -> Fault:
    """A depth of -1."""
    del indices, on_value, off_value
    return changed(draw, valid(draw), "values", **{depth: draw.integers(depth, -1)})


@fault
def sparse_range(draw: Draw, indices: str, shape: str, values: str, default_value: str) -> Fault:
    """A place outside the shape."""
    arguments = valid(draw)
    wrong = arguments.inputs[indices].copy()
    wrong[-1, 0] = draw.random.choice([-1, 100])
    del shape, values, default_value
    return changed(draw, arguments, "run", **{indices: wrong})


@fault
def stitch_range(draw: Draw, indices: str, data: str) -> Fault:
    """A negative place."""
    parts = [draw.integers(indices, [0, -1])]
    arguments = Arguments({data: [draw.tensor(data, (2,))]}, draw.attrs)
    return changed(draw, arguments, "run", **{indices: parts})


@fault
def stitch_shapes(draw: Draw, indices: str, data: str) -> Fault:
    """Data that does not begin with the shape of its indices, or ends otherwise than the first."""
    shapes = draw.random.choice([((1, 2), (1, 3)), ((1,), (2,)), ((1, 2), (1,))])
    return Fault(
        draw.arguments(
            **{
                indices: [draw.integers(indices, [0]), draw.integers(indices, [1])],
                data: [draw.tensor(data, shape) for shape in shapes],
            }
        )
    )


@fault
def many_k(draw: Draw, predictions: str, targets: str, k: str) -> Fault:
    """A vector where one number must be."""
    del predictions, targets
    return changed(draw, valid(draw), "run", **{k: draw.integers(k, [1])})
