"""Shape rules of constants, placeholders, variables, identities and random numbers."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import (
    Shape,
    ShapeError,
    Value,
    as_dims,
    check_size,
    merge,
    ranked,
    rule,
    size_of,
)

__all__: list[str] = []


@rule
def nothing() -> list[Shape]:
    """No outputs."""
    return []


@rule
def scalar() -> list[Shape]:
    """One output of rank 0."""
    return [()]


@rule
def scalar_of_vector(shape: Shape) -> list[Shape]:
    """One output of rank 0, of a vector."""
    ranked(shape, 1, 1)
    return [()]


@rule
def unknown(*counts: Value) -> list[Shape]:
    """Outputs of unknown shape: as many as the numbers say, and one for each item of a list."""
    total = sum(count if isinstance(count, int) else len(count) for count in counts)
    return [None] * total


@rule
def tensor_attr(value: Value) -> list[Shape]:
    """The shape of a tensor given as an attribute."""
    shape = tuple(map(int, value.shape))
    if shape:  # as most constants do not have
        if min(shape) < 0:
            raise ShapeError(f"Shape {list(shape)} is not fully defined")
        check_size(shape)
    return [shape]


@rule
def shape_attr(shape: Shape) -> list[Shape]:
    """The shape given as an attribute."""
    return [shape]


@rule
def variable_shape(shape: Shape) -> list[Shape]:
    """The shape given as an attribute, where no dimensions mean an unknown shape."""
    return [shape or None]


@rule
def default_shape(value: Shape, shape: Shape) -> list[Shape]:
    """The shape given as an attribute, which the default value's shape must fit."""
    merge(value, shape)
    return [shape]


@rule
def ensure_shape(value: Shape, shape: Shape) -> list[Shape]:
    """The merger of the input's shape and the attribute."""
    return [merge(value, shape)]


@rule
def assigned(ref: Shape, value: Shape, validate_shape: bool) -> list[Shape]:
    """The value's shape; it must fit the variable's if that is validated."""
    return [merge(ref, value)] if validate_shape else [value]


@rule
def scalar_only(ref: Shape) -> list[Shape]:
    """A scalar, as the input must be."""
    return [merge(ref, ())]


@rule
def read_variable(handle: Shape, handle_dtype: str | None, dtype: str) -> list[Shape]:
    """The shape of the variable that a resource refers to."""
    _check_dtype(handle_dtype, dtype)
    return [handle]


@rule
def assigned_variable(
    handle: Shape, handle_dtype: str | None, dtype: str, value: Shape
) -> list[Shape]:
    """No output; the value must have the variable's dtype, and a shape that fits it."""
    _check_dtype(handle_dtype, dtype)
    merge(handle, value)
    return []


def _check_dtype(have: str | None, want: str) -> None:
    if have not in {None, want}:
        raise ShapeError(f"Trying to read variable with wrong dtype. Expected {have} got {want}")


@rule
def counted_variable(handle: Shape, handle_dtype: str | None, dtype: str) -> list[Shape]:
    """A scalar, as the variable must be."""
    _check_dtype(handle_dtype, dtype)
    return [merge(handle, ())]


@rule
def kept(handle: Shape) -> list[Shape]:
    """Unknown: whatever tensor the session keeps under a scalar handle."""
    merge(handle, ())
    return [None]


@rule
def kept_gone(handle: Shape) -> list[Shape]:
    """No output: the session forgets what it keeps under a scalar handle."""
    merge(handle, ())
    return []


@rule
def dims_shape(shape: Shape) -> list[Shape]:
    """The shape that an integer vector denotes."""
    return [shape]


@rule
def ranged(start: Value, limit: Value, delta: Value) -> list[Shape]:
    """A vector of ceil((limit - start) / delta) elements."""
    if start is None or limit is None or delta is None:
        return [(None,)]
    step, gap = delta.item(), limit.item() - start.item()
    if step == 0:
        raise ShapeError("Requires delta != 0")
    if gap * step < 0:
        signs = ("<=", ">") if step > 0 else (">=", "<")
        raise ShapeError(
            f"Requires start {signs[0]} limit when delta {signs[1]} 0: {start}/{limit}"
        )
    if isinstance(step, int):
        return [(-(-gap // step),)]
    count = int(gap / step)
    return [(count + (count * step != gap if abs(count) < 2**53 else 0),)]


@rule
def lined(start: Shape, stop: Shape, num: Value) -> list[Shape]:
    """A vector of `num` elements between two scalars."""
    merge(start, ())
    merge(stop, ())
    if num is None:
        return [(None,)]
    if num.item() <= 0:
        raise ShapeError(f"Requires num > 0: {num.item()}")
    return [(int(num.item()),)]


@rule
def multinomial(logits: Shape, num_samples: Value) -> list[Shape]:
    """[batch, samples] of logits [batch, classes]; there are not less than no samples."""
    batch = merge(logits, (None, None))
    assert batch is not None
    samples = None if num_samples is None else int(num_samples.item())
    if samples is not None and samples < 0:
        raise ShapeError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {samples}"
        )
    return [(batch[0], samples)]


@rule
def filled(dims: Shape, value: Shape) -> list[Shape]:
    """As `dims_shape`, of a scalar; sizes that are all known may not be -1 either."""
    merge(value, ())
    if dims is not None and None not in dims and any(size == -1 for size in dims if size):
        raise ShapeError("Fill dimensions must be >= 0")
    return [None if dims is None else as_dims(dims)]


@rule
def one_hot(indices: Shape, depth: Value, axis: int) -> list[Shape]:
    """The indices' shape with a dimension `depth` put in at `axis`."""
    if axis < -1:
        raise ShapeError("axis must be >= -1")
    if depth is not None and depth.ndim:
        raise ShapeError(f"Input must be scalar but has rank {depth.ndim}")
    size = size_of(depth, 1)
    if indices is None:
        return [None]
    position = len(indices) if axis == -1 else min(axis, len(indices))
    return [(*indices[:position], size, *indices[position:])]
