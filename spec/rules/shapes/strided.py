"""Shape rules of slices, among them the strided slice with its five bit masks."""

from __future__ import annotations

from collections.abc import Iterator

from sessrun.spec.rules.shapes.base import (
    Dim,
    Known,
    Shape,
    ShapeError,
    merge,
    ranked,
    rule,
    with_rank,
)

__all__ = ["NEW_AXIS", "dense_items"]

#: Marks an item of `dense_items` that puts in a dimension of 1.
NEW_AXIS = -1


@rule
def sliced(shape: Shape, begin: Known, size: Known, starts: Shape, partial: Shape) -> list[Shape]:
    """The requested sizes, where they are known; -1 is what is left after `begin`.

    `starts` and `partial` are the elements of `begin` and `size`, as far as they are known.
    """
    count = with_rank(merge(with_rank(begin.shape, 1), with_rank(size.shape, 1)), 1)[0]
    if count is None:
        return [None if shape is None else (None,) * len(shape)]
    dims = with_rank(shape, count)
    if size.value is None and partial is not None and len(partial) == count:
        return [partial]
    # A start of -1 stands for one that is not known, as in every shape.
    places = [None if at == -1 else at for at in starts or (None,) * count]
    items = zip(dims, places, size.elements(count), strict=True)
    return [tuple(_block(*item) for item in items)]


def _block(dim: Dim, begin: Dim, size: Dim) -> Dim:
    """The size of a block; as in TensorFlow, that it is there is found when it is run."""
    if size is None:
        return None
    if size < -1:
        raise ShapeError(f"Invalid value in tensor used for shape: {size}")
    if size == -1:
        if dim is None or begin is None:
            return None
        size = dim - begin
        if size < 0:
            raise ShapeError(f"Negative dimension size caused by subtracting {begin} from {dim}")
    return size


def dense_items(
    count: int, rank: int, ellipsis_mask: int, new_axis_mask: int
) -> Iterator[tuple[int | None, int]]:
    """What each item of a strided slice is for: pairs (item, axis of the input).

    An item None takes the whole axis; an axis NEW_AXIS puts in a dimension; whether an item
    shrinks its axis is for the caller to see in the mask. Without an ellipsis one is implied at
    the end.

    Raises:
      ShapeError: two ellipses, or more items than the input has dimensions.

    """
    spots = [i for i in range(count) if ellipsis_mask >> i & 1]
    if len(spots) > 1:
        raise ShapeError("Multiple ellipses in slice spec not allowed")
    spot = spots[0] if spots else count
    new = {i for i in range(count) if new_axis_mask >> i & 1 and i != spot}
    taken = count - len(new) - len(spots)
    if not rank and taken:
        raise ShapeError("Attempting to slice scalar input.")
    if taken > rank:
        raise ShapeError(f"Index out of range using input dim {rank}; input has only {rank} dims")
    axis = 0
    for item in range(count + (not spots)):
        if item == spot:
            for _ in range(rank - taken):
                yield None, axis
                axis += 1
        elif item in new:
            yield item, NEW_AXIS
        else:
            yield item, axis
            axis += 1


@rule
def strided(
    shape: Shape,
    begin: Known,
    end: Known,
    strides: Known,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> list[Shape]:
    """The lengths that Python's slicing gives; shrunk axes left out, new ones put in."""
    for mask in (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
        if not -(2**31) <= mask < 2**31:
            raise ShapeError(f"A mask has the value {mask}, out of range for an int32")
    bounds = ranked(begin.shape, 1, 1)
    for other in (end.shape, strides.shape):
        bounds = merge(bounds, ranked(other, 1, 1))
    if strides.value is None or shape is None:
        return [None]
    steps = [int(n) for n in strides.value]
    starts, stops = begin.elements(len(steps)), end.elements(len(steps))
    dims: list[Dim] = []
    items = dense_items(len(steps), len(shape), ellipsis_mask, new_axis_mask)
    for item, axis in items:
        if axis == NEW_AXIS or item is None:
            dims.append(1 if axis == NEW_AXIS else shape[axis])
            continue
        if steps[item] == 0:
            raise ShapeError(f"strides[{item}] must be non-zero")
        if shrink_axis_mask >> item & 1:
            _check_shrunk(shape[axis], starts[item], steps[item], axis)
            continue
        masked = (begin_mask >> item & 1, end_mask >> item & 1)
        dims.append(_length(shape[axis], starts[item], stops[item], steps[item], masked))
    return [tuple(dims)]


def _check_shrunk(dim: Dim, begin: Dim, step: int, axis: int) -> None:
    if step < 0:
        raise ShapeError(f"only stride 1 allowed on a single index, got {step}")
    if dim is not None and begin is not None and not -dim <= begin < dim:
        raise ShapeError(f"slice index {begin} of dimension {axis} out of bounds")


def _length(dim: Dim, begin: Dim, end: Dim, step: int, masked: tuple[int, int]) -> Dim:
    start = None if masked[0] else begin
    stop = None if masked[1] else end
    unknown = (not masked[0] and begin is None) or (not masked[1] and end is None)
    if dim is None or unknown:
        return None
    return len(range(*slice(start, stop, step).indices(dim)))
