"""Shape rules of what optimizers do to variables."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Shape, ShapeError, Value, merge, merge_dims, rule

__all__: list[str] = []


@rule
def trained(count: int, *inputs: Shape | Value) -> list[Shape]:
    """The one shape that the first `count` inputs, which are variables, and the gradient have.

    Args:
      count: how many variables there are: the one that is trained and its slots.
      *inputs: their shapes, the gradient's shape, and values that are known to be scalars.

    """
    return [_merged(inputs[: count + 1])]


@rule
def trained_resource(count: int, *inputs: Shape | Value) -> list[Shape]:
    """No output; otherwise as `trained`."""
    trained(count, *inputs)
    return []


@rule
def trained_rows(count: int, *inputs: Shape | Value) -> list[Shape]:
    """The variables' shape; the gradient has a row for each index, the indices are a vector."""
    *variables, grad, indices = inputs[: count + 2]
    if grad == ():
        raise ShapeError("Argument grad must not be a scalar. Got grad with rank 0")
    merge(indices, (None,))
    if grad is not None and indices is not None:
        merge_dims(indices[0], grad[0])
    rows = None if grad is None else (None, *grad[1:])
    return [_merged((*variables, rows))]


@rule
def trained_rows_resource(count: int, *inputs: Shape | Value) -> list[Shape]:
    """No output; otherwise as `trained_rows`."""
    trained_rows(count, *inputs)
    return []


def _merged(shapes: tuple[Shape, ...]) -> Shape:
    merged: Shape = None
    for shape in shapes:
        merged = merge(merged, shape)
    return merged
