"""The shapes that a loop's variables have in every iteration."""

from __future__ import annotations

from typing import Any, NamedTuple

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.control_flow.flow_values import flow_of
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.api.type_specs import (
    IndexedSlicesSpec,
    SparseTensorSpec,
    TypeSpec,
    type_spec_from_value,
)
from sessrun.reference.base.tensor_shape import TensorShape, tuple_of
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Invariants", "invariants_of", "is_within", "shape_after_iteration"]


class Invariants(NamedTuple):
    """The shape invariants of a loop's variables.

    Attributes:
      shapes: the shapes of the variables' tensors, flat; a composite has several tensors.
      structure: the variables, nested; a SparseTensor has the static shape of its invariant.

    """

    shapes: list[TensorShape]
    structure: Structure


def invariants_of(loop_vars: object, invariants: object) -> Invariants:
    """The shape invariants of a loop's variables.

    Args:
      loop_vars: the first values of the variables, nested: tensors and composites.
      invariants: a TensorShape or a TypeSpec for each variable; or None for the shapes of the first
        values, where the number of elements of a SparseTensor may change.

    Raises:
      TypeError: an invariant is neither a TensorShape nor a TypeSpec, or the TypeSpec is not
        compatible with the first value.
      ValueError: the two structures differ, or a shape has the wrong rank for a SparseTensor.

    """
    if invariants is None:
        values = nest.flatten(loop_vars)
        given = [None] * len(values)
    else:
        nest.assert_same_structure(loop_vars, invariants)
        values, given = nest.flatten(loop_vars), nest.flatten(invariants)
    shapes: list[TensorShape] = []
    parts: list[object] = []
    for value, shape in zip(values, given, strict=True):
        invariant = _invariant_of(flow_of(value), shape)
        is_tensor = isinstance(invariant, TensorShape)
        shapes += [invariant] if is_tensor else [part.shape for part in invariant._component_specs]  # noqa: SLF001 - the spec's own parts
        parts.append(value.known_as(invariant.shape) if isinstance(value, SparseTensor) else value)
    return Invariants(shapes, nest.pack_sequence_as(loop_vars, parts))


def is_within(shape: TensorShape, wider: TensorShape) -> bool:
    """Whether every tensor of the static shape `shape` also has the static shape `wider`."""
    if wider.dims is None:
        return True
    if shape.ndims != wider.ndims:
        return False
    pairs = zip(shape.as_list(), wider.as_list(), strict=True)
    return all(most is None or size == most for size, most in pairs)


def _invariant_of(value: Structure, shape: object) -> Any:
    """The invariant of a variable: the shape of a tensor, or the spec of a composite."""
    if shape is not None and not isinstance(shape, TypeSpec | TensorShape):
        raise TypeError(
            f"'shape' must be one of TypeSpec, TensorShape or None. Received: {type(shape)}"
        )
    if isinstance(shape, TypeSpec) and not shape.is_compatible_with(value):
        raise TypeError(f"TypeSpec {shape!r} is not compatible with {value!r}")
    if isinstance(value, Tensor):
        return (
            value.shape
            if shape is None
            else TensorShape.of(tuple_of(getattr(shape, "shape", shape)))
        )
    if shape is None:
        return type_spec_from_value(value)
    return shape if isinstance(shape, TypeSpec) else _spec_like(value, shape)


def _spec_like(value: Any, shape: TensorShape) -> TypeSpec:
    """The TypeSpec that a shape stands for as the invariant of a composite.

    For a SparseTensor it is the shape of `dense_shape`, for IndexedSlices that of `values`.
    """
    if isinstance(value, SparseTensor):
        if shape.ndims not in {None, 1}:
            raise ValueError(
                f"Expected a shape with 1 dimension. Obtained: {shape} which has {shape.ndims} "
                "dimensions."
            )
        rank = None if shape.ndims is None else shape.as_list()[0]
        return SparseTensorSpec(None if rank is None else [None] * rank, value.dtype)
    dense_shape = TensorShape([None]).concatenate(shape[1:])
    dense = None if value.dense_shape is None else value.dense_shape.dtype
    return IndexedSlicesSpec(dense_shape, value.dtype, value.indices.dtype, dense, shape[:1])


def shape_after_iteration(name: str, before: TensorShape, after: TensorShape) -> ValueError:
    """The error for a loop variable whose shape after an iteration violates its invariant.

    Args:
      name: the name of the variable's first value, in quotation marks.
      before: the shape that the variable enters the loop with.
      after: the shape that it has after an iteration.

    """
    return ValueError(
        f"Input tensor {name} enters the loop with shape {before}, but has shape {after} after one "
        "iteration. To allow the shape to vary across iterations, use the `shape_invariants` "
        "argument of tf.while_loop to specify a less-specific shape."
    )
