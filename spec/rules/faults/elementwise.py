"""Faults of elementwise operations, reductions, matrix products and neural networks."""

from __future__ import annotations

import dataclasses

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.domains.base import Arguments
from sessrun.spec.rules.faults.base import INVALID, Fault, Seen, changed, fault, valid

__all__: list[str] = []


@fault
def incompatible_shapes(draw: Draw, x: str, y: str) -> Fault:
    """Shapes that do not broadcast; for comparisons unlike shapes are made an error."""
    if "incompatible_shape_error" in draw.attrs:
        draw.attrs["incompatible_shape_error"] = True
    if "Tout" in draw.attrs:
        draw.attrs["Tout"] = "complex64" if draw.dtype(x) == "float32" else "complex128"
    outer = draw.shape(0, 2, 1)
    inputs = {
        x: draw.tensor(x, (*outer, 2), "positive"),
        y: draw.tensor(y, (*outer, 3), "positive"),
    }
    for arg in draw.operation.inputs:
        inputs.setdefault(arg.name, draw.tensor(arg.name, ()))
    return Fault(draw.arguments(**inputs))


@fault
def different_parts(draw: Draw, a: str, b: str, x: str) -> Fault:
    """Three tensors, of which two are no scalars and have different shapes."""
    shapes = draw.random.sample([(2,), (3,), (2, 2), ()], 3)
    return Fault(
        draw.arguments(
            **{
                name: draw.tensor(name, shape, "positive")
                for name, shape in zip((a, b, x), shapes, strict=True)
            }
        )
    )


@fault
def unlike_shapes(draw: Draw, x: str, y: str, seen: Seen = "shapes") -> Fault:
    """Two shapes that must be equal and are not."""
    outer = draw.shape(0, 2, 1)
    inputs = {x: draw.tensor(x, (*outer, 2), "small"), y: draw.tensor(y, (*outer, 3), "small")}
    for arg in draw.operation.inputs:
        inputs.setdefault(arg.name, draw.tensor(arg.name, ()))
    return Fault(draw.arguments(**inputs), seen=seen)


@fault
def unequal_shapes(draw: Draw, inputs: str, seen: Seen = "shapes") -> Fault:
    """A list of tensors of which the last has another shape; an attribute states the others'."""
    shape = draw.shape(1, 3, 1)
    if draw.operation.attr("shape") is not None:
        draw.attrs["shape"] = shape
    if "axis" in draw.attrs:
        draw.attrs["axis"] = 0
    tensors = [draw.tensor(inputs, shape, "small") for _ in range(draw.random.randint(1, 3))]
    return Fault(
        draw.arguments(
            **{inputs: [*tensors, draw.tensor(inputs, (*shape[:-1], shape[-1] + 1), "small")]}
        ),
        seen=seen,
    )


@fault
def unlike_bounds(draw: Draw, t: str, low: str, high: str) -> Fault:
    """A bound that is neither a scalar nor of the tensor's shape, which it may broadcast to."""
    shape = (*draw.shape(0, 2, 1), 2)
    other = draw.random.choice([(1,), (3,), (1, *shape), (2, 2, 2, 2)])
    lower = draw.tensor(low, draw.random.choice([other, shape, ()]), "small")
    bound = lower if lower.shape == other else draw.tensor(high, other, "small")
    arguments = draw.arguments(**{t: draw.tensor(t, shape, "small"), low: lower, high: bound})
    return Fault(arguments, seen="run")


@fault
def zero_divisor(draw: Draw, x: str, y: str, code: int = INVALID) -> Fault:
    """Integers of which one is divided by zero."""
    allowed = next(a for a in draw.operation.attrs if a.name == "T").allowed
    draw.attrs["T"] = draw.random.choice([d for d in allowed if BY_NAME[d].kind in {"int", "uint"}])
    shape = (draw.dim(1),)
    divisors = draw.tensor(y, shape, "divisor")
    divisors[draw.random.randrange(shape[0])] = 0
    arguments = draw.arguments(**{x: draw.tensor(x, shape, "small"), y: divisors})
    return Fault(arguments, codes=(code,), seen="run")


@fault
def negative_exponent(draw: Draw, x: str, y: str) -> Fault:
    """Integers of which one is raised to a negative power."""
    draw.attrs["T"] = draw.random.choice(["int8", "int16", "int32", "int64"])
    shape = (draw.dim(1),)
    exponents = draw.tensor(y, shape, "positive")
    exponents[draw.random.randrange(shape[0])] = -1
    arguments = draw.arguments(**{x: draw.tensor(x, shape, "divisor"), y: exponents})
    return Fault(arguments, seen="run")


@fault
def not_finite(draw: Draw, x: str) -> Fault:
    """A tensor with an infinity or a NaN."""
    values = draw.tensor(x, (draw.dim(1),), "finite")
    values[draw.random.randrange(len(values))] = draw.random.choice([np.inf, -np.inf, np.nan])
    return Fault(draw.arguments(**{x: values}), seen="run")


@fault
def reduction_axis(draw: Draw, x: str, indices: str) -> Fault:
    """An axis to reduce that the tensor does not have."""
    arguments = valid(draw)
    rank = arguments.inputs[x].ndim
    axis = draw.random.choice([rank, rank + 3, -rank - 1])
    return changed(draw, arguments, "values", **{indices: draw.integers(indices, [axis])})


@fault
def axis_range(draw: Draw, x: str, axis: str, unseen: int = -1) -> Fault:
    """An axis that the tensor does not have; up to rank `unseen` only a run finds it."""
    arguments = valid(draw)
    rank = arguments.inputs[x].ndim
    wrong = draw.random.choice([rank, -rank - 1])
    seen: Seen = "values" if rank > unseen else "run"
    return changed(draw, arguments, seen, **{axis: draw.integers(axis, wrong)})


@fault
def inner_dimensions(draw: Draw, a: str, b: str, turn_a: str, turn_b: str) -> Fault:
    """Matrices whose inner dimensions differ."""
    valid(draw)  # which dtypes go together
    draw.attrs[turn_a] = draw.attrs[turn_b] = False
    rows, inner, columns = (draw.dim(1) for _ in range(3))
    return Fault(
        draw.arguments(
            **{
                a: draw.tensor(a, (rows, inner), "small"),
                b: draw.tensor(b, (inner + 1, columns), "small"),
            }
        )
    )


@fault
def not_matrix(draw: Draw, a: str, b: str) -> Fault:
    """A vector, or a batch of matrices, where a matrix must be."""
    shape = (3,) if draw.chance(0.5) else (2, 3, 3)
    return Fault(
        draw.arguments(**{a: draw.tensor(a, shape, "small"), b: draw.tensor(b, (3, 3), "small")})
    )


@fault
def not_three(draw: Draw, a: str, b: str) -> Fault:
    """Vectors that have not three elements, which TensorFlow calls a failed precondition."""
    arguments = draw.arguments(
        **{a: draw.tensor(a, (2,), "small"), b: draw.tensor(b, (2,), "small")}
    )
    return Fault(arguments, codes=(9,))


@fault
def scalar_input(draw: Draw, x: str, seen: Seen = "shapes") -> Fault:
    """A scalar where the rank must be at least 1.

    TensorFlow's oneDNN kernels answer with ABORTED (10), its own with INVALID_ARGUMENT.
    """
    refused = changed(draw, valid(draw), seen, **{x: draw.tensor(x, (), "small")})
    return dataclasses.replace(refused, codes=(INVALID, 10))


@fault
def bias_size(draw: Draw, value: str, bias: str) -> Fault:
    """A bias with one element too many."""
    arguments = valid(draw)
    longer = len(arguments.inputs[bias]) + 1
    del value
    return changed(draw, arguments, "shapes", **{bias: draw.tensor(bias, (longer,), "small")})


@fault
def lower_than_matrix(draw: Draw, x: str) -> Fault:
    """A vector where there must be channels besides a batch."""
    draw.attrs["data_format"] = "NHWC"
    return Fault(draw.arguments(**{x: draw.tensor(x, (draw.dim(1),), "small")}))


@fault
def other_classes(draw: Draw, features: str, labels: str) -> Fault:
    """Rows of labels with two classes more than the logits have, which are two at least."""
    rows, classes = draw.dim(1), draw.random.randint(2, 4)
    return Fault(
        draw.arguments(
            **{
                features: draw.tensor(features, (rows, classes), "small"),
                labels: draw.tensor(labels, (rows, classes + 2), "positive"),
            }
        )
    )


@fault
def label_range(draw: Draw, features: str, labels: str) -> Fault:
    """A label that is no class."""
    arguments = valid(draw)
    numbers = arguments.inputs[labels].copy()
    numbers[0] = draw.random.choice([-1, arguments.inputs[features].shape[1]])
    return changed(draw, arguments, "run", **{labels: numbers})


@fault
def unsorted_ids(draw: Draw, data: str, segment_ids: str) -> Fault:
    """Segment ids that fall."""
    arguments = Arguments({data: draw.tensor(data, (3, 2), "small")}, draw.attrs)
    ids = draw.integers(segment_ids, [1, 0, 2])
    return changed(draw, arguments, "run", **{segment_ids: ids})


@fault
def segment_range(draw: Draw, data: str, segment_ids: str, num_segments: str) -> Fault:
    """A segment id that is not below the number of segments."""
    arguments = valid(draw)
    ids = arguments.inputs[segment_ids].copy()
    ids.flat[0] = int(arguments.inputs[num_segments])
    del data
    return changed(draw, arguments, "run", **{segment_ids: ids})
