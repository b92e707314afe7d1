"""Counts of true and false positives and false negatives among the top k predictions.

Labels are dense, [..., labels], or sparse; predictions are class numbers, [..., k].
Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import concat, expand_dims, rank, reshape, shape, size
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import fill, ones_like
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.reduce_ops import reduce_max, reduce_sum
from sessrun.reference.api.ops.set_ops import set_difference, set_intersection, set_size
from sessrun.reference.api.ops.sparse_array_ops import sparse_reshape
from sessrun.reference.api.ops.weight_shapes import assert_broadcastable
from sessrun.reference.api.sparse_ops import sparse_retain
from sessrun.reference.api.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    convert_to_tensor_or_sparse_tensor,
)
from sessrun.reference.api.variables.state_ops import assign_add
from sessrun.reference.base import dtypes
from sessrun.reference.build.generated import greater_equal, mul, select_v2
from sessrun.reference.errors import bad_value
from sessrun.reference.gradient.reductions import kept_shape
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.metrics.metric_variables import metric_variable

__all__ = ["KINDS", "at_k_name", "counted", "in_range", "of_one_rank", "true_positives"]


def at_k_name(name: str, k: int | None = None, class_id: int | None = None) -> str:
    """The default scope of a metric: with the number of predictions and the class."""
    name = f"{name}_at_k" if k is None else f"{name}_at_{k:d}"
    return name if class_id is None else f"{name}_class{class_id:d}"


def of_one_rank(labels: TensorLike | SparseTensor, predictions: Any) -> Any:
    """Labels expanded to the predictions' rank by a last dimension of 1.

    Raises:
      ValueError: the ranks are known and differ by more.

    """
    with name_scope(None, "expand_labels", (labels, predictions)) as scope:
        true = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(true, SparseTensor):
            return cond(
                equal(rank(predictions), size(true.dense_shape) + 1),
                lambda: sparse_reshape(true, shape=concat((true.dense_shape, (1,)), 0), name=scope),
                lambda: true,
            )
        ndims = true.shape.ndims, predictions.shape.ndims
        if ndims[0] is not None and ndims[1] is not None:
            if ndims[0] == ndims[1]:
                return true
            if ndims[1] == ndims[0] + 1:
                return expand_dims(true, -1, name=scope)
            raise bad_value(
                f"Unexpected labels shape {true.shape} for predictions shape "
                f"{predictions.shape}: their ranks must be the same, or "
                f"the predictions' one more."
            )
        return cond(
            equal(rank(predictions), rank(true) + 1),
            lambda: expand_dims(true, -1, name=scope),
            lambda: true,
        )


def in_range(labels: Any, classes: Tensor) -> Any:
    """The labels, with -1 for class indices out of range."""
    is_sparse = isinstance(labels, SparseTensor | SparseTensorValue)

    def cleaned(values: TensorLike) -> Tensor:
        return select_v2(greater_equal(values, classes), -1 * ones_like(values), values)

    def clean() -> Any:
        if is_sparse:
            return type(labels)(labels.indices, cleaned(labels.values), labels.dense_shape)
        return cleaned(labels)

    largest = reduce_max(labels.values if is_sparse else labels)
    return cond(greater_equal(largest, classes), clean, lambda: labels)


def _of_class(numbers: TensorLike | SparseTensor, class_id: int) -> SparseTensor:
    """The entries equal to one class, as a SparseTensor."""
    classes = convert_to_tensor_or_sparse_tensor(numbers)
    if isinstance(classes, SparseTensor):
        return sparse_retain(classes, equal(classes.values, class_id))
    sizes = shape(classes, out_type=dtypes.int64)
    last = size(sizes) - 1
    one_per_row = kept_shape(sizes, reshape(last, [1]))
    wanted = fill(one_per_row, cast(class_id, dtypes.int64))
    common = set_intersection(wanted, classes)
    return SparseTensor(common.indices, common.values, sizes)


def _chosen(
    labels: TensorLike | SparseTensor, predictions: TensorLike | SparseTensor, class_id: int | None
) -> tuple[Any, Any]:
    if class_id is None:
        return labels, predictions
    return _of_class(labels, class_id), _of_class(predictions, class_id)


def _counter(of_sets: Callable[[Any, Any], SparseTensor], scope_name: str) -> Callable[..., Tensor]:
    def count(
        labels: TensorLike | SparseTensor,
        predictions: TensorLike | SparseTensor,
        class_id: int | None = None,
        weights: TensorLike | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The weighted size of the set operation's result for each row, float64."""
        with name_scope(name, scope_name, (predictions, labels, weights)):
            labels, predictions = _chosen(labels, predictions, class_id)
            counts = cast(set_size(of_sets(predictions, labels)), dtypes.float64)
            if weights is not None:
                with control_dependencies((assert_broadcastable(weights, counts),)):
                    counts = mul(counts, cast(weights, dtypes.float64))
            return counts

    return count


true_positives = _counter(set_intersection, "true_positives")
#: The counts of rows: true positives, false positives, and false negatives.
KINDS = {
    "true_positive": true_positives,
    "false_positive": _counter(
        lambda guessed, true: set_difference(guessed, true, aminusb=True), "false_positives"
    ),
    "false_negative": _counter(
        lambda guessed, true: set_difference(guessed, true, aminusb=False), "false_negatives"
    ),
}


def counted(
    kind: str,
    labels: TensorLike | SparseTensor,
    predictions: TensorLike | SparseTensor,
    k: int | None,
    class_id: int | None,
    weights: TensorLike | None,
) -> tuple[Tensor, Tensor]:
    """A streaming count of one kind: the variable and its update."""
    names = (predictions, labels, weights)
    with name_scope(None, at_k_name(kind, k, class_id), names) as scope:
        counts = KINDS[kind](labels, predictions, class_id, weights)
        batch = cast(reduce_sum(counts), dtypes.float64)
        total = metric_variable([], dtypes.float64, name=scope)
        return total, assign_add(total, batch, name="update")
