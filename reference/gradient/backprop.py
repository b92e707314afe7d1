"""`tf.gradients`: adds the operations that compute derivatives to the graph.

Source: TF 2.21; the nodes and their names are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.build.indexed_slices import (
    IndexedSlices,
    convert_to_tensor_or_indexed_slices,
)
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.gradient.aggregation import METHODS, AggregationMethod, UnconnectedGradients
from sessrun.reference.gradient.backward_pass import BackwardPass
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["gradients"]


@public("gradients")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Gradient]:
    """The derivative of the sum of all ys with respect to each x.

    Args:
      ys: a tensor or a list of tensors.
      xs: a tensor, a variable, or a list of these.
      grad_ys: for each y a tensor of the same shape that its derivative is multiplied by, or None
        for ones.
      name: the scope of the operations that are added.
      colocate_gradients_with_ops: whether gradients are colocated with the operations that they
        differentiate.
      gate_gradients: whether a gradient of an operation's inputs is used only after the gradients
        of all its inputs are computed.
      aggregation_method: how the gradients of a tensor with several consumers are added: a
        constant of AggregationMethod.
      stop_gradients: tensors that count as constants.
      unconnected_gradients: the result for an x that no y depends on: an UnconnectedGradients, or
        its value, "none" or "zero".

    Returns:
      For each x a Tensor of the same shape, IndexedSlices, or None.

    Raises:
      LookupError: an operation between the xs and the ys has no gradient function.
      ValueError: lengths or shapes differ, or an option has an invalid value.
      TypeError: a dtype is not differentiable, or a dtype of `grad_ys` is wrong.

    """
    sources, targets = _listed(xs), _listed(ys)
    weights = [None] * len(targets) if grad_ys is None else _listed(grad_ys)
    stopped = [] if stop_gradients is None else _listed(stop_gradients)
    method, unconnected = _options(aggregation_method, unconnected_gradients)
    if len(weights) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(weights)} grad_ys for {len(targets)} ys")
    values = [*targets, *sources, *stopped, *weights]
    with name_scope(name, "gradients", values) as scope:
        backward = BackwardPass(
            default_graph.get_default_graph(),
            scope,
            colocate_gradients_with_ops,
            gate_gradients,
            method,
        )
        xs_tensors = [_source(x) for x in sources]
        ys_tensors = [convert_to_tensor_or_indexed_slices(y, name="y") for y in targets]
        first_gradients = _first_gradients(ys_tensors, weights, backward)
        for y, gradient in zip(ys_tensors, first_gradients, strict=True):
            backward.add(y, gradient)
        backward.follow_captures(ys_tensors, xs_tensors)
        backward.run(
            [y.op for y in ys_tensors],
            [x.op for x in xs_tensors],
            [convert_to_tensor(value, name="stop").op for value in stopped],
        )
    backward.finish()
    return [backward.result(x, unconnected) for x in xs_tensors]


def _listed(value: Structure) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _options(
    method: int | None, unconnected: UnconnectedGradients | str
) -> tuple[int, UnconnectedGradients]:
    """The options of `gradients`, checked.

    Raises:
      ValueError: an option has an invalid value.

    """
    checked_method = AggregationMethod.DEFAULT if method is None else method
    if checked_method not in METHODS:
        raise ValueError(f"Invalid `aggregation_method` specified {method}.")
    try:
        return checked_method, UnconnectedGradients(unconnected)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: '{unconnected}'") from None


def _source(x: TensorLike) -> Tensor:
    """The tensor of an x: the handle of a resource variable, else `x` converted to a tensor."""
    if isinstance(x, ResourceVariable):
        return x.handle
    return convert_to_tensor(x, name="x", as_ref=True)


def _first_gradients(
    ys: Sequence[Tensor | IndexedSlices], grad_ys: Sequence[Any], backward: BackwardPass
) -> list[Gradient]:
    """The gradients of the ys: those that the caller gives, or ones.

    Raises:
      TypeError: the dtypes of a y and its gradient differ in kind, or a y is not differentiable.

    """
    gradients_of_ys: list[Gradient] = []
    for number, (y, grad_y) in enumerate(zip(ys, grad_ys, strict=True)):
        if grad_y is None:
            if y.dtype.is_complex:
                raise TypeError(
                    f"Gradients of complex tensors ({y}) must set grad_ys "
                    f"(y.dtype = {dtypes.as_dtype(y.dtype).name})"
                )
            with backward.beside(y.op):
                gradients_of_ys.append(ones(shape(y), y.dtype, name=f"grad_ys_{number}"))
            continue
        gradient = convert_to_tensor_or_indexed_slices(grad_y, name=f"grad_y_{number}")
        _check_kind(y, gradient)
        gradients_of_ys.append(_named(gradient, f"grad_ys_{number}"))
    return gradients_of_ys


def _check_kind(y: Tensor | IndexedSlices, gradient: Tensor | IndexedSlices) -> None:
    is_real = y.dtype.is_floating or y.dtype.is_integer
    if is_real and not (gradient.dtype.is_floating or gradient.dtype.is_integer):
        raise TypeError(
            f"Gradient type {gradient.dtype.name} generated for real or integer-valued tensor {y} "
            f"with type {y.dtype.name} must be real or integer"
        )
    if y.dtype.is_complex and not gradient.dtype.is_complex:
        raise TypeError(
            f"Gradient type {gradient.dtype.name} generated for complex-valued tensor {y} with "
            f"type {y.dtype.name} must be complex"
        )
    if not is_real and not y.dtype.is_complex and y.dtype.name not in {"variant", "resource"}:
        raise TypeError(
            f"Tensor {y} with type {y.dtype.name} must be numeric to obtain a default gradient"
        )


def _named(gradient: Tensor | IndexedSlices, name: str) -> Gradient:
    """Identities of the tensors of a gradient, under the given name."""
    if not isinstance(gradient, IndexedSlices):
        return identity(gradient, name)
    dense = gradient.dense_shape
    return IndexedSlices(
        identity(gradient.values, f"{name}_values"),
        identity(gradient.indices, f"{name}_indices"),
        None if dense is None else identity(dense, f"{name}_shape"),
    )
